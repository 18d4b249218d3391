"""The shelf gives what a plain computation over the living documents gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.search import index, postings
from langchain_agentmemory.search.lexical import plain_scores, reference_scores
from langchain_agentmemory.search.ranking import get_ranking
from langchain_agentmemory.search.shelf import UNINDEXED, Shelf, top
from langchain_agentmemory.search.tokenize import word_hash
from langchain_agentmemory.search.vectors import VectorColumn, Vectors

Texts = tuple[str, str]

_WORDS = [
    "red",
    "boat",
    "boats",
    "the",
    "to",
    "be",
    "C++",
    "user_id",
    "été",
    "Ω",
    "一",
    "茶",
    "喝茶",
    "天气",
    "我们的家在海边",
    "羽毛球",
    "한국어",
    "コーヒー",
    "!",
    "🎉",
]
_texts = st.lists(st.sampled_from(_WORDS), max_size=6).flatmap(
    lambda words: st.sampled_from([" ", ""]).map(lambda glue: glue.join(words))
)
_documents = st.tuples(_texts, st.one_of(st.just(""), _texts))
_steps = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.one_of(st.none(), _documents)),
    max_size=24,
)


@pytest.fixture(params=["reference", "default"])
def ranking_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True, params=["small blocks", "full blocks"])
def block_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test with blocks of 4 too, so that sealing and emptying happen."""
    if request.param == "small blocks":
        for module in (index, postings):
            monkeypatch.setattr(module, "BLOCK_SIZE", 4)
        monkeypatch.setattr(index, "_BITS", 2)
        monkeypatch.setattr(postings, "_SCANNED_FOR", 2)
        monkeypatch.setattr(postings, "_COMPARED", 16)


def make_shelf(name: str = "default", dims: int | None = None) -> Shelf[Texts]:
    return Shelf(get_ranking(name).tokenizer, dims, text=lambda texts: texts)


def run_steps(shelf: Shelf[Texts], steps: list[tuple[str, Texts | None]]) -> dict:
    model: dict[str, Texts] = {}
    for key, document in steps:
        model.pop(key, None)
        if document is None:
            shelf.remove(key)
        else:
            model[key] = document
            shelf.upsert(key, document, None)
    return model


def scores_by_key(shelf: Shelf[Texts], scores: np.ndarray) -> dict[str, float]:
    alive = np.flatnonzero(shelf.alive)
    return {shelf.key(slot): float(scores[slot]) for slot in alive.tolist()}


@settings(max_examples=150, deadline=None)
@given(steps=_steps, query=_texts)
def test_scores_equal_the_plain_formula_after_updates_and_deletes(
    steps: list[tuple[str, Texts | None]], query: str
) -> None:
    for name in ("reference", "default"):
        shelf = make_shelf(name)
        model = run_steps(shelf, steps)
        tokenizer = shelf.tokenizer
        expected = plain_scores(tokenizer.query(query), list(model.values()), tokenizer)
        found = scores_by_key(shelf, shelf.lexical(tokenizer.query(query)))
        assert found == pytest.approx(dict(zip(model, expected, strict=True)), abs=1e-6)
        assert all(0 <= score <= 1 for score in found.values())
        assert dict(shelf.items()) == model
        assert len(shelf) == len(model)


def test_the_reference_ranking_is_the_reference_score() -> None:
    documents = [("red painted boat", ""), ("boat red", "sea"), ("to be or not", "")]
    shelf = make_shelf("reference")
    shelf.load((str(i), texts, None, None, None) for i, texts in enumerate(documents))
    for query in ("red boat", "to be", "sea boat", "C++"):
        scores = shelf.lexical(shelf.tokenizer.query(query))
        expected = reference_scores(query, documents)
        assert scores.tolist() == pytest.approx(expected, abs=1e-6)


def test_dead_slots_score_nothing(ranking_name: str) -> None:
    shelf = make_shelf(ranking_name)
    for number in range(9):
        shelf.upsert(str(number), ("walnut desk", ""), None)
    for number in range(0, 9, 2):
        shelf.remove(str(number))
    scores = shelf.lexical(shelf.tokenizer.query("walnut desk"))
    assert scores[~shelf.alive].tolist() == [0.0] * int((~shelf.alive).sum())
    assert sorted(shelf.key(slot) for slot in top(scores, None)) == list("1357")


