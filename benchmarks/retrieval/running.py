"""One run: every contestant answers every question of every set."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from benchmarks.retrieval.contestants import Contestant
from benchmarks.retrieval.embedders import CachedEmbeddings
from benchmarks.retrieval.engines import Engine, Hit, Open
from benchmarks.retrieval.metrics import LIMIT, measures, stands_above
from benchmarks.retrieval.sets import EvaluationSet, Question

Say = Callable[[str], None]


class Answer(NamedTuple):
    """What a contestant found for a question.

    Attributes:
        set_name: The set of the question.
        contestant: Who answered.
        question: The question.
        hits: The results, best first.
        measures: `metrics.METRICS` of them.
    """

    set_name: str
    contestant: str
    question: Question
    hits: Sequence[Hit]
    measures: Mapping[str, float]

    @property
    def newer_first(self) -> bool | None:
        """Whether the newer version is above the older; `None` if not asked for."""
        return self._version_above(newer=True)

    @property
    def older_first(self) -> bool | None:
        """Whether the older version is above the newer; `None` if not asked for."""
        return self._version_above(newer=False)

    @property
    def right_version_first(self) -> bool | None:
        """Whether the version that is asked for is above the other one."""
        update = self.question.update
        return (
            None
            if update is None
            else self._version_above(newer=update.asks == "current")
        )

    def _version_above(self, *, newer: bool) -> bool | None:
        update = self.question.update
        if update is None:
            return None
        versions = (update.newer, update.older)
        first, second = versions if newer else versions[::-1]
        return stands_above([hit.ids for hit in self.hits], first, second)


def run_set(
    given: EvaluationSet,
    contestants: Iterable[Contestant],
    embedders: Mapping[str, CachedEmbeddings],
    say: Say,
) -> Iterator[Answer]:
    """Yield the answers of all contestants to all questions of a set.

    Engines are filled one after the other; contestants that differ only in how they
    search share one.

    Args:
        given: The set.
        contestants: Who takes part.
        embedders: The embedders by name.
        say: Where progress is told.
    """
    groups: dict[tuple[Open, str | None], list[Contestant]] = defaultdict(list)
    for contestant in contestants:
        groups[contestant.open, contestant.embedder].append(contestant)
    prepared: set[str] = set()
    for (opened, embedder), group in groups.items():
        if embedder is not None and embedder not in prepared:
            queries = [question.text for question in given.questions]
            embedders[embedder].prepare(given.texts(), queries)
            prepared.add(embedder)
        started = time.perf_counter()
        with filled(given, opened, embedders[embedder] if embedder else None) as engine:
            ready = time.perf_counter() - started
            for contestant in group:
                started = time.perf_counter()
                yield from ask(given, contestant, engine)
                asked = time.perf_counter() - started
                say(
                    f"{given.name}: {contestant.name}: filled in {ready:.1f} s, "
                    f"{len(given.questions)} questions in {asked:.1f} s"
                )


@contextmanager
def filled(
    given: EvaluationSet, opened: Open, embedder: CachedEmbeddings | None
) -> Iterator[Engine]:
    """Open an engine that holds the memories of a set."""
    engine = opened(embedder)
    try:
        for user, memories in given.memories.items():
            engine.add(user, memories)
        yield engine
    finally:
        engine.close()


def ask(
    given: EvaluationSet, contestant: Contestant, engine: Engine
) -> Iterator[Answer]:
    """Yield the answers of a contestant, whose engine is filled."""
    for question in given.questions:
        limit = LIMIT + len(question.ignored)
        hits = [
            hit
            for hit in engine.search(question, limit, contestant.options)
            if not hit.ids & question.ignored
        ][:LIMIT]
        found = measures([hit.ids for hit in hits], question.evidence)
        yield Answer(given.name, contestant.name, question, hits, found)


def details(answers: Iterable[Answer]) -> Iterator[dict[str, Any]]:
    """Yield each answer as JSON, for comparing runs and looking at failures."""
    for answer in answers:
        yield {
            "set": answer.set_name,
            "contestant": answer.contestant,
            "question": answer.question.id,
            "kind": answer.question.kind,
            "text": answer.question.text,
            "evidence": sorted(answer.question.evidence),
            "found": [sorted(hit.ids) for hit in answer.hits],
            "scores": [round(hit.score, 4) for hit in answer.hits],
            "newer_first": answer.newer_first,
            **{name: round(value, 6) for name, value in answer.measures.items()},
        }
