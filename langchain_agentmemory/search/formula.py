"""The shape of the lexical score, and what makes a score of evidence."""

from collections.abc import Iterable
from itertools import repeat
from typing import Final, Literal, NamedTuple

SCORE_ROOT: Final = 1 / 3
"""The exponent that makes a score of evidence: 1/8 is the boundary, 1/2 as a score."""


class Formula(NamedTuple):
    """How the parts of a lexical score are weighed. All results lie in [0, 1].

    Attributes:
        coverage: Weight of the share of the query's tokens that matched.
        rarity: Weight of the same share, each token counted by its rarity.
        strength: Weight of BM25 as a share of its upper bound.
        strength_of: Whose upper bound: that of the `"matched"` tokens, or that of the
            whole `"query"`.
        phrase: Weight of the query's words standing in order in the document.
        phrase_in_topics: What a phrase in the topics counts against one in the text.
        saturation: BM25's k1.
        length_share: BM25's b: how much a document's length matters.
        topics: What a match in the topics counts against one in the text.
        floor: The least value of the denominators of coverage and rarity. With 1, a
            match in a tiny corpus, where nothing is rare, cannot look rare.
        substring: The score of a document that no token matched but that contains
            the query's text.
        substring_in_topics: The same for its topics.
        neighbourhood: What the words of a document and its neighbours together weigh
            against its own, where it has neighbours. 0 looks at no neighbours.
        labelled: How much more a document counts whose topics, participants or
            location hold a word of the query.
    """

    coverage: float
    rarity: float
    strength: float
    strength_of: Literal["matched", "query"]
    phrase: float
    phrase_in_topics: float
    saturation: float
    length_share: float
    topics: float
    floor: float
    substring: float
    substring_in_topics: float
    neighbourhood: float = 0.0
    labelled: float = 0.0


REFERENCE_FORMULA: Final = Formula(
    coverage=0.40,
    rarity=0.25,
    strength=0.25,
    strength_of="matched",
    phrase=0.10,
    phrase_in_topics=0.8,
    saturation=1.2,
    length_share=0.75,
    topics=0.65,
    floor=1.0,
    substring=0.35,
    substring_in_topics=0.2275,
)
"""The constants of the reference score."""

DEFAULT_FORMULA: Final = Formula(
    coverage=0.15,
    rarity=0.20,
    strength=0.55,
    strength_of="query",
    phrase=0.10,
    phrase_in_topics=0.8,
    saturation=1.2,
    length_share=0.4,
    topics=0.65,
    floor=0.0,
    substring=0.35,
    substring_in_topics=0.2275,
    neighbourhood=2.0,
    labelled=0.4,
)
"""The constants of the default score.

Chosen on the LoCoMo development half: BM25 against the bound of the whole query ranked
better than against that of the matched tokens, and a document's length should matter
less than usual, as memories are short (recall@10 63.3, against 61.6 for the same tokens
under the reference's constants). Without a floor, a full match scores high in a small
corpus too, so that a threshold means much the same in all.

Neighbours: 63.5 became 73.5; with the bonus for a participant whom the question names
(the speaker of a turn) 76.
"""


def scores_of(evidence: Iterable[float]) -> list[float]:
    """Return the scores of evidence, all of it in [0, 1]; see `score_of`."""
    return list(map(pow, evidence, repeat(SCORE_ROOT)))


def score_of(evidence: float) -> float:
    """Return the score of some evidence, both in [0, 1]."""
    return float(min(max(evidence, 0.0), 1.0) ** SCORE_ROOT)
