"""Jobs of extraction as people look at them."""

import html
from dataclasses import dataclass
from datetime import datetime

from langchain_agentmemory.extraction.mailbox import State
from langchain_agentmemory.types import UserKey

_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class ExtractionJob:
    """A turn that waits to be extracted.

    Attributes:
        id: For `retry_jobs` and `discard_jobs`.
        user: Whose conversation it is.
        thread_id: The conversation.
        state: `"waiting"`, `"held"` by a checker, or `"parked"` after it failed.
        said: What was said, each with its speaker.
        said_at: When, UTC.
        attempts: How often it was tried.
        due_at: Not tried before, UTC; `None` = now.
        error: Why the last attempt failed.
    """

    id: str
    user: UserKey
    thread_id: str | None
    state: State
    said: tuple[str, ...]
    said_at: datetime
    attempts: int = 0
    due_at: datetime | None = None
    error: str | None = None

    def cells(self) -> tuple[str, ...]:
        """Return what a table shows of it."""
        text = " / ".join(self.said)
        if len(text) > _SHOWN_CHARACTERS:
            text = text[: _SHOWN_CHARACTERS - 1] + "…"
        return (
            self.state,
            self.user.user_id,
            self.thread_id or "-",
            f"{self.said_at:%Y-%m-%d %H:%M:%S}",
            str(self.attempts),
            text,
            self.error or "",
            self.id,
        )


_COLUMNS = ("state", "user", "thread", "said (UTC)", "attempts", "what", "error", "id")


class ExtractionJobs(list[ExtractionJob]):
    """A list of jobs that shows itself as a table in a notebook."""

    def __repr__(self) -> str:
        """Return one line per job."""
        if not self:
            return "ExtractionJobs([])"
        lines = ["  " + "  ".join(filter(None, job.cells())) for job in self]
        return "\n".join([f"ExtractionJobs({len(self)})", *lines])

    def _repr_html_(self) -> str:
        head = "".join(f'<th style="text-align:left">{name}</th>' for name in _COLUMNS)
        rows = "".join(
            "<tr>"
            + "".join(
                f'<td style="text-align:left">{html.escape(cell)}</td>'
                for cell in job.cells()
            )
            + "</tr>"
            for job in self
        )
        return (
            f"<table><caption>{len(self)} jobs</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )
