"""The parts of an explanation add up to the score, in every way to search."""

import copy
import json
import math
import random
import subprocess
import sys
from datetime import timedelta

import numpy as np
import pytest

from langchain_agentmemory import Explanation, Source
from langchain_agentmemory.search.calibration import BOUNDARY
from langchain_agentmemory.service import explaining

LONG = (
    "Ann told Bo about the green tea, the red boats, the river, the marathon, the new "
    "house, the garden, the two dogs, the trip to Kyoto and the long winter evenings "
    "that they spent in the kitchen, talking about music, films and the neighbours."
)
QUERIES = (
    "Where does Ann drink green tea?",
    "green tea",
    "安妮喜歡喝綠茶嗎",
    "which service runs on go1.23?",
    "what did Bo do last May?",
    "how many kilometres a day does Ann run?",
    "how many kilometres a day did Ann use to run?",
    "food",
    "zebra quantum",
    LONG,
)
RELATIVE = 2e-5  # scores are float32, explanations float64


def embed(texts):
    """Return letters, and pairs of them, counted: alike for texts that look alike."""
    vectors = np.full((len(texts), 64), 0.1)
    for row, text in enumerate(texts):
        for place in range(len(text)):
            for part in (text[place], text[place : place + 2]):
                vectors[row, sum(map(ord, part)) % 64] += 1
    return vectors.tolist()


def fill(store):
    talk = (
        "Shall we meet at the tea house?",
        "Yes, the green one by the river",
        "安妮喜欢喝绿茶",
        "Good, they have boats there",
    )
    for position, text in enumerate(talk):
        source = Source("talk", position=position)
        store.add_memory("ann", text, source=source, participants=["Ann", "Bo"])
    fact = "Ann likes green tea"
    store.add_memory(
        "ann", fact, topics=["food"], source=Source("talk", position=2), location="Riga"
    )
    store.add_memory("ann", "The payment service runs on go1.23", topics=["work"])
    store.add_memory("ann", "The gateway still runs on go1.22")
    store.add_memory("ann", "Bo ran a marathon", event_time="2025-05-07")
    store.add_memory("ann", "Bo saw the marathon", event_time="2019-01")
    run = "Ann runs {} kilometres a day"
    store.add_memory("ann", run.format("five"), event_time="2023-01-01")
    store.add_memory("ann", run.format("eight"), event_time="2024-01-01")
    old = store.add_memory("ann", "Ann drank black tea with milk")
    store.add_memory("ann", "Ann takes oat drink in it", supersedes=[old.id])


def lexical_of(words):
    own = words.coverage + words.rarity + words.strength
    weight = words.neighbour_weight
    mixed = (own + weight * words.neighbours) / (1 + weight)
    return min((mixed + words.phrase) * words.emphasis, 1) + words.substring


def own_of(meaning):
    """Return the evidence of a cosine, by the formula of `Calibration.evidence`."""
    if meaning.cosine is None:
        return 0
    cosine = meaning.cosine - meaning.excess
    if meaning.scale is None:
        return min(max(cosine, 0), 1)
    least = meaning.mean - meaning.deviation
    slope = BOUNDARY / (meaning.boundary - least)
    reached = min(slope * (1 - least), 1)
    found = slope * (cosine - least)
    if meaning.boundary < 1:
        above = max(cosine - meaning.boundary, 0) / (1 - meaning.boundary)
        found += (1 - reached) * above**2
    return min(max(found, 0), 1)


def check(entry, evidence_of):
    """Recompute a score from the parts of its explanation."""
    why = entry.explanation
    assert isinstance(why, Explanation)
    about = {"rel": RELATIVE, "abs": 1e-6}
    if why.words is not None:
        assert why.words.score == pytest.approx(lexical_of(why.words), **about)
    if why.meaning is not None:
        meaning = why.meaning
        assert meaning.own == pytest.approx(own_of(meaning), **about)
        together = min(meaning.own + meaning.lent, 1)
        assert meaning.evidence == pytest.approx(together, **about)
    if why.mode == "lexical":
        assert (why.from_words, why.from_meaning) == (why.lexical, 0)
    elif why.exponent != 1 and why.mode == "hybrid":
        assert why.from_words == why.lexical
        trusted = why.meaning.evidence * why.meaning.trust
        assert why.from_meaning == pytest.approx(trusted)
    labelled = min(why.fused * why.labels, 1)
    timed = labelled * (1 if why.time is None else why.time.factor)
    evidence = timed
    if why.version is not None:
        assert why.version.before == pytest.approx(timed, **about)
        evidence = why.version.after
        assert why.version.others
        others = [evidence_of(other) for other in why.version.others]
        if not why.version.linked and None not in others:  # what one of them had
            had = [why.version.before, *others]
            assert any(math.isclose(evidence, one, rel_tol=1e-3) for one in had)
    assert why.evidence == pytest.approx(min(evidence, 1), **about)
    assert why.score == pytest.approx(why.evidence**why.exponent * why.age, rel=1e-5)
    assert entry.score == pytest.approx(why.score)
    assert sum(why.shares().values()) == pytest.approx(why.evidence, abs=1e-5)


