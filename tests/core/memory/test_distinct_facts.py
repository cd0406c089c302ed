"""Facts that differ in a name or label are different facts: none may take another's place.

A number is a new value only where it stands as one (after the verb, of the same subject); where it is part of a name or
a label ("note 3", "alpha7", "server B"), nothing is an update. Keeping two facts too many is better than losing one.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatls_core.config import Settings
from chatls_core.memory import Memory, Source


def kept(folder: Path, facts: list[str]) -> int:
    memory = Memory(folder, settings=Settings().memory, clock=lambda: datetime(2026, 3, 2, tzinfo=UTC))
    for fact in facts:
        memory.remember(fact, source=Source("user"))
    return memory.facts().total


@pytest.mark.parametrize(
    "pattern",
    [
        "fact {n}",
        "fact number {n} from server A",
        "server one note {n}",
        "Gadget alpha{n} weighs {n} grams",
        "Writer b stored value {n}",
        "Remember: key{n} equals value{n}",
        "Process 2 wrote entry {n}",
        "user said thing {n}",
        "Ticket {n} is about login",
        "Chapter {n} is finished",
        "O fato {n} veio do servidor B",
    ],
)
def test_numbered_things_are_all_kept(tmp_path: Path, pattern: str) -> None:
    assert kept(tmp_path, [pattern.format(n=n) for n in range(8)]) == 8


def test_two_writers_with_the_same_numbering_keep_everything(tmp_path: Path) -> None:
    facts = [f"{writer} fact number {n}" for n in range(5) for writer in ("alpha", "beta")]
    assert kept(tmp_path, facts) == 10


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Project uses Python 3.11", "Project uses Python 3.12"),
        ("Team has 5 members", "Team has 6 members"),
        ("The API listens on port 8080", "The API listens on port 9090"),
        ("User lives in Lisbon", "User moved to Porto"),
    ],
)
def test_real_updates_still_replace(tmp_path: Path, old: str, new: str) -> None:
    assert kept(tmp_path, [old, new]) == 1