def test_bulk_load_equals_single_puts(ranking_name: str) -> None:
    documents = [(f"walnut desk {n} 喝茶", f"topic{n % 3}") for n in range(11)]
    rows = [(str(n % 9), texts, None, None, None) for n, texts in enumerate(documents)]
    loaded, put = make_shelf(ranking_name), make_shelf(ranking_name)
    loaded.load(rows)
    for key, texts, *_ in rows:
        put.upsert(key, texts, None)
    query = loaded.tokenizer.query("desk 8 茶 topic1")
    assert scores_by_key(loaded, loaded.lexical(query)) == pytest.approx(
        scores_by_key(put, put.lexical(query))
    )


def test_statistics_of_several_shelves_make_their_scores_comparable(
    ranking_name: str,
) -> None:
    documents = [("red boat", ""), ("red car", ""), ("blue boat boat", "sea")]
    whole, first, second = (make_shelf(ranking_name) for _ in range(3))
    for number, texts in enumerate(documents):
        whole.upsert(str(number), texts, None)
        (first if number < 1 else second).upsert(str(number), texts, None)
    query = whole.tokenizer.query("red boat")
    statistics = first.statistics(query).merged(second.statistics(query))
    parts = scores_by_key(first, first.lexical(query, statistics)) | scores_by_key(
        second, second.lexical(query, statistics)
    )
    assert parts == pytest.approx(scores_by_key(whole, whole.lexical(query)))


def test_tokens_of_another_tokenizer_are_made_again_from_the_text() -> None:
    foreign = get_ranking("reference").tokenizer.document("painted boats", "")
    shelf = make_shelf("default")
    shelf.upsert("a", ("painted boats", ""), foreign)
    assert shelf.lexical(shelf.tokenizer.query("painting"))[0] > 0


def test_damaged_tokens_are_made_again_from_the_text() -> None:
    shelf = make_shelf("default")
    blob = shelf.tokenizer.document("painted boats", "")
    shelf.load([("a", ("painted boats", ""), blob[:-3], None, None)])
    assert shelf.lexical(shelf.tokenizer.query("painting"))[0] > 0


def test_unindexed_items_take_no_part_in_lexical_search(ranking_name: str) -> None:
    shelf = make_shelf(ranking_name)
    shelf.upsert("hidden", ("red boat 茶", ""), UNINDEXED)
    shelf.upsert("shown", ("red boat 茶", ""), None)
    for query in ("red boat", "茶"):
        scores = shelf.lexical(shelf.tokenizer.query(query))
        assert scores_by_key(shelf, scores)["hidden"] == 0
    assert shelf.statistics(shelf.tokenizer.query("red")).documents == 1
    assert "hidden" in shelf


def test_an_empty_query_scores_nothing(ranking_name: str) -> None:
    shelf = make_shelf(ranking_name)
    shelf.upsert("a", ("to be", ""), None)
    for query in ("", "   ", "...", "\x00"):
        assert not shelf.lexical(shelf.tokenizer.query(query)).any()


def test_cosine_is_the_best_of_an_items_vectors() -> None:
    shelf = make_shelf(dims=2)
    shelf.upsert("two", ("a", ""), None, np.array([[3, 0], [0, 2]], np.float32))
    shelf.upsert("one", ("b", ""), None, np.array([1, 1], np.float32))
    shelf.upsert("none", ("c", ""), None)
    shelf.upsert("zero", ("d", ""), None, np.zeros(2, np.float32))
    found = scores_by_key(shelf, shelf.vector(np.array([0, 1], np.float32)))
    expected = {"two": 1.0, "one": 0.5**0.5, "none": -np.inf, "zero": 0.0}
    assert found == pytest.approx(expected)


def test_the_view_is_the_only_copy_of_the_vectors() -> None:
    shelf = make_shelf(dims=3)
    view = shelf.upsert("a", ("a", ""), None, np.array([2, 0, 0], np.float32))
    again = shelf.vectors("a")
    assert view is not None
    assert again is not None
    assert np.shares_memory(view, again)
    assert view.tolist() == [[1, 0, 0]]


