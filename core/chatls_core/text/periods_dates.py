"""The first levels of the time grammar: durations, dates, months, weekdays, named days and calendar units."""

from __future__ import annotations

from datetime import datetime

from .periods import (
    CalendarFields,
    Period,
    add,
    day_of,
    early_part,
    filled,
    full_year,
    iso_week,
    late_part,
    latest,
    latest_weekday,
    middle_part,
    midnight,
    next_weekday,
    part_of_year,
    spanning,
    unit_at,
    weekdays_of,
    year,
    years_from,
)
from .periods_reduce import Reading, rules
from .periods_tokens import Token, WrittenDate
from .periods_words import PERMISSION_WORDS
from .tokenizer import fold

_CLOCK = ("hour", "minute")
_SIZES = (
    "century",
    "decade",
    "year",
    "half",
    "quarter",
    "month",
    "fortnight",
    "week",
    "weekend",
    "day",
    "weekday",
    *_CLOCK,
)

Duration = tuple[tuple[int, str], ...]
"""Counted units, in the order they were said: 1 month 21 days."""

PIECES = {
    "mo": "(?P<m>MON|DMON) (?:\\. )?",
    "wd": "(?P<w>WD|DWD|WO) ",
    "weekday_before": "(?:(?P<w>WD|DWD|WO) (?:, |\\. )?(?:THE |OF )?)?",
    "the": "(?:THE |A |MY )?",
    "mod": "(?P<mod>LAST|NEXT|THIS|OFTHIS) ",
    "year_after": "(?:(?:, )?(?:OF |IN )?(?:(?P<y>Y) ))?",
    "not_part": "(?!(?:OF|IN) (?:THE )?(?:MON|DMON|THIS|NEXT|LAST|OFTHIS|Y|UNIT|SAME))",
}
_PREPOSITIONS = frozenset(
    {"IN", "ON", "OF", "FROM", "TO", "SINCE", "BEFORE", "AFTER", "BETWEEN", "FOR", "EARLY", "MID", "LATE", "WITHIN"}
    | {"OFTHIS", "STARTING"}
)
_ABBREVIATED_AFTER = frozenset({"ON", "FROM", "TO", "BETWEEN", "AND", "SINCE", "BEFORE", "AFTER"})
_NEAREST = frozenset({"past", "coming", "upcoming"})
"""Modifiers that mean the nearest such weekday, where "last" and "next" mean that of the week before or after."""
_WORDS_TOO = frozenset({"sat", "sun", "mon"})
_SHIFT = {"LAST": -1, "NEXT": 1, "THIS": 0, "OFTHIS": 0, "SAME": 0}
_COARSE = ("week", "month", "year", "quarter", "half", "decade", "century", "weekend")
_NO_MODIFIER = {"en": ("half", "weekday", "hour", "minute"), "pt": ("weekday", "hour", "minute")}
_SINGULARS_IN_S = frozenset({"mes", "fds"})


def _shift(r: Reading, name: str = "mod") -> int:
    token = r.token(name)
    assert token is not None
    return _SHIFT[token.code]


def _capital(token: Token) -> bool:
    return token.word[:1].isupper()


def _plural(token: Token | None) -> bool:
    return token is not None and token.word.lower().endswith("s") and fold(token.word) not in _SINGULARS_IN_S


# Durations and named days


def _duration(r: Reading) -> tuple[str, Duration] | None:
    found: list[tuple[int, str]] = []
    count = 1
    for token in r.tokens[r.first : r.last + 1]:
        if token.code == "N":
            count = int(str(token.value))
        elif token.code in ("FEW", "COUPLE"):
            count = 3 if token.code == "FEW" else 2
        elif token.code == "UNIT":
            found.append((count, str(token.value)))
            count = 1
    return ("DUR", tuple(found)) if all(n > 0 for n, _ in found) else None


def _named_day(offset: int) -> tuple[str, int]:
    return "REL", offset


def _next_again(r: Reading) -> tuple[str, None]:
    return "NEXT", None


def _beside(r: Reading, step: int, edge: int) -> tuple[str, int] | None:
    """The day before yesterday, the day after tomorrow; other words are left to durations and open ends."""
    unit = r.token("u")
    if r.number("r") != edge or (r.language == "en" and unit is None):
        return None
    if unit is not None and (unit.value != "day" or _plural(unit)):
        return None
    return _named_day(r.number("r") + step)


