"""PreserveHistory: what was said earlier is never lost."""

from datetime import UTC, datetime

import pytest

from langchain_agentmemory import MemoryStore, Operation, PreserveHistory
from tests.unit_tests.policies.examples import carry_out, entry

POLICY = PreserveHistory()
DAY = datetime(2025, 12, 1, tzinfo=UTC)
HOUR = DAY.replace(hour=16)


def decide(operation, *existing, enabled=None):
    [decision] = POLICY.decide([operation], existing, enabled=enabled)
    return decision


def update(old, new, **fields):
    return decide(Operation("update", new, "m1", **fields), entry(old))


# --- versions -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The project must run on Go 1.21", "The minimum version is now Go 1.23"),
        ("Works at Initech as an analyst", "Works at Hooli as an analyst"),
        ("Lives in Paris", "Lives in Berlin"),
        ("Likes sushi", "Does not like sushi"),
        ("Has completed 7 short stories", "Has completed 8 short stories"),
        ("项目要求兼容 Go 1.21", "项目的最低版本提高到 Go 1.23"),
        ("已经完成了7篇短篇小说", "已经完成了8篇短篇小说"),
        ("每周三发布", "目前不再每周三发布"),
        ("小王是素食者", "小王并非素食者"),
        ("住在巴黎", "住在柏林"),
    ],
)
def test_a_changed_value_of_a_named_memory_is_a_newer_version(old, new):
    decision = update(old, new)
    assert decision.operation.type == "add"
    assert decision.operation.memory_id is None
    assert decision.operation.supersedes == ("m1",)
    assert decide(Operation("add", new), entry(old)).operation.supersedes == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Has completed 7 short stories", "Writes 500 words of a new story every week"),
        ("已经完成了7篇短篇小说", "正在写一篇新的短篇小说，目标是每周写500字"),
        ("Nadia mentors Felix and Omar weekly", "Sings tenor"),
        ("Nadia mentors Felix and Omar weekly", "Nadia mentors Felix"),
        ("Alice manages Bob", "Bob manages Alice"),
        ("小王管理小李", "小李管理小王"),
        ("Ana's birthday is May 3", "Bo's birthday is May 3"),
        ("小王住在北京海淀区", "小李住在北京海淀区"),
    ],
)
def test_another_statement_is_no_newer_version(old, new):
    decision = update(old, new)
    assert decision.operation.type == "add"
    assert decision.operation.supersedes == ()


def test_a_version_is_of_the_same_kind_and_day():
    fact = entry("Works at Initech")
    other = decide(Operation("update", "Works at Hooli", "m1", kind="episode"), fact)
    assert other.operation.supersedes == ()
    event = entry("Met Ana in Oslo", kind="episode", event_time=DAY)
    later = Operation("update", "Met Ana in Rome", "m1", event_time=DAY.replace(day=2))
    assert decide(later, event).operation.supersedes == ()
    same_day = Operation("update", "Met Ana in Rome", "m1")
    assert decide(same_day, event).operation.supersedes == ("m1",)


@pytest.mark.parametrize(
    ("named", "meant", "new"),
    [
        (
            "Takes 400 mg of magnesium every evening",
            "Takes 20 mg of lisinopril every evening",
            "Takes 10 mg of lisinopril every evening",
        ),
        (
            "生产环境的数据库端口是5432",
            "测试环境的数据库端口是3306",
            "测试环境的数据库端口是3307",
        ),
    ],
)
def test_what_was_named_in_place_of_a_closer_memory_still_holds(named, meant, new):
    memories = entry(named, "a"), entry(meant, "b")

    wrong = decide(Operation("update", new, "a"), *memories)
    assert (wrong.operation.type, wrong.operation.supersedes) == ("add", ())
    assert meant in wrong.reason
    right = decide(Operation("update", new, "b"), *memories)
    assert right.operation.supersedes == ("b",)


def test_a_newer_version_is_about_what_the_older_one_is_about():
    old = entry(
        "Met Ana in Oslo",
        kind="episode",
        topics=("friends",),
        participants=("Ana",),
        event_time=DAY,
    )
    operation = decide(Operation("update", "Met Ana in Rome", "m1"), old).operation
    assert operation.kind == "episode"
    assert operation.topics == ("friends",)
    assert operation.participants == ("Ana",)
    assert operation.event_time is None


def test_the_version_that_holds_is_the_one_that_is_replaced():
    first = entry("Runs on Go 1.21", "a", superseded_by="b")
    second = entry("Runs on Go 1.22", "b", supersedes=("a",))
    named = Operation("update", "Runs on Go 1.23", "a")
    assert decide(named, first, second).operation.supersedes == ("b",)


