"""A date as a person or a model asks for it: ISO, or in words ("2026-03", "last Friday", "março de 2025").

A time in words is a window: "from" begins at its start, "until" and "as of" count it whole (docs/time-expressions.md).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from .dates import iso_end, iso_moment
from .time_expressions import TimeWindow, find


def start_of(text: str) -> datetime:
    """The first moment of a date, in local time where it names no zone. Raises :class:`ValueError`."""
    try:
        return iso_moment(text)
    except ValueError:
        return _window(text).start


def end_of(text: str) -> datetime:
    """The last moment of a date, in local time where it names no zone. Raises :class:`ValueError`."""
    try:
        return iso_end(text)
    except ValueError:
        return _window(text).end - timedelta(microseconds=1)


def _window(text: str) -> TimeWindow:
    """The one time that is all of ``text``."""
    windows = find(text, datetime.now().astimezone())
    if len(windows) != 1 or text[: windows[0].span[0]].strip() or text[windows[0].span[1] :].strip(" .?!"):
        raise ValueError(f"{text!r} is no date")
    return windows[0]
