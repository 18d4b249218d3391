"""Reports that people read: aligned text in a terminal, a table in a notebook."""

from collections.abc import Mapping


class Report(dict[str, object]):
    """A dict with a title that shows itself readably.

    Args:
        title: The heading.
        facts: What is reported.
    """

    def __init__(self, title: str, facts: Mapping[str, object]) -> None:
        """Take over the facts."""
        super().__init__(facts)
        self.title = title

    def __repr__(self) -> str:
        """Return the title and one aligned line per fact."""
        width = max((len(name) for name in self), default=0)
        lines = [f"  {name:<{width}}  {value}" for name, value in self.items()]
        return "\n".join([self.title, *lines])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        import html  # noqa: PLC0415 - only notebooks ask for it

        rows = "".join(
            f'<tr><th style="text-align:left">{html.escape(name)}</th>'
            f'<td style="text-align:left">{html.escape(str(value))}</td></tr>'
            for name, value in self.items()
        )
        return (
            f"<table><caption>{html.escape(self.title)}</caption>"
            f"<tbody>{rows}</tbody></table>"
        )