def test_what_held_earlier_can_hold_again():
    paris = entry("Lives in Paris", "p", superseded_by="b")
    berlin = entry("Lives in Berlin", "b", supersedes=("p",))
    back = Operation("update", "Lives in Paris", "b")
    assert decide(back, paris, berlin).operation.supersedes == ("b",)
    again = Operation("add", "Lives in Paris")
    assert decide(again, paris, berlin).operation == again


# --- events ---------------------------------------------------------------------------


def visit(text="Alice visited Bob", **fields):
    return entry(text, kind="episode", **fields)


def said(text="Alice visited Bob in Oslo", **fields):
    return Operation("add", text, kind="episode", **fields)


@pytest.mark.parametrize(
    ("stored", "given"),
    [
        ({"event_time": DAY}, {"event_time": HOUR}),
        (
            {"event_time": DAY, "precision": "day"},
            {"event_time": "2025-12-01T16:00:00"},
        ),
        ({"event_time": DAY, "precision": "month"}, {"event_time": "2025-12-01"}),
        ({"event_time": DAY, "precision": "year"}, {"event_time": "2025-12"}),
        ({"event_time": HOUR}, {"event_time": "2025-12-02T00:00:00+08:00"}),
        ({"event_time": HOUR}, {}),
        ({}, {"event_time": HOUR}),
        ({"participants": ("Alice",)}, {"participants": (" alice ", "Bob")}),
        ({"location": "Oslo"}, {"location": " OSLO"}),
        ({"location": "Oslo"}, {}),
    ],
)
def test_circumstances_that_agree(stored, given):
    text = "Alice visited Bob and Eva"
    longer = f"{text} in Oslo"
    decision = decide(said(longer, **given), visit(text, **stored))
    assert decision.action == "update", decision.reason


@pytest.mark.parametrize(
    ("stored", "given"),
    [
        ({"event_time": DAY}, {"event_time": DAY.replace(day=2)}),
        ({"event_time": HOUR}, {"event_time": DAY}),
        ({"event_time": HOUR}, {"event_time": HOUR.replace(hour=17)}),
        ({"event_time": DAY, "precision": "day"}, {"event_time": "2025-12"}),
        ({"event_time": DAY, "precision": "day"}, {"event_time": "2025-12-02"}),
        ({"event_time": DAY}, {"event_time": "some day"}),
        ({"participants": ("Alice", "Bob")}, {"participants": ("Alice",)}),
        ({"participants": ("Alice",)}, {"participants": ("Eva",)}),
        ({"location": "Oslo"}, {"location": "Rome"}),
    ],
)
def test_circumstances_that_differ(stored, given):
    text = "Alice visited Bob and Eva"
    decision = decide(said(f"{text} in Oslo", **given), visit(text, **stored))
    assert decision.action == "add"


def test_a_day_is_the_same_day_in_every_zone():
    shanghai = datetime.fromisoformat("2025-12-01T00:00:00+08:00")
    stored = visit(event_time=shanghai, precision="day")
    same = Operation(
        "add", "alice visited bob", kind="episode", event_time="2025-12-01"
    )
    assert decide(same, stored).action == "drop"


def test_completing_takes_nothing_away():
    stored = visit(
        "Alice visited Bob and Eva",
        topics=("friends",),
        participants=("Alice",),
        location="Oslo",
        event_time=HOUR,
    )
    given = said("Alice visited Bob and Eva today", participants=(), location=" ")
    operation = decide(given, stored).operation
    assert operation.type == "update"
    assert operation.topics == ("friends",)
    assert (operation.participants, operation.location) == (None, None)
    assert operation.event_time is None


# --- batches --------------------------------------------------------------------------

WEEKLY = "Nadia mentors Felix and Omar weekly"


def test_the_second_operation_is_judged_by_what_the_first_one_leaves():
    batch = [
        Operation("add", f"{WEEKLY} on Zoom"),
        Operation("add", f"{WEEKLY} in Oslo"),
        Operation("update", f"{WEEKLY} on Zoom at noon", "m1"),
    ]
    first, second, third = POLICY.decide(batch, [entry(WEEKLY)])
    assert (first.action, first.operation.memory_id) == ("update", "m1")
    assert second.action == "add"  # what the first has completed says more than it does
    assert third.action == "update"
    assert third.operation.memory_id not in {"m1", ""}


def test_versions_of_one_batch_follow_each_other():
    batch = [
        Operation("update", "Runs on Go 1.22", "m1"),
        Operation("update", "Runs on Go 1.23", "m1"),
    ]
    first, second = POLICY.reconcile(batch, [entry("Runs on Go 1.21")])
    assert first.supersedes == ("m1",)
    assert second.supersedes not in {(), ("m1",)}


