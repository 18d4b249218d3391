"""How a store learns, checked once when it is made."""

from dataclasses import dataclass
from typing import Literal, get_args

from langchain_agentmemory.errors import InvalidInput
from langchain_agentmemory.quoting import quoted

Mode = Literal["background", "inline", "queue"]


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """How a store learns.

    Attributes:
        concurrency: Mailboxes that are worked off at a time.
        max_pending: Turns of a user that wait apart; further ones join the last of
            their thread.
        job_timeout: Seconds that one extraction may take.
        mode: `"background"`; `"inline"`: within `enqueue_extraction`, for processes
            that are frozen after they have answered; `"queue"`: not at all, because
            another process works off the outbox.
        calls_per_hour: Model calls that a user may cause in an hour, `None` = any.
        external_context: Whether turns are learnt from that consumed retrieved
            documents.
    """

    concurrency: int = 1
    max_pending: int | None = 10
    job_timeout: float = 30.0
    mode: Mode = "background"
    calls_per_hour: int | None = None
    external_context: bool = True

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        _positive("extraction_concurrency", self.concurrency)
        if self.max_pending is not None:
            _positive("max_pending", self.max_pending)
        if self.calls_per_hour is not None:
            _positive("extraction_calls_per_hour", self.calls_per_hour)
        timeout: object = self.job_timeout
        if (
            isinstance(timeout, bool)
            or not isinstance(timeout, int | float)
            or not 0 < timeout < float("inf")
        ):
            msg = (
                f"job_timeout must be a number of seconds above 0, not "
                f"{quoted(timeout)}."
            )
            raise InvalidInput(msg)
        if self.mode not in get_args(Mode):
            msg = (
                f"extraction_mode={quoted(self.mode)} is not known: use background, "
                f"inline or queue."
            )
            raise InvalidInput(msg)


def _positive(name: str, given: object) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        msg = f"{name} must be a positive integer, not {quoted(given)}."
        raise InvalidInput(msg)
