"""Whatever is too long is cut between characters, wherever it is cut."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatls_core.memory.worker.request import segment_text
from chatls_core.memory.worker.segment import Line, Segment
from tests.core.memory.conftest import EXTRACTED, USER, Memory, SetClock
from tests.core.memory.worker.rig import Rig, outage

UNIT = "çãé日👩🏽\u200d💻"
ENDS = {1, 2, 3, 4, len(UNIT)}
"""Where a character of the unit ends, for a reader."""
LONG = UNIT * 400
_PIECE = re.compile(f"[{UNIT}\ufffd]+")


def whole_characters(text: str) -> bool:
    """Whether every piece of the long text in ``text`` ends where one of its characters does."""
    pieces = _PIECE.findall(text)
    assert pieces
    return all(LONG.startswith(p) and (len(p) % len(UNIT) or len(UNIT)) in ENDS for p in pieces)


@pytest.mark.parametrize("shift", range(7))
def test_no_cut_of_memory_parts_a_character(memory: Memory, clock: SetClock, shift: int) -> None:
    """memory.md §18.1 row 37: topic summaries, notes, patterns, the digest, whatever byte the limit falls on."""
    lead = "x" * shift + " "
    long = f"kiosk {lead}{LONG}"
    memory.remember(long, source=USER)
    memory.record_topics({"kiosk": long, f"kiosk {lead}{UNIT * 40}": ""}, source=EXTRACTED)
    memory.record_episode(f"Opened the kiosk {lead}{LONG}", source=EXTRACTED)
    memory.profile({"name": f"{lead}{UNIT * 40}", "role": "cook"}, source=USER)
    memory.record_use(messages=20, errors=[f"error {lead}{LONG}"] * 3)
    for section in ("Usage Patterns", "Topics", "Recent Activity"):
        context = memory.recall("kiosk", budget=9000).context
        assert whole_characters(re.split(r"\n## (?=[A-Z])", context.split(f"## {section}")[1])[0])
        memory.note(f"- {long}", time=clock.now)
    assert whole_characters(memory.index_digest())
    assert whole_characters(memory.auto_recall("when was the kiosk opened?").text)
    assert whole_characters(memory.topics().plain)
    assert whole_characters(memory.map().text)
    assert whole_characters(memory.facts().facts[0].content)


@pytest.mark.parametrize("shift", range(7))
async def test_no_digest_parts_a_character(tmp_path: Path, shift: int) -> None:
    """memory.md §18.1 row 37: the head of a digest that no model wrote."""
    rig = Rig(tmp_path, outage)
    rig.memory.note("x" * shift + " " + LONG * 5, time=datetime(2026, 2, 11, 12, tzinfo=UTC))
    await rig.housekeeper.housekeep()
    assert whole_characters((tmp_path / "memory" / "weekly" / "2026-W07.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("limit", range(300, 307))
def test_no_message_to_learn_from_begins_or_ends_within_a_character(limit: int) -> None:
    """memory.md §18.1 row 37."""
    now = datetime(2026, 2, 11, 12, tzinfo=UTC)
    segment = Segment("s", (Line("user", LONG, "1", now), Line("assistant", LONG, "2", now)))
    assert "\ufffd" not in segment_text(segment, limit)
    assert "\ufffd" not in segment_text(segment, 10_000)


@pytest.mark.parametrize("shift", range(7))
def test_no_label_of_the_picture_parts_a_character(memory: Memory, shift: int) -> None:
    memory.record_topics({f"{'x' * shift} {UNIT * 12}": "", f"{'x' * shift}{UNIT * 12} kiosk": ""}, source=EXTRACTED)
    labels = re.findall(r">([^<>]*)</t(?:span|ext)>", memory.graph().svg)
    assert any("…" in label for label in labels)
    assert all(whole_characters(label) for label in labels if _PIECE.search(label))


HALF = "half of \ud83d a character"
"""What an editor sends whose selection ends within a character, and what a model's answer holds that was cut there."""


@pytest.mark.parametrize(
    "write",
    [
        lambda m: m.remember(f"The kiosk has {HALF}", scope=f"/w/{HALF}", source=USER),
        lambda m: m.edit(m.remember("The kiosk has it", source=USER).id, f"The kiosk has {HALF}"),
        lambda m: m.record_episode(HALF, outcome=HALF, refs=(HALF,), project=HALF, source=EXTRACTED),
        lambda m: m.record_topics({HALF: HALF}, source=EXTRACTED),
        lambda m: m.record_project({"name": HALF, "description": HALF, "technologies": HALF}, source=EXTRACTED),
        lambda m: m.record_use(messages=1, errors=[HALF], commands=[HALF]),
        lambda m: m.note(HALF, time=m.clock()),
        *(
            lambda m, key=key: m.profile({key: HALF}, source=USER)
            for key in ("name", "goals", "stance", "milestone", "directive", "env_shell", "salary", HALF)
        ),
    ],
)
def test_half_a_character_costs_itself_and_nothing_else(memory: Memory, write: Callable[[Memory], object]) -> None:
    write(memory)
    memory.write_longterm()
    kept = [p.read_text(encoding="utf-8") for p in memory.folder.rglob("*") if p.suffix in (".json", ".md")]
    assert any("half of ? a character" in text for text in kept)
    if memory.facts().facts:
        assert [i.text for i in memory.forget(HALF).items] == ["The kiosk has half of ? a character"]
