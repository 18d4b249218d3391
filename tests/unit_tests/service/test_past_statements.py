"""Memories that say themselves that they are past, added one after the other."""

import pytest

CASES = [
    (
        ["我以前住在上海静安区", "我搬到杭州了，住在滨江区"],
        "我现在住在哪里？",
        "我以前住在哪里？",
    ),
    (
        ["I used to live in Boston", "I moved, and live in Denver"],
        "Where do I live now?",
        "Where did I live before?",
    ),
    (
        ["She formerly worked at Google", "She works at a bakery by the river"],
        "Where does she work?",
        "Where did she work previously?",
    ),
    (["她曾经在华为工作", "她在腾讯工作"], "她在哪里工作", "她原来在哪里工作"),
]


@pytest.mark.parametrize(("told", "now", "before"), CASES)
@pytest.mark.parametrize("turned", [False, True])
def test_the_present_is_first_unless_the_past_is_asked_for(
    make_store, told, now, before, turned
):
    store = make_store()
    for text in reversed(told) if turned else told:
        store.add_memory("ann", text)
    store.add_memory("ann", "I like green tea")
    store.add_memory("ann", "我喜欢喝茶")
    assert store.search_memories("ann", now)[0].memory == told[1]
    found = store.search_memories("ann", before, explain=True)
    assert found[0].memory == told[0]
    for entry in found:
        why = entry.explanation
        assert sum(why.shares().values()) == pytest.approx(why.evidence)


def test_what_is_past_is_told_to_count_little_now(make_store):
    store = make_store()
    store.add_memory("ann", "I used to live in Boston")
    plain = store.search_memories("ann", "Where do I live?")[0]
    found = store.search_memories("ann", "Where do I live now?", explain=True)[0]
    assert found.score < 0.5 < plain.score
    assert found.explanation.version.over
    assert "says itself that it is past" in str(found.explanation)
    assert sum(found.explanation.shares().values()) == pytest.approx(
        found.explanation.evidence
    )


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        (
            "I work at Oracle, the database company",
            "I work at Meta, formerly Facebook",
            "Where do I work?",
        ),
        (
            "Ann lives in Rome and works in Berlin",
            "Ann previously lived in Boston and lives in Berlin",
            "Where does Ann live?",
        ),
        (
            "I live in Denver near the park",
            "I used to live in Boston again",
            "Where do I live now?",
        ),
        (
            "My car is the Fiat that my mum wanted to own",
            "My car is the Audi that my dad used to own",
            "What is my car?",
        ),
        ("我们以后端开发为主", "我们以前端开发为主", "我们以什么开发为主？"),
    ],
)
def test_words_of_the_past_in_a_present_statement_leave_it_first(
    make_store, older, newer, question
):
    store = make_store()
    for text in (older, newer, "I like green tea", "我喜欢喝茶"):
        store.add_memory("ann", text)
    assert store.search_memories("ann", question)[0].memory == newer
