"""A memory that grew: one more fact costs little, and what is kept between writes is what a fresh start would read."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatls_core.memory import Memory

from .conftest import EXTRACTED, USER, MakeMemory, SetClock

BEFORE = datetime(2026, 5, 1, tzinfo=UTC).isoformat()


def stock(folder: Path, size: int) -> None:
    """``size`` facts with their sources, as files that another run left."""
    rng = random.Random(size)
    words = ["".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(3)) for _ in range(2000)]
    facts = [
        {"id": f"{n:024x}", "content": "Service {} stores {} for {}".format(*rng.choices(words, k=3)),
         "category": "project", "created_at": BEFORE, "last_accessed": BEFORE, "access_count": 1, "score": 1.0}
        for n in range(size)
    ]  # fmt: skip
    origin = {"kind": "extraction", "session": "s1", "message": "m1", "time": BEFORE}
    details = {fact["id"]: {"valid_from": BEFORE, "sources": [origin]} for fact in facts}
    folder.mkdir(parents=True)
    (folder / "memory_index.json").write_text(json.dumps(facts), encoding="utf-8")
    (folder / "memory_details.json").write_text(json.dumps({"items": details}), encoding="utf-8")


def spent(call: Callable[[], object]) -> float:
    """Seconds of processor time, the least of five calls."""
    taken = []
    for _ in range(5):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return min(taken)


def read_and_encode(folder: Path) -> None:
    """What a plain program does to change one fact."""
    for name in ("memory_index.json", "memory_details.json"):
        json.dumps(json.loads((folder / name).read_bytes()), indent=2)


def test_one_more_fact_costs_a_fraction_of_reading_the_files(tmp_path: Path, make: MakeMemory) -> None:
    size = 20_000
    stock(tmp_path / "memory", size)
    memory = make(max_facts=size * 2)
    memory.remember("The first one reads and encodes everything", source=USER)
    numbers = iter(range(100))
    once = spent(lambda: memory.remember(f"Pier {next(numbers)} is closed in winter", source=USER))
    assert once < 0.07 * spent(lambda: read_and_encode(tmp_path / "memory"))


def test_what_rides_along_after_one_more_fact_is_not_all_read_anew(tmp_path: Path, make: MakeMemory) -> None:
    size = 20_000
    stock(tmp_path / "memory", size)
    memory = make(max_facts=size * 2)
    memory.auto_recall("where is the spare key of the boathouse?")
    numbers = iter(range(100))

    def one_more() -> None:
        number = next(numbers)
        memory.remember(f"The spare key of boathouse {number} hangs behind the oars", source=USER)
        assert memory.auto_recall(f"where is the spare key of boathouse {number}?").ids
        assert memory.index_digest()
        assert memory.facts().facts

    assert spent(one_more) < 0.14 * spent(lambda: read_and_encode(tmp_path / "memory"))


@pytest.mark.parametrize("seed", range(6))
def test_two_servers_and_a_fresh_start_agree(make: MakeMemory, clock: SetClock, seed: int) -> None:
    rng = random.Random(seed)
    servers = [make(max_facts=12), make(max_facts=12)]
    tokens: list[str] = []

    def known(memory: Memory) -> dict[str, str]:
        return {i.id: i.content for i in memory.facts(limit=100).facts}

    for step in range(40):
        clock.forward(hours=rng.choice((-1, 1, 5)))
        memory = rng.choice(servers)
        ids = sorted(known(memory))
        match rng.randrange(7):
            case 0 | 1 | 2:
                memory.remember(f"Room {rng.randrange(9)} seats {rng.randrange(3)} people", source=USER)
            case 3:
                memory.remember(f"Cellar {step} is damp", source=EXTRACTED)
            case 4 if ids:
                tokens.append(memory.forget(ids=[rng.choice(ids)]).undo_token)
            case 5 if ids:
                memory.edit(rng.choice(ids), f"Corrected at step {step}")
            case 6 if tokens:
                memory.undo(tokens.pop())
            case _ if ids:
                memory.evidence(ids[:3], " ".join(known(memory).values()))
        fresh = make(max_facts=12)
        for server in servers:
            assert known(server) == known(fresh)
            assert list(known(server)) == list(known(fresh))
            assert server.index_digest() == fresh.index_digest()
