"""Days, weeks, months and years that Chinese words name, simplified or traditional."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

from langchain_agentmemory.search import periods
from langchain_agentmemory.search.periods import Period, Tense
from langchain_agentmemory.search.scripts import LazyPattern

_SIMPLIFIED: Final = str.maketrans(
    "０１２３４５６７８９後個週禮號過這兩國慶聖誕節幾來當開從間時終內裡裏數陣離應點鐘前",
    "0123456789后个周礼号过这两国庆圣诞节几来当开从间时终内里里数阵离应点钟前",
)
_DIGITS: Final = {c: n for n, c in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
_SCALES: Final = {"十": 10, "百": 100, "千": 1000}
_NUMBER: Final = r"[0-9]{1,4}|[〇零一二两三四五六七八九十百千]+"
_COUNT: Final = rf"(?P<count>{_NUMBER}|好几|几|数|半)"
_UNIT: Final = r"(?P<unit>天|日|周|个?星期|个?礼拜|个?月|个?季度|年)"
_UNITS: Final = {"天": "day", "日": "day", "周": "week", "月": "month", "年": "year"}
_YEAR: Final = (
    r"(?:(?P<year>[0-9]{4}|[〇零一二三四五六七八九]{4}"
    r"|(?<![0-9第])[0-9]{2}(?=年(?:1[0-2]|0?[1-9])月(?!前)))\s*年"
    r"|(?P<which>大前|[今去前明后本]|这一?|上一?|下一?)年)"
)
_YEARS: Final = {
    "今": 0, "本": 0, "这": 0, "这一": 0, "去": -1, "上": -1, "上一": -1,
    "前": -2, "大前": -3, "明": 1, "下": 1, "下一": 1, "后": 2,
}  # fmt: skip
_AHEAD: Final = 20
"""How many years ahead a year of two digits may lie."""
_AWAY: Final = {"上上": -2, "上": -1, "这": 0, "本": 0, "当": 0, "下": 1, "下下": 2}
_SEASONS: Final = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_HOLIDAYS: Final = {  # first month and day, and how many days; a month if lunar
    "春节": (1, 21, 31),
    "过年": (1, 21, 31),
    "清明": (4, 4, 3),
    "五一": (5, 1, 5),
    "端午": (5, 28, 29),
    "中秋": (9, 8, 30),
    "国庆": (10, 1, 8),
    "圣诞": (12, 24, 3),
    "元旦": (12, 31, 2),
}
_PARTS: Final = {"初": "early", "中": "middle", "末": "late", "底": "late"} | {
    "上旬": "early",
    "中旬": "middle",
    "下旬": "late",
}
_DAYS: Final = {
    "大前天": -3, "前天": -2, "前晚": -2, "昨": -1, "今": 0, "明": 1,
    "后天": 2, "大后天": 3,
}  # fmt: skip
_WEEKDAYS: Final = {c: i for i, c in enumerate("一二三四五六日")} | {"天": 6}

Reader = Callable[[re.Match[str], date, Tense], Period | None]


def simplified(text: str) -> str:
    """Return the text with its time words in simplified characters."""
    return text.translate(_SIMPLIFIED)


def chinese_number(given: str) -> int:
    """Read a number: `"12"`, `"十二"`, `"一百零五"`, `"二〇二三"`.

    Raises:
        ValueError: If it has none of these forms.
    """
    if given.isdigit() and given.isascii():
        return int(given)
    if not any(scale in given for scale in _SCALES):
        if not given or any(char not in _DIGITS for char in given):
            raise ValueError(given)
        return int("".join(str(_DIGITS[char]) for char in given))
    total = digit = 0
    for char in given:
        if char in _SCALES:
            total += (digit or 1) * _SCALES[char]
            digit = 0
        elif char in _DIGITS:
            digit = _DIGITS[char]
        else:
            raise ValueError(given)
    return total + digit


def _year_of(match: re.Match[str], today: date) -> int | None:
    if match["year"]:
        year = chinese_number(match["year"])
        return year if match["year"][2:] else _of_two_digits(year, today)
    return today.year + _YEARS[match["which"]] if match["which"] else None


def _of_two_digits(year: int, today: date) -> int:
    """Return the year that two digits mean: 25 is 2025, 98 is 1998."""
    near = today.year // 100 * 100 + year
    return near if near <= today.year + _AHEAD else near - 100


def _yearly(
    build: Callable[[int], Period], match: re.Match[str], today: date, tense: Tense
) -> Period:
    year = _year_of(match, today)
    return periods.placed(build, today, tense) if year is None else build(year)


def _date(match: re.Match[str], today: date, tense: Tense) -> Period:
    month, day = chinese_number(match["month"]), match["day"]
    if day:
        number = chinese_number(day)
        return _yearly(
            lambda year: periods.day(date(year, month, number)), match, today, tense
        )
    found = _yearly(
        lambda year: periods.month(date(year, month, 1).year, month),
        match,
        today,
        tense,
    )
    return periods.part(found, _PARTS[match["part"]]) if match["part"] else found


def _year(match: re.Match[str], today: date, _tense: Tense) -> Period:
    found = periods.year(_year_of(match, today) or 0)
    part = (match["part"] or "").removeprefix("年")
    if not part:
        return found
    if part in _PARTS:
        return periods.part(found, _PARTS[part])
    if part in ("上半年", "下半年"):
        return periods.month(found.start.year, 1 if part[0] == "上" else 7, 6)
    number = chinese_number(part.removeprefix("第")[0])
    return periods.month(
        date(found.start.year, number * 3 - 2, 1).year, number * 3 - 2, 3
    )


def _near(
    build: Callable[[int], Period], match: re.Match[str], today: date, tense: Tense
) -> Period:
    if not match["near"]:
        return _yearly(build, match, today, tense)
    if match["near"].startswith("上"):
        return periods.ended(build, today)
    return build(today.year)


def _season(match: re.Match[str], today: date, tense: Tense) -> Period:
    first = _SEASONS[match["season"]]

    def build(year: int) -> Period:
        return periods.month(year, first, 3)

    return _near(build, match, today, tense)


def _holiday(match: re.Match[str], today: date, tense: Tense) -> Period:
    month, day, count = _HOLIDAYS[match["holiday"]]

    def build(year: int) -> Period:
        return periods.days(date(year, month, day), count)

    return _near(build, match, today, tense)


def _day(match: re.Match[str], today: date, _tense: Tense) -> Period:
    given = match[0]
    away = _DAYS.get(given, _DAYS.get(given[0], 0))
    return periods.day(today + timedelta(days=away))


def _week(match: re.Match[str], today: date, _tense: Tense) -> Period:
    away, day = _AWAY[match["away"]], match["day"]
    if not day:
        return periods.week(today, away)
    if day == "末":
        return periods.weekend(today, away)
    monday = periods.monday(today) + timedelta(weeks=away)
    return periods.day(monday + timedelta(days=_WEEKDAYS[day]))


def _weekday(match: re.Match[str], today: date, tense: Tense) -> Period:
    return periods.weekday(today, _WEEKDAYS[match["day"]], tense)


def _month(match: re.Match[str], today: date, _tense: Tense) -> Period:
    found = periods.month(today.year, today.month + _AWAY[match["away"]])
    if match["day"]:
        return periods.day(found.start.replace(day=chinese_number(match["day"])))
    return periods.part(found, _PARTS[match["part"]]) if match["part"] else found


def _amount(match: re.Match[str]) -> tuple[int, int, str]:
    """Return the least and the greatest number, and the unit."""
    given, unit = match["count"], match["unit"].lstrip("个")
    name = {"星期": "week", "礼拜": "week", "季度": "month"}.get(unit) or _UNITS[unit]
    times = 3 if unit == "季度" else 1
    if given == "半":
        count, name = {"year": (6, "month"), "month": (15, "day")}.get(name, (1, "day"))
        return count, count, name
    if given in ("几", "数", "好几"):
        return 2 * times, 5 * times, name
    return chinese_number(given) * times, chinese_number(given) * times, name


def _ago(match: re.Match[str], today: date, _tense: Tense) -> Period:
    low, high, unit = _amount(match)
    near = periods.back(today, low, unit)
    if low == high:
        return near
    return Period(periods.back(today, high, unit).start, near.end, "span")


def _stretch(match: re.Match[str], today: date, _tense: Tense) -> Period:
    _, high, unit = _amount(match)
    return periods.until(today, high, unit)


def _lately(_: re.Match[str], today: date, _tense: Tense) -> Period:
    return periods.until(today, 30, "day")


def _days_ago(_: re.Match[str], today: date, _tense: Tense) -> Period:
    return periods.until(today, 7, "day")


_MAYBE_YEAR: Final = rf"(?:{_YEAR}的?\s*)?"
_NEAR: Final = r"(?P<near>[上这](?:一?个)?)?"

_READINGS: Final[tuple[tuple[LazyPattern, Reader], ...]] = tuple(
    (LazyPattern(pattern), read)
    for pattern, read in (
        (
            (
                rf"{_MAYBE_YEAR}(?<![0-9第])(?P<month>[0-9]?[0-9]|十[一二]?"
                r"|[一二三四五六七八九])"
                r"\s*月(?:份)?(?:\s*(?P<day>[0-3]?[0-9]|[一二三]?十[一二三四五六七八九]?|廿?"
                r"[一二三四五六七八九])\s*[日号]|(?P<part>初|中旬|上旬|下旬|底|末))?"
            ),
            _date,
        ),
        (
            rf"{_MAYBE_YEAR}{_NEAR}(?P<season>[春夏秋冬])[天季]",
            _season,
        ),
        (
            rf"{_MAYBE_YEAR}{_NEAR}(?P<holiday>{'|'.join(_HOLIDAYS)})节?",
            _holiday,
        ),
        (
            rf"{_YEAR}的?(?P<part>年?[初底末中](?!国)|上半年|下半年|第?[一二三四1-4]季度)?",
            _year,
        ),
        (
            r"大前天|前天|前晚|大后天|(?<!以)(?<!今)(?<!之)后天|[昨今明][天日晚早夜]",
            _day,
        ),
        (
            r"(?P<away>上上|上|这|本|下下|下)一?个?(?:周|星期|礼拜)(?P<day>[一二三四五六日天末])?",
            _week,
        ),
        (
            (
                r"(?P<away>上上|上|这|本|当|下下|下)一?个?月(?:(?P<day>[0-3]?[0-9]|[一二三]?十?"
                r"[一二三四五六七八九十])[日号]|(?P<part>初|中旬|上旬|下旬|底|末))?"
            ),
            _month,
        ),
        (rf"{_COUNT}\s*{_UNIT}(?:多|来)?[之以]?前(?![天年面])", _ago),
        (
            rf"(?:过去|最近|近|这)(?:的|这)?\s*{_COUNT}\s*{_UNIT}(?:[里内来]|之内|以内|以来)?",
            _stretch,
        ),
        (r"前(?:几|两|些)[天日]|这几[天日]|近[几两]?[天日]", _days_ago),
        (
            r"(?<![每逢])(?:周|星期|礼拜)(?P<day>[一二三四五六日天])(?![一二三四五六日到至和])",
            _weekday,
        ),
        (
            (
                r"(?<![离距])最近(?!的?[一-龥]{1,4}(?:站|店|院|场|市|行))|近来|近期|近日|不久前"
                r"|[这前](?:一?阵子|一?段时间)"
            ),
            _lately,
        ),
    )
)
_GATE: Final = re.compile(
    r"[年月天周期拜节季春夏秋冬国圣五端中清元过昨今明近久阵]|前[晚日]|段时"
)


def read_chinese(text: str, today: date, tense: Tense = "past") -> list[Period]:
    """Return what Chinese words of a text name, in the order of the text.

    Args:
        text: As `simplified` returns it.
        today: The day that relative words are counted from.
        tense: Where a date without a year, or a bare weekday, lies.
    """
    if not _GATE.search(text):
        return []
    found: list[Period] = []
    taken: list[tuple[int, int]] = []
    for pattern, read in _READINGS:
        for match in pattern.compiled.finditer(text):
            if not periods.free(match.span(), taken):
                continue
            taken.append(match.span())
            try:
                period = read(match, today, tense)
            except (
                KeyError,
                ValueError,
                OverflowError,
            ):  # 13月, year 0: no date, nor a part of one
                continue
            if period is not None:
                found.append(period._replace(span=match.span()))
    return list(periods.in_order(found))