LEVEL_WORDS = rules(
    (r"(?:ONE |N )?(?:FEW |COUPLE )(?:OF )?UNIT ", _duration),
    (r"(?:N|ONE) UNIT (?:(?:, |AND )?(?:AND )?N UNIT )*", _duration),
    (r"(?:THE )?(?:(?P<u>UNIT) )?BEFORE (?:OF )?(?P<r>REL) ", lambda r: _beside(r, -1, -1)),
    (r"(?:THE )?(?:(?P<u>UNIT) )?AFTER (?:OF )?(?P<r>REL) ", lambda r: _beside(r, 1, 1)),
    (r"LAST DAYPART ", lambda r: _named_day(-1)),
    (r"DAYPART LAST ", lambda r: _named_day(-1)),
    (r"(?:THIS|OFTHIS) DAYPART ", lambda r: _named_day(0)),
    (r"QUE VEM ", _next_again),
    pieces=PIECES,
)


# Dates

NO_SUCH = ("_", None)
"""What is read of a day that does not exist ("31 June", "fifth Sunday"): nothing, not even its month."""


def _month_is_meant(r: Reading) -> bool:
    """Whether "may", "march", "set" and their like are months here."""
    month = r.token("m")
    assert month is not None
    if month.code == "MON" or r.has("y") or r.has("w"):
        return True
    day = r.token("d") if "d" in r.match.re.groupindex else None
    if day is None:
        before = r.before()
        if before is None or before.code not in _PREPOSITIONS:
            return r.whole and _capital(month) and fold(month.word) == "march"
        if r.language == "pt" and len(month.word) == 3 and before.code in ("OF", "IN"):
            return _capital(month) and r.closed
        if fold(month.word) == "marco" and before.word.lower() in ("de", "do", "da", "ao", "por"):
            return False
        if len(month.word) == 3 and fold(month.word) != "may":
            return _capital(month) and r.closed and r.language == "en"
        part = r.before(2)
        counted = before.code == "OF" and part is not None and part.code in ("UNIT", "DUR", "WD")
        return (_capital(month) and before.code != "FOR") or ((counted or before.code in ("IN", "SINCE")) and r.closed)
    if day.code == "O" or any(t.code == "OF" for t in r.tokens[r.first : r.last + 1]):
        return True
    before = r.before()
    return _capital(month) or (before is not None and before.code in _PREPOSITIONS and r.closed)


def _date(r: Reading) -> Period | tuple[str, None] | None:
    if not _month_is_meant(r) or r.loose_join or (r.has("u") and r.unit("u") != "day"):
        return None
    fields = CalendarFields(r.number("y") if r.has("y") else None, _month(r), r.number("d"))
    try:
        return latest(fields, r.now)
    except ValueError:
        return NO_SUCH if r.number("d") <= 31 else None


def _month(r: Reading) -> int:
    token = r.token("m")
    assert token is not None
    return int(str(token.value))


def _days_of_month(r: Reading) -> Period | None:
    if not _month_is_meant(r):
        return None
    lit = r.token("lit")
    if lit is not None:
        if not isinstance(lit.value, WrittenDate) or lit.value.pair is None:
            return None
        first, last = lit.value.pair
    else:
        first, last = r.number("d"), r.number("e")
    month = _month(r)
    if r.has("y"):
        start = filled(CalendarFields(r.number("y"), month, first))
    else:
        start = latest(CalendarFields(None, month, first), r.now, strictly=True)
    end = filled(CalendarFields(start.start.year, month, last))
    return spanning(start, end)


def _month_of_year(r: Reading) -> Period:
    return filled(CalendarFields(r.number("y"), _month(r)))


def _month_of_short_year(r: Reading) -> Period | None:
    return filled(CalendarFields(full_year(r.number("y")), _month(r))) if r.number("y") < 100 else None


def _month_alone(r: Reading) -> Period | None:
    month = r.token("m")
    assert month is not None
    before = r.before()
    if not _month_is_meant(r) or (fold(month.word) == "janeiro" and r.before(2) and _is_rio(r)):
        return None
    if (
        len(month.word) == 3
        and not _capital(month)
        and month.code == "MON"
        and not (before is not None and before.code in _PREPOSITIONS)
    ):
        return None
    return latest(CalendarFields(None, _month(r)), r.now)


