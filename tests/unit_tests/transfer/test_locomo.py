"""The LoCoMo format, by example and on the real file where it is at hand."""

import os
from datetime import datetime
from pathlib import Path

import pytest

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.transfer import import_statements, read_file

SAMPLE = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ann",
        "speaker_b": "Ben",
        "session_10_date_time": "12:05 am on 1 January, 2024",
        "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "Happy new year"}],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
            {"speaker": "Ann", "dia_id": "D2:1", "text": "I went to Rome yesterday."},
            {
                "speaker": "Ben",
                "dia_id": "D2:2",
                "text": "Look!",
                "blip_caption": "a photo of a dog",
            },
        ],
    },
    "qa": [],
}


def test_every_turn_is_a_dated_memory_with_its_source(written):
    reading = read_file(written([SAMPLE]))
    assert (reading.format, reading.problems) == ("locomo", [])
    rome, dog, year = reading.statements
    assert rome.memory == "Ann: I went to Rome yesterday."
    assert rome.event_time == datetime(2023, 5, 8, 13, 56)  # noqa: DTZ001
    assert (rome.kind, rome.participants) == ("episode", ("Ann",))
    assert dog.memory == "Ben: Look! [shared: a photo of a dog]"
    assert (dog.source.thread_id, dog.source.position) == ("conv-1/session_2", 1)
    assert (dog.source.message_ids, dog.source.role) == (("D2:2",), "Ben")
    assert year.event_time == datetime(2024, 1, 1, 0, 5)  # noqa: DTZ001


def test_a_broken_session_or_turn_is_reported_and_the_others_are_read(written):
    conversation = SAMPLE["conversation"] | {
        "session_10_date_time": "soon",
        "session_3_date_time": "1:56 pm on 9 May, 2023",
        "session_3": [{"text": "no speaker"}, {"speaker": "Ann", "text": "Hi"}],
    }
    reading = read_file(written([SAMPLE | {"conversation": conversation}, {}]))
    assert len(reading.statements) == 3
    assert [problem.where for problem in reading.problems] == [
        "conv-1, session_3, turn 0",
        "conv-1, session_10",
        "sample 2",
    ]


CASES = Path(
    os.environ.get("AGENTMEMORY_CASES")
    or Path(__file__).parents[4] / "shared" / "cases"
)
REAL = CASES.parent / "data" / "locomo" / "dev5.json"


@pytest.mark.skipif(
    not REAL.exists(),
    reason="no data/locomo/dev5.json beside the folder of AGENTMEMORY_CASES",
)
def test_a_real_conversation_is_imported_and_found():
    reading = read_file(REAL)
    assert (reading.format, reading.problems) == ("locomo", [])
    first = [s for s in reading.statements if s.conversation == "conv-26"]
    assert len(first) == 419
    with MemoryStore() as store:
        user = store.user("conv-26")
        done = import_statements(store, user, first)
        assert done.added + done.known == 419
        assert import_statements(store, user, first).added == 0
        found = store.search_memories(
            user, "When did Caroline go to the LGBTQ support group?", limit=10
        )
        evidence = [m for entry in found for m in entry.source.message_ids]
        assert "D1:3" in evidence
