"""Explaining the results of a search: looking up, slot by slot, what it computed."""

import math
from typing import Final

from langchain_agentmemory.explanation import (
    Explanation,
    MeaningParts,
    Scale,
    VersionPart,
    WordParts,
)
from langchain_agentmemory.search.calibration import Level
from langchain_agentmemory.search.formula import SCORE_ROOT
from langchain_agentmemory.search.fusion import hybrid_parts, trusted
from langchain_agentmemory.search.pipeline import Candidate, Criteria, age_factor
from langchain_agentmemory.search.shelf import Shelf
from langchain_agentmemory.service.explained_parts import query_words, word_parts
from langchain_agentmemory.service.halves import Halves, Meaning, Request
from langchain_agentmemory.service.indexing import Indexer
from langchain_agentmemory.service.settled_scores import Settler
from langchain_agentmemory.service.shelves import Held
from langchain_agentmemory.types import MemoryEntry

_SAME: Final = 1e-5
"""Evidence that differs less is the same: a root and its power lie between."""


class Explainer:
    """Tells how the results of one search got their scores.

    Args:
        indexer: Whose tokenizer made the query.
        shelf: The index that was searched.
        request: What was looked for.
        halves: What was found, scores settled.
        settler: Who put the best results in order, `None` if nobody did.
        criteria: What was kept of them.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the parts of one search
        self,
        indexer: Indexer,
        shelf: Shelf[Held],
        request: Request,
        halves: Halves,
        settler: Settler | None,
        criteria: Criteria,
    ) -> None:
        """Look up what all results have in common."""
        self._indexer = indexer
        self._tokenizer = indexer.ranking.tokenizer
        self._shelf = shelf
        self._request = request
        self._halves = halves
        self._settler = settler
        self._criteria = criteria
        words = halves.words
        self._near = None
        self._statistics = None
        self._labelled: frozenset[int] = frozenset()
        if words is not None:
            self._near = shelf.neighbourhood(request.words, words)
            self._statistics = words.statistics or shelf.statistics(request.words)
            if request.mode != "vector":
                self._labelled = frozenset(words.matches.labelled().tolist())
        self._label_factor = 1 + request.words.formula.labelled
        self._han = shelf.han()
        self._exponent = SCORE_ROOT if indexer.ranking.by_evidence else 1.0
        self._shares = None
        if (
            request.mode == "hybrid"
            and words is not None
            and halves.similarity is not None
            and not indexer.ranking.by_evidence
        ):
            self._shares = hybrid_parts(words.scores, halves.similarity)

    def __call__(self, candidate: Candidate[Held], entry: MemoryEntry) -> Explanation:
        """Explain one result, given what it is."""
        request, record = self._request, candidate.item.record
        slot = self._shelf.slot(record.key)
        if slot is None:
            msg = f"{record.key} was found, and is not on the shelf."
            raise KeyError(msg)
        texts = self._indexer.words_of(record)
        words, meaning = self._words(slot, texts), self._meaning(slot)
        from_words, from_meaning = self._contributions(slot, words, meaning)
        time = version = None
        if self._settler is not None:
            time = self._settler.time_part(slot, entry)
            version = self._settler.version_part(slot, entry, self._shelf.key)
        evidence, age = float(self._halves.total[slot]), self._age(candidate)
        given = min((candidate.score / age) ** (1 / self._exponent), 1.0)
        if given > evidence + _SAME:  # it stands for what it replaced
            before = evidence if version is None else version.before
            version = VersionPart(
                "newest", entry.supersedes, linked=True, before=before, after=given
            )
            evidence = given
        return Explanation(
            query=request.words.text,
            mode=request.mode,
            terms=query_words(request.words, self._statistics, texts, self._tokenizer),
            words=words,
            meaning=meaning,
            from_words=from_words,
            from_meaning=from_meaning,
            labels=self._label_factor if slot in self._labelled else 1.0,
            time=time,
            version=version,
            neighbours=self._beside(slot, words, meaning),
            evidence=evidence,
            exponent=self._exponent,
            age=age,
            score=candidate.score,
        )

    def _words(self, slot: int, texts: tuple[str, str]) -> WordParts | None:
        words = self._halves.words
        if words is None or self._statistics is None:
            return None
        near = self._near
        return word_parts(
            self._request.words,
            self._statistics,
            texts,
            self._tokenizer,
            score=float(words.scores[slot]),
            neighbours=float(near.scores[slot]) if near and near.placed[slot] else None,
        )

    def _meaning(self, slot: int) -> MeaningParts | None:
        meaning, similarity = self._halves.meaning, self._halves.similarity
        if meaning is None or similarity is None:
            return None
        cosine, own = float(similarity[slot]), float(meaning.own[slot])
        evidence = float(meaning.evidence[slot])
        scale, level = self._level(meaning, slot)
        return MeaningParts(
            cosine=None if cosine == -math.inf else cosine,
            excess=0.0 if cosine == -math.inf else (meaning.stretch - 1) * (1 - cosine),
            scale=scale,
            mean=None if level is None else level.mean,
            deviation=None if level is None else level.deviation,
            boundary=None if level is None else level.boundary,
            own=own,
            lent=0.0 if meaning.lent is None else float(meaning.lent[slot]),
            evidence=evidence,
            trust=self._trust(meaning, slot),
        )

    def _level(self, meaning: Meaning, slot: int) -> tuple[Scale | None, Level | None]:
        """Return the level that a cosine was read against, and its name."""
        levels = meaning.calibration
        if levels is None:
            return None, None
        han = self._han if isinstance(self._han, bool) else bool(self._han[slot])
        scale: Scale = "across"
        if han == meaning.han_query:
            scale = "han" if han else "other"
        level = {"han": levels.han, "other": levels.other, "across": levels.across}
        return scale if self._request.calibration else "pool", level[scale]

    def _trust(self, meaning: Meaning, slot: int) -> float:
        words = self._halves.words
        if self._request.mode == "vector" or words is None or not words.scores.any():
            return 1.0  # nothing beside it
        reliability = meaning.reliability
        if not isinstance(reliability, float):
            reliability = float(reliability[slot])
        return float(trusted(reliability, self._request.words.weights))

    def _contributions(
        self, slot: int, words: WordParts | None, meaning: MeaningParts | None
    ) -> tuple[float, float]:
        """Return what each half counts in the sum of both."""
        lexical = 0.0 if words is None else words.score
        if self._shares is not None:
            return float(self._shares[0][slot]), float(self._shares[1][slot])
        if meaning is None:
            return lexical, 0.0
        if self._request.mode == "vector":
            return (lexical, 0.0) if meaning.cosine is None else (0.0, meaning.evidence)
        return lexical, meaning.evidence * meaning.trust

    def _age(self, candidate: Candidate[Held]) -> float:
        decay, now = self._criteria.decay, self._criteria.now
        if decay is None or now is None:
            return 1.0
        return age_factor(candidate.updated_at, decay, now)

    def _beside(
        self, slot: int, words: WordParts | None, meaning: MeaningParts | None
    ) -> tuple[str, ...]:
        lent = words is not None and words.neighbours > 0
        if lent or (meaning is not None and meaning.lent > 0):
            return tuple(self._shelf.beside(slot))
        return ()
