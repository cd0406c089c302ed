"""Calendar periods: days, ISO weeks, months, quarters and years around a moment, as half-open local intervals."""

from __future__ import annotations

import calendar
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

EARLIEST = datetime.min + timedelta(days=2)
LATEST = datetime.max - timedelta(days=2)
"""The open ends of "before X" and "after X": far enough inside that another time zone cannot push them out of range."""

DAY = timedelta(days=1)
_MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}


@dataclass(frozen=True, slots=True)
class CalendarFields:
    """What was said of a date: any of year, month and day. The rest is for the reader to fill in."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


@dataclass(frozen=True, slots=True)
class Period:
    """A half-open interval of naive local time.

    ``grain`` is the unit it was named in. ``fields`` or ``weekday`` stay where the reading depended on ``now``, so that
    a range can read its ends together. A period that is not ``alone`` counts only as a part of a longer expression.
    """

    start: datetime
    end: datetime
    grain: str
    fields: CalendarFields | None = None
    weekday: int | None = None
    alone: bool = True


def midnight(moment: datetime | date) -> datetime:
    """The first instant of a day, naive."""
    return datetime(moment.year, moment.month, moment.day)


def day_of(moment: datetime | date, *, grain: str = "day") -> Period:
    """The day that holds ``moment``."""
    start = midnight(moment)
    return Period(start, start + DAY, grain)


def add(moment: datetime, count: int, unit: str) -> datetime:
    """``moment`` moved by calendar units; a day that the month does not have becomes its last one.

    Raises :class:`ValueError` or :class:`OverflowError` outside the calendar.
    """
    if unit in ("day", "week", "fortnight", "weekend"):
        return moment + timedelta(days=count * {"day": 1, "fortnight": 14}.get(unit, 7))
    if unit in ("hour", "minute"):
        return moment + timedelta(**{f"{unit}s": count})
    if unit == "weekday":
        return _add_working_days(moment, count)
    months = moment.year * 12 + moment.month - 1 + count * _MONTHS[unit]
    year, month = divmod(months, 12)
    if not 1 <= year <= 9999:
        raise ValueError(f"year {year} is outside the calendar")
    return moment.replace(year=year, month=month + 1, day=min(moment.day, calendar.monthrange(year, month + 1)[1]))


def _add_working_days(moment: datetime, count: int) -> datetime:
    step = DAY if count > 0 else -DAY
    weeks, left = divmod(abs(count), 5)
    moment += step * 7 * weeks
    while left:
        moment += step
        left -= moment.weekday() < 5
    return moment


def unit_at(moment: datetime, unit: str, shift: int = 0) -> Period:
    """The calendar unit that holds ``moment``, ``shift`` units on. A weekend is that week's Saturday and Sunday."""
    day = midnight(moment)
    if unit in ("week", "weekend", "fortnight"):
        start = day - DAY * day.weekday() + timedelta(days=7 * shift)
        if unit == "weekend":
            return Period(start + 5 * DAY, start + 7 * DAY, unit)
        return Period(start, start + timedelta(days=14 if unit == "fortnight" else 7), unit)
    if unit in ("day", "weekday"):
        return day_of(add(day, shift, unit))
    size = _MONTHS[unit]
    if size >= 120:
        years = size // 12
        first = day.year // years * years + shift * years
        return years_from(first, years, unit)
    start = day.replace(month=(day.month - 1) // size * size + 1, day=1)
    start = add(start, shift, unit)
    return Period(start, _end(start, size), unit)


def years_from(first: int, count: int, grain: str) -> Period:
    """``count`` years from the start of year ``first``. Raises :class:`ValueError` outside the calendar."""
    return Period(datetime(max(first, 1), 1, 1), datetime(first + count, 1, 1), grain)


def _end(start: datetime, months: int) -> datetime:
    return add(start, months, "month")


def year(number: int, *, alone: bool = True) -> Period:
    """A calendar year."""
    return Period(datetime(number, 1, 1), datetime(number + 1, 1, 1), "year", CalendarFields(number), alone=alone)


def part_of_year(number: int, which: int, months: int, grain: str) -> Period:
    """The ``which``-th (from 1) part of a year that is ``months`` long: a quarter or a half."""
    if not 1 <= which <= 12 // months:
        raise ValueError(f"a year has no {grain} {which}")
    start = datetime(number, (which - 1) * months + 1, 1)
    return Period(start, _end(start, months), grain)


def iso_week(number: int, week: int) -> Period:
    """ISO week ``week`` of a year. Raises :class:`ValueError` when the year has no such week."""
    start = midnight(date.fromisocalendar(number, week, 1))
    return Period(start, start + 7 * DAY, "week")


def weeks_of(period: Period) -> list[Period]:
    """The ISO weeks that belong to a period: those whose Thursday lies in it."""
    thursday = period.start + DAY * ((3 - period.start.weekday()) % 7)
    found: list[Period] = []
    while thursday < period.end and len(found) < 54:
        found.append(Period(thursday - 3 * DAY, thursday + 4 * DAY, "week"))
        thursday += 7 * DAY
    return found


def weekdays_of(period: Period, weekday: int) -> list[Period]:
    """The days of a period that are a given weekday (Monday is 0), at most those of a year."""
    day = period.start + DAY * ((weekday - period.start.weekday()) % 7)
    found: list[Period] = []
    while day < period.end and len(found) < 54:
        found.append(day_of(day))
        day += 7 * DAY
    return found


def latest_weekday(now: datetime, weekday: int) -> Period:
    """The latest such weekday before today."""
    today = midnight(now)
    day = today - DAY * ((today.weekday() - weekday - 1) % 7 + 1)
    return Period(day, day + DAY, "day", weekday=weekday)


def next_weekday(after: datetime, weekday: int) -> Period:
    """The first such weekday after the day of ``after``."""
    day = midnight(after)
    day += DAY * ((weekday - day.weekday() - 1) % 7 + 1)
    return Period(day, day + DAY, "day", weekday=weekday)


def filled(fields: CalendarFields) -> Period:
    """The period that complete fields name. Raises :class:`ValueError` for a date that does not exist."""
    if fields.year is None:
        raise ValueError("the year is missing")
    if fields.month is None:
        return year(fields.year)
    if fields.day is None:
        start = datetime(fields.year, fields.month, 1)
        return Period(start, _end(start, 1), "month", fields)
    start = datetime(fields.year, fields.month, fields.day)
    return Period(start, start + DAY, "day", fields)


def latest(fields: CalendarFields, now: datetime, *, strictly: bool = False) -> Period:
    """The latest period of these fields that has begun (``strictly``: begun before today).

    Raises :class:`ValueError` when there is none (30 February).
    """
    limit = midnight(now) - (DAY if strictly else timedelta(0))
    return _search(fields, now, lambda p: p.start <= limit, -1)


def first_from(fields: CalendarFields, moment: datetime) -> Period:
    """The first period of these fields that begins at ``moment`` or later.

    Raises :class:`ValueError` when there is none.
    """
    return _search(fields, moment, lambda p: p.start >= moment, 1)


def _search(fields: CalendarFields, around: datetime, fits: Callable[[Period], bool], step: int) -> Period:
    if fields.year is not None:
        return filled(fields)
    for back in range(13):
        if fields.month is not None:
            candidate = CalendarFields(around.year + step * back, fields.month, fields.day)
        else:
            month = add(around.replace(day=1), step * back, "month")
            candidate = CalendarFields(month.year, month.month, fields.day)
        try:
            found = filled(candidate)
        except ValueError:
            continue  # this year or month has no such day
        if fits(found):
            return Period(found.start, found.end, found.grain, fields)
    raise ValueError(f"no such date: {fields}")


def spanning(first: Period, last: Period) -> Period | None:
    """The range "from A to B": both are inside, whole. ``None`` when B does not begin after A."""
    if not first.start < last.start:
        return None
    return Period(first.start, last.end, "range")


def full_year(written: int) -> int:
    """A year written with two digits, in full: below 40 this century, else the last one."""
    if written >= 100:
        return written
    return written + (2000 if written < 40 else 1900)


def nth(found: list[Period], which: int) -> Period | None:
    """The ``which``-th of a list (from 1; -1 is the last); ``None`` when there is no such one."""
    index = which if which < 0 else which - 1
    return found[index] if -len(found) <= index < len(found) and which else None


def early_part(period: Period) -> Period:
    """The first half of a period, in whole days: Monday to Wednesday, the 1st to the 15th, January to June."""
    if period.grain == "month":
        return Period(period.start, period.start.replace(day=16), "part")
    return Period(period.start, _middle(period), "part")


def late_part(period: Period) -> Period:
    """The second half: Thursday to Sunday, the 16th to the end, July to December."""
    if period.grain == "month":
        return Period(period.start.replace(day=16), period.end, "part")
    return Period(_middle(period), period.end, "part")


def middle_part(period: Period) -> Period:
    """The middle: Tuesday to Friday, the 10th to the 20th, April to September, the middle third of anything else."""
    start, end = period.start, period.end
    if period.grain == "month":
        return Period(start.replace(day=10), start.replace(day=21), "part")
    if period.grain == "week":
        return Period(start + DAY, start + 5 * DAY, "part")
    if period.grain == "year":
        return Period(start.replace(month=4), start.replace(month=10), "part")
    if period.grain == "decade":
        return Period(add(start, 3, "year"), add(start, 7, "year"), "part")
    third = (end - start) // 3
    return Period(midnight(start + third), midnight(end - third), "part")


def _middle(period: Period) -> datetime:
    if period.grain in ("year", "half", "decade", "century"):
        months = {"year": 6, "half": 3, "decade": 60, "century": 600}[period.grain]
        return add(period.start, months, "month")
    return midnight(period.start + (period.end - period.start) // 2)