def _is_rio(r: Reading) -> bool:
    name = r.before(2)
    return name is not None and fold(name.word) == "rio"


def _month_with_modifier(r: Reading) -> Period | None:
    month = r.token("m")
    assert month is not None
    if month.code == "DMON" and not _capital(month) and (_shift(r) == 0 or len(month.word) == 3):
        return None
    return filled(CalendarFields(r.now.year + _shift(r), _month(r)))


def _written(r: Reading) -> Period | None:
    token = r.token("lit")
    assert token is not None and isinstance(token.value, WrittenDate)
    if token.value.pair is not None and r.followed_by("OF", "IN", "NEXT", "LAST", "THIS", "OFTHIS", "MON", "DMON"):
        return None  # days of the month that follows: "4-23 in next month"
    found = latest(token.value.fields, r.now)
    return found if not token.value.doubtful or _is_date(r, token) else _component(found)


def _is_date(r: Reading, token: Token) -> bool:
    before = r.before()
    if not r.closed:
        return False
    if r.timely:
        return True
    assert isinstance(token.value, WrittenDate)
    if token.value.fields.year is None and "/" not in token.word:
        return False  # "runs on 3.11", "in section 4-22"
    return before is not None and before.code in ("IN", "ON", "SINCE", "BEFORE", "AFTER", "FROM", "TO", "UNIT")


def _component(period: Period) -> Period:
    return Period(period.start, period.end, period.grain, period.fields, period.weekday, alone=False)


def _bare_year(r: Reading) -> Period | None:
    token = r.token("y")
    assert token is not None
    value = r.number("y")
    before = r.before()
    said = token.word == "spelled"
    if not (1900 <= value <= 2100 or (said and value > 1500)):
        return None
    told = before is not None and (
        before.code in ("IN", "SINCE", "BEFORE", "AFTER", "FROM", "BETWEEN", "LATE", "EARLY", "MID")
        or (before.code == "TO" and before.word.lower() not in ("to", "ao"))
    )
    return year(value, alone=(told and r.closed) or r.whole)


# Weekdays


def _weekday(r: Reading) -> Period | None:
    token = r.token("w")
    assert token is not None
    number = int(str(token.value))
    before = r.before()
    if _plural(token):
        return None  # "on Fridays" is a habit, no day
    if token.code == "DWD":
        placed = before is not None and before.code in _ABBREVIATED_AFTER
        if r.language != "en" or not placed or not (_capital(token) or len(token.word) > 3):
            return None
    if token.code == "WO":
        placed = before is not None and before.code in ("IN", "A", "OF", "SINCE", "TO", "THIS", "BETWEEN", "AND")
        if not (r.whole or (placed and _no_noun_after(r))):
            return None
    found = latest_weekday(r.now, number)
    if r.after_any(PERMISSION_WORDS, 8):
        return Period(found.start, found.end, "day", weekday=number, alone=False)
    return found


def _no_noun_after(r: Reading) -> bool:
    """Whether "segunda" is a day, not an ordinal with its noun ("na segunda opção"): a verb or nothing follows."""
    if r.closed:
        return True
    after = fold(r.tokens[r.last + 1].word)
    return after.endswith(("mos", "ei", "ou", "aram", "eram", "iram", "eu", "iu")) and len(after) > 3


def _weekday_with_modifier(r: Reading) -> Period | None:
    token = r.token("w")
    assert token is not None
    if token.code == "DWD" and token.word in _WORDS_TOO:
        return None
    if token.code == "WO" and not _no_noun_after(r):
        return None
    modifier = r.token("mod")
    assert modifier is not None
    if modifier.word.lower() in _NEAREST:
        return _nearest(r.now, int(str(token.value)), _shift(r))
    week = unit_at(r.now, "week", _shift(r))
    return weekdays_of(week, int(str(token.value)))[0]


def _nearest(now: datetime, weekday: int, shift: int) -> Period:
    found = latest_weekday(now, weekday) if shift < 0 else next_weekday(now, weekday)
    return day_of(found.start)


