"""MergeSimilar: the current conclusion, without mixing things up."""

from datetime import UTC, datetime

import pytest

from langchain_agentmemory import MergeSimilar, Operation
from langchain_agentmemory.errors import InvalidInput
from tests.unit_tests.policies.examples import entry

POLICY = MergeSimilar()
MAY, JUNE = (datetime(2024, month, 7, 10, tzinfo=UTC) for month in (5, 6))


def decide(text, *existing, **fields):
    enabled = fields.pop("enabled", None)
    [decision] = POLICY.decide(
        [Operation("add", text, **fields)], existing, enabled=enabled
    )
    return decision


def hits(*entries):
    return lambda query: entries


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The rent is 900 euros a month", "The rent is 950 euros a month"),
        ("The fee for the Oslo flat is $50", "The fee for the Oslo flat is €50"),
        ("The lab freezer runs at -18 degrees", "The lab freezer runs at 18 degrees"),
        ("Writes compilers in C", "Writes compilers in C#"),
        ("Likes loud music in bars", "Doesn’t like loud music in bars"),
        ("Can swim laps in the pool", "Cannot swim laps in the pool"),
        ("Sends weekly letters to Hannah", "Sends weekly letters from Hannah"),
        ("The login page ticket is open", "The login page ticket is closed"),
        ("Is a teacher at Hillside school", "Was a teacher at Hillside school"),
        ("Runs 10 km before breakfast", "Runs 10 miles before breakfast"),
        ("Drinks tea and coffee at work", "Drinks tea or coffee at work"),
        ("月租50元的房子在杭州", "月租50美元的房子在杭州"),
        ("预算是50万的装修项目", "预算是50的装修项目"),
        ("冷库温度是-18度", "冷库温度是18度"),
        ("对海鲜过敏", "对海鲜不过敏"),
        ("小王是素食者", "小王并非素食者"),
        ("小明去过北京和上海", "小明没去过北京和上海"),
        ("女儿今年五岁", "女儿今年六岁"),
        ("会议在周三下午三点", "会议在周三下午五点"),
        ("给小李写了一封长信", "和小李写了一封长信"),
        ("用C写编译器和工具", "用C#写编译器和工具"),
    ],
)
def test_a_changed_value_replaces_the_old_text(old, new):
    decision = decide(new, entry(old))
    assert decision.action == "update"
    assert decision.operation.memory == new
    assert decision.operation.memory_id == "m1"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Alice manages Bob", "Bob manages Alice"),
        ("alice manages bob", "bob manages alice"),
        ("Alice manages Bob", "Bob is managed by Alice"),
        ("Alice hired Bob last year", "Alice was hired by Bob last year"),
        ("Moved from Oslo to Bergen in 2019", "Moved from Bergen to Oslo in 2019"),
        ("Met Ana in Rome and Bo in Oslo", "Met Ana in Oslo and Bo in Rome"),
        ("Ana's birthday is May 3", "Bo's birthday is May 3"),
        ("Friend Ana lives in Oslo", "Friend Bo lives in Oslo"),
        ("小王管理小李", "小李管理小王"),
        ("爱丽丝管理鲍勃", "鲍勃管理爱丽丝"),
        ("张三的老板是李四", "李四的老板是张三"),
        ("从北京坐火车到上海", "从上海坐火车到北京"),
        ("小王欠小李500元", "小李欠小王500元"),
        ("小王住在北京海淀区", "小李住在北京海淀区"),
    ],
)
def test_other_roles_and_other_people_are_kept_apart(old, new):
    assert decide(new, entry(old)).action == "add"
    certain = entry(old, score=0.99)
    [decision] = POLICY.decide([Operation("add", new)], [], search=hits(certain))
    assert decision.operation == decision.given


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Enjoys coffee and tea", "Enjoys tea and coffee"),
        ("Plays tennis on Fridays", "On Fridays plays tennis"),
        ("Doesn't like loud music", "Doesn’t like loud music."),
        ("家里养了３只橘猫", "家里养了3只橘猫。"),
    ],
)
def test_what_only_looks_different_is_dropped(old, new):
    assert decide(new, entry(old)).action == "drop"


def test_kinds_are_never_mixed():
    stored = entry("Went hiking with Ana", kind="episode")
    assert decide("Went hiking with Ana", stored, kind="fact").action == "add"
    assert decide("Went hiking with Ana", stored).action == "drop"


def test_events_of_different_days_are_kept_apart():
    stored = entry("Went hiking with Ana", kind="episode", event_time=MAY)
    again = decide("Went hiking with Ana", stored, kind="episode", event_time=JUNE)
    assert again.action == "add"
    assert "another time" in again.reason


def test_dates_in_the_text_count_for_events():
    stored = entry("Went hiking on 2024-05-07", kind="episode")
    for kind in (None, "episode"):
        decision = decide("Went hiking on 2024-06-01", stored, kind=kind)
        assert decision.action == "add"
    passport = entry("Passport expires on 2027-01-03")
    later = decide("Passport expires on 2031-01-03", passport, kind="fact")
    assert later.action == "update"


def test_an_event_gets_its_time():
    stored = entry("Met Ana in Oslo", kind="episode")
    decision = decide("Met Ana in Oslo", stored, kind="episode", event_time=MAY)
    assert decision.action == "update"
    assert decision.operation.event_time == MAY


