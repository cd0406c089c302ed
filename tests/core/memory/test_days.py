"""A day that is told is one of this machine's zone, wherever it is told, and two moments of one day are of one day."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chatls_core.memory import Memory, Source
from chatls_core.memory.graph import Neighbour
from tests.core.memory.conftest import USER, MakeMemory, SetClock

pytestmark = pytest.mark.usefixtures("sao_paulo")

EVENING = datetime(2026, 4, 13, 1, 30, tzinfo=UTC)
"""The 12th here."""


def learned(hour: int) -> Source:
    """What was said on the 12th and is learned from only later."""
    return Source("extraction", session="s", time=datetime(2026, 4, 12, hour, tzinfo=UTC))


def test_what_rides_along_names_the_day_of_the_work(memory: Memory) -> None:
    memory.record_episode("Rotated the staging certificates", date=EVENING, source=USER)
    ridden = memory.auto_recall("when were the staging certificates rotated?")
    assert "[episode 2026-04-12]" in ridden.text


def test_why_something_is_not_believed_names_the_day_it_was_known_better(memory: Memory, clock: SetClock) -> None:
    clock.now = EVENING
    fact = memory.remember("The port is 8080", source=USER)
    memory.forget(ids=[fact.id])
    clock.forward(hours=1)
    assert "said before 2026-04-12," in memory.remember("The port is 8080", source=learned(20)).reason
    clock.now = EVENING
    memory.profile({"goals": "learn Go", "location": "Porto"}, source=Source("extraction"))
    memory.profile({"goals_remove": "learn Go"}, source=USER)
    clock.forward(hours=1)
    late = memory.profile({"goals": "learn Go", "location": "Lisbon"}, source=learned(20))
    assert late.refused == {
        "goals": "It was removed later, on 2026-04-12.",
        "location": "What stands there was said later, on 2026-04-12.",
    }


def test_what_was_said_and_done_on_one_day_hangs_together(make: MakeMemory, clock: SetClock) -> None:
    clock.now = EVENING
    talk = Neighbour("session", "talk", "an afternoon", day=datetime(2026, 4, 12).date())
    memory = make(neighbours=lambda: (talk,))
    memory.remember(
        "The tile cache is warm", scope="/w/atlas", source=Source("user", time=EVENING.replace(day=12, hour=20))
    )
    memory.record_episode("Tuned the tile cache", project="/w/atlas", date=EVENING, source=USER)
    linked = {node.kind for node in memory.neighbors("Tuned the tile cache", hops=1).nodes[1:]}
    assert {"fact", "session"} <= linked