def _weekday_and_day(r: Reading) -> Period | None:
    token = r.token("w")
    assert token is not None
    day = r.token("d")
    if day is None or (day.code == "N" and not (r.has("the") or r.closed)):
        return None
    if token.code == "DWD" and not _capital(token) and len(token.word) == 3:
        return None
    this_month = CalendarFields(r.now.year, r.now.month, r.number("d"))
    wanted = int(str(token.value))
    for months in range(0, -13, -1):
        month = add(r.now.replace(day=1), months, "month")
        try:
            found = filled(CalendarFields(month.year, month.month, this_month.day))
        except ValueError:
            continue  # that month is too short
        if found.start.weekday() == wanted:
            return day_of(found.start)
    return None


def _counted_weekdays(r: Reading) -> Period:
    token = r.token("w")
    assert token is not None
    first = next_weekday(r.now, int(str(token.value)))
    return day_of(add(first.start, r.number("n") - 1, "week"))


def _weekdays_ago(r: Reading) -> Period:
    token, count = r.token("w"), r.token("n")
    assert token is not None and count is not None
    latest_one = latest_weekday(r.now, int(str(token.value)))
    return day_of(add(latest_one.start, 1 - int(str(count.value or 1)), "week"))


# Units around now


def _unit_with_modifier(r: Reading) -> Period | None:
    token = r.token("u")
    unit = r.unit("u")
    if unit == "day" and r.followed_by("AND"):
        return None  # "in this day and age"
    if _plural(token) or unit in _NO_MODIFIER[r.language] or (r.token("mod") and _says_that(r) and unit != "weekend"):
        return None
    return unit_at(r.now, unit, _shift(r))


def _says_that(r: Reading) -> bool:
    token = r.token("mod")
    return token is not None and token.code == "SAME" and token.word.lower() == "that"


def _unit_two_away(r: Reading) -> Period | None:
    return None if _plural(r.token("u")) else unit_at(r.now, r.unit("u"), 2 if r.has("next") else -2)


def _unit_named(r: Reading) -> Period | None:
    """ "the week", "my week", "on weekend": a part of longer phrases; alone only where nothing else can be meant."""
    unit = r.unit("u")
    if _plural(r.token("u")) or unit in ("half", "weekday", "fortnight", "hour", "minute"):
        return None
    before = r.before()
    weekend = unit == "weekend" and r.closed and (before is None or before.code != "OF")
    alone = weekend or (r.whole and unit != "century") or (unit in ("day", "week") and r.closed and _goes_back(r))
    return Period(*_edges(unit_at(r.now, unit)), unit, alone=alone)


def _goes_back(r: Reading) -> bool:
    before = r.before()
    return before is not None and fold(before.word) in ("back", "out")


def _edges(period: Period) -> tuple[datetime, datetime]:
    return period.start, period.end


def duration(r: Reading, name: str = "n") -> Duration:
    """The value of a duration token."""
    token = r.token(name)
    assert token is not None and isinstance(token.value, tuple)
    return tuple(token.value)


def moved(moment: datetime, by: Duration, sign: int) -> datetime:
    """A moment moved by counted units, the largest first."""
    for count, unit in sorted(by, key=lambda part: _SIZES.index(part[1])):
        moment = add(moment, sign * count, unit)
    return moment


def _last_units(r: Reading) -> Period | None:
    by = duration(r)
    today = midnight(r.now)
    if by[-1][1] in _CLOCK:
        return Period(moved(r.now, by, -1), r.now, "range")
    if by[0][1] in ("decade", "century"):
        count, unit = by[0]
        this = unit_at(r.now, unit)
        return Period(unit_at(r.now, unit, -count).start, this.start, "range")
    return Period(moved(today, by, -1), max(r.now, today), "range")


def _next_units(r: Reading) -> Period | None:
    by = _days_and_longer(r)
    today = midnight(r.now)
    if by[0][1] in ("decade", "century"):
        count, unit = by[0]
        return Period(unit_at(r.now, unit, 1).start, unit_at(r.now, unit, count).end, "range")
    if r.has("within"):
        return Period(today, moved(today, by, 1), "range")
    tomorrow = add(today, 1, "day")
    return Period(tomorrow, moved(tomorrow, by, 1), "range")


