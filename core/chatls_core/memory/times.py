"""Time expressions in questions and texts, through the one grammar of :mod:`chatls_core.text.time_expressions`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chatls_core.memory.records import EPOCH
from chatls_core.text.days import local_day


def day_told(moment: datetime) -> str:
    """The local day of a record's time, as text; empty where nobody wrote one down."""
    return local_day(moment).isoformat() if moment.year > EPOCH.year else ""


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open time window, and the text without the words that named it."""

    start: datetime
    end: datetime
    rest: str


def window_in(text: str, now: datetime) -> Window | None:
    """The first time window a text names, in days of this machine's zone, counted from ``now`` (spec/memory.md §7.3).

    ``None`` when it names none.
    """
    from chatls_core.text.time_expressions import find

    windows = find(text, now.astimezone())
    if not windows:
        return None
    first = windows[0]
    start, end = first.span
    return Window(first.start, first.end, " ".join((text[:start] + " " + text[end:]).split()))
