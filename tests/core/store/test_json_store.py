"""A JSON file that survives crashes, full disks, other writers and hand edits."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from chatls_core.store import JsonStore, LockTimeoutError, StoreReadOnlyError, atomic_write_bytes
from tests.fakes.file_system import Crash, FailingFileSystem, full_disk, input_output_error

Numbers = tuple[int, ...]


def store(path: Path, fs: FailingFileSystem | None = None, **options: Any) -> JsonStore[Numbers]:
    more = {"fs": fs} if fs is not None else {}
    return JsonStore(
        path,
        TypeAdapter(Numbers),
        empty=lambda: (),
        merge=lambda a, b: tuple(sorted({*a, *b})),
        **more,
        **options,
    )


def add(number: int) -> Callable[[Numbers], tuple[Numbers, int]]:
    return lambda old: ((*old, number), len(old) + 1)


def test_an_update_is_on_the_disk_when_it_returns(tmp_path: Path) -> None:
    assert store(tmp_path / "n.json").update(add(7)) == 1
    assert json.loads((tmp_path / "n.json").read_text()) == [7]
    assert store(tmp_path / "n.json").read() == (7,)


def test_a_missing_file_reads_as_empty_and_is_not_made_by_reading(tmp_path: Path) -> None:
    assert store(tmp_path / "n.json").read() == ()
    assert not (tmp_path / "n.json").exists()


def test_files_are_private(tmp_path: Path) -> None:
    store(tmp_path / "sub" / "n.json").update(add(1))
    assert (tmp_path / "sub" / "n.json").stat().st_mode & 0o777 == 0o600


def test_a_change_by_another_store_is_seen_at_the_next_read(tmp_path: Path) -> None:
    mine, other = store(tmp_path / "n.json"), store(tmp_path / "n.json")
    mine.update(add(1))
    other.update(add(2))
    assert mine.read() == (1, 2)


def test_a_hand_edit_is_kept(tmp_path: Path) -> None:
    mine = store(tmp_path / "n.json")
    mine.update(add(1))
    (tmp_path / "n.json").write_text("[1, 50]")
    mine.update(add(2))
    assert mine.read() == (1, 50, 2)


def test_a_file_that_does_not_parse_is_kept_and_what_was_known_goes_on(tmp_path: Path) -> None:
    mine = store(tmp_path / "n.json")
    mine.update(add(1))
    (tmp_path / "n.json").write_text("[1, 2")
    assert mine.read() == (1,)
    assert (tmp_path / "n.json.corrupt").read_text() == "[1, 2"
    mine.update(add(3))
    assert json.loads((tmp_path / "n.json").read_text()) == [1, 3]


def test_each_damaged_file_is_kept_under_its_own_name(tmp_path: Path) -> None:
    for text in ("{broken", "[also broken"):
        (tmp_path / "n.json").write_text(text)
        assert store(tmp_path / "n.json").read() == ()
    assert (tmp_path / "n.json.corrupt").read_text() == "{broken"
    assert (tmp_path / "n.json.corrupt-1").read_text() == "[also broken"


def test_records_that_are_fine_are_saved_from_a_damaged_list(tmp_path: Path) -> None:
    (tmp_path / "n.json").write_text('[1, "x", 3]')

    def salvage(tree: object) -> Numbers | None:
        return tuple(i for i in tree if isinstance(i, int)) if isinstance(tree, list) else None

    assert store(tmp_path / "n.json", salvage=salvage).read() == (1, 3)
    assert (tmp_path / "n.json.corrupt").read_text() == '[1, "x", 3]'
    assert json.loads((tmp_path / "n.json").read_text()) == [1, 3]


def test_zeros_after_a_power_cut_read_as_empty(tmp_path: Path) -> None:
    (tmp_path / "n.json").write_bytes(b"\0" * 300)
    assert store(tmp_path / "n.json").read() == ()


@pytest.mark.parametrize("content", ["enc:" + "QUJD" * 40, "QUJD" * 40, "\x00\xff\x12binary"])
def test_what_looks_sealed_by_another_program_is_never_written(tmp_path: Path, content: str) -> None:
    raw = content.encode("latin-1")
    (tmp_path / "n.json").write_bytes(raw)
    mine = store(tmp_path / "n.json")
    assert mine.read() == ()
    assert "encrypted" in mine.problem
    with pytest.raises(StoreReadOnlyError, match="encrypted"):
        mine.update(add(1))
    assert (tmp_path / "n.json").read_bytes() == raw


def test_a_store_that_cannot_be_read_is_not_written_and_works_again_later(tmp_path: Path) -> None:
    fs = FailingFileSystem()
    store(tmp_path / "n.json").update(add(1))
    mine = store(tmp_path / "n.json", fs)
    fs.fail("read", input_output_error())
    with pytest.raises(StoreReadOnlyError, match="cannot be read"):
        mine.update(add(2))
    mine.update(add(2))
    assert mine.read() == (1, 2)
    assert mine.problem == ""


@pytest.mark.parametrize(("operation", "written"), [("create", 3), ("create", 0), ("replace", None)])
@pytest.mark.parametrize("error", [full_disk, input_output_error])
def test_a_disk_that_refuses_leaves_the_old_file_and_no_litter(
    tmp_path: Path, operation: str, written: int | None, error: Callable[[], OSError]
) -> None:
    fs = FailingFileSystem()
    mine = store(tmp_path / "n.json", fs)
    mine.update(add(1))
    fs.fail(operation, error(), written=written)
    with pytest.raises(OSError, match=r"No space|Input/output"):
        mine.update(add(2))
    assert mine.read() == (1,)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["n.json", "n.json.lock"]
    mine.update(add(3))
    assert store(tmp_path / "n.json").read() == (1, 3)


@pytest.mark.parametrize("step", range(14))
def test_dying_at_any_step_leaves_the_old_value_or_the_new_one(tmp_path: Path, step: int) -> None:
    store(tmp_path / "n.json").update(add(1))
    fs = FailingFileSystem()
    fs.fail("any", Crash(), after=step, written=None)
    try:
        store(tmp_path / "n.json", fs).update(add(2))
        acknowledged = True
    except Crash:
        acknowledged = False
    after = store(tmp_path / "n.json").read()
    assert after in ((1,), (1, 2))
    assert not acknowledged or after == (1, 2)
    store(tmp_path / "n.json").update(add(3))
    assert store(tmp_path / "n.json").read() == (*after, 3)


def test_temporary_files_of_killed_writers_are_swept(tmp_path: Path) -> None:
    (tmp_path / ".n.json.dead.tmp").write_text("half")
    store(tmp_path / "n.json").update(add(1))
    assert not (tmp_path / ".n.json.dead.tmp").exists()


def test_a_writer_without_our_lock_is_merged_in(tmp_path: Path) -> None:
    mine = store(tmp_path / "n.json")
    mine.update(add(1))

    def change(old: Numbers) -> tuple[Numbers, None]:
        atomic_write_bytes(tmp_path / "n.json", b"[1, 9]")  # as a program without locks does, in mid-update
        return (*old, 2), None

    mine.update(change)
    assert mine.read() == (1, 2, 9)


def test_returning_the_same_value_writes_nothing(tmp_path: Path) -> None:
    mine = store(tmp_path / "n.json")
    mine.update(add(1))
    before = mine.signature
    assert mine.update(lambda old: (old, "nothing to do")) == "nothing to do"
    assert mine.signature == before


def test_a_held_lock_is_reported_not_waited_for_without_end(tmp_path: Path) -> None:
    mine, other = store(tmp_path / "n.json", lock_timeout=0.05), store(tmp_path / "n.json")

    def change(old: Numbers) -> tuple[Numbers, None]:
        with pytest.raises(LockTimeoutError, match="locked by another process"):
            mine.update(add(2))
        return (*old, 1), None

    other.update(change)
    assert other.read() == (1,)


def test_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "n.json").write_text("[1]")
    (tmp_path / "n.json").symlink_to(tmp_path / "dotfiles" / "n.json")
    store(tmp_path / "n.json").update(add(2))
    assert (tmp_path / "n.json").is_symlink()
    assert json.loads((tmp_path / "dotfiles" / "n.json").read_text()) == [1, 2]


def _write_many(path: str, start: int, count: int) -> None:
    mine = store(Path(path))
    for number in range(start, start + count):
        mine.update(add(number))


def test_processes_writing_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_many, args=(str(tmp_path / "n.json"), i * 100, 25)) for i in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(50)
        assert writer.exitcode == 0
    expected = {i * 100 + n for i in range(4) for n in range(25)}
    assert set(store(tmp_path / "n.json").read()) == expected


def _write_and_report(path: str, acknowledged: int) -> None:
    mine = store(Path(path))
    for number in range(10_000):
        mine.update(add(number))
        os.write(acknowledged, b"%d\n" % number)


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    for _ in range(5):
        reader, writer = os.pipe()
        child = context.Process(target=_write_and_report, args=(str(tmp_path / "n.json"), writer))
        child.start()
        os.close(writer)
        seen = b""
        while seen.count(b"\n") < 5:
            seen += os.read(reader, 100)
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join(20)
        while more := os.read(reader, 4096):
            seen += more
        os.close(reader)
        acknowledged = [int(line) for line in seen.split(b"\n")[:-1]]
        assert set(acknowledged) <= set(store(tmp_path / "n.json").read())
        store(tmp_path / "n.json").update(lambda _: ((), None))  # the lock is free again


def test_atomic_write_makes_folders_and_sets_the_mode(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "c.bin"
    atomic_write_bytes(target, b"\x00\x01", mode=0o640)
    assert target.read_bytes() == b"\x00\x01"
    assert target.stat().st_mode & 0o777 == 0o640
