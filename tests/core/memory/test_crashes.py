"""No acknowledged write is lost: several processes, kill -9, full disks (issue "Memory", How it is checked)."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatls_core import config
from chatls_core.memory import Memory, Source
from tests.core.memory.conftest import USER, SetClock, contents
from tests.fakes.file_system import Crash, FailingFileSystem, full_disk, input_output_error

NOW = datetime(2026, 6, 1, tzinfo=UTC)
NAMES = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("lo", "mi", "ra", "su", "te")]
WRITES = int(os.environ.get("CHATLS_CRASH_WRITES", "12"))
"""Facts per process; the nightly run sets 1000."""


def opened(folder: str, fs: FailingFileSystem | None = None) -> Memory:
    more = {"fs": fs} if fs is not None else {}
    return Memory(Path(folder), settings=config.Memory(max_facts=100_000), clock=lambda: NOW, **more)


def text(writer: int, number: int) -> str:
    return f"Component {NAMES[number % len(NAMES)]} of writer {writer} owns queue {NAMES[-1 - number // len(NAMES)]}"


def _remember_many(folder: str, writer: int, count: int) -> None:
    memory = opened(folder)
    for number in range(count):
        assert memory.remember(text(writer, number), "project", source=Source("user")).added


def test_servers_remembering_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_remember_many, args=(str(tmp_path), w, WRITES)) for w in range(4)]
    for process in writers:
        process.start()
    for process in writers:
        process.join(50 * max(1, WRITES // 12))
        assert process.exitcode == 0
    memory = opened(str(tmp_path))
    expected = sorted(text(w, n) for w in range(4) for n in range(WRITES))
    assert contents(memory) == expected
    assert all(f.sources for f in memory.facts(limit=100_000).facts)


def _remember_and_report(folder: str, acknowledged: int, round_: int) -> None:
    memory = opened(folder)
    for number in range(60):
        line = text(round_, number)
        memory.remember(line, "project", source=Source("user"))
        os.write(acknowledged, line.encode() + b"\n")


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    told: list[str] = []
    for round_ in range(4):
        reader, writer = os.pipe()
        child = context.Process(target=_remember_and_report, args=(str(tmp_path), writer, round_))
        child.start()
        os.close(writer)
        seen = b""
        while seen.count(b"\n") < 3:
            seen += os.read(reader, 200)
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join(20)
        while more := os.read(reader, 4096):
            seen += more
        os.close(reader)
        told += seen.decode().split("\n")[:-1]
    assert set(told) <= set(contents(opened(str(tmp_path))))
    for path in tmp_path.glob("*.json"):
        json.loads(path.read_text())
    assert opened(str(tmp_path)).remember("Alive after all", source=USER).added


@pytest.mark.parametrize("step", range(0, 60, 5))
def test_dying_at_any_step_of_an_update_keeps_the_old_value_or_the_new_one(tmp_path: Path, step: int) -> None:
    opened(str(tmp_path)).remember("Deploy branch is main", source=USER)
    fs = FailingFileSystem()
    memory = opened(str(tmp_path), fs)
    contents(memory)
    fs.fail("any", Crash(), after=step)
    try:
        memory.remember("Deploy branch is release", source=USER)
        acknowledged = True
    except Crash:
        acknowledged = False
    after = contents(opened(str(tmp_path)))
    assert after in (["Deploy branch is main"], ["Deploy branch is release"])
    if acknowledged:
        assert after == ["Deploy branch is release"]
    if after == ["Deploy branch is release"]:
        found = opened(str(tmp_path)).why(opened(str(tmp_path)).facts().facts[0].id)
        assert [h.content for h in found.history] == ["Deploy branch is main"]


@pytest.mark.parametrize("step", range(0, 80, 9))
def test_dying_while_forgetting_never_forgets_without_a_way_back(tmp_path: Path, step: int) -> None:
    opened(str(tmp_path)).remember("Printer is on floor 3", source=USER)
    fs = FailingFileSystem()
    memory = opened(str(tmp_path), fs)
    contents(memory)
    fs.fail("any", Crash(), after=step)
    try:
        memory.forget("printer")
    except Crash:
        pass
    again = opened(str(tmp_path))
    if not contents(again):
        undo = json.loads((tmp_path / "memory_undo.json").read_text())
        again.undo(undo["entries"][-1]["token"])
    assert contents(again) == ["Printer is on floor 3"]


@pytest.mark.parametrize("error", [full_disk, input_output_error])
@pytest.mark.parametrize("operation", ["create", "replace"])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_disk_that_refuses_is_reported_and_harms_nothing(
    tmp_path: Path, error: type[OSError], operation: str, after: int
) -> None:
    fs = FailingFileSystem()
    memory = opened(str(tmp_path), fs)
    memory.remember("Deploy branch is main", source=USER)
    fs.fail(operation, error(), after=after)
    try:
        memory.remember("Deploy branch is release", source=USER)
    except OSError as refused:
        assert refused.errno in (errno.ENOSPC, errno.EIO)
    fs.heal()
    assert contents(opened(str(tmp_path))) in (["Deploy branch is main"], ["Deploy branch is release"])
    memory.remember("Lint runs first", source=USER)
    assert "Lint runs first" in contents(opened(str(tmp_path)))
    assert not list(tmp_path.glob(".*.tmp"))


def test_hand_edits_between_writes_are_kept(tmp_path: Path, clock: SetClock) -> None:
    memory = opened(str(tmp_path))
    memory.remember("Deploy branch is main", source=USER)
    index = tmp_path / "memory_index.json"
    index.write_text(index.read_text().replace("Deploy branch is main", "Deploy branch is main since 2024"))
    memory.remember("Lint runs first", source=USER)
    assert contents(memory) == ["Deploy branch is main since 2024", "Lint runs first"]
