"""What the words around a date make of it: "before", "between … and", "a week after".

Also the events that stand in place of a date: "before the trip", 搬家之前.
"""

import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final, Literal

from langchain_agentmemory.search import periods
from langchain_agentmemory.search.english_dates import COUNTS, DAYS
from langchain_agentmemory.search.periods import Period
from langchain_agentmemory.search.scripts import LazyPattern

Side = Literal["during", "before", "after"]

_REACH: Final = 40
"""Only so many characters beside a date are looked at."""
_ORDINALS: Final = {
    word: number
    for number, words in enumerate(
        ("first 1st", "second 2nd", "third 3rd", "fourth 4th"), start=0
    )
    for word in words.split()
}
_PARTS: Final = {
    "early": "early", "beginning": "early", "start": "early", "mid": "middle",
    "middle": "middle", "late": "late", "end": "late",
}  # fmt: skip
_PART: Final = LazyPattern(
    r"\b(?:the )?(?P<part>early|mid|late|(?:beginning|start|middle|end) of)[ -]"
    r"(?:the )?$"
)
_NTH_WEEK: Final = LazyPattern(
    r"\b(?:the )?(?P<nth>first|second|third|fourth|last|1st|2nd|3rd|4th) "
    r"(?P<unit>week|weekend) (?:of|in) (?:the )?$"
)
_NEXT_TO: Final = LazyPattern(
    rf"\b(?:(?P<count>[0-9]{{1,3}}|{'|'.join(sorted(COUNTS, key=len, reverse=True))}) "
    r"(?P<units>day|week|month|year)s?|(?:the|last) (?:very )?"
    rf"(?P<unit>day|week|weekend|month|year|{'|'.join(DAYS)})) "
    r"(?P<side>before|after|of|prior to|following) (?:the )?$"
)
_FROM: Final = LazyPattern(r"\b(?:between|from) (?:the )?$")
_TO: Final = LazyPattern(
    r"\s*(?:(?:and|to|through|until|till|[-–—~至到]) ?(?:the )?|从?[和与](?=.*之间))"
)
_BEFORE: Final = LazyPattern(
    r"\b(?:(?P<open>before|prior to|earlier than)|until|till|(?<!been )(?<!is )up to"
    r"|by|as of|through|no later than) (?:the )?$"
)
_AFTER: Final = LazyPattern(
    r"\b(?:(?P<open>after|later than)|since|(?:starting|beginning)(?: in| on| from)?) "
    r"(?:the )?$"
)
_ONWARD: Final = LazyPattern(r"[, ]*(?:onwards?|on\b(?= *[,.?]| *$)|and later\b)")
_ZH_BEFORE: Final = LazyPattern(r"的?(?:(?P<open>[之以]?前(?![天年面后]))|为止|止)")
_ZH_AFTER: Final = LazyPattern(
    r"的?(?:(?P<open>[之以]?后(?![天年面来]))|[以之]来|开始|起)"
)
_ZH_UP_TO: Final = LazyPattern(r"(?:截至|截止到?|直到|直至)$")

_ANCHOR: Final = LazyPattern(
    r"(?<!named )(?<!called )(?<!look )(?<!looks )(?<!looked )(?<!looking )"
    r"(?<!take )(?<!takes )(?<!took )(?<!ask )(?<!asked )"
    r"(?<!days )(?<!weeks )(?<!months )(?<!years )(?<!hours )(?<!minutes )(?<!long )"
    r"\b(?P<side>before|after|since|until|till|prior to"
    r"|following(?= (?:the|my|his|her|their|our|a)\b)) (?P<anchor>[^,.;:?!()\"]+)"
)
_NO_ANCHOR: Final = LazyPattern(
    r"(?:(?:going |heading |i go |we go |i |we )?(?:to )?(?:bed|sleep\w*|breakfast"
    r"|lunch|dinner|work|school|class|meals?|eating|noon|midnight|midday|dawn|dark"
    r"|bedtime|hours|all|that|this|it|then|now|and|or|another|each other|one|date)"
    r" *(?:$|\w+ *$)|(?:when|which|what|who|where|how|long)\b|[0-9]"
    r"|(?:a|some|any) (?:long |short |little )?(?:time|while)\b)"
)
_QUESTION: Final = LazyPattern(
    r" (?:(?:what|where|who|whom|whose|which|when|why|how)\b"
    r"|(?:did|do|does|was|were|is|are|am|have|has|had|will|can|could|would|should) "
    r"(?:i|we|he|she|they|you|it|my|the|his|her|our|[A-Z]\w*)\b)"
)
_LINK: Final = LazyPattern(r"(?: (?:in|on|at|of|for|during|from|to|back|the))+$")
_LEAD: Final = LazyPattern(
    r"(?:\b(?:in|on|at|of|during|for|from|towards|the|back|sometime|around) )+$"
)
_ZH_ANCHOR: Final = LazyPattern(
    r"(?P<anchor>[^，。？！；、,?!;\s]{1,20}?)(?P<mark>[之以][前后]|[前后](?![天年面来后前台往者任几两一期方]))"
)
_ZH_LEAD: Final = LazyPattern(
    r"^(?:那么|请问|自从|直到|在|自|从|到|当|等|我们|咱们|他们|她们|我|他|她|你|您|的)+"
)
_ZH_EVENT: Final = LazyPattern(
    r"[搬换去来到婚毕旅游买卖加入职离辞退升回考学参识分改更调演赛试课病伤疫祸训装戒养拿收拍写读"
    r"展聚生出做完开]|手术|事故|会议|比赛"
)
_ZH_NO_EVENT: Final = LazyPattern(
    r"(?:睡觉?|吃饭|[早午晚]?[饭餐]|出门|上班|下班|起床|上床|洗澡|[目从先提眼当空最然背今随其落午])$"
)