def test_a_batch_can_be_carried_out_as_it_was_decided():
    store = MemoryStore(soft_delete=True)
    go = store.add_memory("ann", "The project must run on Go 1.21")
    pairs = store.add_memory("ann", WEEKLY)
    batch = [
        Operation("update", f"{WEEKLY} on Zoom", pairs.id),
        Operation("update", "The project must run on Go 1.22", go.id),
        Operation("update", f"{WEEKLY} on Zoom at noon", pairs.id),
        Operation("update", "The project must run on Go 1.23", go.id),
        Operation("update", "Nadia no longer mentors Felix", pairs.id),
    ]
    carry_out(store, "ann", POLICY.reconcile(batch, store.read_memories("ann")))

    now = [e.memory for e in store.read_memories("ann") if e.superseded_by is None]
    assert "The project must run on Go 1.23" in now
    assert f"{WEEKLY} on Zoom at noon" not in [m for m in now if "1.2" in m]
    everything = [e.memory for e in store.read_memories("ann")]
    assert "The project must run on Go 1.21" in everything
    assert "The project must run on Go 1.22" in everything
    assert f"{WEEKLY} on Zoom at noon" in everything
    last = next(e for e in store.read_memories("ann") if e.memory.endswith("1.23"))
    assert len(store.memory_history("ann", last.id)) == 3
    store.close()


def test_what_the_batch_deletes_is_gone_for_the_rest_of_it():
    batch = [
        Operation("delete", memory_id="m1"),
        Operation("add", WEEKLY),
        Operation("update", f"{WEEKLY} on Zoom", "m1"),
    ]
    kept = POLICY.reconcile(batch, [entry(WEEKLY)])
    assert [one.type for one in kept] == ["delete", "add", "add"]
    assert kept[2].supersedes == ()
    cleared = [Operation("clear"), Operation("add", WEEKLY)]
    assert POLICY.reconcile(cleared, [entry(WEEKLY)]) == cleared
    no_clear = frozenset({"memory_add", "memory_update", "memory_delete"})
    kept = POLICY.reconcile(cleared, [entry(WEEKLY)], enabled=no_clear)
    assert kept == cleared[:1]


# --- gating and odd input -------------------------------------------------------------


def test_an_update_of_an_unknown_memory_is_checked_like_an_add():
    unknown = Operation("update", f"{WEEKLY}!", "zzz")
    assert decide(unknown, entry(WEEKLY)).action == "drop"
    new = decide(Operation("update", "Sings alto", "zzz"), entry(WEEKLY)).operation
    assert (new.type, new.memory_id, new.supersedes) == ("add", None, ())
    assert decide(Operation("update", None, "zzz"), entry(WEEKLY)).action == "drop"


def test_an_update_that_would_repeat_another_memory_is_dropped():
    others = (entry("Lives in Rome", "a"), entry("Lives in Oslo", "b"))
    assert decide(Operation("update", "Lives in Oslo", "a"), *others).action == "drop"


def test_what_is_switched_off():
    more = Operation("add", f"{WEEKLY} on Zoom")
    only_update = frozenset({"memory_update"})
    assert decide(more, entry(WEEKLY), enabled=only_update).action == "pass"
    only_add = frozenset({"memory_add"})
    named = Operation("update", f"{WEEKLY} on Zoom", "m1")
    for given in (more, named):
        decision = decide(given, entry(WEEKLY), enabled=only_add)
        assert decision.operation.type == "add"
        assert "switched off" in decision.reason


def test_texts_without_words_are_compared_as_they_are():
    for text in ("", "!!!", "🙂", "\ud800", "a\x00b", "C"):
        assert decide(Operation("add", text), entry(text)).action == "drop"
        assert decide(Operation("add", f"{text}x"), entry(text)).action == "add"


def test_a_long_document_is_compared_as_a_whole():
    text = "word " * 100_000
    assert decide(Operation("add", f"{text}."), entry(text)).action == "drop"
    assert decide(Operation("add", f"{text}more"), entry(text)).action == "add"


def test_the_best_candidate_is_the_one_that_is_completed_most():
    near = entry("Nadia mentors Felix and Omar", "a", score=0.9)
    nearer = entry(WEEKLY, "b", score=0.1)
    decision = decide(Operation("add", f"{WEEKLY} on Zoom"), near, nearer)
    assert decision.operation.memory_id == "b"
    assert decision.candidate == nearer
    assert decision.measures["old_coverage"] == 1.0


def test_what_supersedes_something_already_keeps_doing_so():
    given = Operation("update", "Lives in Berlin", "m1", supersedes=("x",))
    assert decide(given, entry("Lives in Paris")).operation.supersedes == ("x", "m1")