def _units_by_modifier(r: Reading) -> Period | None:
    shift = _shift(r)
    return None if shift == 0 else _last_units(r) if shift < 0 else _next_units(r)


def _number_before_modifier(r: Reading) -> tuple[str, Duration] | Period | None:
    if r.language == "en" and not _plural(r.token("u")):
        return None
    by = ((r.number("k"), r.unit("u")),)
    if r.unit("u") in _CLOCK:
        return Period(moved(r.now, by, -1), r.now, "range") if _shift(r) < 0 else None
    today = midnight(r.now)
    if _shift(r) < 0:
        return Period(moved(today, by, -1), max(r.now, today), "range")
    tomorrow = add(today, 1, "day")
    return Period(tomorrow, moved(tomorrow, by, 1), "range")


def _ago(r: Reading) -> Period:
    """Back from today: a single week, month or year is the whole calendar one (spec/memory.md §7.3), else a day."""
    by = duration(r)
    before = r.before()
    if before is not None and before.value == "half":
        if by != ((1, "year"),):
            raise ValueError("half of that is no calendar unit")
        by = ((6, "month"),)
    if by[-1][1] in _CLOCK:
        return day_of(moved(r.now, by, -1))
    then = moved(midnight(r.now), by, -1)
    unit = by[-1][1]
    return unit_at(then, unit) if len(by) == 1 and unit in _COARSE else day_of(then)


def _ahead(r: Reading) -> Period | None:
    by = _days_and_longer(r)
    if r.has("sure") or r.future or r.whole:
        return day_of(moved(midnight(r.now), by, 1))
    return None


def _days_and_longer(r: Reading) -> Duration:
    by = duration(r)
    if any(unit in _CLOCK for _, unit in by):
        raise ValueError("hours from now are no day")
    return by


def _within(r: Reading) -> Period | None:
    if not (r.has("next") or r.has("from") or r.future or r.whole):
        return None
    return Period(midnight(r.now), moved(midnight(r.now), _days_and_longer(r), 1), "range")


def _from_named_day(r: Reading) -> Period:
    base = add(midnight(r.now), r.number("r"), "day") if r.has("r") else midnight(r.now)
    return day_of(moved(base, _days_and_longer(r), -1 if r.has("back") else 1))


def _rest(r: Reading) -> Period:
    """From today up to the last day of the unit, that day excluded, as Recognizers-Text reads it."""
    today = midnight(r.now)
    unit = unit_at(r.now, r.unit("u"))
    if r.unit("u") == "day":
        return unit
    return Period(today, max(today, add(unit.end, -1, "day")), "range")


def _so_far(r: Reading) -> Period | None:
    unit = unit_at(r.now, r.unit("u"))
    return Period(unit.start, max(r.now, unit.start), "range")


def _still_to_come(r: Reading) -> Period:
    return Period(midnight(r.now), unit_at(r.now, r.unit("u")).end, "range")


def _unit_only(r: Reading, unit: str) -> bool:
    return r.unit("u") == unit


def _part(r: Reading) -> Period | None:
    token = r.token("part")
    assert token is not None and isinstance(token.value, tuple)
    months, which, said = token.value
    number = r.number("y") if r.has("y") else said
    grain = "quarter" if months == 3 else "half"
    if number is not None:
        return part_of_year(number, which, months, grain)
    before = r.before()
    if months == 6 or not (r.whole or (before is not None and before.code in _PREPOSITIONS | {"THE", "THIS"})):
        return Period(*_edges(_latest_part(r.now, which, months, grain)), grain, alone=False)
    return _latest_part(r.now, which, months, grain)


def _latest_part(now: datetime, which: int, months: int, grain: str) -> Period:
    found = part_of_year(now.year, which, months, grain)
    return found if found.start <= now else part_of_year(now.year - 1, which, months, grain)


def _century(r: Reading) -> Period | None:
    if not _unit_only(r, "century") or _plural(r.token("u")) or not 1 <= r.number("d") <= 30:
        return None
    return years_from((r.number("d") - 1) * 100, 100, "century")


