"""Our own format: what is written is read back."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_agentmemory import MemoryEntry, MemoryStore, Source, UserKey
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.transfer import (
    export_entries,
    import_statements,
    read_file,
    read_text,
    record_to_entry,
    to_line,
)

TEXT = st.text(min_size=1, max_size=30).filter(str.strip)
OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda m: timezone(timedelta(minutes=m)))
MOMENTS = st.datetimes(
    datetime(1900, 1, 1),  # noqa: DTZ001 - hypothesis wants naive bounds
    datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=OFFSETS,
)
SOURCES = st.builds(
    Source,
    thread_id=st.none() | TEXT,
    message_ids=st.lists(TEXT, max_size=3).map(tuple),
    position=st.none() | st.integers(0, 1000),
    role=st.none() | TEXT,
    said_at=st.none() | MOMENTS,
)
WHEN = st.just((None, None)) | st.tuples(
    MOMENTS, st.sampled_from(["year", "month", "day", "instant"])
)


@st.composite
def entries(draw):
    moment, precision = draw(WHEN)
    return MemoryEntry(
        id=draw(TEXT),
        app_name=draw(TEXT),
        user_id=draw(TEXT),
        memory=draw(TEXT),
        topics=tuple(draw(st.lists(TEXT, max_size=3))),
        kind=draw(st.sampled_from(["fact", "episode", "偏好"])),
        event_time=moment,
        event_precision=precision,
        participants=tuple(draw(st.lists(TEXT, max_size=3))),
        location=draw(st.none() | TEXT),
        created_at=draw(MOMENTS),
        updated_at=draw(MOMENTS),
        source=draw(st.none() | SOURCES),
        supersedes=tuple(draw(st.lists(TEXT, max_size=2))),
        superseded_by=draw(st.none() | TEXT),
    )


@given(entries())
def test_a_line_gives_back_the_entry(entry):
    line = to_line(entry)
    assert line.endswith("\n")
    assert "\n" not in line[:-1]
    line.encode()
    assert record_to_entry(json.loads(line)) == entry


MEMORIES = st.fixed_dictionaries(
    {"memory": TEXT},
    optional={
        "topics": st.lists(TEXT, max_size=2),
        "kind": st.sampled_from(["fact", "episode", "偏好"]),
        "event_time": MOMENTS.map(lambda m: m.replace(microsecond=0))
        | MOMENTS.map(lambda m: m.date())
        | MOMENTS.map(lambda m: f"{m:%Y-%m}")
        | MOMENTS.map(lambda m: f"{m:%Y}"),
        "participants": st.lists(TEXT, max_size=2),
        "location": TEXT,
        "source": SOURCES,
    },
)


def comparable(entry):
    """Everything that verbs can restore: all but the times of writing."""
    changed = {"created_at": None, "updated_at": None}
    fields = {name: getattr(entry, name) for name in entry.__dataclass_fields__}
    return fields | changed


@settings(deadline=None)  # the first Han text loads jieba's dictionary
@given(st.lists(MEMORIES, max_size=6))
def test_an_exported_user_is_the_same_in_another_store(tmp_path_factory, memories):
    file = tmp_path_factory.mktemp("export") / "memories.jsonl"
    user = UserKey("app", "anna")
    with MemoryStore(timezone="+08:00") as one, MemoryStore(timezone="+08:00") as two:
        for fields in memories:
            one.add_memory(user, **fields)
        export_entries(one.read_memories(user), file)
        reading = read_file(file, format="jsonl")
        assert reading.problems == []
        done = import_statements(two, user, reading.statements)
        before, after = one.read_memories(user), two.read_memories(user)
        assert done.added == len(before)
        assert [comparable(entry) for entry in after] == [
            comparable(entry) for entry in before
        ]


def test_links_between_versions_survive_a_change_of_user(tmp_path):
    file = tmp_path / "memories.jsonl"
    with MemoryStore() as store:
        old = store.add_memory("anna", "Lives in Paris")
        store.add_memory("anna", "Lives in Rome", supersedes=[old.id])
        export_entries(store.read_memories("anna"), file)
        import_statements(store, store.user("ben"), read_file(file).statements)
        new, replaced = store.read_memories("ben")
        if new.memory != "Lives in Rome":
            new, replaced = replaced, new
        assert new.supersedes == (replaced.id,)
        assert replaced.superseded_by == new.id
        assert replaced.id != old.id


def test_importing_twice_changes_nothing(tmp_path):
    file = tmp_path / "memories.jsonl"
    with MemoryStore() as store:
        store.add_memory("anna", "Likes tea", topics=["drink"])
        export_entries(store.read_memories("anna"), file)
        before = store.read_memories("anna")
        done = import_statements(store, store.user("anna"), read_file(file).statements)
        assert (done.added, done.known) == (0, 1)
        assert store.read_memories("anna") == before


def test_a_line_written_by_hand_needs_a_memory_only():
    reading = read_text(
        '{"memory": "喜欢喝茶"}\n'.encode()
        + b'{"memory": "Moved", "event_time": "May 2024"}',
        name="hand",
    )
    with MemoryStore() as store:
        import_statements(store, store.user("anna"), reading.statements)
        moved, tea = store.read_memories("anna")
    assert (tea.memory, moved.event_precision) == ("喜欢喝茶", "month")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{broken", "not JSON"),
        ("[1]", "must be an object"),
        ('{"text": "x"}', "memory must be a text"),
        ('{"memory": " "}', "memory must be a text"),
        ('{"memory": "x", "topics": "y"}', "topics must be a list"),
        ('{"memory": "x", "kind": 1}', "kind must be text"),
        ('{"memory": "x", "event_time": "2024", "event_precision": "hour"}', "one of"),
        ('{"memory": "x", "event_time": "?", "event_precision": "day"}', "ISO 8601"),
        ('{"memory": "x", "source": []}', "source must be an object"),
        ('{"memory": "x", "source": {"position": "1"}}', "position must be an integer"),
        ('{"memory": "x", "source": {"said_at": "?"}}', "said_at must be an ISO"),
    ],
)
def test_a_broken_line_is_reported_by_its_number_and_the_others_are_read(line, reason):
    text = f'{{"memory": "one"}}\n\n{line}\n{{"memory": "two"}}\n'
    reading = read_text(text.encode(), name="f", format="jsonl")
    assert [statement.memory for statement in reading.statements] == ["one", "two"]
    (problem,) = reading.problems
    assert problem.where == "line 3"
    assert reason in problem.reason


def test_a_line_that_is_not_utf8_is_reported():
    reading = read_text(b'{"memory": "one"}\n{"memory": "\xff"}', name="f")
    assert [str(problem) for problem in reading.problems] == [
        "line 2: it is not JSON (it is not UTF-8)"
    ]


def test_an_export_that_fails_leaves_the_old_file(tmp_path):
    file = tmp_path / "memories.jsonl"
    file.write_text("old")

    def fail():
        raise KeyboardInterrupt

    with MemoryStore() as store:
        entry = store.add_memory("anna", "Likes tea")
    with pytest.raises(KeyboardInterrupt):
        export_entries([entry], file, on_progress=fail)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_does_not_exist_is_said_so(tmp_path):
    with pytest.raises(InvalidInput, match="Cannot write"):
        export_entries([], tmp_path / "no" / "file.jsonl")


def test_times_of_writing_decide_the_order_of_the_file(tmp_path):
    file = tmp_path / "memories.jsonl"
    with MemoryStore() as store:
        for text in ("first", "second", "third"):
            store.add_memory("anna", text)
        export_entries(store.read_memories("anna"), file)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["memory"] for line in lines] == [
        "first",
        "second",
        "third",
    ]
    assert datetime.fromisoformat(json.loads(lines[0])["updated_at"]).tzinfo == UTC


def test_an_interrupted_import_can_be_run_again():
    lines = b"".join(b'{"memory": "memory %d"}\n' % i for i in range(10))
    statements = read_text(lines, name="f").statements
    steps = iter(range(4))

    def interrupt():
        if next(steps) == 3:
            raise KeyboardInterrupt

    with MemoryStore() as store:
        user = store.user("anna")
        with pytest.raises(KeyboardInterrupt):
            import_statements(store, user, statements, on_progress=interrupt)
        assert store.count_memories(user) == 4
        done = import_statements(store, user, statements)
        assert (done.added, done.known) == (6, 4)
        assert [entry.memory for entry in store.read_memories(user)][::-1] == [
            f"memory {number}" for number in range(10)
        ]


def test_what_the_store_refuses_is_named_and_the_others_are_imported():
    lines = b'{"memory": "x", "event_time": "soon"}\n{"memory": "y"}'
    with MemoryStore() as store:
        done = import_statements(
            store, store.user("anna"), read_text(lines, name="f").statements
        )
    assert done.added == 1
    assert "Cannot read 'soon'" in done.refused[0]
