"""Ours with one ingredient taken out or changed: what does each of them earn?

To measure a change, add it to `ABLATIONS`. `ablating` measures it next to today's
ranking, over the same questions.
"""

import re
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from langchain_core.embeddings import Embeddings

from benchmarks.retrieval.changing import Change
from benchmarks.retrieval.engines import Engine, Open, Ours
from benchmarks.retrieval.rank_fusion import by_ranks, by_scaling
from langchain_agentmemory import MemoryStore
from langchain_agentmemory.search import (
    chunks,
    english,
    fusion,
    identifiers,
    matches,
    settling,
    standard,
)
from langchain_agentmemory.search.calibration import Calibration
from langchain_agentmemory.search.formula import DEFAULT_FORMULA
from langchain_agentmemory.search.places import Places
from langchain_agentmemory.search.scripts import HAN, LazyPattern
from langchain_agentmemory.search.segment import Segmenter, raw_runs
from langchain_agentmemory.search.standard import DefaultTokenizer
from langchain_agentmemory.search.statistics import Statistics
from langchain_agentmemory.service import halves
from langchain_agentmemory.service.settled_scores import Settler

SETS: Final = ("locomo", "longmemeval", "longmemeval-past", "madial-zh", "ours")
"""What ablations are measured on, if they do not say otherwise."""


@dataclass(frozen=True)
class Ablation:
    """A change to ours.

    Attributes:
        group: What the ingredient belongs to.
        name: The ingredient, as today's ranking has it.
        changes: What is replaced.
        modes: The modes that it concerns.
        kinds: Types of questions of our own set that the ingredient is for.
        sets: The sets that it is measured on: where it can change anything.
        thorough: Whether to measure it with every embedder, and on pairs of texts at
            the threshold.
        stored: Whether it changes what is stored with a memory.
        open: Makes an empty engine, if not as usual.
    """

    group: str
    name: str
    changes: tuple[Change, ...] = ()
    modes: tuple[str, ...] = ("lexical", "hybrid")
    kinds: tuple[str, ...] = ()
    sets: tuple[str, ...] = SETS
    thorough: bool = False
    stored: bool = False
    open: Open | None = None


_NOTHING: Final = re.compile("((?!))")
_FACTS: Final = (*SETS, "locomo-facts")
_CHINESE: Final = ("madial-zh", "ours")
_VERSIONS: Final = ("longmemeval", "longmemeval-past", "ours")
_hybrid: Final = partial(Ablation, modes=("hybrid",))
_stored: Final = partial(Ablation, stored=True)
_grams = standard._grams  # noqa: SLF001 - here and below: what has no public name
_emphasis = standard._emphasis  # noqa: SLF001
_document = DefaultTokenizer.document


def _formula(**parts: float | str) -> tuple[Change, ...]:
    return (
        Change(standard, "DEFAULT_FORMULA", DEFAULT_FORMULA._replace(**parts)),  # type: ignore[arg-type]
    )


def _without(part: str) -> tuple[Change, ...]:
    """Give the weight of a part of the lexical score to the others."""
    names = ("coverage", "rarity", "strength", "phrase")
    left = 1 - getattr(DEFAULT_FORMULA, part)
    shares = {name: getattr(DEFAULT_FORMULA, name) / left for name in names}
    return _formula(**{**shares, part: 0.0})


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


def _same(text: str) -> str:
    return text


def _bases(*lists: str) -> dict[str, str]:
    """Return what words are brought to, from these lists of `english` only."""
    given = (getattr(english, name) for name in lists)
    entries = (entry.split() for text in given for entry in text.split(","))
    return {form: forms[0] for forms in entries for form in forms[1:]}


def _singles(text: str) -> dict[str, None]:
    return {gram: None for gram in _grams(text) if len(gram) == 1}


def _bigrams(text: str) -> dict[str, None]:
    return {gram: None for gram in _grams(text) if len(gram) > 1 or not HAN.match(gram)}


def _barely_long(length: float) -> float:
    """Tell long queries, which have no time words, from others, and no more."""
    return min(_emphasis(length), 1 + 1e-9)


