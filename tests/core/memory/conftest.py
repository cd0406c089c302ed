"""A memory in a temporary folder, with a clock that the test sets."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from chatls_core import config
from chatls_core.memory import Memory, Source


class SetClock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.now = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def set(self, *date: int) -> None:
        """Set the date (year, month, day, hour, …)."""
        self.now = datetime(*date, tzinfo=UTC)  # type: ignore[arg-type,misc]  # the test gives year, month, day

    def forward(self, **time: float) -> None:
        """Move on (days=…, seconds=…); negative numbers step back."""
        self.now += timedelta(**time)


USER = Source("user", session="s1", message="m1")
EXTRACTED = Source("extraction", session="s2", message="m9")

MakeMemory = Callable[..., Memory]


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def make(tmp_path: Path, clock: SetClock) -> MakeMemory:
    """Opens the memory in a folder anew, as another server or a restart does."""

    def build(name: str = "memory", **options: Any) -> Memory:
        settings = config.Memory(**{k: options.pop(k) for k in list(options) if k in config.Memory.model_fields})
        return Memory(tmp_path / name, settings=settings, clock=clock, **options)

    return build


@pytest.fixture
def memory(make: MakeMemory) -> Memory:
    return make()


def contents(memory: Memory) -> list[str]:
    """The texts of all facts, sorted."""
    return sorted(f.content for f in memory.facts(limit=100_000).facts)
