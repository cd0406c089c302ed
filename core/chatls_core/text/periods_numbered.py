"""Numbered periods of the time grammar: quarters, weeks and years by number, decades, centuries."""

from __future__ import annotations

from datetime import datetime

from .periods import (
    CalendarFields,
    Period,
    add,
    day_of,
    early_part,
    iso_week,
    late_part,
    latest,
    middle_part,
    part_of_year,
    year,
    years_from,
)
from .periods_pieces import PIECES, PREPOSITIONS, as_part, plural
from .periods_reduce import Reading, rules


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
    if token.word.startswith("T") and r.language == "en":
        return None  # a trimester is Portuguese; here it is somebody's name for a thing
    before = r.before()
    if months == 6 or not (r.whole or (before is not None and before.code in PREPOSITIONS | {"THE", "THIS"})):
        return as_part(_latest_part(r.now, which, months, grain))
    return _latest_part(r.now, which, months, grain)


def _latest_part(now: datetime, which: int, months: int, grain: str) -> Period:
    found = part_of_year(now.year, which, months, grain)
    return found if found.start <= now else part_of_year(now.year - 1, which, months, grain)


def _century(r: Reading) -> Period | None:
    if not _unit_only(r, "century") or plural(r.token("u")) or not 1 <= r.number("d") <= 30:
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
    return None if not _unit_only(r, "year") or plural(token) else year(r.number("y"))


def _numbered_week(r: Reading) -> Period | None:
    token = r.token("u")
    if not _unit_only(r, "week") or plural(token) or not (r.has("y") or r.closed or _clock_after(r)):
        return None
    return iso_week(r.number("y") if r.has("y") else r.now.year, r.number("n"))


def _clock_after(r: Reading) -> bool:
    return r.last + 1 < len(r.tokens) and r.tokens[r.last + 1].code == "CLOCK"


def _numbered_day(r: Reading) -> Period | None:
    """A day of this or the last month by its number: "dia 15"."""
    token = r.token("u")
    if not _unit_only(r, "day") or plural(token) or r.language != "pt":
        return None
    return latest(CalendarFields(day=r.number("d")), r.now)


def _iso_week(r: Reading) -> Period:
    token = r.token("week")
    assert token is not None and isinstance(token.value, tuple)
    year, number, day = token.value
    week = iso_week(year, number)
    return day_of(add(week.start, day - 1, "day")) if day else week


NUMBERED_RULES = rules(
    (r"(?P<week>WEEK) ", _iso_week),
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
    (r"(?P<u>UNIT) (?P<d>N|O) (?!OF (?:THE )?(?:UNIT|LAST|NEXT|THIS)|OFTHIS )", _numbered_day),
    pieces=PIECES,
)