def _decade(r: Reading) -> Period | None:
    value = r.number("d")
    token = r.token("d")
    short = token is not None and value < 100
    if value % 10 or (token is not None and token.code == "N" and not 10 <= value <= 90):
        return None
    if short and not r.closed:
        return None
    century = 2000 if short and value == 0 else 1900 if short else 0
    return years_from(century + value, 10, "decade")


def _part_of_decade(r: Reading) -> Period | None:
    edge, decade = r.token("edge"), _decade(r)
    if edge is None or decade is None:
        return None
    return {"EARLY": early_part, "LATE": late_part, "MID": middle_part}[edge.code](decade)


def _spelled_decade(r: Reading) -> Period | None:
    token = r.token("d")
    return _decade(r) if r.language == "pt" and token is not None and token.word else None


def _decade_in_portuguese(r: Reading) -> Period | None:
    token = r.token("u")
    assert token is not None
    if r.unit("u") == "decade" or (r.unit("u") == "year" and token.word.lower() == "anos"):
        return _decade(r)
    return None


def _numbered_year(r: Reading) -> Period | None:
    token = r.token("u")
    return None if not _unit_only(r, "year") or _plural(token) else year(r.number("y"))


def _numbered_week(r: Reading) -> Period | None:
    token = r.token("u")
    if not _unit_only(r, "week") or _plural(token) or not (r.has("y") or r.closed or _clock_after(r)):
        return None
    return iso_week(r.number("y") if r.has("y") else r.now.year, r.number("n"))


def _clock_after(r: Reading) -> bool:
    return r.last + 1 < len(r.tokens) and r.tokens[r.last + 1].code == "CLOCK"


def _numbered_day(r: Reading) -> Period | None:
    """ "dia 15" """
    token = r.token("u")
    if not _unit_only(r, "day") or _plural(token) or r.language != "pt":
        return None
    return latest(CalendarFields(day=r.number("d")), r.now)


def _rel(r: Reading) -> Period:
    return day_of(add(midnight(r.now), r.number("r"), "day"))


def _now(r: Reading) -> Period:
    return Period(r.now, r.now, "now", alone=False)


