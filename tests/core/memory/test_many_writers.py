"""Nothing acknowledged is lost, of any kind: four writers, kill -9, clocks that jump, hand edits in between."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.core.memory.many_writers import KINDS, damaged, lost, opened, run, write

WRITES = int(os.environ.get("CHATLS_CRASH_WRITES", "100"))
"""Per writer; the nightly run sets 1000 (a few minutes)."""
KILLS = max(2, WRITES // 40)


def edit_by_hand(folder: Path, mark: str) -> None:
    """What a person with an editor does: a field of their own in a record of every file, and a fact of their own."""
    for path in folder.glob("*.json"):
        tree: Any = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(tree, list) and tree:
            tree[0][mark] = path.name
        elif isinstance(tree, dict) and path.name != "memory_tombstones.json":
            tree[mark] = path.name
        if path.name == "memory_index.json":
            tree.append({"content": f"Written by hand as {mark}"})
        path.write_text(json.dumps(tree, indent=4), encoding="utf-8")


def marks(folder: Path, mark: str) -> set[str]:
    """The files in which a field of a hand edit still stands."""
    return {p.name for p in folder.glob("*.json") if f'"{mark}"' in p.read_text(encoding="utf-8")}


def test_four_writers_that_are_killed_lose_nothing_of_any_kind(tmp_path: Path) -> None:
    rounds = [range(at, min(at + WRITES // 3 + 1, WRITES)) for at in range(0, WRITES, WRITES // 3 + 1)]
    edited: dict[str, set[str]] = {}
    for number, told in enumerate(run(tmp_path, rounds, writers=4, kills=KILLS, seed=WRITES)):
        assert lost(tmp_path, told) == {}
        assert damaged(tmp_path) == []
        edit_by_hand(tmp_path, f"hand{number}")
        edited[f"hand{number}"] = marks(tmp_path, f"hand{number}")
    write(tmp_path, 9, range(len(KINDS)), lambda _: None)  # the locks of the dead hold nobody up
    opened(tmp_path).stores.sweep(datetime.now(UTC) + timedelta(hours=1))
    assert not list(tmp_path.rglob("*.tmp"))
    assert {mark: marks(tmp_path, mark) for mark in edited} == edited
    by_hand = {f.content for f in opened(tmp_path).facts(limit=100_000).facts if "by hand" in f.content}
    assert by_hand == {f"Written by hand as {mark}" for mark in edited}
