"""One process at a time, across everything that runs on one folder."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from chatls_core.store import FILE_MODE


@contextlib.contextmanager
def only_one(path: Path) -> Iterator[bool]:
    """Whether this process may go on; the lock dies with the process. Never waits. May span threads and tasks."""
    from filelock import FileLock, Timeout

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(path, timeout=0, mode=FILE_MODE, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
