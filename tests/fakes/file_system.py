"""A file system that fails at a chosen call: a full disk, an error on rename, a torn write, a crash."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from chatls_core.store import REAL, Signature


class Crash(BaseException):
    """Stands for the process dying: nothing after it runs, no clean-up either."""


def full_disk() -> OSError:
    """What a write says when the disk is full."""
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def input_output_error() -> OSError:
    """What a broken disk says."""
    return OSError(errno.EIO, os.strerror(errno.EIO))


class FailingFileSystem:
    """The real file system until the plan says otherwise. ``calls`` lists what was asked for, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self._plan: dict[str, tuple[int, BaseException, int | None]] = {}

    def fail(self, operation: str, error: BaseException, *, after: int = 0, written: int | None = None) -> None:
        """Let ``operation`` fail once, after ``after`` successes; ``written`` bytes reach the disk first."""
        self._plan[operation] = (after, error, written)

    def heal(self) -> None:
        """Nothing fails any more."""
        self._plan.clear()

    def _step(self, operation: str, path: Path, data: bytes = b"") -> None:
        self.calls.append((operation, path.name))
        for key in (operation, "any"):
            if key not in self._plan:
                continue
            left, error, written = self._plan[key]
            if left > 0:
                self._plan[key] = (left - 1, error, written)
                continue
            del self._plan[key]
            if written is not None:
                with path.open("ab") as file:
                    file.write(data[:written])
            raise error

    def read(self, path: Path, offset: int = 0, size: int = -1) -> bytes:
        self._step("read", path)
        return REAL.read(path, offset, size)

    def signature(self, path: Path) -> Signature | None:
        self._step("signature", path)
        return REAL.signature(path)

    def create(self, path: Path, data: bytes, mode: int) -> None:
        self._step("create", path, data)
        REAL.create(path, data, mode)

    def append(self, path: Path, data: bytes, mode: int) -> int:
        self._step("append", path, data)
        return REAL.append(path, data, mode)

    def replace(self, source: Path, target: Path) -> None:
        self._step("replace", target)
        REAL.replace(source, target)

    def delete(self, path: Path) -> None:
        self._step("delete", path)
        REAL.delete(path)

    def delete_folder(self, path: Path) -> None:
        self._step("delete_folder", path)
        REAL.delete_folder(path)

    def make_folder(self, path: Path, mode: int = 0o750) -> None:
        self._step("make_folder", path)
        REAL.make_folder(path, mode)

    def writable(self, folder: Path) -> bool:
        self._step("writable", folder)
        return REAL.writable(folder)

    def list(self, folder: Path) -> Sequence[Path]:
        self._step("list", folder)
        return REAL.list(folder)

    def lock(self, path: Path, timeout: float) -> AbstractContextManager[None]:
        self._step("lock", path)
        return REAL.lock(path, timeout)
