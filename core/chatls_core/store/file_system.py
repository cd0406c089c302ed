"""The one port through which state reaches the disk (DESIGN.md, "State on disk").

Stores call nothing else, so a test can make any single step fail. :data:`REAL` is the machine's file system.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

FILE_MODE = 0o600
"""Mode of every file of ours (spec/memory.md §3.2)."""

FOLDER_MODE = 0o750
"""Mode of the folders that hold them (spec/memory.md §3.2)."""


class LockTimeoutError(TimeoutError):
    """Another process holds a store's lock for longer than we wait."""

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__(
            f"{path.name} is locked by another process for more than {seconds:g} s; nothing was written. "
            "Close the other program or try again."
        )
        self.path = path


@dataclass(frozen=True, slots=True)
class Signature:
    """What tells one state of a file from another: two equal signatures mean unchanged bytes."""

    inode: int
    size: int
    modified_ns: int
    changed_ns: int


class FileSystem(Protocol):
    """File operations a store needs. Every method may raise :class:`OSError`."""

    def read(self, path: Path, offset: int = 0, size: int = -1) -> bytes:
        """Bytes from ``offset``; all of them when ``size`` is negative. Raises :class:`FileNotFoundError`."""

    def signature(self, path: Path) -> Signature | None:
        """The file's signature; ``None`` when there is no such file."""

    def create(self, path: Path, data: bytes, mode: int) -> None:
        """Write a file that must not exist yet and bring it to the disk (fsync)."""

    def append(self, path: Path, data: bytes, mode: int) -> int:
        """Append in one write and bring it to the disk; returns the file's size afterwards in bytes."""

    def replace(self, source: Path, target: Path) -> None:
        """Rename over ``target``, atomically, and bring the folder's entry to the disk."""

    def delete(self, path: Path) -> None:
        """Remove a file; no error when it is gone already."""

    def delete_folder(self, path: Path) -> None:
        """Remove a folder if it is empty; no error when it is gone or holds something."""

    def make_folder(self, path: Path, mode: int = FOLDER_MODE) -> None:
        """Make a folder and its parents; no error when it exists."""

    def writable(self, folder: Path) -> bool:
        """Whether files can be made in a folder, or the folder itself where it is missing."""

    def list(self, folder: Path) -> Sequence[Path]:
        """Entries of a folder, sorted by name; empty when there is no such folder, or it may not be looked into."""

    def lock(self, path: Path, timeout: float) -> AbstractContextManager[None]:
        """Hold an exclusive advisory lock on the file ``path``, between threads and processes.

        The lock dies with its process. Raises :class:`LockTimeoutError` after ``timeout`` seconds.
        """


class RealFileSystem:
    """The machine's file system."""

    def read(self, path: Path, offset: int = 0, size: int = -1) -> bytes:
        """See :meth:`FileSystem.read`."""
        try:
            with path.open("rb") as file:
                if offset:
                    file.seek(offset)
                return file.read(size)
        except NotADirectoryError as error:
            raise FileNotFoundError(error.errno, "no such file", str(path)) from error

    def signature(self, path: Path) -> Signature | None:
        """See :meth:`FileSystem.signature`."""
        try:
            stat = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return Signature(stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)

    def create(self, path: Path, data: bytes, mode: int) -> None:
        """See :meth:`FileSystem.create`."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        _write_and_sync(descriptor, data)

    def append(self, path: Path, data: bytes, mode: int) -> int:
        """See :meth:`FileSystem.append`."""
        new = not path.exists()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), mode)
        size = _write_and_sync(descriptor, data)
        if new:
            _sync_folder(path.parent)
        return size

    def replace(self, source: Path, target: Path) -> None:
        """See :meth:`FileSystem.replace`."""
        source.replace(target)
        _sync_folder(target.parent)

    def delete(self, path: Path) -> None:
        """See :meth:`FileSystem.delete`."""
        path.unlink(missing_ok=True)

    def delete_folder(self, path: Path) -> None:
        """See :meth:`FileSystem.delete_folder`."""
        with contextlib.suppress(OSError):
            path.rmdir()

    def make_folder(self, path: Path, mode: int = FOLDER_MODE) -> None:
        """See :meth:`FileSystem.make_folder`."""
        try:
            path.mkdir(mode=mode, parents=True, exist_ok=True)
        except FileExistsError as error:
            raise NotADirectoryError(error.errno, "a file stands where this folder is needed", str(path)) from error

    def writable(self, folder: Path) -> bool:
        """See :meth:`FileSystem.writable`."""
        for nearest in (folder, *folder.parents):
            try:
                nearest.lstat()
            except FileNotFoundError:
                continue
            except OSError:
                return False
            return os.access(nearest, os.W_OK | os.X_OK)
        return False

    def list(self, folder: Path) -> Sequence[Path]:
        """See :meth:`FileSystem.list`."""
        try:
            return sorted(folder.iterdir())
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return ()

    @contextlib.contextmanager
    def lock(self, path: Path, timeout: float) -> Iterator[None]:
        """See :meth:`FileSystem.lock`."""
        from filelock import FileLock, Timeout

        lock = FileLock(path, timeout=timeout, mode=FILE_MODE)
        try:
            lock.acquire(poll_interval=0.005)
        except Timeout as error:
            raise LockTimeoutError(path, timeout) from error
        try:
            yield
        finally:
            lock.release()


def _write_and_sync(descriptor: int, data: bytes) -> int:
    """Write all bytes, fsync, close; returns the file's size."""
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Bring a renamed or new entry to the disk; Windows has no such call and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


REAL: FileSystem = RealFileSystem()
"""The machine's file system."""
