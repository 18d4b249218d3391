"""What messages show of what was given: short, on one line, and never a secret."""

import logging

import pytest
from langchain_core.embeddings import Embeddings

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import masked, quoted, quoted_url, summary

SECRETS = [
    "postgresql://ann:hunter2@db.example:5432/memories",
    "postgresql://ann:hun/ter2@db.example/memories",
    "postgresql://ann:hun?ter2@db.example/memories",
    "postgresql://ann:hunt@er2@db.example/memories",
    "postgresql://hunter2@db.example/memories",
    "mysql://db.example/m?user=ann&password=hunter2",
    "redis://:hunter2@cache:6379/0",
    "redis://cache:6379/0?token=hunter2",
    "redis://cache/0?timeout=5&api_key=hunter2&x=1",
    "sqlite://ann:hunter2@host/file.db",
    "sqlite:///file.db?key=hunter2",
    "sqlite:///file.db?key=hunter 2&timeout=1",
    "memory://?password=hunter2",
    "ann:hunter2@db.example/memories",
    "http://[ann:hunter2@::1",
    "chroma://[hunter2",
    "sqlite:///file.db?timeout=soon&password=hunter2",
    "sqlite:///file.db?skip_init=maybe&password=hunter2",
]
PARTS = ("hunter", "hun/ter", "hun?ter", "hunt@er", "ter2", "er2")


@pytest.mark.parametrize("url", [u for u in SECRETS if u != "chroma://[hunter2"])
def test_a_message_about_a_url_shows_no_secret(url):
    with pytest.raises(InvalidInput) as raised:
        MemoryStore.from_url(url)
    error = raised.value
    while error is not None:
        assert not any(part in str(error) for part in PARTS), str(error)
        error = error.__cause__ or (
            None if error.__suppress_context__ else error.__context__
        )
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("url", SECRETS)
def test_a_text_with_a_url_in_it_is_masked(url):
    if ("://" in url and "@" in url) or "=" in url:
        text = masked(f"could not connect to '{url.replace(' ', '')}' (refused)")
        assert not any(part in text for part in PARTS)
        assert text.endswith("(refused)")


def test_a_url_without_secrets_is_shown_as_it_is():
    for url in (
        "sqlite:///memories.db?table=notes&synchronous=FULL&timeout=10",
        "sqlite:////home/ann@work/memories.db",
        "memory://",
        "postgresql://db.example:5432/memories",
    ):
        assert quoted_url(url) == repr(url)
        assert masked(f"see {url} for more") == f"see {url} for more"


@pytest.mark.parametrize("url", [None, 5, b"sqlite://", ["memory://"], ""])
def test_what_is_no_url_at_all_is_said_so(url):
    with pytest.raises(InvalidInput, match="is not a URL"):
        MemoryStore.from_url(url)


@pytest.mark.parametrize("timeout", ["nan", "inf", "-inf", "-1", "-0.5", "soon", ""])
def test_a_timeout_is_a_number_of_seconds(timeout):
    with pytest.raises(InvalidInput, match="timeout"):
        MemoryStore.from_url(f"sqlite:///:memory:?timeout={timeout}")


def test_an_error_of_other_code_is_told_in_a_line(caplog):
    error = ConnectionError(
        "cannot reach https://ann:hunter2@api.example/v1?key=hunter2\n" + "x" * 10_000
    )
    shown = summary(error)
    assert "hunter2" not in shown
    assert "api.example/v1" in shown
    assert len(shown) < 400
    assert shown.isprintable()
    assert summary(KeyError()) == "KeyError"

    class Failing(Embeddings):
        def embed_documents(self, texts):
            raise error

        def embed_query(self, text):
            raise error

    store = MemoryStore(index={"embed": Failing(), "dims": 2})
    with caplog.at_level(logging.WARNING):
        store.add_memory("ann", "tea")
    assert "hunter2" not in caplog.text + str(store.status())


def test_ids_are_quoted_as_a_whole():
    assert quoted("0" * 64) == repr("0" * 64)
