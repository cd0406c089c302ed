"""What the head of a skill, persona or template says about who should answer and how hard to think (§1.1).

A hint never outranks what the user chose. Only what the user called, pinned or chose may hint: another model reads the
whole prompt anew, and a word in a question must not cost that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Effort = Literal["", "none", "low", "medium", "high", "max"]
EFFORTS: tuple[Effort, ...] = ("none", "low", "medium", "high", "max")
_LEFT_TO_THE_USER = ("inherit", "default", "sonnet", "opus", "haiku")
"""Models that name no model of a service: ``inherit``, and the families other tools know."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A model and an effort, each empty where it is left to the user."""

    model: str = ""
    effort: Effort = ""


NO_HINT = Hint()


def hint_of(head: Mapping[str, object]) -> Hint:
    """What a file's head (keys in lower case) hints."""
    model = str(head.get("model") or "").strip()
    return Hint("" if model.lower() in _LEFT_TO_THE_USER else model, effort_named(head.get("effort")))


def effort_named(value: object) -> Effort:
    """The effort a word names; empty for any other word."""
    word = str(value or "").strip().lower()
    return next((effort for effort in EFFORTS if effort == word), "")


def first(hints: Iterable[Hint]) -> Hint:
    """The first model and the first effort that are hinted."""
    known = list(hints)
    return Hint(next((h.model for h in known if h.model), ""), next((h.effort for h in known if h.effort), ""))