@dataclass(slots=True)
class Bounds:
    """Days between which something is wanted, and how that was said.

    Attributes:
        start: The first day, `None` for no lower bound.
        end: The day after the last, `None` for no upper bound.
        length: How long the named period is.
        side: What is wanted of the named period.
        anchor: What was named in place of a date.
        spans: The parts of the text that said so.
    """

    start: date | None = None
    end: date | None = None
    length: timedelta = timedelta(days=1)
    side: Side = "during"
    anchor: str | None = None
    spans: list[tuple[int, int]] = field(default_factory=list)


def relate(text: str, original: str, found: list[Period]) -> Bounds | None:
    """Return what periods of a text and the words around them ask for.

    Of several periods the shortest counts, and the others as far as they overlap it.

    Args:
        text: In lower case, with simplified time words.
        original: The same text as it was written, of the same length.
        found: Its periods, in order.
    """
    single = [_sided(text, period) for period in _joined(text, _adjusted(text, found))]
    dated = _together(single) if single else None
    taken = [span for bounds in single for span in bounds.spans]
    anchored = _anchor(text, original, taken)
    if anchored is None:
        return dated
    if dated is not None and dated.side == "during":
        anchored.start, anchored.end = dated.start, dated.end
        anchored.length = dated.length
    elif dated is not None:
        return dated
    anchored.spans = sorted([*taken, *anchored.spans])
    return anchored


def _adjusted(text: str, found: list[Period]) -> list[Period]:
    """Apply "early", "the second week of" and "two weeks before" to what follows."""
    adjusted: list[Period] = []
    for period in found:
        start, changed = period.span[0], period
        offset = max(0, start - _REACH)
        before = text[offset:start]
        try:
            if match := _NTH_WEEK.search(before):
                changed = _nth_week(period, match)
            elif match := _NEXT_TO.search(before):
                changed = _next_to(period, match)
            elif (match := _PART.search(before)) and period.unit not in (
                "day",
                "weekday",
            ):
                changed = periods.part(
                    period, _PARTS[match["part"].removesuffix(" of")]
                )
        except (ValueError, OverflowError):  # before year 1
            match = None
        if match is not None and changed is not period:
            start = offset + match.start()
        adjusted = [other for other in adjusted if other.span[1] <= start]
        adjusted.append(changed._replace(span=(start, period.span[1])))
    return adjusted


def _nth_week(period: Period, match: re.Match[str]) -> Period:
    nth = match["nth"]
    first = (
        period.end - timedelta(days=7)
        if nth == "last"
        else period.start + timedelta(weeks=_ORDINALS[nth])
    )
    if match["unit"] == "weekend":
        return periods.weekend(first + timedelta(days=6))._replace(floating=False)
    return periods.days(first, 7)


def _next_to(period: Period, match: re.Match[str]) -> Period:
    before = match["side"] in ("before", "prior to")
    if given := match["count"]:
        count = int(given) if given.isdigit() else COUNTS[given]
        day = period.start if before else period.end - timedelta(days=1)
        return periods.back(day, count if before else -count, match["units"])
    unit = match["unit"]
    if match["side"] == "of":
        return periods.week(period.start) if unit == "week" else period
    if unit in DAYS:
        wanted = DAYS.index(unit)
        if before:
            back = (period.start.weekday() - wanted) % 7 or 7
            return periods.day(period.start - timedelta(days=back))
        last = period.end - timedelta(days=1)
        return periods.day(last + timedelta(days=(wanted - last.weekday()) % 7 or 7))
    if unit == "weekend":
        away = timedelta(days=(period.start.weekday() - 5) % 7 or 7)
        return periods.days(
            period.start - away
            if before
            else periods.monday(period.end) + timedelta(5),
            2,
        )
    length = {"day": 1, "week": 7, "month": 30, "year": 365}[unit]
    first = period.start - timedelta(days=length) if before else period.end
    return periods.days(first, length, "day" if unit == "day" else "week")