def check_all(found):
    before = {
        entry.id: entry.explanation.version.before
        for entry in found
        if entry.explanation.version is not None
    }
    for entry in found:
        check(entry, before.get)
    return [entry.explanation for entry in found]


@pytest.mark.parametrize("ranking", ["default", "reference"])
@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
def test_the_parts_add_up(make_store, mode, ranking):
    store = make_store(index={"embed": embed, "dims": 64}, ranking=ranking)
    fill(store)
    seen = []
    for query in QUERIES:
        for more in ({}, {"decay": timedelta(days=1)}, {"versions": "current"}):
            found = store.search_memories(
                "ann", query, mode=mode, limit=None, explain=True, **more
            )
            plain = store.search_memories("ann", query, mode=mode, limit=None, **more)
            assert [e.id for e in plain] == [e.id for e in found]
            seen += check_all(found)
    assert {why.mode for why in seen} == {mode}
    if ranking == "reference":
        return
    assert any(why.time for why in seen)
    assert any(why.neighbours for why in seen)
    assert any(why.version and why.version.linked for why in seen)
    if mode != "vector":
        assert any(why.labels > 1 for why in seen)
        assert any(why.words.neighbours for why in seen)
        assert any(why.words.emphasis > 1 for why in seen)
        assert any(why.version and not why.version.linked for why in seen)
    if mode != "lexical":
        scales = {why.meaning.scale for why in seen}
        assert {"han", "other", "across"} <= scales
        assert any(why.meaning.lent for why in seen)
        assert any(why.meaning.excess for why in seen)


def test_what_has_no_vector_adds_up_too(make_store):
    fails = [False]

    def failing(texts):
        if fails[0]:
            raise ConnectionError
        return embed(texts)

    store = make_store(index={"embed": failing, "dims": 64})
    store.add_memory("ann", "green tea", source=Source("t", position=0))
    fails[0] = True
    store.add_memory("ann", "green boats", source=Source("t", position=1))
    fails[0] = False
    for mode in ("vector", "hybrid"):
        found = store.search_memories("ann", "green tea", mode=mode, explain=True)
        explained = check_all(found)
        assert len(explained) == 2
        assert sum(why.similarity is None for why in explained) == 1


def test_an_embedder_that_was_not_measured_is_read_against_the_pool(make_store):
    def picky(texts):
        if any("probe" in text or len(texts) > 5 for text in texts):
            raise ConnectionError
        return embed(texts)

    store = make_store(index={"embed": picky, "dims": 64})
    store.add_memory("ann", "green tea")
    store.add_memory("ann", "red boats")
    found = store.search_memories("ann", "green tea", explain=True)
    assert {why.meaning.scale for why in check_all(found)} == {"pool"}


def test_random_stores_add_up(make_store):
    chance = random.Random(7)
    words = "tea green boat river C++ go1.23 foo_bar 绿茶 喜欢 花生 北京 window".split()
    store = make_store(index={"embed": embed, "dims": 64})
    for number in range(60):
        store.add_memory(
            "ann",
            " ".join(chance.choices(words, k=chance.randint(1, 6))) + f" {number}",
            topics=chance.sample(words, chance.randint(0, 2)),
            event_time=chance.choice((None, "2024-05-01", "2023")),
            source=chance.choice((None, Source("t", position=chance.randint(0, 30)))),
        )
    for _ in range(20):
        query = " ".join(chance.sample(words, 3))
        mode = chance.choice(("lexical", "vector", "hybrid"))
        check_all(store.search_memories("ann", query, mode=mode, explain=True))


def test_a_text_that_stands_there_as_it_is_adds_up_too(make_store):
    store = make_store()
    store.add_memory("ann", "see ※※ there", source=Source("t", position=0))
    store.add_memory("ann", "see here", topics=["※※"])
    explained = check_all(store.search_memories("ann", "※※", explain=True))
    assert len(explained) == 2
    assert all(why.words.substring for why in explained)
    assert all(why.shares().keys() == {"substring"} for why in explained)


def test_what_holds_stands_for_what_it_replaced_in_the_reference(make_store):
    store = make_store(ranking="reference")
    old = store.add_memory("ann", "Ann drinks black tea with milk")
    store.add_memory("ann", "Ann drinks nothing at all", supersedes=[old.id])
    (best,) = store.search_memories(
        "ann", "black tea with milk?", versions="current", explain=True
    )
    (why,) = check_all([best])
    assert why.version.linked
    assert why.version.others == (old.id,)
    assert why.version.after > why.version.before


