"""Which process runs a turn, and whether it still lives."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from chatls_core.store import FILE_MODE, FOLDER_MODE

if TYPE_CHECKING:
    from filelock import BaseFileLock


class Owner:
    """Tells whether the process that began a turn still lives: it holds a file lock, which dies with it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = ""
        self._lock: BaseFileLock | None = None

    def hold(self) -> str:
        """This process's name, its lock taken."""
        if self._lock is None:
            from filelock import FileLock

            self._folder.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
            self._name = secrets.token_hex(8)
            # Taken in one thread, released in another.
            self._lock = FileLock(self._folder / f"{self._name}.lock", timeout=0, mode=FILE_MODE, thread_local=False)
            self._lock.acquire()
        return self._name

    def is_alive(self, owner: str) -> bool:
        """Whether ``owner``'s process runs. Clears away the lock file of a dead one."""
        if owner and owner == self._name:
            return True
        path = self._folder / f"{owner}.lock"
        if not owner or not path.exists():
            return False
        from filelock import FileLock, Timeout

        probe = FileLock(path, timeout=0, mode=FILE_MODE)
        try:
            probe.acquire()
        except Timeout:
            return True
        probe.release()
        path.unlink(missing_ok=True)
        return False

    def release(self) -> None:
        """Let go of this process's lock."""
        if self._lock is not None:
            self._lock.release()
            (self._folder / f"{self._name}.lock").unlink(missing_ok=True)
            self._lock = None
            self._name = ""
