"""Days, weeks, months and years that English words name."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

from langchain_agentmemory.search import periods
from langchain_agentmemory.search.periods import Period, Tense
from langchain_agentmemory.search.scripts import LazyPattern

MONTHS: Final = {
    name: number
    for number, name in enumerate(
        "jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1
    )
}
_MONTH_NAMES: Final = (
    "january february march april may june july august september october november "
    "december"
).split()
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    r"|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY: Final = r"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)[0-9][0-9])\b"
DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_WEEKDAY: Final = rf"(?P<weekday>{'|'.join(DAYS)})\b"
COUNTS: Final = {
    word: number
    for number, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), 1
    )
} | {"a": 1, "an": 1, "a couple of": 2, "a couple": 2, "couple of": 2, "couple": 2}
_VAGUE: Final = {"a few": (2, 5), "few": (2, 5), "several": (3, 8), "some": (2, 5)}
_COUNT: Final = (
    r"(?P<count>[0-9]{1,3}|"
    + "|".join(sorted([*COUNTS, *_VAGUE], key=len, reverse=True))
    + ")"
)
_UNIT: Final = r"(?P<unit>day|week|month|year|decade)s?\b"
_WHICH_WORDS: Final = r"\b(?:last|past|previous|this|current|next|coming|upcoming)"
_WHICH: Final = _WHICH_WORDS.replace("?:", "?P<which>")
# What stands before a month, a year or a weekday when a time is meant.
_LEAD: Final = (
    r"\b(?:in|since|before|after|until|till|during|by|from|through|throughout|between"
    r"|around|early|mid|late|of|prior to|up to|as of)[ -](?:(?:early|mid|late)[ -])?"
)
# A season or a holiday is a time with a year or "last" beside it, else a topic.
_YEAR_OR_WHICH: Final = rf"\b(?:(?: of| in|,)? {_YEAR}|(?(which)|(?!)))"
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_HOLIDAYS: Final = {  # first month and day, and how many days
    "christmas": (12, 24, 3),
    "halloween": (10, 31, 1),
    "thanksgiving": (11, 22, 7),
    "new year": (12, 31, 2),
    "valentine": (2, 14, 1),
}
_QUARTERS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}

Reader = Callable[[re.Match[str], date, Tense], Period | None]


def month_number(name: str) -> int:
    """Return 1 for `"jan"`, `"Jan."` and `"January"`."""
    return MONTHS[name[:3].lower()]


def _iso(match: re.Match[str], _: date, _tense: Tense) -> Period:
    year, month, day = (match[1], match[2], match[3])
    if day:
        return periods.day(date(int(year), int(month), int(day)))
    return _month(int(year), int(month))


def _month(year: int, number: int) -> Period:
    return periods.month(date(year, number, 1).year, number)


def _slashes(match: re.Match[str], today: date, tense: Tense) -> Period:
    month, day = int(match["a"]), int(match["b"])
    if month > 12:  # noqa: PLR2004 - the day comes first
        month, day = day, month
    if match["year"]:
        return periods.day(date(int(match["year"]), month, day))
    return periods.placed(
        lambda year: periods.day(date(year, month, day)), today, tense
    )


def _month_day(match: re.Match[str], today: date, tense: Tense) -> Period:
    month, day = month_number(match["month"]), int(match["day"])
    if match["year"]:
        return periods.day(date(int(match["year"]), month, day))
    return periods.placed(
        lambda year: periods.day(date(year, month, day)), today, tense
    )


def _month_year(match: re.Match[str], _: date, _tense: Tense) -> Period:
    return periods.month(int(match["year"]), month_number(match["month"]))


def _some_month(match: re.Match[str], today: date, tense: Tense) -> Period:
    number = month_number(match["month"])
    return _of_year(
        lambda year: periods.month(year, number), match["which"], today, tense
    )


def _of_year(
    build: Callable[[int], Period], which: str | None, today: date, tense: Tense
) -> Period:
    """Return the last, this year's or the next of what comes once a year."""
    if which in ("last", "past", "previous"):
        return periods.ended(build, today)
    if which in ("next", "coming", "upcoming"):
        return periods.placed(build, today + timedelta(days=1), "future")
    if which in ("this", "current"):
        return build(today.year)
    return periods.placed(build, today, tense)


def _season(match: re.Match[str], today: date, tense: Tense) -> Period:
    first = _SEASONS[match["season"]]
    if match["year"]:
        return periods.month(int(match["year"]), first, 3)
    return _of_year(
        lambda number: periods.month(number, first, 3), match["which"], today, tense
    )


def _holiday(match: re.Match[str], today: date, tense: Tense) -> Period:
    month, day, count = _HOLIDAYS[match["holiday"]]

    def build(year: int) -> Period:
        return periods.days(date(year, month, day), count)

    if match["year"]:
        return build(int(match["year"]))
    return _of_year(build, match["which"], today, tense)


