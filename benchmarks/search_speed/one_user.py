"""One user: ours and its peer take turns in one process.

`python -m benchmarks.search_speed.one_user '{"ours": …, "items": …}'`
"""

import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.search_speed.filling import Clock, fill, namespace, user_name
from benchmarks.search_speed.plan import DIMENSIONS
from benchmarks.storage.corpus import HashEmbedder, Texts
from benchmarks.storage.engines import obstacle, open_store
from benchmarks.storage.matrix import PEERS

MODES: Final = ("lexical", "vector", "hybrid")
CALLS: Final = 20
"""Searches of ours in one round."""


def measure(ours: str, users: int, per_user: int, rounds: int) -> dict[str, Any]:
    """Return CPU microseconds per search, round by round.

    Args:
        ours: The contestant; its peer runs beside it, where it can.
        users: How many users there are. Searches are of users drawn at random.
        per_user: Memories of each.
        rounds: In each of them every kind of search runs, ours and the peer's.
    """
    peer = PEERS[ours]  # type: ignore[index]
    embedder = HashEmbedder(DIMENSIONS)
    clock = Clock(embedder)
    with ExitStack() as stack:
        stores: dict[str, Any] = {}
        for name in (ours, peer):
            if obstacle(name, DIMENSIONS) is None:  # type: ignore[arg-type]
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                opened = open_store(name, folder, embedder, DIMENSIONS)  # type: ignore[arg-type]
                stores[name] = stack.enter_context(opened)
                fill(stores[name], Texts("en", seed=1), users, per_user)
        texts, random = Texts("en", seed=2), Random(3)

        def some(count: int) -> list[tuple[int, str]]:
            return [(random.randrange(users), texts.query()) for _ in range(count)]

        calls = {mode: _search_of_ours(stores[ours], mode) for mode in MODES}
        calls["items by meaning"] = _search_of_peer(stores[ours])
        if peer in stores:
            calls["peer"] = _search_of_peer(stores[peer])
        found: dict[str, list[float]] = {name: [] for name in calls}
        first = clock.cpu_us(lambda: calls["hybrid"]((0, texts.query())))
        if users > 1:  # indexes are warm, all of them; a first visit is for `crowd`
            for user in range(users):
                calls["lexical"]((user, texts.query()))
        for call in calls.values():
            clock.mean_us(call, some(3 if users == 1 else CALLS))
        for _ in range(rounds):
            for name, call in calls.items():
                slow = name == "peer" and per_user * CALLS > 200_000  # noqa: PLR2004
                asked = some(1 if slow else CALLS)
                found[name].append(clock.mean_us(call, asked))
        return {"first": first, "cpu_us": found}


def _search_of_ours(store: Any, mode: str) -> Callable[[tuple[int, str]], object]:
    return lambda asked: store.search_memories(
        user_name(asked[0]), asked[1], mode=mode, limit=10
    )


def _search_of_peer(store: Any) -> Callable[[tuple[int, str]], object]:
    return lambda asked: store.search(namespace(asked[0]), query=asked[1], limit=10)


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
