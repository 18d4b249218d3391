"""An explanation as people read it: a few lines of text, or bars in a notebook."""

import html
from typing import Final

from langchain_agentmemory.explanation import (
    Explanation,
    MeaningParts,
    TimePart,
    VersionPart,
    WordParts,
)

_COLOURS: Final = {
    "coverage": "#4c78a8",
    "rarity": "#72a0cc",
    "strength": "#9ecae9",
    "neighbours": "#54a24b",
    "phrase": "#2f5580",
    "substring": "#2f5580",
    "cosine": "#f58518",
    "lent": "#88d27a",
    "labels": "#b279a2",
    "time": "#eeca3b",
    "version": "#e45756",
    "cut": "#9d9d9d",
}
_WIDTH: Final = 320  # pixels of a bar of evidence 1
_SHORT: Final = 8  # letters of ids


def as_text(why: Explanation) -> str:
    """Return an explanation in a few lines."""
    lines = [f"{why.score:.3f}  {why.mode}  “{why.query}”", f"  words    {_terms(why)}"]
    if why.words is not None and why.words.score:
        lines.append(f"           {why.words.score:.3f} = {_sum_of_words(why.words)}")
    if why.meaning is not None:
        lines.append(f"  meaning  {_meaning(why.meaning)}")
    lines += [f"  {name:<9}{text}" for name, text in (_both(why), *_after(why))]
    lines.append(f"  score    {_score(why)}")
    return "\n".join(lines)


def as_html(why: Explanation) -> str:
    """Return an explanation as a table with bars, for a notebook."""
    rows = [("words", f"{_words_in_colour(why)}")]
    if why.words is not None and why.words.score:
        rows.append(("", f"{why.words.score:.3f} = {_sum_of_words(why.words)}"))
    if why.meaning is not None:
        rows.append(("meaning", html.escape(_meaning(why.meaning))))
    rows += [(name, html.escape(text)) for name, text in (_both(why), *_after(why))]
    rows.append(("", f"{bar(why)}{_legend(why)}"))
    rows.append(("score", html.escape(_score(why))))
    cells = "".join(
        f'<tr><td style="text-align:left"><b>{name}</b></td>'
        f'<td style="text-align:left">{cell}</td></tr>'
        for name, cell in rows
    )
    caption = html.escape(f"“{why.query}”: {why.score:.3f}, {why.mode}")
    return f"<table><caption>{caption}</caption><tbody>{cells}</tbody></table>"


def bar(why: Explanation, width: int = _WIDTH) -> str:
    """Return what adds to the evidence as one bar of coloured parts.

    Args:
        why: The explanation.
        width: Of evidence 1, in pixels.
    """
    parts = "".join(
        f'<span title="{name} {share:.3f}" style="display:inline-block;height:12px;'
        f'width:{share * width:.1f}px;background:{_COLOURS[name]}"></span>'
        for name, share in why.shares().items()
        if share > 0
    )
    return f'<span style="white-space:nowrap">{parts}</span>'


def in_brief(why: Explanation) -> str:
    """Return the matched and missing words and the bar, as HTML for a list."""
    return f"{_words_in_colour(why)}<br>{bar(why, _WIDTH // 2)}"


def _terms(why: Explanation) -> str:
    matched = [term.typed for term in why.terms if term.matched]
    missing = [term.typed for term in why.terms if not term.matched]
    found = f"found {', '.join(matched)}" if matched else "none found"
    return f"{found}; missing {', '.join(missing)}" if missing else found


def _words_in_colour(why: Explanation) -> str:
    styles = {
        True: "background:#d9f2d9;color:#14532d",
        False: "background:#f3e0e0;color:#7f1d1d;text-decoration:line-through",
    }
    return " ".join(
        f'<span style="{styles[term.matched]};padding:0 3px">'
        f"{html.escape(term.typed)}</span>"
        for term in why.terms
    )


