"""The next level of the time grammar: parts of periods ("the last week of July", "early next month")."""

from __future__ import annotations

from .periods import (
    CalendarFields,
    Period,
    add,
    day_of,
    early_part,
    filled,
    iso_week,
    late_part,
    latest,
    middle_part,
    midnight,
    nth,
    part_of_year,
    spanning,
    unit_at,
    weekdays_of,
    weeks_of,
)
from .periods_pieces import NO_SUCH, PIECES
from .periods_reduce import Reading, rules
from .periods_tokens import Token, WrittenDate
from .periods_units import duration, moved
from .tokenizer import fold

_WIDE = ("month", "quarter", "half", "year", "decade")
_THIRDS = frozenset({"beginning", "start", "end", "inicio", "comeco", "fim", "final"})
_NEED_OF = _THIRDS | {"middle", "principio", "fins", "finais", "meio"}
_MONTHS_IN_PART = {"month": 1, "quarter": 3, "half": 6}


def _ordinal(token: Token | None) -> int:
    """The ordinal of a token: 2 for "second" and "segunda", -1 for "last"."""
    if token is None:
        raise ValueError("no ordinal")
    if token.code == "LAST":
        return -1
    return int(str(token.value)) + (2 if token.code == "WO" else 0)


def _weekday_of(token: Token | None) -> int | None:
    if token is None:
        return None
    if token.code in ("WO", "DWD", "WD"):
        return int(str(token.value))
    return token.value.weekday if isinstance(token.value, Period) else None


def _nth_weekday(r: Reading) -> Period | tuple[str, None] | None:
    weekday = _weekday_of(r.token("w"))
    if weekday is None:
        return None
    if r.has("p"):
        inside = _whole(r)
        if inside.grain not in _WIDE:
            return None
    elif not (r.closed and r.timely):
        return None
    else:
        inside = unit_at(r.now, "month")
    return nth(weekdays_of(inside, weekday), _ordinal(r.token("o"))) or NO_SUCH


def _whole(r: Reading) -> Period:
    """The period a part is taken of; a bare unit after "of" is the current one ("último dia do mês")."""
    token = r.token("p")
    if token is not None and token.code == "UNIT" and r.has("of"):
        return unit_at(r.now, str(token.value))
    return r.period("p")