def _quarter(match: re.Match[str], today: date, tense: Tense) -> Period:
    given = match["number"] or match["name"]
    number = int(given) if given.isdigit() else _QUARTERS[given]

    def build(year: int) -> Period:
        return periods.month(year, number * 3 - 2, 3)

    if match["year"]:
        return build(int(match["year"]))
    return periods.placed(build, today, tense)


def _half(match: re.Match[str], _: date, _tense: Tense) -> Period:
    return periods.month(
        int(match["year"]), 1 if match["name"] in ("first", "h1") else 7, 6
    )


def _shift(days: int) -> Reader:
    return lambda _, today, _tense: periods.day(today + timedelta(days=days))


def _which_unit(match: re.Match[str], today: date, _tense: Tense) -> Period:
    away = {"this": 0, "current": 0, "next": 1, "coming": 1, "upcoming": 1}.get(
        match["which"], -1
    )
    unit = match["unit"]
    if unit == "weekend":
        return periods.weekend(today, away)
    if match["which"] == "past":
        return periods.until(today, 1, unit)
    if unit == "week":
        return periods.week(today, away)
    return periods.back(today, -away, unit)


def _stretch(match: re.Match[str], today: date, _tense: Tense) -> Period:
    low, high = _count(match["count"])
    return periods.until(today, max(low, high - 1), match["unit"])


def _ago(match: re.Match[str], today: date, _tense: Tense) -> Period:
    low, high = _count(match["count"])
    near = periods.back(today, low, match["unit"])
    if low == high:
        return near
    return Period(periods.back(today, high, match["unit"]).start, near.end, "span")


def _count(given: str) -> tuple[int, int]:
    if given.isdigit():
        return int(given), int(given)
    if given in _VAGUE:
        return _VAGUE[given]
    return COUNTS[given], COUNTS[given]


def _weekday(match: re.Match[str], today: date, tense: Tense) -> Period:
    wanted, which = DAYS.index(match["weekday"]), match["which"]
    if which == "this":
        return periods.day(periods.monday(today) + timedelta(days=wanted))
    if which in ("last", "past"):
        return periods.day(today - timedelta(days=(today.weekday() - wanted) % 7 or 7))
    if which in ("next", "coming"):
        return periods.day(today + timedelta(days=(wanted - today.weekday()) % 7 or 7))
    return periods.weekday(today, wanted, tense)


def _year(match: re.Match[str], _: date, _tense: Tense) -> Period:
    return periods.year(int(match["year"]))


def _decade(match: re.Match[str], _: date, _tense: Tense) -> Period:
    given = int(match["decade"])
    if given < 100:  # noqa: PLR2004 - "the 90s"
        given += 1900 if given >= 30 else 2000  # noqa: PLR2004
    return periods.year(given, 10)


def _lately(_: re.Match[str], today: date, _tense: Tense) -> Period:
    return periods.until(today, 30, "day")