def test_vectors_of_other_dimensions_are_refused() -> None:
    shelf = make_shelf(dims=3)
    with pytest.raises(InvalidInput, match="3 dimensions, not 2"):
        shelf.upsert("a", ("a", ""), None, np.zeros(2, np.float32))
    assert len(shelf) == 0


def test_vectors_follow_their_items_through_any_number_of_updates() -> None:
    random = np.random.default_rng(7)
    moved: dict[str, np.ndarray] = {}
    shelf: Shelf[tuple[str, str]] = Shelf(
        get_ranking("default").tokenizer,
        4,
        text=lambda texts: texts,
        relocated=lambda item, view: moved.__setitem__(item[0], view),
    )
    model: dict[str, np.ndarray] = {}
    for _ in range(900):
        key = f"k{random.integers(90)}"
        if random.random() < 0.3:
            assert shelf.remove(key) == (model.pop(key, None) is not None)
            continue
        shape = (int(random.integers(1, 3)), 4)
        model[key] = random.standard_normal(shape).astype(np.float32)
        shelf.upsert(key, (key, ""), None, model[key])
    query = random.standard_normal(4).astype(np.float32)
    query /= np.linalg.norm(query)
    found = scores_by_key(shelf, shelf.vector(query))
    expected = {
        key: float((rows @ query / np.linalg.norm(rows, axis=1)).max())
        for key, rows in model.items()
    }
    assert found == pytest.approx(expected, abs=1e-5)
    assert moved, "half dead chunks are emptied"
    loaded = make_shelf(dims=4)
    loaded.load((key, (key, ""), None, rows, None) for key, rows in model.items())
    assert scores_by_key(loaded, loaded.vector(query)) == pytest.approx(found, abs=1e-5)


def test_memory_stays_bounded_under_updates() -> None:
    shelf = make_shelf(dims=8)
    for number in range(3000):
        vector = np.full(8, number + 1, np.float32)
        shelf.upsert(f"{number % 10}", ("walnut desk", "x"), None, vector)
    assert len(shelf) == 10
    assert len(shelf.alive) <= max(2 * postings.BLOCK_SIZE, 64)
    assert shelf.nbytes < 2_000_000


def test_rows_that_are_never_updated_do_not_keep_dead_ones_in_memory() -> None:
    shelf = make_shelf(dims=64)
    for number in range(20_000):
        key = f"kept {number}" if number % 2000 == 0 else "updated"
        shelf.upsert(key, ("", ""), None, np.full(64, number + 1, np.float32))
    assert shelf._vectors is not None
    assert shelf._vectors.nbytes < 20_000 * 64 * 4 / 2


def test_top_gives_ties_with_the_last_and_later_slots_first() -> None:
    scores = np.array([0.5, 0, 0.9, 0.5, -np.inf, 0.1], np.float32)
    assert top(scores, 2).tolist() == [2, 3, 0]
    assert top(scores, 0).tolist() == []
    assert top(scores, None).tolist() == [2, 3, 0, 5]
    assert top(scores, 99).tolist() == [2, 3, 0, 5]


@pytest.mark.parametrize("low_bits_only", [False, True])
def test_words_are_sorted_as_a_stable_sort_does(low_bits_only):
    random = np.random.default_rng(7)
    words = random.integers(0, 1 << 63, 40, dtype=np.uint64)
    if low_bits_only:  # what differs gives way to the positions
        words = words[0] + np.arange(40, dtype=np.uint64)
    for size in (0, 1, 3_000):
        hashes = words[random.integers(0, 40, size)]
        order, ordered = postings._stable_order(hashes)
        assert order.tolist() == np.argsort(hashes, kind="stable").tolist()
        assert ordered.tolist() == sorted(hashes.tolist())