def _sum_of_words(words: WordParts) -> str:
    parts = [
        f"{name} {share:.3f}"
        for name, share in (
            ("coverage", words.coverage),
            ("rarity", words.rarity),
            ("strength", words.strength),
        )
        if share
    ]
    own = " + ".join(parts)
    if words.neighbour_weight:
        weight = words.neighbour_weight
        near = f"{weight:g} × {words.neighbours:.3f} with neighbours"
        own = f"({own or '0'} + {near}) / {1 + weight:g}"
    terms = [own] if own else []
    if words.phrase:
        terms.append(f"phrase {words.phrase:.3f}")
    whole = " + ".join(terms)
    if words.emphasis != 1 and whole:
        whole = f"({whole}) × {words.emphasis:.2f} for a long query"
    if words.substring:
        whole = f"text as it stands {words.substring:.3f}"
    return whole


def _meaning(meaning: MeaningParts) -> str:
    if meaning.cosine is None:
        parts = ["no vector"]
    else:
        parts = [f"cosine {meaning.cosine:.3f}"]
    if meaning.excess:
        parts[0] += f" − {meaning.excess:.3f} that all share"
    if meaning.boundary is not None:
        parts[0] += f", boundary {meaning.boundary:.3f}"
    parts[0] += f" → {meaning.own:.3f}"
    if meaning.lent:
        parts.append(f"lent by neighbours {meaning.lent:.3f}")
    text = " + ".join(parts)
    return text if meaning.trust == 1 else f"({text}) × trust {meaning.trust:.2f}"


def _both(why: Explanation) -> tuple[str, str]:
    """Return the sum of both halves."""
    if why.mode != "hybrid":
        return "evidence", f"{why.fused:.3f}"
    words, meaning = f"{why.from_words:.3f} words", f"{why.from_meaning:.3f} meaning"
    return "evidence", f"{why.fused:.3f} = {words} + {meaning}"


def _after(why: Explanation) -> list[tuple[str, str]]:
    """Return what happened to the evidence of both halves."""
    lines = []
    if why.labels != 1:
        labels = ", ".join(term.typed for term in why.terms if term.in_labels)
        lines.append(("labels", f"× {why.labels:.2f} for {labels}"))
    if why.time is not None:
        lines.append(("time", _time(why.time, why.evidence)))
    version = why.version
    if version is not None and (version.linked or version.before != version.after):
        lines.append(("version", _version(version)))
    return lines


def _time(time: TimePart, evidence: float) -> str:
    start, end = (None if t is None else t[:10] for t in (time.start, time.end))
    asked = f"{start or '…'} to {end or '…'}" if start or end else "an unknown time"
    when = "undated" if time.when is None else time.when[:10]
    if time.found_by is not None:
        placed = when if time.found_by == "date" else "its text names it"
        return f"{evidence:.3f}: {placed}, asked for nothing but {asked}"
    return f"× {time.factor:.2f}: {when}, asked for {asked}"


def _version(version: VersionPart) -> str:
    others = ", ".join(other[:_SHORT] for other in version.others)
    how = "linked" if version.linked else "recognised"
    reasons = [f"{version.first} first, {how} with {others}"] if others else []
    if version.over:
        reasons.append("says itself that it is past, asked for the present")
    return f"{version.before:.3f} → {version.after:.3f}: {'; '.join(reasons)}"


def _score(why: Explanation) -> str:
    root = "" if why.exponent == 1 else f" ^ 1/{1 / why.exponent:.3g}"
    age = "" if why.age == 1 else f" × {why.age:.3f} for its age"
    text = f"{why.score:.3f} = {why.evidence:.3f}{root}{age}"
    return text if why.reranker is None else f"{text}; reranker {why.reranker:.3f}"


def _legend(why: Explanation) -> str:
    parts = ", ".join(
        f'<span style="color:{_COLOURS[name]}">■</span> {name} {share:+.3f}'
        for name, share in why.shares().items()
    )
    return f"<br><small>{parts}</small>"
