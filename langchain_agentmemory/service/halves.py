"""The two halves of a search before they are one: what words and what cosines say."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langchain_agentmemory.search.calibration import BACKGROUND, Calibration
from langchain_agentmemory.search.fusion import vector_scores
from langchain_agentmemory.search.index import WordScores
from langchain_agentmemory.search.place import LENT_SHARES
from langchain_agentmemory.search.scripts import has_han
from langchain_agentmemory.search.shelf import Shelf
from langchain_agentmemory.search.tokenize import Query
from langchain_agentmemory.service.shelves import Held

Scores = NDArray[np.float32]
Mode = Literal["lexical", "vector", "hybrid"]


class Request(NamedTuple):
    """A search, resolved: what to score by.

    Attributes:
        mode: What to rank by.
        words: The query as the scorer of words sees it.
        vector: The query's unit vector, `None` to go without.
        calibration: What cosines of its embedder mean, `None` if it was not measured.
    """

    mode: Mode
    words: Query
    vector: Scores | None
    calibration: Calibration | None = None


class Meaning(NamedTuple):
    """What cosines say, by slot.

    Attributes:
        own: Evidence of each cosine.
        lent: What neighbours lend.
        evidence: Both together, in [0, 1].
        reliability: How far it can be relied on, for all or for each.
        telling: Cosines without what all of them have in common.
        calibration: What they were read against, `None` if they count as they are.
        han_query: Whether the query holds Han characters.
    """

    own: Scores
    lent: Scores
    evidence: Scores
    reliability: float | Scores
    telling: Scores
    calibration: Calibration | None
    han_query: bool


class Halves(NamedTuple):
    """By slot: the evidence of words, cosines, theirs, and what both are together."""

    words: WordScores | None
    similarity: Scores | None
    meaning: Meaning | None
    total: Scores


def plain_meaning(similarity: Scores) -> Meaning:
    """Return cosines as they are, cut to [0, 1]."""
    own = vector_scores(similarity)
    return Meaning(own, _nothing(own), own, 1.0, similarity, None, han_query=False)


def meaning_of(shelf: Shelf[Held], request: Request, similarity: Scores) -> Meaning:
    """Return the evidence of cosines, and how far it can be relied on.

    Args:
        shelf: The index.
        request: What is looked for.
        similarity: Cosines by slot, `-inf` where there is no vector.
    """
    calibration = request.calibration or Calibration.from_pool(similarity)
    han_query = has_han(request.words.text)
    han = shelf.han()
    telling = calibration.without_common(similarity, han_query=han_query)
    own = calibration.evidence(telling, han_query=han_query, han_documents=han)
    lent, evidence = _nothing(own), own
    if len(shelf.places):
        lendable = np.maximum(own - np.float32(BACKGROUND), 0)
        lent = shelf.places.lent(lendable, LENT_SHARES)
        evidence = own + lent
        np.minimum(evidence, 1, out=evidence)
    reliability = calibration.reliability(han_query=han_query, han_documents=han)
    return Meaning(own, lent, evidence, reliability, telling, calibration, han_query)


def _nothing(like: Scores) -> Scores:
    """Return zeros of the same shape that take no memory."""
    return np.broadcast_to(np.float32(0), like.shape)
