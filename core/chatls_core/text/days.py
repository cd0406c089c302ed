"""The day of a moment as a person counts days: in the zone of this machine."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

_MIDNIGHT = time()


def local_day(moment: datetime) -> date:
    """The local day of an aware moment.

    A moment at midnight of its own zone, to the microsecond, stands for a day that somebody wrote down without an hour:
    that day it is everywhere.
    """
    return moment.date() if moment.time() == _MIDNIGHT else moment.astimezone().date()


def days_of(window: tuple[datetime, datetime]) -> str:
    """The local days of a half-open window, its last one included; empty for all of time."""
    start, end = window
    first = "" if start.year == datetime.min.year else local_day(start).isoformat()
    last = "" if end.year == datetime.max.year else local_day(end - timedelta(microseconds=1)).isoformat()
    if first and last:
        return first if first == last else f"{first} → {last}"
    return f"since {first}" if first else f"until {last}" if last else ""