def test_an_update_takes_nothing_away():
    stored = entry(
        "The Oslo flat costs 900 euros",
        topics=("home",),
        participants=("Ana",),
        location="Oslo",
    )
    decision = decide("The Oslo flat costs 950 euros", stored, topics=("Money",))
    operation = decision.operation
    assert operation.topics == ("home", "Money")
    assert (operation.participants, operation.location) == (None, None)
    assert operation.kind == "fact"


def test_only_the_three_best_with_a_fair_score_are_looked_at():
    same = entry("Likes green tea", "same", score=0.99)
    weak = entry("Likes green tea", "weak", score=0.29)
    others = [entry(f"Unrelated {n}", f"o{n}", score=0.5) for n in range(3)]
    add = [Operation("add", "Likes green tea")]
    for found in ([*others, same], [weak]):
        assert POLICY.reconcile(add, [], search=hits(*found)) == add
    found = [weak, *others[:2], same]
    assert POLICY.reconcile(add, [], search=hits(*found)) == []


def test_without_a_score_common_words_decide():
    add = [Operation("add", "Likes green tea")]
    assert POLICY.reconcile(add, [], search=hits(entry("Likes green tea"))) == []
    assert POLICY.reconcile(add, [], search=hits(entry("Owns a bicycle"))) == add


def test_the_search_is_asked_once_per_add_that_needs_it():
    asked = []

    def search(query):
        asked.append(query)
        return []

    add = Operation("add", " Likes tea ")
    batch = [add, None, Operation("add", "likes tea"), Operation("add", "  ")]
    batch += [Operation("add"), Operation("update", "x", "m1")]
    POLICY.decide(batch, [], search=search)
    assert asked == ["Likes tea"]
    POLICY.decide([add], [], search=search, enabled=frozenset({"memory_update"}))
    assert asked == ["Likes tea"]


def test_a_search_that_fails_keeps_the_add():
    def search(query):
        msg = "down"
        raise ConnectionError(msg)

    add = Operation("add", "Likes tea")
    [decision] = POLICY.decide([add], [entry("Likes tea")], search=search)
    assert decision.operation == add
    assert "failed" in decision.reason


def test_the_cut_offs_can_be_set():
    strict = MergeSimilar(
        update_jaccard=0.9, drop_jaccard=1.0, update_score=0.95, drop_score=1.0
    )
    add = [Operation("add", "The Oslo flat has a large garden")]
    stored = [entry("The Oslo flat has a small balcony")]
    assert MergeSimilar().reconcile(add, stored) != add
    assert strict.reconcile(add, stored) == add
    with pytest.raises(InvalidInput, match="ascend"):
        MergeSimilar(update_score=0.95)
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        MergeSimilar(drop_jaccard=1.2)
    with pytest.raises(InvalidInput, match="at least 1"):
        MergeSimilar(candidates=0)


def test_statements_of_one_batch_do_not_overwrite_each_other():
    batch = [
        Operation("add", "Has a cat named Tom"),
        Operation("add", "Has a cat named Lulu"),
        Operation("add", "has a cat named lulu."),
    ]
    actions = [d.action for d in POLICY.decide(batch, [entry("Has a cat")])]
    assert actions == ["update", "add", "drop"]


def test_a_second_update_names_the_id_that_the_first_one_leaves():
    batch = [
        Operation("update", "Likes tea", "m1"),
        Operation("delete", memory_id="m1"),
    ]
    first, second = POLICY.reconcile(batch, [entry("Likes coffee")])
    assert first.memory_id == "m1"
    assert len(second.memory_id) == 64


def test_what_the_batch_deletes_is_no_reason_to_drop():
    batch = [Operation("delete", memory_id="m1"), Operation("add", "Likes green tea")]
    stored = entry("Likes green tea", score=0.99)
    assert POLICY.reconcile(batch, [stored]) == batch
    assert POLICY.reconcile(batch, [stored], search=hits(stored)) == batch
    only_add = frozenset({"memory_add", "memory_update"})
    kept = POLICY.reconcile(batch, [stored], enabled=only_add)
    assert kept == batch[:1]


def test_an_outdated_version_may_hold_again():
    """It becomes the newer version of what replaced it: the store knows its text."""
    paris = entry("Ann lives in Paris", "p", superseded_by="b")
    berlin = entry("Ann lives in Berlin", "b", supersedes=("p",))
    add = Operation("add", "Ann lives in Paris")
    for known in ([paris, berlin], [berlin, paris]):
        [operation] = POLICY.reconcile([add], known)
        assert (operation.type, operation.supersedes) == ("add", ("b",))
        [operation] = POLICY.reconcile([add], [], search=hits(*known))
        assert (operation.type, operation.supersedes) == ("add", ("b",))


def test_outdated_versions_take_no_place_among_the_candidates():
    olds = [entry(f"Rent is {n} euros", f"o{n}", superseded_by="n") for n in range(3)]
    now = entry("Rent is 900 euros", "n", score=0.5)
    add = [Operation("add", "Rent is 950 euros")]
    [operation] = POLICY.reconcile(add, [], search=hits(*olds, now))
    assert (operation.type, operation.memory_id) == ("update", "n")