def test_a_long_block_is_scanned_for_some_terms_before_it_is_sorted(monkeypatch):
    sealed: list[int] = []
    seal = postings.OpenBlock.seal

    def noted(block: postings.OpenBlock) -> postings.SealedBlock:
        sealed.append(block.documents)
        return seal(block)

    monkeypatch.setattr(postings.OpenBlock, "seal", noted)
    monkeypatch.setattr(postings, "_SCANNED_FOR", 10)
    tokenizer = get_ranking("default").tokenizer
    texts = [f"tea and tea number {n % 9}, river {n % 5}" for n in range(40)]
    block = postings.OpenBlock()
    block.append(postings.parse_blobs([tokenizer.document(t, "") for t in texts]))
    words = ["tea", "river", "number", "nowhere"]
    terms = np.array([word_hash(word) for word in words], np.uint64)

    def look() -> list[tuple[int, list[int], list[int]]]:
        found = block.postings(terms)
        return [(n, p.codes.tolist(), p.counts.tolist()) for n, p in found]

    first, second, third = look(), look(), look()
    assert first == second == third
    assert first[0] == (0, [n << 2 for n in range(40)], [2] * 40)
    assert [n for n, *_ in first] == [0, 1, 2]
    assert sealed == [40]  # at the third look, for the ninth to twelfth term
    block.append_blob(tokenizer.document("tea", ""))
    assert [n for n, *_ in look()] == [0, 1, 2, 0]  # what came since is scanned
    assert sealed == [40]


def test_only_whole_blobs_of_the_tokenizer_are_parsed():
    tokenizer = get_ranking("default").tokenizer
    own = tokenizer.fingerprint
    blob = tokenizer.document("green tea", "drinks")
    tokens = postings.parse_whole_blobs([blob, tokenizer.document("", "")], own)
    assert tokens is not None
    assert tokens.lengths.tolist() == [[2, 1], [0, 0]]
    cut, long, odd = blob[:-8], blob + bytes(8), blob + b"x"
    for others in (
        [],
        [b""],
        [cut],
        [long],
        [long, cut],
        [cut, long],
        [odd],
        [odd] * 8,
    ):
        blobs = [blob, *others] if others else []
        assert postings.parse_whole_blobs(blobs, own) is None
    assert postings.parse_whole_blobs([blob], own + 1) is None


def test_what_a_block_adopts_is_not_changed_by_what_is_appended():
    tokenizer = get_ranking("default").tokenizer
    tokens = postings.parse_blobs([tokenizer.document("green tea", "")] * 3)
    before = tokens.hashes.tolist()
    block = postings.OpenBlock()
    block.append(tokens)
    block.append_blob(tokenizer.document("blue river", ""))
    block.append(postings.parse_blobs([tokenizer.document("rye bread", "")]))
    assert tokens.hashes.tolist() == before
    assert block.content_tokens(2) == frozenset(before)
    river = frozenset(map(word_hash, tokenizer.token_set("blue river")))
    assert block.content_tokens(3) == river
    assert block.documents == 5


def test_a_shelf_loaded_by_columns_equals_one_loaded_by_rows():
    tokenizer = get_ranking("default").tokenizer
    items = [(f"tea number {n} and {n % 7} rivers", "drinks") for n in range(5_000)]
    keys = [str(n) for n in range(len(items))]
    blobs = [tokenizer.document(*item) for item in items]
    vectors = np.random.default_rng(3).random((len(items), 4), np.float32)
    by_rows, by_columns = make_shelf(dims=4), make_shelf(dims=4)
    by_rows.load(
        (key, item, blob, vectors[n : n + 1] if n % 3 else None, None)
        for n, (key, item, blob) in enumerate(zip(keys, items, blobs, strict=True))
    )

    for part in (slice(0, 4_096), slice(4_096, None)):
        owners = [n for n, key in enumerate(keys[part]) if int(key) % 3]
        by_columns.load_columns(
            keys[part], items[part], blobs[part], owners, vectors[part][owners]
        )

    query = tokenizer.query("tea 42 river")
    assert by_columns.lexical(query).tolist() == by_rows.lexical(query).tolist()
    unit = vectors[1] / np.linalg.norm(vectors[1])
    assert by_columns.vector(unit).tolist() == by_rows.vector(unit).tolist()
    for shelf in (by_rows, by_columns):
        assert shelf.remove("7")
        shelf.upsert("new", ("green tea", ""), None, vectors[:1])
    assert by_columns.lexical(query).tolist() == by_rows.lexical(query).tolist()
    assert len(by_columns) == len(by_rows) == 5_000
    with pytest.raises(ValueError, match="nothing was removed"):
        by_columns.load_columns(["x"], [("x", "")], [None], (), None)


