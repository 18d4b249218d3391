"""Recognising formats, and refusing what is none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.transfer import read_file, read_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "role content memory mapping conversation messages message parent "
                "author source topics session_1 lc".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", "hello", "[1, 2]", '{"a": 1}', b"\xff\xfe"]
)
def test_what_is_no_format_is_refused_with_what_can_be_read(written, content):
    with pytest.raises(InvalidInput, match="Files that can be read"):
        read_file(written(content))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="No such file"):
        read_file(tmp_path / "nowhere.json")


def test_a_byte_order_mark_is_no_obstacle(written):
    file = written('\ufeff{"memory": "x"}', "file.jsonl")
    assert [s.memory for s in read_file(file).statements] == ["x"]


def test_lines_end_at_line_feeds_only(written):
    file = written('{"memory": "a\u2028b"}\n', "file.jsonl")
    assert [s.memory for s in read_file(file).statements] == ["a\u2028b"]


@given(st.lists(JSON, max_size=3))
def test_any_json_is_read_or_reported(values):
    for format_ in ("jsonl", "messages", "chatgpt", "locomo"):
        reading = read_text(
            json.dumps(values).encode(), name="any", format=format_, roles=["user"]
        )
        for statement in reading.statements:
            assert statement.memory.strip()