def test_the_first_searches_explain_without_numpy():
    code = (
        "import sys\n"
        "from langchain_agentmemory import MemoryStore\n"
        "store = MemoryStore()\n"
        "store.add_memory('ann', 'Ann runs five km a day', event_time='2023-01-01')\n"
        "store.add_memory('ann', 'Ann runs eight km a day', event_time='2024-01-01')\n"
        "store.add_memory('ann', '安妮喜欢喝绿茶', topics=['饮料'])\n"
        "seen = []\n"
        "for query in ('how many km a day does Ann run?', '她喜歡喝綠茶嗎', '饮料'):\n"
        "    for entry in store.search_memories('ann', query, explain=True):\n"
        "        why = entry.explanation; words = why.words; seen.append(why)\n"
        "        own = words.coverage + words.rarity + words.strength + words.phrase\n"
        "        assert abs(own * words.emphasis - words.score) < 1e-6, why\n"
        "        labelled = min(words.score * why.labels, 1)\n"
        "        version = why.version\n"
        "        assert abs((version.after if version else labelled)\n"
        "                   - why.evidence) < 1e-6\n"
        "        assert abs(why.evidence ** (1 / 3) - entry.score) < 1e-6\n"
        "        assert why['lexical'] == words.score and repr(why)\n"
        "assert any(w.version for w in seen) and any(w.labels > 1 for w in seen)\n"
        "assert 'numpy' not in sys.modules\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_nothing_is_looked_up_without_being_asked(make_store, monkeypatch):
    store = make_store(index={"embed": embed, "dims": 64})
    fill(store)

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(explaining, "Explainer", refuse)
    found = store.search_memories("ann", "green tea")
    assert found
    assert all(entry.explanation is None for entry in found)
    with pytest.raises(AssertionError):
        store.search_memories("ann", "green tea", explain=True)


def test_it_is_a_mapping_of_json_values_and_cannot_be_changed(make_store):
    store = make_store(index={"embed": embed, "dims": 64})
    fill(store)
    why = store.search_memories("ann", "green tea of 1999?", explain=True)[
        0
    ].explanation
    assert dict(why) == why.as_dict() == json.loads(json.dumps(why.as_dict()))
    assert why["similarity"] == why.get("similarity") == why.meaning.cosine
    assert why["words"]["coverage"] == why.words.coverage
    assert {**why}["query_words"] == [*why.matched_words, *why.missing_words]
    assert "tea" in why["matched_words"]
    assert "1999" in why["missing_words"]
    assert "absent" not in why
    with pytest.raises(AttributeError):
        why.score = 1.0
    assert copy.deepcopy(why) == why
    assert hash(copy.deepcopy(why)) == hash(why)


def test_neighbours_are_named(make_store):
    store = make_store()
    fill(store)
    found = store.search_memories("ann", "tea by the river", explain=True)
    talk = [e for e in found if e.source and e.source.thread_id == "talk"]
    texts = {entry.id: entry.memory for entry in store.read_memories("ann")}
    second = next(e for e in talk if e.source.position == 1)
    around = [texts[key] for key in second.explanation.neighbours]
    assert around[0] == "Shall we meet at the tea house?"
    assert set(around[1:3]) == {"安妮喜欢喝绿茶", "Ann likes green tea"}
    assert around[3] == "Good, they have boats there"
    alone = store.search_memories("ann", "marathon", explain=True)[0]
    assert alone.explanation.neighbours == ()


def test_people_can_read_it(make_store):
    store = make_store(index={"embed": embed, "dims": 64})
    fill(store)
    found = store.search_memories("ann", "did Bo run <last> May 2025?", explain=True)
    text = repr(found[0].explanation)
    assert 4 <= len(text.splitlines()) <= 8
    assert text.startswith(f"{found[0].score:.3f}  hybrid")
    assert "cosine" in text
    assert "asked for 2025-05-01 to 2025-06-01" in text
    page = found[0].explanation._repr_html_()
    assert "&lt;last&gt;" in page
    assert "<last>" not in page
    assert "width:" in page
    table = found._repr_html_()
    assert ">why</th>" in table
    assert ">why</th>" not in store.search_memories("ann", "Bo")._repr_html_()


@pytest.mark.parametrize("ranking", ["default", "reference"])
@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
def test_an_explanation_can_be_written_as_json(make_store, mode, ranking):
    def reranker(_, entries):
        return [np.float32(len(entry.memory)) for entry in entries]

    index = {"embed": embed, "dims": 64}
    store = make_store(index=index, ranking=ranking, reranker=reranker)
    fill(store)
    for query in (*QUERIES, "What happened in May 2025?"):
        for entry in store.search_memories("ann", query, mode=mode, explain=True):
            given = entry.explanation.as_dict()
            assert json.loads(json.dumps(given)) == given


def test_words_are_shown_as_they_were_typed(make_store):
    store = make_store()
    store.add_memory("ann", "She studied physics")
    found = store.search_memories("ann", "Which Physics services?", explain=True)[0]
    why = found.explanation
    assert [(term.word, term.typed) for term in why.terms] == [
        ("physic", "physics"),
        ("servic", "services"),
    ]
    assert "found physics; missing services" in str(why)
    assert "physics" in why._repr_html_()
    assert "physic<" not in why._repr_html_()
