"""Why a search found a memory: every number that its score was made of.

The numbers add up. With W = `WordParts.neighbour_weight`:

    own      = coverage + rarity + strength
    mixed    = (own + W · neighbours) / (1 + W)
    lexical  = min(1, (mixed + phrase) · emphasis) + substring
    meaning  = min(1, own + lent)
    fused    = min(1, from_words + from_meaning)
    labelled = min(1, fused · labels)
    evidence = min(1, labelled · time.factor), or what its version was given,
               or what its time is worth where nothing else is asked for
    score    = evidence ** exponent · age

`from_words` is the lexical score and `from_meaning` is `meaning · trust`, as far as the
mode looks at them (`ranking="reference"` scales both). All of it is plain numbers: no
module of a ranking is needed to read an explanation.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

Scale = Literal["han", "other", "across", "pool"]
"""What a cosine was read against: the levels of Chinese, of other languages, of one
with the other; or the cosines of this search, where the embedder was not measured."""


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word (token) of the query.

    Attributes:
        word: The token, as it is looked for: stemmed, simplified, lower-cased.
        weight: What it counts: 1 for a word, less for a part, 3 for an identifier.
        rarity: How rare it is among the user's memories (inverse document frequency),
            `None` if words were not looked at.
        matched: Whether the memory holds it.
        in_labels: Whether its topics, participants or location do.
        typed: The word that it is the stem of, as it stands in the query in lower case;
            else the token.
    """

    word: str
    weight: float
    rarity: float | None
    matched: bool
    in_labels: bool
    typed: str


@dataclass(frozen=True, slots=True)
class WordParts:
    """The lexical score of a memory, part by part.

    Attributes:
        coverage: For the share of the query's words that it holds.
        rarity: For the same share, each word counted by its rarity.
        strength: For how often it holds them, and how much else (BM25).
        phrase: For words in the query's order.
        substring: For the query's text as it stands, where no word matched.
        neighbours: What its words and those around it in the conversation, read as one
            text, are worth; 0 without a place in a conversation.
        neighbour_weight: What that counts against its own words.
        emphasis: Factor for long queries, which no memory matches as a whole.
        score: The lexical score, in [0, 1].
    """

    coverage: float
    rarity: float
    strength: float
    phrase: float
    substring: float
    neighbours: float
    neighbour_weight: float
    emphasis: float
    score: float


@dataclass(frozen=True, slots=True)
class MeaningParts:
    """What the cosine of a memory says.

    Attributes:
        cosine: Similarity of query and memory, `None` if it has no vector.
        excess: How much of it all memories have in common; it is taken off.
        scale: What it was read against, `None` if it counts as it is.
        mean: Cosine of unrelated texts on that scale.
        deviation: Their standard deviation.
        boundary: The cosine that parts unrelated from related texts.
        own: Evidence of its own cosine: 0 for the unrelated, 1/8 at the boundary.
        lent: Evidence that its neighbours in the conversation lend.
        evidence: Both together, in [0, 1].
        trust: How far this embedder can be relied on beside words, in [0, 1].
    """

    cosine: float | None
    excess: float
    scale: Scale | None
    mean: float | None
    deviation: float | None
    boundary: float | None
    own: float
    lent: float
    evidence: float
    trust: float


@dataclass(frozen=True, slots=True)
class TimePart:
    """What the time words of the query did.

    Attributes:
        start: Beginning of the time that the query names, ISO 8601, `None` if open.
        end: End of it.
        when: When the memory happened, else when it was said, `None` for the undated.
        factor: What evidence was multiplied by, from 1/1.3 to 1.3.
        found_by: What places the memory in that time, where the query asks for nothing
            else: its `"date"`, or the time that its `"text"` names. Then its evidence
            is what that is worth, whatever words and meaning say. Else `None`.
    """

    start: str | None
    end: str | None
    when: str | None
    factor: float
    found_by: Literal["date", "text"] | None = None


@dataclass(frozen=True, slots=True)
class VersionPart:
    """What being a version of a statement did.

    Attributes:
        first: Which version the query wants first.
        others: Ids of the other versions among the results.
        linked: Whether a `supersedes` link says so; else it was recognised by words.
        before: Evidence before.
        after: Evidence after: of versions, the wanted one has the best that they have.
        over: Whether the memory says itself that it is past, and the query asks for
            what holds now.
    """

    first: Literal["newest", "oldest"]
    others: tuple[str, ...]
    linked: bool
    before: float
    after: float
    over: bool = False