def _nth_unit(r: Reading) -> Period | None:
    inside, unit, which = _whole(r), r.unit("u"), _ordinal(r.token("o"))
    if inside.grain not in _WIDE:
        return None
    if unit == "week":
        return nth(weeks_of(inside), which)
    if unit == "weekend":
        saturday = nth(weekdays_of(inside, 5), which)
        return unit_at(saturday.start, "weekend") if saturday else None
    if unit == "day":
        day = add(inside.end if which < 0 else inside.start, which if which < 0 else which - 1, "day")
        return day_of(day) if inside.start <= day < inside.end else None
    if unit == "fortnight" and inside.grain == "month":
        # "A segunda quinzena de maio"
        return {1: early_part, 2: late_part, -1: late_part}[which](inside) if which in (1, 2, -1) else None
    if unit not in _MONTHS_IN_PART or inside.grain != "year":
        return None
    size = _MONTHS_IN_PART[unit]
    return part_of_year(inside.start.year, which if which > 0 else 12 // size, size, unit)


def _week_of_year(r: Reading) -> Period | None:
    inside = r.period("p")
    if r.unit("u") != "week" or inside.grain != "year":
        return None
    return iso_week(inside.start.year, r.number("n"))


def _nth_quarter_alone(r: Reading) -> Period | None:
    before = r.before()
    if r.unit("u") != "quarter" or not (r.whole or (before and before.code in ("IN", "SINCE", "FROM", "FOR"))):
        return None
    found = part_of_year(r.now.year, _ordinal(r.token("o")), 3, "quarter")
    return found if found.start <= r.now else part_of_year(r.now.year - 1, _ordinal(r.token("o")), 3, "quarter")


def _first_or_last_units(r: Reading) -> Period | None:
    inside, by, which = _whole(r), duration(r), _ordinal(r.token("o"))
    if inside.grain not in (*_WIDE, "week") or which not in (1, -1) or len(by) > 1:
        return None
    count, unit = by[0]
    if unit == "week":
        weeks = weeks_of(inside)
        chosen = weeks[:count] if which > 0 else weeks[-count:]
        return Period(chosen[0].start, chosen[-1].end, "range")
    if which > 0:
        return Period(inside.start, moved(inside.start, by, 1), "range")
    return Period(moved(inside.end, by, -1), inside.end, "range")


def _edge_part(r: Reading) -> Period | None:
    edge = r.token("edge")
    unit = r.token("u") if "u" in r.match.re.groupindex else None
    assert edge is not None
    word, whose = fold(edge.word), r.token("p") if "p" in r.match.re.groupindex else None
    contracted = whose is not None and fold(whose.word) in ("deste", "desta", "desse", "dessa")
    if word in _NEED_OF and not r.has("of") and not contracted:
        return None
    period = unit_at(r.now, r.unit("u")) if unit is not None else r.period("p")
    if period.grain not in (*_WIDE, "week", "century"):
        return None
    if period.grain == "year" and period.fields is not None and word in _THIRDS:
        if edge.code == "EARLY":
            return Period(period.start, add(period.start, 4, "month"), "part")
        return Period(add(period.end, -4, "month"), period.end, "part")
    return {"EARLY": early_part, "LATE": late_part, "MID": middle_part}[edge.code](period)


def _day_of_month(r: Reading) -> Period | tuple[str, None] | None:
    period = r.period("p")
    if period.grain != "month" or ("u" in r.match.re.groupindex and r.has("u") and r.unit("u") != "day"):
        return None
    try:
        return filled(CalendarFields(period.start.year, period.start.month, r.number("d")))
    except ValueError:
        return NO_SUCH


def _days_of_month(r: Reading) -> Period | None:
    period = r.period("p")
    if period.grain != "month":
        return None
    if r.has("lit"):
        token = r.token("lit")
        if token is None or not isinstance(token.value, WrittenDate) or token.value.pair is None:
            return None
        first, last = token.value.pair
    else:
        first, last = r.number("d"), r.number("e")
    start = filled(CalendarFields(period.start.year, period.start.month, first))
    end = filled(CalendarFields(period.start.year, period.start.month, last))
    return spanning(start, end)


def _part_of_year(r: Reading) -> Period | None:
    """A part beside its year: "June next year", "Q3 this year"."""
    whole, token = r.period("p"), r.token("m")
    if whole.grain != "year" or token is None:
        return None
    number = whole.start.year
    if token.code == "PART" and isinstance(token.value, tuple):
        return part_of_year(number, token.value[1], token.value[0], "part")
    if not isinstance(token.value, Period):
        return None
    named = token.value
    if named.grain in ("quarter", "half") and named.fields is None:
        size = _MONTHS_IN_PART[named.grain]
        return part_of_year(number, (named.start.month - 1) // size + 1, size, named.grain)
    if named.fields is None or named.fields.year is not None or named.fields.month is None:
        return None
    return filled(CalendarFields(number, named.fields.month, named.fields.day))


def _weekday_of_week(r: Reading) -> Period | None:
    weekday, week = _weekday_of(r.token("w")), r.period("p")
    if weekday is None or week.grain != "week" or week.weekday is not None:
        return None
    return weekdays_of(week, weekday)[0]


def _week_with(r: Reading) -> Period | None:
    if r.has("u") and r.unit("u") != "week":
        return None
    token = r.token("p")
    assert token is not None
    day = latest(CalendarFields(day=r.number("p")), r.now) if token.code in ("N", "O") else r.period("p")
    if day.grain != "day":
        return None
    if r.has("from"):
        return Period(day.start, add(day.start, 1, "week"), "week")
    return unit_at(day.start, "week")


def _beside_day(r: Reading) -> Period | None:
    day = r.period("p")
    if day.grain != "day" or not day.alone:
        return None
    return day_of(moved(day.start, duration(r), -1 if r.has("back") else 1))


def _units_from(r: Reading) -> Period | None:
    token = r.token("p")
    assert token is not None
    start = midnight(r.now) if token.code == "NOW" else r.period("p").start
    return Period(start, moved(start, duration(r), 1), "range")


_EDGE = r"(?P<edge>EARLY|MID|LATE) (?:- )?(?P<of>OF |IN )?(?:THE |MY )?"
_ORD = r"(?:THE )?(?P<o>O|WO|LAST) "
_WD = r"(?P<w>P|WD|WO|DWD) "

LEVEL_PARTS = rules(
    (_ORD + _WD + r"(?:(?P<of>OF |IN )?(?:THE )?(?P<p>P|UNIT) )?", _nth_weekday),
    (_ORD + r"(?P<u>UNIT) (?:(?P<of>OF |IN )|, )?(?:THE )?(?P<p>P|UNIT) ", _nth_unit),
    (r"(?P<u>UNIT) (?P<n>N) (?:OF |IN )(?P<p>P) ", _week_of_year),
    (_ORD + r"(?P<u>UNIT) ", _nth_quarter_alone),
    (r"(?P<p>P) (?:, )?(?:OF |IN )?" + _ORD + r"(?P<u>UNIT) ", _nth_unit),
    (_ORD + r"(?P<n>DUR) (?P<of>OF |IN )(?:THE )?(?P<p>P|UNIT) ", _first_or_last_units),
    (_EDGE + r"(?P<p>P) ", _edge_part),
    (_EDGE + r"(?P<u>UNIT) ", _edge_part),
    (r"(?:THE )?(?:(?P<u>UNIT) )?(?P<d>N|O) (?:OF |IN )(?:THE )?(?P<p>P) ", _day_of_month),
    (r"(?P<u>UNIT) (?P<d>N|O) (?P<p>P) ", lambda r: _day_of_month(r) if r.language == "pt" else None),
    (r"(?:THE )?(?P<d>O) (?P<p>P) ", _day_of_month),
    (r"(?P<m>P|PART) (?:, )?(?:OF |IN )?(?:THE )?(?P<p>P) ", _part_of_year),
    (r"(?P<p>P) (?:, )?(?P<m>PART) ", _part_of_year),
    (_WD + r"(?:, )?(?:OF |IN |ON )?(?:THE )?(?P<p>P) ", _weekday_of_week),
    (r"(?P<p>P) (?:, )?(?:ON )?" + _WD, _weekday_of_week),
    (r"(?:THE )?(?P<u>UNIT) (?P<from>STARTING |EARLY )(?:ON |IN |FROM |OF )?(?:THE )?(?P<p>P|O|N) ", _week_with),
    (r"(?:THE )?(?P<u>UNIT) (?:OF )(?:THE )?(?P<p>P|O|N) ", _week_with),
    (r"(?P<from>WC) (?:OF )?(?:THE )?(?P<p>P|O) ", _week_with),
    (r"(?P<n>DUR) (?:FROM |AFTER (?:OF )?)(?:THE )?(?P<p>P) ", _beside_day),
    (r"(?P<n>DUR) A STARTING OF (?P<p>P) ", _beside_day),
    (r"(?P<n>DUR) (?P<back>BEFORE )(?:OF )?(?:THE )?(?P<p>P) ", _beside_day),
    (r"(?:FOR )?(?P<n>DUR) (?:, )?(?:STARTING |EARLY )(?:FROM |ON |IN |OF )?(?:THE )?(?P<p>P) ", _units_from),
    (r"FOR (?P<n>DUR) (?:, )?FROM (?:THE )?(?P<p>P) ", _units_from),
    (r"(?P<n>DUR) , FROM (?:THE )?(?P<p>P) ", _units_from),
    pieces=PIECES,
)

LEVEL_DAYS_OF_MONTH = rules(
    (
        r"(?:FROM |BETWEEN |SINCE |OF |IN )?(?:THE )?(?P<d>N|O) (?:TO |AND |- |A )(?:THE )?(?P<e>N|O) "
        r"(?:OF |IN )?(?P<p>P) ",
        _days_of_month,
    ),
    (r"(?:FROM |BETWEEN |OF )?(?P<lit>LIT) (?:OF |IN )?(?P<p>P) ", _days_of_month),
    pieces=PIECES,
)