def loaded_by_columns(made: list[str]) -> Shelf[Texts]:
    """A shelf of three texts that notes what is made of them."""
    tokenizer = get_ranking("default").tokenizer

    def make(text: str) -> Texts:
        made.append(text)
        return text, ""

    shelf: Shelf[Texts] = Shelf(tokenizer, 3, text=lambda texts: texts, make=make)
    texts = ["green tea", "blue river", "rye bread"]
    blobs = [tokenizer.document(text, "") for text in texts]
    vectors = np.eye(3, dtype=np.float32)
    shelf.load_columns(["a", "b", "c"], texts, blobs, range(3), vectors)
    return shelf


def test_words_and_vectors_wait_for_a_search_that_needs_them(monkeypatch) -> None:
    asked: list[int] = []
    add = VectorColumn.add_one_each

    def noted(column: VectorColumn, slots: range, vectors: Vectors) -> None:
        asked.append(len(slots))
        add(column, slots, vectors)

    monkeypatch.setattr(VectorColumn, "add_one_each", noted)
    shelf = loaded_by_columns([])
    waiting = shelf.nbytes
    assert shelf.lexical(shelf.tokenizer.query("tea")).argmax() == 0
    assert not asked
    assert shelf.vector(np.eye(3, dtype=np.float32)[1]).tolist() == [0, 1, 0]
    assert shelf.vector(np.eye(3, dtype=np.float32)[2]).tolist() == [0, 0, 1]
    assert len(asked) == 1
    assert waiting > 3 * 3 * 4  # what waits is counted


def test_a_search_by_meaning_indexes_no_words() -> None:
    read: list[str] = []

    def text(given: str) -> Texts:
        read.append(given)
        return given, ""

    shelf: Shelf[str] = Shelf(get_ranking("default").tokenizer, 3, text=text)
    unit = np.eye(3, dtype=np.float32)
    texts = ["green tea", "blue river", "rye bread"]
    shelf.load_columns(["a", "b", "c"], texts, [None] * 3, range(3), unit)
    assert shelf.vector(unit[1]).argmax() == 1
    assert shelf.nearest(unit[2], 1).argmax() == 2
    assert shelf.estimated_cosines(unit[0]).values.argmax() == 0
    assert shelf.alive.all()
    assert shelf.han() is False
    assert not read
    assert shelf.lexical(shelf.tokenizer.query("tea")).argmax() == 0
    assert read == texts


def test_what_waits_for_tokens_of_its_text_can_be_removed_and_replaced() -> None:
    shelf = Shelf(get_ranking("default").tokenizer, 3, text=lambda text: (text, ""))
    unit = np.eye(3, dtype=np.float32)
    texts = ["green tea", "blue river", "rye bread"]
    shelf.load_columns(["a", "b", "c"], texts, [None] * 3, range(3), unit)
    assert shelf.vector(unit[1]).argmax() == 1
    assert shelf.remove("a")
    shelf.upsert("b", "black tea", None, unit[1])
    assert shelf.get("a") is None
    found = shelf.lexical(shelf.tokenizer.query("tea"))
    assert found.nonzero()[0].tolist() == [shelf.slot("b")]
    assert shelf.lexical(shelf.tokenizer.query("bread")).argmax() == shelf.slot("c")


def test_an_item_is_made_once_and_only_if_it_is_looked_at() -> None:
    made: list[str] = []
    shelf = loaded_by_columns(made)
    assert shelf.item(1) is shelf.get("b")
    assert made == ["blue river"]
    shelf.upsert("b", "red river", None)
    assert shelf.get("b") == ("red river", "")
    assert made[1:].count("red river") == 2  # for its words, and for the caller


def test_what_waits_is_there_when_something_is_written_or_removed() -> None:
    shelf = loaded_by_columns([])
    shelf.remove("a")
    shelf.upsert("d", "white tea", None, np.ones(3, np.float32))
    scores = shelf.lexical(shelf.tokenizer.query("tea"))
    assert [shelf.key(int(slot)) for slot in top(scores, None)] == ["d"]
    cosines = shelf.vector(np.eye(3, dtype=np.float32)[1]).tolist()
    assert cosines == [-np.inf, 1, 0, pytest.approx(3**-0.5)]
    assert shelf.alive.tolist() == [False, True, True, True]


