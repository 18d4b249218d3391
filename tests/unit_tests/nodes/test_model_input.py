import copy
from operator import add

from langchain_core.load import dumpd
from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langchain_agentmemory.nodes.model_input import NOT_SAVED, ModelInput, model_input

GIVEN = [SystemMessage("Be brief.", id="s"), HumanMessage("hi", id="h", name="Al")]


def saved(messages: list) -> list:
    # This one reads back nothing but the types that LangGraph knows.
    serializer = JsonPlusSerializer(allowed_msgpack_modules=None)
    return serializer.loads_typed(serializer.dumps_typed(messages))


def test_the_model_sees_the_block_and_a_checkpoint_does_not():
    for mode in ("system", "user"):
        messages = model_input(GIVEN, "BLOCK", mode)
        assert sum("BLOCK" in str(m.content) for m in messages) == 1
        assert saved(messages) == GIVEN
        assert [type(m) for m in saved(messages)] == [SystemMessage, HumanMessage]


def test_a_message_that_was_added_is_saved_as_a_note():
    assert saved(model_input(GIVEN[1:], "BLOCK", "system")) == [
        SystemMessage(NOT_SAVED),
        GIVEN[1],
    ]
    assert saved(model_input([], "BLOCK", "user")) == [HumanMessage(NOT_SAVED)]


def test_ids_and_names_stay():
    system, human = model_input(GIVEN, "BLOCK", "user")
    assert system is GIVEN[0]
    assert (human.id, human.name) == ("h", "Al")


def test_a_copy_of_a_message_still_has_the_block_and_still_does_not_save_it():
    (_, human) = model_input(GIVEN, "BLOCK", "user")
    for again in (copy.deepcopy(human), human.model_copy()):
        assert "BLOCK" in again.content
        assert "BLOCK" not in str(saved([again]))


def test_caches_and_traces_see_what_the_model_sees():
    system, _ = model_input(GIVEN, "BLOCK", "system")
    plain = SystemMessage("Be brief.\n\nBLOCK", id="s")
    assert dumpd(system) == dumpd(plain)


def test_a_prompt_put_in_front_is_merged_with_its_content_blocks():
    cached = {"type": "text", "text": "P", "cache_control": {"type": "ephemeral"}}
    messages = add([SystemMessage([cached])], model_input(GIVEN, "BLOCK", "system"))
    assert [m.type for m in messages] == ["system", "human"]
    assert messages[0].content[0] == cached
    assert messages[0].text == "P\n\nBe brief.\n\nBLOCK"


def test_other_messages_in_front_are_not_merged():
    messages = add(["x", HumanMessage("a")], model_input(GIVEN, "BLOCK", "system"))
    assert [getattr(m, "type", m) for m in messages] == [
        "x",
        "human",
        "system",
        "human",
    ]
    assert add([SystemMessage("P")], ModelInput([GIVEN[1]])) == [
        SystemMessage("P"),
        GIVEN[1],
    ]


def test_without_a_block_nothing_changes():
    assert model_input(GIVEN, "", "system") == GIVEN
