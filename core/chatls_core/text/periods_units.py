"""Calendar units around now in the time grammar: "last week", "3 days ago", "next 2 months", "rest of the week"."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from .periods import (
    Period,
    add,
    day_of,
    midnight,
    next_weekday,
    unit_at,
)
from .periods_pieces import NO_SUCH, PIECES, as_part, plural, shift
from .periods_reduce import Reading, rules
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

_COARSE = ("week", "month", "year", "quarter", "half", "decade", "century", "weekend")
_NO_MODIFIER = {"en": ("half", "weekday", "hour", "minute"), "pt": ("weekday", "hour", "minute")}


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


_HALVES: Mapping[str, Duration] = {
    "day": (),
    "week": ((3, "day"),),
    "month": ((15, "day"),),
    "year": ((6, "month"),),
    "decade": ((5, "year"),),
    "hour": ((30, "minute"),),
}


def _and_a_half(r: Reading) -> tuple[str, Duration] | None:
    """ "Two and a half weeks", "a year and a half", "dois meses e meio"; half a day more is the same day."""
    half, count = r.token("h"), r.token("n")
    assert half is not None and count is not None
    if half.value != "half" and fold(half.word) not in ("meio", "meia"):
        return None
    more = _HALVES.get(r.unit("u"))
    return None if more is None else ("DUR", ((int(str(count.value or 1)), r.unit("u")), *more))


def _named_day(offset: int) -> tuple[str, int]:
    return "REL", offset


def _next_again(r: Reading) -> tuple[str, None]:
    return "NEXT", None


def _beside(r: Reading, step: int, edge: int) -> tuple[str, int] | None:
    """The day before yesterday, the day after tomorrow; other words are left to durations and open ends."""
    unit = r.token("u")
    if r.number("r") != edge or (r.language == "en" and unit is None):
        return None
    if unit is not None and (unit.value != "day" or plural(unit)):
        return None
    return _named_day(r.number("r") + step)


LEVEL_WORDS = rules(
    (r"(?:ONE |N )?(?:FEW |COUPLE )(?:OF )?UNIT ", _duration),
    (r"(?:N|ONE) UNIT (?:(?:, |AND )?(?:AND )?N UNIT )*", _duration),
    (r"FEW N UNIT ", lambda r: _duration(r) if r.language == "pt" else None),
    (r"(?P<n>N) AND (?:ONE )?(?P<h>UNIT) (?P<u>UNIT) ", _and_a_half),
    (r"(?P<n>N|ONE) (?P<u>UNIT) AND (?:ONE )?(?P<h>UNIT|MID|HALF) ", _and_a_half),
    (r"(?:THE )?(?:(?P<u>UNIT) )?BEFORE (?:OF )?(?P<r>REL) ", lambda r: _beside(r, -1, -1)),
    (r"(?:THE )?(?:(?P<u>UNIT) )?AFTER (?:OF )?(?P<r>REL) ", lambda r: _beside(r, 1, 1)),
    (r"(?:THE )?{mod}(?P<u>UNIT) AND (?:ONE )?(?P<h>UNIT|MID|HALF) ", lambda r: _unit_and_a_half(r)),
    (r"LAST DAYPART ", lambda r: _named_day(-1)),
    (r"DAYPART LAST ", lambda r: _named_day(-1)),
    (r"(?:THIS|OFTHIS) DAYPART ", lambda r: _named_day(0)),
    (r"QUE VEM ", _next_again),
    (r"EVERY (?:THE )?(?:OTHER )?(?:N |O )?(?:WD|DWD|WO|MON|DMON|UNIT) (?:N )?(?!LAST |NEXT |OF )", lambda _: NO_SUCH),
    pieces=PIECES,
)


def _unit_with_modifier(r: Reading) -> Period | None:
    token = r.token("u")
    unit = r.unit("u")
    if unit == "day" and r.followed_by("AND"):
        return None  # "in this day and age"
    if plural(token) or unit in _NO_MODIFIER[r.language] or (r.token("mod") and _says_that(r) and unit != "weekend"):
        return None
    modifier = r.token("mod")
    near = unit == "weekend" and modifier is not None and modifier.word.lower() in ("coming", "upcoming")
    return unit_at(r.now, unit, 0 if near else shift(r))


def _last_few_units(r: Reading) -> Period | None:
    """ "Nos últimos dias", "the past weeks": a few of them."""
    if not plural(r.token("u")) or r.unit("u") not in ("day", "week", "month", "year"):
        return None
    today = midnight(r.now)
    return Period(moved(today, ((3, r.unit("u")),), -1), max(r.now, today), "range")


def _half_a_year_ago(r: Reading) -> Period | None:
    then = moved(midnight(r.now), ((6, "month"),), -1)
    return unit_at(then, "month") if r.unit("u") == "year" else None


def _says_that(r: Reading) -> bool:
    token = r.token("mod")
    return token is not None and token.code == "SAME" and token.word.lower() == "that"


def _unit_two_away(r: Reading) -> Period | None:
    return None if plural(r.token("u")) else unit_at(r.now, r.unit("u"), 2 if r.has("next") else -2)


def _unit_named(r: Reading) -> Period | None:
    """The unit around now ("the week"): part of longer phrases, alone only where nothing else can be meant."""
    unit = r.unit("u")
    if plural(r.token("u")) or unit in ("half", "weekday", "fortnight", "hour", "minute"):
        return None
    before = r.before()
    weekend = unit == "weekend" and r.closed and (before is None or before.code != "OF")
    alone = weekend or (r.whole and unit != "century") or (unit in ("day", "week") and r.closed and _goes_back(r))
    found = unit_at(r.now, unit)
    return found if alone else as_part(found)


def _goes_back(r: Reading) -> bool:
    before = r.before()
    return before is not None and fold(before.word) in ("back", "out")


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


def _unit_and_a_half(r: Reading) -> Period | None:
    """ "The last year and a half", "o último mês e meio"."""
    half = r.token("h")
    assert half is not None
    if half.value != "half" and fold(half.word) not in ("meio", "meia"):
        return None
    more = _HALVES.get(r.unit("u"))
    if more is None or shift(r) >= 0:
        return None
    return Period(moved(midnight(r.now), ((1, r.unit("u")), *more), -1), r.now, "range")


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
    way = shift(r)
    return None if way == 0 else _last_units(r) if way < 0 else _next_units(r)


def _number_before_modifier(r: Reading) -> tuple[str, Duration] | Period | None:
    if r.language == "en" and not plural(r.token("u")):
        return None
    by = ((r.number("k"), r.unit("u")),)
    if r.unit("u") in _CLOCK:
        return Period(moved(r.now, by, -1), r.now, "range") if shift(r) < 0 else None
    today = midnight(r.now)
    if shift(r) < 0:
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


def _ago_today(r: Reading) -> Period | None:
    """ "A year ago today", "a week ago yesterday" are days, whatever the unit."""
    by = duration(r)
    named = add(midnight(r.now), r.number("r"), "day")
    return day_of(moved(named, by, -1)) if r.number("r") <= 0 and by[-1][1] not in _CLOCK else None


def _from_weekday(r: Reading) -> Period:
    token = r.token("w")
    assert token is not None
    return day_of(moved(next_weekday(r.now, int(str(token.value))).start, _days_and_longer(r), 1))


def _ahead(r: Reading) -> Period | None:
    preposition = r.token("in")
    if preposition is not None and preposition.word.lower() == "over":
        return None  # "over 3 weeks" is how long
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


def _rel(r: Reading) -> Period:
    return day_of(add(midnight(r.now), r.number("r"), "day"))


def _now(r: Reading) -> Period:
    return Period(r.now, r.now, "now", alone=False)


UNIT_RULES = rules(
    (r"(?:THE |MY )?(?P<mod>LAST|NEXT|THIS|OFTHIS|SAME) (?P<u>UNIT) {not_part}", _unit_with_modifier),
    (r"(?:OFTHIS )?{the}LAST (?P<u>UNIT) (?!OF |IN )", _last_few_units),
    (r"HA MID (?P<u>UNIT) ", _half_a_year_ago),
    (r"(?P<u>UNIT) (?P<mod>LAST|NEXT) ", lambda r: _unit_with_modifier(r) if r.language == "pt" else None),
    (r"(?:THE )?(?P<u>UNIT) (?:(?P<next>AFTER (?:THE )?NEXT )|BEFORE (?:THE )?LAST |LASTLAST )", _unit_two_away),
    (r"(?P<u>UNIT) ", lambda r: _unit_named(r) if r.whole and r.unit("u") == "weekend" else None),
    (r"(?:THE |MY |ON |IN )(?P<u>UNIT) (?!OF |AFTER |BEFORE |STARTING |EARLY |N |Y )", _unit_named),
    (r"(?P<within>WITHIN |IN )?{the}{mod}(?P<n>DUR) {not_part}", _units_by_modifier),
    (r"{the}(?P<n>DUR) (?P<mod>LAST|NEXT) ", lambda r: _units_by_modifier(r) if r.language == "pt" else None),
    (r"(?P<k>N) (?P<mod>LAST|NEXT) (?P<u>UNIT) ", _number_before_modifier),
    (r"(?P<n>DUR) AGO ", _ago),
    (r"(?P<n>DUR) AGO (?P<r>REL) ", _ago_today),
    (r"HA (?:ABOUT (?:OF )?)?(?P<n>DUR) (?:AGO )?", _ago),
    (r"(?P<n>DUR) LATER ", _ahead),
    (r"(?P<n>DUR) FROM (?:NOW|(?P<r>REL)) ", _from_named_day),
    (r"(?P<n>DUR) FROM (?P<w>WD) ", _from_weekday),
    (r"(?P<n>DUR) (?P<back>BEFORE )(?:OF )?(?P<r>REL) ", _from_named_day),
    (r"(?P<n>DUR) AFTER (?:OF )?(?P<r>REL) ", _from_named_day),
    (r"(?P<in>IN )(?P<n>DUR) ", _ahead),
    (r"(?:IN )?(?P<n>DUR) (?P<sure>INTIME )(?:FROM NOW )?", _ahead),
    (r"(?P<sure>DAQUI )(?:A )?(?P<n>DUR) ", _ahead),
    (r"WITHIN (?:OF )?(?P<n>DUR) (?P<from>FROM (?:NOW|REL) )?", _within),
    (r"(?P<n>DUR) (?:IN THE FUTURE |HENCE )", _next_units),
    (r"REST (?:OF )?(?:THE |MY )?(?:THIS |OFTHIS )?(?P<u>UNIT) ", _rest),
    (r"EARLIER (?:IN )?(?:THE |THIS )(?P<u>UNIT) ", _so_far),
    (r"(?P<u>UNIT) TO DATEWORD ", _so_far),
    (r"(?P<u>TODATE) ", _so_far),
    (r"LATER (?:IN )?(?:THE |THIS )(?P<u>UNIT) ", _still_to_come),
    (r"(?P<r>REL) ", _rel),
    (r"NOW ", _now),
    pieces=PIECES,
)