def _neighbours(shares: tuple[float, float], lent: tuple[float, float]) -> Any:
    return (
        Change(matches, "NEIGHBOUR_SHARES", shares),
        Change(halves, "LENT_SHARES", lent),
    )


def _uncalibrated(backend: Any, index: Any, **options: Any) -> MemoryStore:
    given = index and {"embed": index, "calibrate": False}
    return MemoryStore(backend, index=given, **options)


def _open_uncalibrated(embedder: Embeddings | None) -> Engine:
    return Ours(embedder, _uncalibrated)


_NO_NEIGHBOUR_WORDS: Final = _formula(neighbourhood=0.0)
_NO_LENDING: Final = Change(halves, "LENT_SHARES", (0.0, 0.0))

ABLATIONS: Final[tuple[Ablation, ...]] = (
    _stored(
        "words",
        "stems",
        (Change(chunks, "stem", _same), Change(identifiers, "stem", _same)),
    ),
    _stored(
        "words", "irregular forms", (Change(english, "_BASES", _bases("_DERIVED")),)
    ),
    _stored(
        "words",
        "derived families",
        (
            Change(
                english,
                "_BASES",
                _bases("_IRREGULAR_VERBS", "_IRREGULAR_NOUNS", "_IRREGULAR_ADJECTIVES"),
            ),
        ),
    ),
    Ablation(
        "words",
        "question and function words dropped",
        (
            Change(chunks, "ENGLISH", frozenset()),
            Change(standard, "ENGLISH", frozenset()),
            Change(standard, "CHINESE", frozenset()),
            Change(standard, "_FUNCTION_WORDS", LazyPattern(r"(?!)")),
            Change(standard, "_HOW_MUCH", _NOTHING),
        ),
    ),
    Ablation(
        "words",
        'the "long" of "how long" dropped',
        (Change(standard, "_HOW_MUCH", _NOTHING),),
    ),
    _stored(
        "words",
        "width and accents folded",
        (
            Change(
                standard, "unicodedata", SimpleNamespace(normalize=lambda _, text: text)
            ),
            Change(chunks, "_folded", _same),
        ),
        kinds=("width",),
    ),
    _stored(
        "Chinese words",
        "dictionary words",
        (Change(Segmenter, "words", lambda _, text: raw_runs(text)),),
        sets=_CHINESE,
    ),
    _stored(
        "Chinese words",
        "bigrams",
        (Change(standard, "_grams", _singles),),
        sets=_CHINESE,
    ),
    _stored(
        "Chinese words",
        "single characters",
        (Change(standard, "_grams", _bigrams),),
        sets=_CHINESE,
    ),
    _stored(
        "Chinese words",
        "bigrams and single characters",
        (Change(standard, "_grams", lambda _: {}),),
        sets=_CHINESE,
    ),
    Ablation(
        "Chinese words",
        "bigrams count less than words",
        (Change(standard, "_GRAM_WEIGHT", 1.0),),
        sets=_CHINESE,
    ),
    _stored(
        "Chinese words",
        "traditional characters simplified",
        (Change(standard, "simplified", _same),),
        kinds=("traditional_simplified",),
        sets=_CHINESE,
    ),
    _stored(
        "Chinese words",
        "numbers and letters beside Han",
        (Change(standard, "_mixed_spans", lambda _: iter(())),),
        kinds=("mixed_script", "number"),
        sets=_CHINESE,
    ),
    _stored(
        "identifiers",
        "wholes and parts",
        (
            Change(chunks, "identifier_tokens", lambda *_: {}),
            Change(chunks, "is_signed_word", lambda _: False),
            Change(standard, "_phone_numbers", lambda *_: {}),
            Change(standard, "chinese_dates", lambda _: {}),
        ),
        kinds=("identifier", "number"),
    ),
    Ablation(
        "identifiers",
        "wholes weigh more than words",
        (
            Change(identifiers, "WHOLE_WEIGHT", 1.0),
            Change(chunks, "WHOLE_WEIGHT", 1.0),
            Change(chunks, "_NAME_WEIGHT", 1.0),
        ),
        kinds=("identifier", "number"),
    ),
    _stored(
        "fields",
        "topics, participants, location",
        (
            Change(
                DefaultTokenizer,
                "document",
                lambda tokenizer, content, _: _document(tokenizer, content, ""),
            ),
        ),
        kinds=("name",),
    ),
    Ablation("fields", "a match there counts less", _formula(topics=1.0)),
    Ablation(
        "fields", "bonus for a match there", _formula(labelled=0.0), kinds=("name",)
    ),
    Ablation("formula", "coverage", _without("coverage")),
    Ablation("formula", "rarity", _without("rarity")),
    Ablation(
        "formula",
        "rarity, also in BM25",
        (
            Change(
                Statistics, "rarities", lambda counts: [1.0] * len(counts.frequencies)
            ),
        ),
    ),
    Ablation("formula", "BM25", _without("strength")),
    Ablation(
        "formula",
        "BM25's bound is that of the whole query",
        _formula(strength_of="matched"),
    ),
    Ablation("formula", "phrase", _without("phrase"), kinds=("keyword", "name")),
    Ablation("formula", "length of documents", _formula(length_share=0.0)),
    Ablation(
        "formula", "length counts less than usual (0.75)", _formula(length_share=0.75)
    ),
    Ablation(
        "formula",
        "emphasis of long queries",
        (Change(standard, "_emphasis", _barely_long),),
    ),
    Ablation(
        "conversation",
        "neighbours",
        (*_NO_NEIGHBOUR_WORDS, _NO_LENDING),
        kinds=("neighbour",),
        sets=_FACTS,
    ),
    Ablation(
        "conversation",
        "second neighbours",
        _neighbours((0.7, 0.0), (0.5, 0.0)),
        kinds=("neighbour",),
    ),
    _hybrid(
        "conversation", "neighbours in words", _NO_NEIGHBOUR_WORDS, kinds=("neighbour",)
    ),
    _hybrid(
        "conversation", "neighbours in meaning", (_NO_LENDING,), kinds=("neighbour",)
    ),
    Ablation(
        "conversation",
        "one item stands for a place",
        (Change(Places, "standing_out", lambda _, values: np.ones_like(values)),),
        sets=_FACTS,
    ),
    _hybrid(
        "fusion", "evidence is added, not reciprocal ranks", by_ranks(), thorough=True
    ),
    _hybrid(
        "fusion",
        "evidence is added, not halves scaled to 1",
        by_scaling(),
        thorough=True,
    ),
    _hybrid("fusion", "calibration", open=_open_uncalibrated, thorough=True),
    _hybrid(
        "fusion",
        "what all cosines share counts for nothing",
        (Change(Calibration, "stretch", lambda *_, **__: 1.0),),
        sets=_FACTS,
        thorough=True,
    ),
    _hybrid(
        "fusion",
        "reliability of the embedder",
        (Change(Calibration, "reliability", lambda *_, **__: 1.0),),
        thorough=True,
    ),
    _hybrid(
        "fusion",
        "identifiers trust the words",
        (Change(fusion, "_BESIDE_IDENTIFIERS", 1.0),),
        kinds=("identifier", "number"),
        thorough=True,
    ),
    Ablation(
        "versions and time",
        "versions recognised",
        (Change(settling, "_deal", lambda *_: []),),
        kinds=("update",),
        sets=_VERSIONS,
    ),
    Ablation(
        "versions and time",
        "links followed",
        (Change(settling, "_follow_links", _nothing),),
        kinds=("update",),
        sets=_VERSIONS,
    ),
    Ablation(
        "versions and time",
        "questions for events told apart",
        (Change(settling, "asks_for_event", lambda _: False),),
        kinds=("update",),
        sets=_VERSIONS,
    ),
    Ablation(
        "versions and time",
        "time words",
        (Change(Settler, "_time_named", _nothing),),
        kinds=("temporal",),
    ),
)
