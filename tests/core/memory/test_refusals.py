"""A folder or disk that refuses is told in one sentence, once, and memory opens all the same."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from chatls_core.memory import Memory
from chatls_core.memory.refusals import told
from chatls_core.store import LockTimeoutError, StoreReadOnlyError
from tests.core.memory.conftest import USER, MakeMemory
from tests.fakes.file_system import FailingFileSystem, full_disk


class ReadOnly(FailingFileSystem):
    """A file system on which nothing may be written."""

    def _refuse(self, path: Path) -> OSError:
        return PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    def writable(self, folder: Path) -> bool:
        return False

    def create(self, path: Path, data: bytes, mode: int) -> None:
        raise self._refuse(path)

    def make_folder(self, path: Path, mode: int = 0o750) -> None:
        if not path.is_dir():
            raise self._refuse(path)

    def lock(self, path: Path, timeout: float) -> AbstractContextManager[None]:
        raise self._refuse(path)


@pytest.mark.parametrize(
    "environment", [{}, {"CHATCLI_ENCRYPTION_KEY": "k" * 32}, {"CHATCLI_MEMORY_LEGACY_DIR": "/old"}]
)
def test_memory_that_cannot_be_written_is_read_whatever_was_to_be_done_at_its_start(
    make: MakeMemory, environment: dict[str, str]
) -> None:
    first = make()
    first.remember("Deploy branch is main", source=USER)
    first.write_longterm()
    before = {p.name: p.read_bytes() for p in first.folder.iterdir()}
    memory = make(fs=ReadOnly(), environment=environment)
    assert [f.content for f in memory.facts().facts] == ["Deploy branch is main"]
    with pytest.raises(OSError, match="denied"):
        memory.remember("Lint runs first", source=USER)
    assert {p.name: p.read_bytes() for p in first.folder.iterdir()} == before


def test_what_is_wrong_is_news_once_and_again_when_it_changed(make: MakeMemory) -> None:
    memory = make()
    assert memory.news() == ""
    memory.remember("Deploy branch is main", source=USER)
    closed = make(fs=ReadOnly())
    assert closed.news().startswith("Memory cannot be written")
    assert closed.news() == ""
    sealed = make(environment={"CHATCLI_ENCRYPTION_KEY": "k" * 32})
    sealed.remember("Lint runs first", source=USER)
    without_key = make()
    without_key.facts()
    assert "memory_index.json" in without_key.news()
    assert without_key.news() == ""


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            PermissionError(errno.EACCES, "Permission denied", "/nowhere/memory/memory_index.json.lock"),
            "Memory cannot be written: /nowhere/memory is read-only here. "
            "Nothing is lost; make it writable and try again.",
        ),
        (
            OSError(errno.EROFS, "Read-only file system"),
            "Memory cannot be written: its folder is read-only here. Nothing is lost; make it writable and try again.",
        ),
        (full_disk(), "Memory could not be written: the disk is full. Nothing is lost; free some space and try again."),
        (
            OSError(errno.EIO, "Input/output error"),
            "Memory could not be written (Input/output error). Nothing is lost; try again once the disk takes it.",
        ),
        (
            LockTimeoutError(Path("topics.json.lock"), 30.0),
            "Memory could not be written: topics.json.lock is locked by another process for more than 30 s; nothing "
            "was written. Close the other program or try again.",
        ),
        (StoreReadOnlyError("topics.json is sealed."), "Memory could not be written: topics.json is sealed."),
    ],
)
def test_a_write_that_did_not_happen_is_told_with_what_to_do(
    error: OSError | StoreReadOnlyError, sentence: str
) -> None:
    assert told(error) == sentence


@pytest.mark.parametrize(
    "write",
    [
        lambda m: m.remember("Deploy branch is release", source=USER),
        lambda m: m.forget("branch"),
        lambda m: m.record_episode("Fixed the login", source=USER),
        lambda m: m.record_topics({"caching": ""}, source=USER),
        lambda m: m.record_project({"name": "atlas"}, source=USER),
        lambda m: m.profile({"role": "tester"}, source=USER),
        lambda m: m.record_use(messages=1),
        lambda m: m.note("tried the build", time=m.clock()),
    ],
)
def test_a_disk_that_is_full_refuses_every_kind_of_write_and_takes_it_later(
    make: MakeMemory, write: Callable[[Memory], object]
) -> None:
    fs = FailingFileSystem()
    memory = make(fs=fs)
    memory.remember("Deploy branch is main", source=USER)
    before = {p.name: p.read_bytes() for p in memory.folder.rglob("*") if p.is_file() and not p.name.endswith(".lock")}
    fs.fail("create", full_disk())
    with pytest.raises(OSError, match="space"):
        write(memory)
    after = {p.name: p.read_bytes() for p in memory.folder.rglob("*") if p.is_file() and not p.name.endswith(".lock")}
    assert after == before
    write(memory)