LEVEL_DATES = rules(
    (r"{weekday_before}(?:THE )?(?:(?P<u>UNIT) )?(?P<d>N|O) (?:\. |- |/ )?(?:OF )?(?:THE )?{mo}{year_after}", _date),
    (r"(?P<d>N|O) (?:\. |- |/ )?(?P<m>MON|DMON) (?:- |/ )(?P<y>Y) ", _date),
    (r"{weekday_before}{mo}(?:THE )?(?P<d>N|O) {year_after}", _date),
    (r"(?P<y>Y) (?:- |/ )?{mo}(?:- |/ )?(?P<d>N|O) ", _date),
    (r"{mo}(?P<d>N|O) (?:TO |- |– )(?P<e>N|O) (?!MON |DMON |OF ){year_after}", _days_of_month),
    (r"{mo}(?:FROM |BETWEEN )(?:THE )?(?P<d>N|O) (?:TO |AND |- )(?:THE )?(?P<e>N|O) {year_after}", _days_of_month),
    (r"{mo}(?P<lit>LIT) {year_after}", _days_of_month),
    (r"{mo}(?:, |- |/ )?(?:OF |IN )?(?P<y>Y) ", _month_of_year),
    (r"{mo}' (?P<y>N) ", _month_of_short_year),
    (r"(?P<y>Y) (?:, |- |/ |OF )?(?P<m>MON|DMON) ", _month_of_year),
    (r"(?P<m>MON|DMON) ", _month_alone),
    (r"{mod}{not_part}(?P<m>MON|DMON) ", _month_with_modifier),
    (r"(?P<m>MON|DMON) (?P<mod>LAST|NEXT) (?!UNIT)", lambda r: _month_with_modifier(r) if r.language == "pt" else None),
    (r"(?P<lit>LIT) ", _written),
    (r"(?P<y>Y) ", _bare_year),
    (r"(?P<w>WD|DWD|WO) ", _weekday),
    (r"{mod}{wd}{not_part}", _weekday_with_modifier),
    (r"{wd}(?P<mod>LAST|NEXT) (?!UNIT)", lambda r: _weekday_with_modifier(r) if r.language == "pt" else None),
    (r"{wd}(?:, )?(?P<the>THE )?(?P<d>N|O) ", _weekday_and_day),
    (r"(?P<n>N) {wd}(?:FROM NOW |LATER )", _counted_weekdays),
    (r"(?P<n>N|ONE) {wd}AGO ", _weekdays_ago),
    (r"(?:THE |MY )?(?P<mod>LAST|NEXT|THIS|OFTHIS|SAME) (?P<u>UNIT) {not_part}", _unit_with_modifier),
    (r"(?P<u>UNIT) (?P<mod>LAST|NEXT) ", lambda r: _unit_with_modifier(r) if r.language == "pt" else None),
    (r"(?:THE )?(?P<u>UNIT) (?:(?P<next>AFTER (?:THE )?NEXT )|BEFORE (?:THE )?LAST |LASTLAST )", _unit_two_away),
    (r"(?P<u>UNIT) ", lambda r: _unit_named(r) if r.whole and r.unit("u") == "weekend" else None),
    (r"(?:THE |MY |ON |IN )(?P<u>UNIT) (?!OF |AFTER |BEFORE |STARTING |EARLY |N |Y )", _unit_named),
    (r"(?P<within>WITHIN |IN )?{the}{mod}(?P<n>DUR) {not_part}", _units_by_modifier),
    (r"{the}(?P<n>DUR) (?P<mod>LAST|NEXT) ", lambda r: _units_by_modifier(r) if r.language == "pt" else None),
    (r"(?P<k>N) (?P<mod>LAST|NEXT) (?P<u>UNIT) ", _number_before_modifier),
    (r"(?P<n>DUR) AGO ", _ago),
    (r"HA (?P<n>DUR) (?:AGO )?", _ago),
    (r"(?P<n>DUR) LATER ", _ahead),
    (r"(?P<n>DUR) FROM (?:NOW|(?P<r>REL)) ", _from_named_day),
    (r"(?P<n>DUR) (?P<back>BEFORE )(?:OF )?(?P<r>REL) ", _from_named_day),
    (r"(?P<n>DUR) AFTER (?:OF )?(?P<r>REL) ", _from_named_day),
    (r"IN (?P<n>DUR) ", _ahead),
    (r"(?P<sure>DAQUI )(?:A )?(?P<n>DUR) ", _ahead),
    (r"WITHIN (?:OF )?(?P<n>DUR) (?P<from>FROM (?:NOW|REL) )?", _within),
    (r"(?P<n>DUR) (?:IN THE FUTURE |HENCE )", _next_units),
    (r"REST (?:OF )?(?:THE |MY )?(?:THIS |OFTHIS )?(?P<u>UNIT) ", _rest),
    (r"EARLIER (?:IN )?(?:THE |THIS )(?P<u>UNIT) ", _so_far),
    (r"(?P<u>UNIT) TO DATEWORD ", _so_far),
    (r"LATER (?:IN )?(?:THE |THIS )(?P<u>UNIT) ", _still_to_come),
    (r"(?P<part>PART) {year_after}", _part),
    (r"(?P<y>Y) (?:, )?(?P<part>PART) ", _part),
    (r"(?:THE )?(?P<d>O) (?P<u>UNIT) ", _century),
    (r"(?P<u>UNIT) (?P<d>O) ", lambda r: _century(r) if r.language == "pt" else None),
    (r"THE (?:' )?(?P<d>DEC) ", _decade),
    (r"(?P<edge>EARLY|MID|LATE) (?:- )?(?:OF )?(?:THE )?(?:' )?(?P<d>DEC) ", _part_of_decade),
    (r"(?:IN )(?P<d>DEC) ", lambda r: _decade(r) if r.number("d") >= 1000 else None),
    (r"(?P<u>UNIT) (?:OF )?(?P<d>N|Y|DEC) ", _decade_in_portuguese),
    (r"(?P<d>DEC) ", _spelled_decade),
    (r"(?P<u>UNIT) (?:OF )?(?P<y>N|Y) ", _numbered_year),
    (r"(?P<u>UNIT) (?P<n>N) (?:(?:OF |, )?(?P<y>Y) )?", _numbered_week),
    (r"(?P<u>UNIT) (?P<d>N|O) ", _numbered_day),
    (r"(?P<r>REL) ", _rel),
    (r"NOW ", _now),
    pieces=PIECES,
)
