"""What a run of the worker did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from chatls_core.llm.events import Usage
from chatls_core.memory.worker.applying import Tally

Skipped = Literal["", "off", "busy", "resting", "nothing"]


@dataclass(frozen=True, slots=True)
class LearnResult:
    """What a run did. ``skipped`` says why it did nothing; ``waiting`` items need the user's yes.

    ``messages`` were learned from, ``dropped`` given up. ``notice`` is a line for the user, empty most of the time;
    ``error`` says what failed, with what it was about still queued; ``failing``: the user was told so and it goes on.
    """

    skipped: Skipped = ""
    messages: int = 0
    dropped: int = 0
    facts: int = 0
    episodes: int = 0
    profile: int = 0
    topics: int = 0
    projects: int = 0
    waiting: int = 0
    usage: Usage = field(default_factory=lambda: Usage(cost_usd=0.0))
    notice: str = ""
    error: str = ""
    failing: bool = False


@dataclass
class Run:
    """A run while it goes on."""

    tally: Tally
    usage: Usage
    messages: int = 0
    dropped: int = 0
    error: str = ""
    outage: bool = False