def _joined(text: str, found: list[Period]) -> list[Period]:
    """Make one period of "between … and …" and 从…到…."""
    joined: list[Period] = []
    for period in found:
        if joined and (range_ := _range(text, joined[-1], period)):
            joined[-1] = range_
        else:
            joined.append(period)
    return joined


def _range(text: str, first: Period, last: Period) -> Period | None:
    between = text[first.span[1] : last.span[0]]
    match = _TO.match(text[first.span[1] :]) if len(between) < 12 else None  # noqa: PLR2004
    if match is None or match.end() != len(between):
        return None
    offset = max(0, first.span[0] - _REACH)
    opening = _FROM.search(text[offset : first.span[0]])
    if opening is None and text.isascii():
        return None
    start = first.start
    if first.floating and not last.floating:
        try:
            start = start.replace(year=last.end.year)
            if start >= last.end:
                start = start.replace(year=last.end.year - 1)
        except ValueError:
            return None
    if start >= last.end:
        return None
    span = (offset + opening.start() if opening else first.span[0], last.span[1])
    return Period(start, last.end, "span", span)


def _sided(text: str, period: Period) -> Bounds:
    """Return what "before", "since" or 之后 makes of a period."""
    start, end = period.span
    offset = max(0, start - _REACH)
    before, after = text[offset:start], text[end : end + _REACH]
    bounds = Bounds(period.start, period.end, period.end - period.start)
    ahead = _BEFORE.search(before) or _ZH_UP_TO.search(before)
    behind = _AFTER.search(before)
    if ahead or behind:
        start = offset + (ahead or behind).start()  # type: ignore[union-attr]
    elif match := _ZH_BEFORE.match(after):
        ahead, end = match, end + match.end()
    elif match := _ZH_AFTER.match(after) or _ONWARD.match(after):
        behind, end = match, end + match.end()
    if ahead:
        bounds.side, bounds.start = "before", None
        if ahead.groupdict().get("open"):
            bounds.end = period.start
    elif behind:
        bounds.side, bounds.end = "after", None
        if behind.groupdict().get("open"):
            bounds.start = period.end
    if lead := _LEAD.search(text[max(0, start - _REACH) : start]):
        start -= len(lead[0])
    bounds.spans = [(start, end)]
    return bounds


def _together(single: list[Bounds]) -> Bounds:
    ordered = sorted(single, key=lambda b: (b.side != "during", b.length))
    first = ordered[0]
    for other in ordered[1:]:
        start = max(filter(None, (first.start, other.start)), default=None)
        end = min(filter(None, (first.end, other.end)), default=None)
        if start is None or end is None or start < end:
            first.start, first.end = start, end
    first.spans = sorted(span for bounds in single for span in bounds.spans)
    return first


def _anchor(text: str, original: str, taken: list[tuple[int, int]]) -> Bounds | None:
    """Return the event that a text counts from, if it names one."""
    for match in _ANCHOR.compiled.finditer(text):
        first, last = match.span("anchor")
        if _is_taken(match.start(), taken):
            continue
        inside = [start for start, _ in taken if first <= start < last]
        last = min([last, *inside])
        if question := _QUESTION.search(original[first:last]):
            last = first + question.start()
        words = original[first:last].strip()
        if dangling := _LINK.search(words):
            words = words[: dangling.start()]
        if not words or _NO_ANCHOR.match(words.lower()):
            continue
        side: Side = "after" if match["side"] in _LATER else "before"
        return Bounds(side=side, anchor=words, spans=[match.span("side")])
    return None if text.isascii() else _chinese_anchor(text, original, taken)


_LATER: Final = frozenset({"after", "since", "following"})


def _chinese_anchor(
    text: str, original: str, taken: list[tuple[int, int]]
) -> Bounds | None:
    for match in _ZH_ANCHOR.compiled.finditer(text):
        if _is_taken(match.start("mark"), taken):
            continue
        first, last = match.span("anchor")
        first = max([first, *(end for _, end in taken if end <= last)])
        if lead := _ZH_LEAD.search(text[first:last]):
            first += lead.end()
        words = text[first:last]
        if not _ZH_EVENT.search(words) or _ZH_NO_EVENT.search(words):
            continue
        side: Side = "before" if match["mark"].endswith("前") else "after"
        return Bounds(
            side=side, anchor=original[first:last], spans=[match.span("mark")]
        )
    return None


def _is_taken(position: int, taken: list[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in taken)