# Words, one of which must occur; what the text must then contain; what it means.
_READINGS: Final[tuple[tuple[str, str, Reader], ...]] = (
    (
        "0",
        r"(?<![0-9])((?:19|20)[0-9]{2})[-/]([01]?[0-9])(?:[-/]([0-3]?[0-9]))?(?![0-9])",
        _iso,
    ),
    (
        "0",
        (
            rf"(?:\b(?:on|the) |{_LEAD}|(?=[0-9]+/[0-9]+/[0-9]))(?<![0-9/])"
            r"(?P<core>(?P<a>[0-3]?[0-9])/(?P<b>[0-3]?[0-9])(?:/(?P<year>[0-9]{4}))?)"
            r"(?![0-9/])"
        ),
        _slashes,
    ),
    (
        "M",
        rf"(?<![0-9]){_DAY}(?: of)? {_MONTH}(?:,? ?(?:of )?{_YEAR})?",
        _month_day,
    ),
    (
        "M",
        rf"\b{_MONTH} {_DAY}(?![0-9:])(?:,? ?{_YEAR})?",
        _month_day,
    ),
    ("M", rf"\b{_MONTH},?(?: of)? {_YEAR}", _month_year),
    (
        "M",
        (
            rf"(?:{_LEAD}|(?={_WHICH_WORDS} ))(?P<core>(?:{_WHICH} )?{_MONTH})"
            r"(?! [0-9])(?![-'])"
        ),
        _some_month,
    ),
    (
        "spring summer autumn fall winter",
        rf"\b{_YEAR} (?P<season>{'|'.join(_SEASONS)})\b(?P<which>)",
        _season,
    ),
    (
        "spring summer autumn fall winter",
        rf"\b(?:{_WHICH} )?(?P<season>{'|'.join(_SEASONS)}){_YEAR_OR_WHICH}",
        _season,
    ),
    (
        "christmas halloween thanksgiving new valentine",
        (
            rf"\b(?:{_WHICH} )?(?P<holiday>{'|'.join(_HOLIDAYS)})(?:'s)?"
            rf"(?: (?:eve|day))?{_YEAR_OR_WHICH}"
        ),
        _holiday,
    ),
    (
        "q1 q2 q3 q4 quarter",
        (
            r"\b(?:q(?P<number>[1-4])|(?P<name>first|second|third|fourth) quarter)\b"
            rf"(?:(?: of| in|,)? ?{_YEAR})?"
        ),
        _quarter,
    ),
    ("half h1 h2", rf"\b(?P<name>first|second|h1|h2)(?: half)?(?: of)? {_YEAR}", _half),
    ("yesterday", r"\b(?:the )?day before yesterday\b", _shift(-2)),
    ("tomorrow", r"\b(?:the )?day after tomorrow\b", _shift(2)),
    ("yesterday night", r"\byesterday(?!'s)\b|\blast night\b", _shift(-1)),
    ("tomorrow", r"\btomorrow\b", _shift(1)),
    (
        "today tonight morning afternoon evening",
        r"\btoday\b|\btonight\b|\b(?:earlier )?this (?:morning|afternoon|evening)\b",
        _shift(0),
    ),
    ("ago", rf"\b{_COUNT} {_UNIT} ago\b", _ago),
    (
        "days weeks months years decades",
        rf"\b(?:last|past|previous|recent) {_COUNT} {_UNIT}",
        _stretch,
    ),
    (
        "week weekend month year decade",
        (
            rf"\b(?:earlier |later )?{_WHICH} "
            r"(?P<unit>weekend|week|month|year|decade)\b(?!'s)"
        ),
        _which_unit,
    ),
    (
        " ".join(DAYS),
        (
            rf"(?:\bon |{_LEAD}|(?={_WHICH_WORDS} ))(?P<core>(?:{_WHICH} )?{_WEEKDAY})"
            r"(?! (?:morning|afternoon|evening|night)s)"
        ),
        _weekday,
    ),
    (
        "0",
        rf"(?:{_LEAD}|\b(?:year|to|and) )(?P<core>(?:the year )?{_YEAR})(?![-'/:])",
        _year,
    ),
    ("0", r"\bthe (?P<decade>(?:(?:19|20)[0-9]|[2-9])0)'?s\b", _decade),
    ("recently lately", r"(?<!most )\b(?:recently|lately)\b", _lately),
    ("other", r"\bthe other (?:day|week|night)\b", _lately),
)
_Rule = tuple[int, LazyPattern, Reader]


def _by_cue() -> dict[str, list[_Rule]]:
    rules: dict[str, list[_Rule]] = {}
    spelled = [*MONTHS, *_MONTH_NAMES, "sept"]
    for order, (cues, pattern, read) in enumerate(_READINGS):
        rule = (order, LazyPattern(pattern), read)
        for cue in spelled if cues == "M" else cues.split():
            rules.setdefault(cue, []).append(rule)
    return rules


_RULES: Final = _by_cue()
_CUES: Final = frozenset(_RULES)
_WORD: Final = re.compile(r"[a-z]+[1-4]?")
_DIGITS: Final = re.compile(r"[0-9]{2}|[0-9]/[0-9]")
_REACH: Final = 40
"""No phrase goes further than so many characters from the word that gives it away."""


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, by which `read_english` looks."""
    return frozenset(_WORD.findall(text))


def read_english(
    text: str, words: frozenset[str], today: date, tense: Tense = "past"
) -> list[Period]:
    """Return what English words of a text name, in the order of the text.

    Args:
        text: In lower case.
        words: Its words, as `words_of` returns them.
        today: The day that relative words are counted from.
        tense: Where a date without a year, or a bare weekday, lies.
    """
    cues = _CUES & words
    places = [match.start() for match in _DIGITS.finditer(text)]
    if places:
        cues |= {"0"}
    if not cues:
        return []
    for cue in cues:
        places += (text.find(cue), text.rfind(cue))
    first, last = max(0, min(places) - _REACH), max(places) + _REACH
    found: list[Period] = []
    taken: list[tuple[int, int]] = []
    rules = {rule[0]: rule for cue in cues for rule in _RULES[cue]}
    for order in sorted(rules):
        _, pattern, read = rules[order]
        for match in pattern.compiled.finditer(text, first, last):
            span = match.span("core" if "core" in match.re.groupindex else 0)
            if not periods.free(span, taken):
                continue
            taken.append(span)
            try:
                period = read(match, today, tense)
            except (
                ValueError,
                OverflowError,
            ):  # 31 February: no date, nor a part of one
                continue
            if period is not None:
                found.append(period._replace(span=span))
    return list(periods.in_order(found))
