"""Threads: one backend object, many callers at once."""

import threading
from collections.abc import Callable

from langchain_agentmemory.backends.base import (
    Batch,
    LimitReached,
    PreconditionFailed,
    RecordState,
    Write,
)
from langchain_agentmemory.testing.harness import Harness
from langchain_agentmemory.testing.records import ANN, find, put, record, shown

_THREADS = 8
_EACH = 15


def _together(work: Callable[[int], None]) -> None:
    """Run work in several threads at once and raise what one of them raised."""
    errors: list[BaseException] = []
    start = threading.Barrier(_THREADS)

    def run(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def no_write_of_any_thread_is_lost(harness: Harness) -> None:
    """Writers at once get revisions of their own, and all they wrote is there."""
    taken: list[int] = []

    def work(number: int) -> None:
        for turn in range(_EACH):
            (stored,) = put(harness.backend, record(f"{number}-{turn}"))
            taken.append(stored.revision)

    _together(work)
    total = _THREADS * _EACH
    assert sorted(taken) == list(range(1, total + 1))
    assert len(set(shown(harness.backend))) == total
    pages = [find(harness.backend, key).updated_at for key in shown(harness.backend)]
    assert pages == sorted(set(pages), reverse=True)


def of_racing_conditions_one_wins(harness: Harness) -> None:
    """Of several writes that expect the same revision, exactly one succeeds."""
    put(harness.backend, record("a"))
    won: list[int] = []

    def work(number: int) -> None:
        try:
            harness.backend.commit(Batch([Write(record("a"), expect=1)]))
        except PreconditionFailed:
            return
        won.append(number)

    _together(work)
    assert len(won) == 1


def the_limit_is_exact_under_a_race(harness: Harness) -> None:
    """Writers at once fill a limit exactly, and each refusal is a refusal."""
    limit = 20
    refused: list[int] = []

    def work(number: int) -> None:
        for turn in range(_EACH):
            given = Write(record(f"{number}-{turn}"))
            try:
                harness.backend.commit(Batch([given], {ANN: limit}))
            except LimitReached:
                refused.append(number)

    _together(work)
    assert len(shown(harness.backend)) == limit
    assert len(refused) == _THREADS * _EACH - limit


def readers_never_see_half_a_batch(harness: Harness) -> None:
    """While a batch rewrites two records, a reader finds both old or both new."""
    put(harness.backend, record("a", value=b"0"), record("b", value=b"0"))
    seen: list[tuple[bytes, bytes]] = []

    def work(number: int) -> None:
        for turn in range(_EACH):
            if number % 2:
                value = f"{number}-{turn}".encode()
                put(harness.backend, record("a", value=value), record("b", value=value))
            else:
                first, second = harness.backend.read(ANN, ["a", "b"])
                assert first is not None
                assert second is not None
                seen.append((first.value, second.value))

    _together(work)
    assert all(first == second for first, second in seen)


def deltas_under_writes_miss_nothing(harness: Harness) -> None:
    """A cache that follows deltas while others write ends with what is there."""
    cache: dict[str, bytes] = {}
    place = [-1, -1]

    def follow() -> None:
        delta = harness.backend.delta(ANN, *place)
        if delta is None:
            return
        if delta.reload:
            cache.clear()
        for found in delta.records:
            cache.pop(found.key, None)
            if found.state is RecordState.ACTIVE:
                cache[found.key] = found.value
        place[:] = [delta.head.epoch, delta.head.revision]

    def work(number: int) -> None:
        for turn in range(_EACH):
            if number == 0:
                follow()
            else:
                put(harness.backend, record(f"k{turn}", value=f"{number}".encode()))

    _together(work)
    follow()
    assert cache == {
        key: find(harness.backend, key).value for key in shown(harness.backend)
    }
