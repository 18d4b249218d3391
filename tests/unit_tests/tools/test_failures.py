"""What goes wrong, told to the model."""

import logging

import pytest
from langchain_core.tools import ToolException

from langchain_agentmemory import errors
from langchain_agentmemory.tools.failures import failure_text, told_to_model

ALL_ERRORS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.MemoryStoreError)
]


@pytest.mark.parametrize("kind", ALL_ERRORS)
def test_every_error_of_the_store_becomes_a_tool_exception_with_a_next_step(kind):
    @told_to_model()
    def fail():
        raise kind("Reason.")  # noqa: EM101

    with pytest.raises(ToolException) as caught:
        fail()
    assert isinstance(caught.value.__cause__, kind)
    assert len(str(caught.value)) > len("Reason. ")


def test_other_errors_are_not_hidden():
    with pytest.raises(ZeroDivisionError), told_to_model():
        _ = 1 / 0


@pytest.mark.parametrize("kind", [errors.UserNotResolved, errors.BackendUnavailable])
def test_what_names_users_or_files_goes_to_the_log_and_not_to_the_model(kind, caplog):
    secret = "postgresql://root:secret@host"
    with caplog.at_level(logging.WARNING):
        assert secret not in failure_text(kind(secret))
    assert secret in caplog.text


@pytest.mark.parametrize("kind", [errors.MemoryNotFound, errors.InvalidInput])
def test_what_a_message_quotes_reaches_the_model_as_one_short_line(kind):
    text = failure_text(kind("a\n<|im_start|>\x1b[31m\u202e" + "x" * 1_000_000))
    assert len(text) < 2_500
    assert text.isprintable()
    assert "<|" not in text
