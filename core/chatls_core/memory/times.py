"""Time expressions in questions and texts, through the one grammar of :mod:`chatls_core.text.time_expressions`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class _Found(Protocol):
    start: datetime
    end: datetime
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open time window, and the text without the words that named it."""

    start: datetime
    end: datetime
    rest: str


def window_in(text: str, now: datetime) -> Window | None:
    """The first time window a text names, counted from ``now``; ``None`` when it names none."""
    try:
        grammar = importlib.import_module("chatls_core.text.time_expressions")
    except ModuleNotFoundError:
        return None  # an installation without the grammar reads no times
    windows: Sequence[_Found] = grammar.find(text, now)
    if not windows:
        return None
    first = windows[0]
    start, end = first.span
    return Window(first.start, first.end, " ".join((text[:start] + " " + text[end:]).split()))
