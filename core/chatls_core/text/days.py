"""The day of a moment as a person counts days: in the zone of this machine."""

from __future__ import annotations

from datetime import date, datetime, time

_MIDNIGHT = time()


def local_day(moment: datetime) -> date:
    """The local day of an aware moment.

    A moment at midnight of its own zone, to the microsecond, stands for a day that somebody wrote down without an hour:
    that day it is everywhere.
    """
    return moment.date() if moment.time() == _MIDNIGHT else moment.astimezone().date()
