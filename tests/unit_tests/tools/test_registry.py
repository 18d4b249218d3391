"""Which tools are enabled and exposed."""

import itertools

import pytest

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.tools.registry import TOOL_NAMES, select_tools


def names(*short):
    return tuple(f"memory_{name}" for name in short)


def test_without_an_extractor_add_load_search_update_are_on():
    selection = select_tools(has_extractor=False)
    assert selection.exposed == names("add", "load", "search", "update")
    assert selection.enabled == set(names("add", "load", "search", "update"))


def test_beside_an_extractor_only_search_is_exposed_and_load_is_off():
    selection = select_tools(has_extractor=True)
    assert selection.exposed == names("search")
    assert selection.enabled == set(names("add", "delete", "search", "update"))


def test_beside_an_extractor_write_tools_are_exposed_on_request():
    selection = select_tools(has_extractor=True, exposed=["memory_add"])
    assert selection.exposed == names("add", "search")


def test_load_is_exposed_once_it_is_enabled():
    for has_extractor in (True, False):
        selection = select_tools(has_extractor=has_extractor, enabled=["memory_load"])
        assert "memory_load" in selection.exposed


def test_clear_works_for_neither_unless_enabled():
    exposed = select_tools(has_extractor=True, exposed=["memory_clear"])
    assert "memory_clear" not in exposed.enabled
    assert "memory_clear" not in exposed.exposed
    enabled = select_tools(has_extractor=True, enabled=["memory_clear"])
    assert "memory_clear" in enabled.enabled
    assert "memory_clear" not in enabled.exposed


def test_switching_off_in_the_store_takes_a_tool_from_the_extractor_too():
    selection = select_tools(has_extractor=True, enabled={"memory_delete": False})
    assert "memory_delete" not in selection.enabled


def test_hiding_takes_a_tool_only_from_the_agent():
    selection = select_tools(has_extractor=True, exposed={"memory_search": False})
    assert selection.exposed == ()
    assert "memory_search" in selection.enabled


def test_a_custom_tool_enables_itself_unless_switched_off():
    custom = ["memory_clear"]
    assert "memory_clear" in select_tools(has_extractor=False, custom=custom).exposed
    off = select_tools(
        has_extractor=False, custom=custom, enabled={"memory_clear": False}
    )
    assert "memory_clear" not in off.exposed


def test_one_call_can_change_the_selection_without_changing_the_store():
    selection = select_tools(has_extractor=True)
    adjusted = selection.adjusted(
        enable=["memory_clear"], expose=["memory_clear", "memory_add"]
    )
    assert adjusted.exposed == names("add", "clear", "search")
    assert selection.exposed == names("search")
    off = selection.adjusted(disable="memory_search", expose="memory_search")
    assert off.exposed == ()


def test_exposing_alone_enables_nothing():
    selection = select_tools(has_extractor=False).adjusted(expose=["memory_delete"])
    assert "memory_delete" not in selection.exposed


@pytest.mark.parametrize("where", ["enabled", "exposed", "custom"])
def test_unknown_names_are_refused_in_the_constructor(where):
    with pytest.raises(InvalidInput, match="memory_dream"):
        select_tools(has_extractor=False, **{where: ["memory_dream"]})


@pytest.mark.parametrize("where", ["enable", "disable", "expose"])
def test_unknown_names_are_refused_in_a_call(where):
    selection = select_tools(has_extractor=False)
    with pytest.raises(InvalidInput, match="memory_dream"):
        selection.adjusted(**{where: ["memory_dream"]})


def test_a_switch_must_be_a_truth_value():
    with pytest.raises(InvalidInput, match="True or False"):
        select_tools(has_extractor=False, enabled={"memory_add": "no"})


def test_only_enabled_tools_are_ever_exposed_and_they_are_sorted():
    for has_extractor, on, shown in itertools.product(
        (True, False), TOOL_NAMES, TOOL_NAMES
    ):
        selection = select_tools(
            has_extractor=has_extractor, enabled=[on], exposed=[shown]
        )
        assert set(selection.exposed) <= selection.enabled
        assert list(selection.exposed) == sorted(selection.exposed)