def test_more_columns_follow_those_that_wait() -> None:
    shelf = loaded_by_columns([])
    blobs = [shelf.tokenizer.document("black tea", "")]
    more = np.ones((1, 3), np.float32)
    shelf.load_columns(["d"], ["black tea"], blobs, [0], more)
    assert len(top(shelf.lexical(shelf.tokenizer.query("tea")), None)) == 2
    cosines = shelf.vector(np.eye(3, dtype=np.float32)[0])
    assert cosines.tolist() == [1, 0, 0, pytest.approx(3**-0.5)]


def test_tokens_of_another_tokenizer_are_made_anew_when_columns_are_loaded():
    shelf = make_shelf()
    foreign = get_ranking("reference").tokenizer.document("green tea", "")
    own = shelf.tokenizer.document("blue river", "")
    items = [("green tea", ""), ("blue river", ""), ("bread", "")]

    shelf.load_columns(["a", "b", "c"], items, [foreign, own, b""], (), None)

    for text, slot in (("tea", 0), ("river", 1)):
        scores = shelf.lexical(shelf.tokenizer.query(text)).tolist()
        assert [score > 0 for score in scores] == [n == slot for n in range(3)]
    assert not shelf.lexical(shelf.tokenizer.query("bread")).any()  # not indexed


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([0.0, -1.0, 0.25, 0.5, 0.75, 1.0]), max_size=400),
    st.integers(0, 2**32 - 1),
    st.integers(1, 8),
)
def test_top_of_many_is_what_sorting_gives(
    ties: list[float], seed: int, k: int
) -> None:
    random = np.random.default_rng(seed)
    scores = random.random(1_000, np.float32) * np.float32(seed % 2)
    scores = random.permutation(np.append(scores, np.array(ties, np.float32)))
    order = sorted(range(len(scores)), key=lambda slot: (-scores[slot], -slot))
    positive = [slot for slot in order if scores[slot] > 0]
    least = scores[positive[k - 1]] if len(positive) >= k else 0
    assert top(scores, k).tolist() == [s for s in positive if scores[s] >= least]


@settings(deadline=None)
@given(_texts)
def test_stored_tokens_are_those_that_near_duplicates_are_told_by(text: str) -> None:
    tokenizer = get_ranking("default").tokenizer
    assert tokenizer.compares_stored
    shelf: Shelf[Texts] = Shelf(tokenizer, None)
    shelf.upsert("a", (text, "label"), tokenizer.document(text, "label"))
    stored = shelf.content_tokens(0, lambda: pytest.fail("They are at hand."))
    assert stored == frozenset(map(word_hash, tokenizer.token_set(text)))


def test_tokens_that_were_made_are_kept_until_the_item_changes() -> None:
    shelf = make_shelf()
    shelf.load((str(n), (f"red boat {n}", ""), None, None, None) for n in range(20_000))
    slot = shelf.slot("7") or 0
    made: list[int] = []

    def make() -> frozenset[int]:
        made.append(len(made))
        return frozenset(made)

    before = shelf.nbytes
    assert shelf.content_tokens(slot, make) == {0}
    assert shelf.content_tokens(slot, make) == {0}
    assert before < shelf.nbytes
    shelf.upsert("7", ("blue boat", ""), None)
    moved = shelf.slot("7") or 0
    assert shelf.content_tokens(moved, make) != {0}


@pytest.mark.parametrize("k", [0, 1, 10_000])
def test_few_contents_are_kept(k: int) -> None:
    shelf = make_shelf()
    shelf.load((str(n), (f"boat {n}", ""), None, None, None) for n in range(1 + k))
    for slot in range(1 + k):
        assert shelf.content_tokens(slot, lambda: frozenset((1,)))
    assert len(shelf._contents) <= 256


def test_marks_of_han_follow_the_items() -> None:
    shelf = make_shelf()
    assert shelf.han() is False
    for key in "abc":
        shelf.upsert(key, ("red boat", ""), None)
    assert shelf.han() is False
    shelf.mark_han("b")
    assert np.asarray(shelf.han()).tolist() == [False, True, False]
    shelf.mark_han("a")
    shelf.mark_han("c")
    assert shelf.han() is True
    shelf.upsert("d", ("red boat", ""), None)
    assert np.asarray(shelf.han()).tolist()[shelf.slot("d") or 0] is False