_NOTHING: Final = 1e-7
"""Shares below it are rounding: scores are float32."""
_DERIVED: Final = (
    "lexical",
    "similarity",
    "query_words",
    "matched_words",
    "missing_words",
)


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Mapping[str, Any]):
    """Why a search found a memory.

    It is also a read-only mapping of plain values: `explanation["lexical"]`. The keys
    are those of `as_dict`.

    Attributes:
        query: What was looked for.
        mode: What was ranked by: `"lexical"`, `"vector"` or `"hybrid"`.
        terms: The words of the query, question and function words left out.
        words: The half of words, `None` if words were not looked at.
        meaning: The half of meaning, `None` if meaning was not looked at.
        from_words: What words contribute to the evidence.
        from_meaning: What meaning contributes.
        labels: Factor for a word of the query among topics, participants or location.
        time: What time words did, `None` if the query names no time.
        version: What being a version did, `None` if it is none.
        neighbours: Ids of the memories around it that could add something.
        evidence: What it was ranked by, in [0, 1].
        exponent: The score is evidence to this power: 1/3, or 1 in the reference.
        age: Factor of its age, by `SearchOptions.decay`.
        score: The score that it was ranked by.
        reranker: What a reranker gave, `None` without one.
    """

    query: str
    mode: Literal["lexical", "vector", "hybrid"]
    terms: tuple[QueryWord, ...]
    words: WordParts | None
    meaning: MeaningParts | None
    from_words: float
    from_meaning: float
    labels: float
    time: TimePart | None
    version: VersionPart | None
    neighbours: tuple[str, ...]
    evidence: float
    exponent: float
    age: float
    score: float
    reranker: float | None = None

    @property
    def lexical(self) -> float | None:
        """The lexical score, `None` if words were not looked at."""
        return None if self.words is None else self.words.score

    @property
    def similarity(self) -> float | None:
        """The cosine, `None` if there is none."""
        return None if self.meaning is None else self.meaning.cosine

    @property
    def query_words(self) -> list[str]:
        """The words that were looked for."""
        return [term.word for term in self.terms]

    @property
    def matched_words(self) -> list[str]:
        """Those that the memory holds."""
        return [term.word for term in self.terms if term.matched]

    @property
    def missing_words(self) -> list[str]:
        """Those that it does not hold."""
        return [term.word for term in self.terms if not term.matched]

    @property
    def fused(self) -> float:
        """The evidence of both halves together, in [0, 1]."""
        return min(self.from_words + self.from_meaning, 1.0)

    def shares(self) -> dict[str, float]:
        """Return what each part adds to the evidence, parts that add nothing left out.

        Returns:
            Numbers whose sum is `evidence`: `coverage`, `rarity`, `strength`,
            `neighbours`, `phrase`, `substring`, `cosine`, `lent`, `labels`; and, of
            either sign, `time` and `version`. `cut` is negative: what is above 1, or
            above what was found by its time alone.
        """
        parts = {**self._word_shares(), **self._meaning_shares()}
        fused = self.fused
        labelled = min(fused * self.labels, 1.0)
        timed = labelled * (1.0 if self.time is None else self.time.factor)
        if self.time is not None and self.time.found_by is not None:
            version = self.version
            timed = self.evidence if version is None else version.before
        parts["labels"] = labelled - fused
        parts["time"] = timed - labelled
        if self.version is not None:
            parts["version"] = self.version.after - self.version.before
        parts["cut"] = self.evidence - sum(parts.values())
        return {name: share for name, share in parts.items() if abs(share) > _NOTHING}

    def _word_shares(self) -> dict[str, float]:
        words = self.words
        if words is None or not words.score or not self.from_words:
            return {}
        scale = self.from_words / words.score
        each = scale * words.emphasis
        whole = 1 + words.neighbour_weight
        near = words.neighbour_weight * words.neighbours
        return {
            "coverage": each * words.coverage / whole,
            "rarity": each * words.rarity / whole,
            "strength": each * words.strength / whole,
            "neighbours": each * near / whole,
            "phrase": each * words.phrase,
            "substring": scale * words.substring,
        }

    def _meaning_shares(self) -> dict[str, float]:
        meaning = self.meaning
        if meaning is None or not meaning.evidence or not self.from_meaning:
            return {}
        scale = self.from_meaning / meaning.evidence
        return {"cosine": scale * meaning.own, "lent": scale * meaning.lent}

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values, ready for `json.dumps`.

        Returns:
            The attributes, parts as dictionaries; and `lexical`, `similarity`,
            `query_words`, `matched_words`, `missing_words`, `shares`.
        """
        given: dict[str, Any] = {name: getattr(self, name) for name in _DERIVED}
        for name, value in asdict(self).items():
            given[name] = list(value) if isinstance(value, tuple) else value
        if given["version"] is not None:
            given["version"]["others"] = list(given["version"]["others"])
        return {**given, "shares": self.shares()}

    def __getitem__(self, key: str) -> Any:
        """Return a value of `as_dict`."""
        return self.as_dict()[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys of `as_dict`."""
        return iter(self.as_dict())

    def __len__(self) -> int:
        """Return how many keys there are."""
        return len(self.as_dict())

    def __repr__(self) -> str:
        """Return it in a few lines."""
        from langchain_agentmemory.explanation_views import as_text  # noqa: PLC0415

        return as_text(self)

    def in_brief(self) -> str:
        """Return what matched and what weighed how much, as HTML for a list."""
        from langchain_agentmemory.explanation_views import in_brief  # noqa: PLC0415

        return in_brief(self)

    def _repr_html_(self) -> str:
        from langchain_agentmemory.explanation_views import as_html  # noqa: PLC0415

        return as_html(self)
