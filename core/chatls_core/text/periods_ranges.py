"""The last level of the time grammar: ranges ("from A to B", B included), open ends ("since A") and bare days."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from .periods import (
    EARLIEST,
    LATEST,
    CalendarFields,
    Period,
    add,
    filled,
    first_from,
    latest,
    latest_weekday,
    midnight,
    next_weekday,
    spanning,
    unit_at,
    weekdays_of,
)
from .periods_pieces import PIECES, plural
from .periods_reduce import Reading, rules
from .periods_tokens import Token
from .tokenizer import fold

_DECIMAL = re.compile(r"\d+\.\d+")
_UNTIL = frozenset({"until", "till", "til", "untill", "up to", "no later than", "ate"})


def _range(r: Reading) -> Period | None:
    first, last = r.token("a"), r.token("b")
    assert first is not None and last is not None
    if _DECIMAL.fullmatch(first.word) and _DECIMAL.fullmatch(last.word):
        return None  # "from 3.11 to 3.12" is a version's or a measure's
    opened = r.has("open")
    if not opened and not _may_open(first, last):
        return None
    start, end = _ends(first, last, r.now)
    if start is None or end is None:
        return None
    if not opened and not (start.alone and end.alone) and not _years(first, last, r):
        return None
    if start.grain == "now" and end.grain == "now":
        return None
    return spanning(start, end)


def _alike(r: Reading) -> bool:
    """Whether both ends are months, or both days: "março a maio de 2026", where the "a" may be another word."""
    first, last = r.period("a"), r.period("b")
    return r.language == "pt" and first.grain == last.grain and first.grain in ("month", "day")


def _may_open(first: Token, last: Token) -> bool:
    """Without "from" or "between" both ends must be dates, or a day beside a date."""
    if first.code == "P":
        return last.code == "P" or last.code == "O"
    return isinstance(last.value, Period) and last.value.grain == "day" and last.value.fields is not None


def _years(first: Token, last: Token, r: Reading) -> bool:
    grains = {t.value.grain for t in (first, last) if isinstance(t.value, Period)}
    return grains == {"year"} and (r.timely or r.whole)


def _ends(first: Token, last: Token, now: datetime) -> tuple[Period | None, Period | None]:
    """Both ends read together: what one leaves out (month, year) comes from the other, and the last is later."""
    start, end = _period(first), _period(last)
    if start is None and end is None:
        return None, None
    if start is None and end is not None:
        if end.grain not in ("day", "month"):
            return None, None
        return _start_beside(_number(first), end, now)
    if end is None and start is not None:
        if start.grain != "day":
            return None, None
        end = first_from(CalendarFields(None, None, _number(last)), start.start)
        if start.fields is not None and start.fields.year is None:
            start = latest(start.fields, now, strictly=True)
            end = first_from(CalendarFields(None, None, _number(last)), start.start)
        return start, end
    assert start is not None and end is not None
    return _read_together(start, end, now)


def _start_beside(day: int, end: Period, now: datetime) -> tuple[Period, Period]:
    fields = end.fields
    if fields is not None and fields.year is None and fields.day is not None:
        start = latest(CalendarFields(None, end.start.month, day), now, strictly=True)
        return start, first_from(fields, start.start)
    return filled(CalendarFields(end.start.year, end.start.month, day)), end


def _read_together(start: Period, end: Period, now: datetime) -> tuple[Period, Period]:
    known_start = start.fields is None or start.fields.year is not None
    known_end = end.fields is None or end.fields.year is not None
    if start.weekday is not None and end.weekday is not None:
        start = latest_weekday(now, start.weekday)
        return start, next_weekday(start.start, end.weekday)
    if start.weekday is not None and end.grain == "day" and end.fields is None and end.weekday is None:
        same_week = weekdays_of(unit_at(end.start, "week"), start.weekday)[0]
        return (same_week if same_week.start < end.start else start), end
    day_alone = start.fields.day if start.fields is not None and start.fields.month is None else None
    if day_alone is not None and end.fields is not None and end.fields.month is not None:
        return _start_beside(day_alone, end, now)
    if end.weekday is not None and end.start < start.start:
        return start, next_weekday(start.start, end.weekday)
    if not known_start and start.fields is not None:
        if end.fields is not None and end.fields.year is not None:
            candidate = filled(replace(start.fields, year=end.fields.year))
            return _before(candidate, start.fields, end), end
        if end.fields is None:
            return (start if start.start < end.start else _before(start, start.fields, end)), end
        start = latest(start.fields, now, strictly=start.grain == "day")
    if not known_end and end.fields is not None:
        return start, first_from(end.fields, start.start)
    return start, end


def _before(candidate: Period, fields: CalendarFields, end: Period) -> Period:
    if candidate.start < end.start:
        return candidate
    return latest(fields, add(end.start, -1, "day"))


def _period(token: Token) -> Period | None:
    return token.value if isinstance(token.value, Period) else None


def _number(token: Token) -> int:
    if not isinstance(token.value, int):
        raise ValueError("no number")
    return token.value


def _inside(r: Reading) -> Period | None:
    """A range within a period: "last week between Friday and Sunday", "November from 3 to 5"."""
    whole, first, last = r.period("p"), r.token("a"), r.token("b")
    assert first is not None and last is not None
    if whole.grain == "week":
        start, end = (_weekday_in(whole, t) for t in (first, last))
    elif whole.grain == "month":
        start, end = (_day_in(whole, t) for t in (first, last))
    else:
        return None
    return spanning(start, end) if start is not None and end is not None else None


def _weekday_in(week: Period, token: Token) -> Period | None:
    named = _period(token)
    return None if named is None or named.weekday is None else weekdays_of(week, named.weekday)[0]


def _day_in(month: Period, token: Token) -> Period | None:
    if not isinstance(token.value, int):
        return None
    return filled(CalendarFields(month.start.year, month.start.month, token.value))


def _since(r: Reading) -> Period | None:
    period = r.period("p")
    today_ends = add(midnight(r.now), 1, "day")
    if not _firm(r, period):
        return None
    return Period(period.start, today_ends if period.start < today_ends else LATEST, "range")


def _onward(r: Reading) -> bool:
    """Whether "from March on" ends in its "on", which "from March on Linux" does not."""
    return r.tokens[r.last].code == "ONWARD" or r.closed


def _before_period(r: Reading) -> Period | None:
    period = r.period("p")
    return Period(EARLIEST, period.start, "range") if _firm(r, period) else None


def _unit_beside(r: Reading) -> Period | None:
    """ "The day before 5 June", "the month after May": as long as the unit says, right beside the period."""
    period, unit, before = r.period("p"), r.unit("u"), r.has("before")
    if plural(r.token("u")) or unit in ("weekday", "hour", "minute") or not _firm(r, period):
        return None
    if unit == "weekend":
        saturday = latest_weekday(add(period.start, -1, "day"), 5) if before else _next_from(period.end, 5)
        return Period(saturday.start, add(saturday.start, 2, "day"), "weekend")
    if period.grain == unit:
        return unit_at(period.start, unit, -1 if before else 1)
    if before:
        return Period(add(period.start, -1, unit), period.start, unit)
    return Period(period.end, add(period.end, 1, unit), unit)


def _weekday_beside(r: Reading) -> Period | None:
    """ "The Sunday before 25 May": the nearest one outside the period."""
    named, period = r.period("q"), r.period("p")
    if named.weekday is None or not _firm(r, period):
        return None
    if r.has("before"):
        return latest_weekday(period.start, named.weekday)
    return _next_from(period.end, named.weekday)


def _next_from(day: datetime, weekday: int) -> Period:
    """The first such weekday from ``day`` on."""
    return next_weekday(add(day, -1, "day"), weekday)


def _until(r: Reading) -> Period | None:
    period, word = r.period("p"), r.token("to")
    if word is None or fold(word.word) not in _UNTIL or not _firm(r, period):
        return None
    return Period(EARLIEST, period.end, "range")


def _after(r: Reading) -> Period | None:
    period = r.period("p")
    today_ends = add(midnight(r.now), 1, "day")
    if not _firm(r, period):
        return None
    return Period(period.end, today_ends if period.end < today_ends else LATEST, "range")


def _firm(r: Reading, period: Period) -> bool:
    return period.alone or (period.grain in ("year", "quarter") and r.closed)


def _bare_day(r: Reading) -> Period | None:
    """A day of the month ("on 15", "for the 27th"): only at the end of a phrase with a verb of time."""
    day = r.token("d")
    assert day is not None
    if not r.closed or not 1 <= r.number("d") <= 31:
        return None
    digits = day.word[:1].isdigit()
    on = r.match.group("prep").startswith("ON")
    if r.timely or (day.code == "O" and digits and on):
        return latest(CalendarFields(day=r.number("d")), r.now)
    return None


def _beside_day(r: Reading) -> Period | None:
    """ "Since the 10th", "before the 5th": a day of the month that ends the phrase."""
    day = r.token("d")
    assert day is not None
    if not r.closed or not day.word[:1].isdigit() or not 1 <= r.number("d") <= 31:
        return None
    named = latest(CalendarFields(day=r.number("d")), r.now)
    side = r.match.group("side")
    if side == "BEFORE":
        return Period(EARLIEST, named.start, "range")
    return Period(named.start if side == "SINCE" else named.end, add(midnight(r.now), 1, "day"), "range")


def _days(r: Reading) -> Period | None:
    """Days of the month alone: "from the 4th to the 8th"."""
    first, last = r.token("a"), r.token("b")
    if first is None or last is None or not r.closed or not (first.word[:1].isdigit() and last.word[:1].isdigit()):
        return None
    start = latest(CalendarFields(day=r.number("a")), r.now, strictly=True)
    return spanning(start, first_from(CalendarFields(day=r.number("b")), start.start))


_END = r"(?:THE |IN THE |A )?"
_TO = r"(?:, )?(?:TO |- |– |— |A )"

LEVEL_RANGES = rules(
    (
        r"(?P<open>FROM |SINCE |OF |IN )" + _END + r"(?P<a>P|N|O) (?:, )?(?:TO |- |– |— |A )" + _END + r"(?P<b>P|O) ",
        _range,
    ),
    (_END + r"(?P<a>P|N|O) (?:TO |- |– |— )" + _END + r"(?P<b>P) ", _range),
    (r"(?P<a>P) A (?P<b>P) ", lambda r: _range(r) if _alike(r) else None),
    (r"(?P<open>BETWEEN )" + _END + r"(?P<a>P|N|O) (?:AND |TO |- )" + _END + r"(?P<b>P|O) ", _range),
    (r"(?P<p>P) (?:FROM |BETWEEN |OF )(?:THE )?(?P<a>P|N|O) (?:TO |AND |- |A )(?:THE )?(?P<b>P|N|O) ", _inside),
    (r"SINCE (?:THE |A )?(?P<p>P) ", _since),
    (r"A STARTING OF (?:THE )?(?P<p>P) ", _since),
    (r"STARTING (?:IN |ON |FROM )(?:THE )?(?P<p>P) ", _since),
    (r"(?:FROM |OF |SINCE )(?:THE )?(?P<p>P) (?:ONWARD |ON )", lambda r: _since(r) if _onward(r) else None),
    (_END + r"(?P<u>UNIT) (?:(?P<before>BEFORE )|AFTER )(?:OF )?(?:THE )?(?P<p>P) ", _unit_beside),
    (r"(?P<q>P) (?:(?P<before>BEFORE )|AFTER )(?:OF )?(?:THE )?(?P<p>P) ", _weekday_beside),
    (r"BEFORE (?:OF )?(?:THE |A )?(?P<p>P) ", _before_period),
    (r"AFTER (?:OF )?(?:THE |A )?(?P<p>P) ", _after),
    (r"(?P<to>TO) (?:THE |A )?(?P<p>P) ", _until),
    (r"(?P<side>SINCE|BEFORE|AFTER) THE (?P<d>O) ", _beside_day),
    (r"(?P<prep>ON |IN |FOR THE |ON THE )(?P<d>N|O) ", _bare_day),
    (r"(?P<prep>THE )(?P<d>O) ", lambda r: _bare_day(r) if r.whole else None),
    (r"(?:FROM |BETWEEN )(?:THE )?(?P<a>O) (?:TO |AND )(?:THE )?(?P<b>O) ", _days),
    pieces=PIECES,
)
