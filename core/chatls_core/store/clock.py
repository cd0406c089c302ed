"""What time is it? Time comes in through a parameter, so that tests and imports can say which."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Returns the current time as an aware UTC datetime. It may jump either way between two calls."""


def system_clock() -> datetime:
    """The machine's clock, in UTC."""
    return datetime.now(UTC)
