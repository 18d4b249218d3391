"""Which messages of a conversation are new."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from langchain_agentmemory.extraction.mailbox import (
    Fingerprints,
    Job,
    Said,
    fingerprints,
)


def unseen(
    said: Sequence[Said], known: set[str], *, lasting: bool = False
) -> list[tuple[Said, Fingerprints]]:
    """Return the messages that were not processed yet.

    Where a known id turns up, ids last, and what has another id (or another text under
    the same id) is new. Where none does, the ids were made anew, or everything old was
    removed from the conversation: then text and number of repetitions decide, and a
    turn counts as a whole: it is new if what the user said is.
    """
    pairs = list(zip(said, fingerprints(said), strict=True))
    if lasting or any(prints.by_id in known for _, prints in pairs if prints.by_id):
        return [
            (message, prints)
            for message, prints in pairs
            if (prints.by_id or prints.by_text) not in known
        ]
    return [
        pair
        for turn in _turns(pairs)
        if turn[0][1].by_text not in known
        for pair in turn
    ]


def without_seen(job: Job, known: set[str]) -> Job:
    """Return a job without messages that were processed while it waited."""
    seen = set(known)
    said: list[Said] = []
    for turn in _turns(list(zip(job.said, job.fingerprints, strict=True))):
        marks = [prints.by_id or prints.by_text for _, prints in turn]
        if turn[0][1].by_id is None:  # a turn without ids: as a whole, or not at all
            if marks[0] not in seen:
                said += [message for message, _ in turn]
        else:
            said += [
                message
                for (message, _), mark in zip(turn, marks, strict=True)
                if mark not in seen
            ]
        seen.update(marks)
    return replace(job, said=tuple(said))


def _turns(
    pairs: Sequence[tuple[Said, Fingerprints]],
) -> list[list[tuple[Said, Fingerprints]]]:
    """Split a conversation where the user begins to speak."""
    turns: list[list[tuple[Said, Fingerprints]]] = []
    for pair in pairs:
        if not turns or pair[0].role == "user":
            turns.append([])
        turns[-1].append(pair)
    return turns


def marks_of(prints: Iterable[Fingerprints]) -> Iterator[str]:
    """Yield every mark by which messages are recognised."""
    for pair in prints:
        if pair.by_id is not None:
            yield pair.by_id
        yield pair.by_text
