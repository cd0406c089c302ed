"""Days as a person counts them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import date, datetime

import pytest

from chatls_core.text.days import local_day


@pytest.fixture
def sao_paulo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "America/Sao_Paulo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("sao_paulo")
@pytest.mark.parametrize(
    ("moment", "day"),
    [
        ("2026-04-12T01:30:00+00:00", date(2026, 4, 11)),
        ("2026-04-12T12:00:00+00:00", date(2026, 4, 12)),
        ("2026-04-11T23:00:00-03:00", date(2026, 4, 11)),
        ("2026-04-12T00:00:00+00:00", date(2026, 4, 12)),  # a day that was written down without an hour
    ],
)
def test_a_moment_belongs_to_the_day_it_was_here(moment: str, day: date) -> None:
    assert local_day(datetime.fromisoformat(moment)) == day
