"""Where the whole of what was cut from a conversation is kept (spec/agent.md §3.12).

Content-addressed: a text is stored once, under a key made of its bytes, so storing it again costs nothing and a key
never comes to mean another text. Age and size are capped; reading a text keeps it young.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import threading
from datetime import timedelta
from pathlib import Path

from chatls_core.store import Clock, atomic_write_bytes, system_clock

log = logging.getLogger(__name__)

MAX_BYTES = 256 * 1024 * 1024
MAX_AGE = timedelta(days=90)
"""As long as a saved conversation lives, so that no marker in one outlives what it points to."""

KEY_LENGTH = 16
_KEY = re.compile(rf"[0-9a-f]{{{KEY_LENGTH}}}")
_SUFFIX = ".txt"
_PRUNE_AFTER_BYTES = 16 * 1024 * 1024


class Archive:
    """Texts by key in one folder. Thread-safe; several processes may share the folder."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock = system_clock,
        max_bytes: int = MAX_BYTES,
        max_age: timedelta = MAX_AGE,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._lock = threading.Lock()
        self._unpruned: int | None = None  # bytes written since the last look; None: not looked yet

    def put(self, text: str) -> str:
        """Keep ``text`` (any code points) and return its key of 16 hexadecimal digits. Raises :class:`OSError`."""
        data = _bytes(text)
        key = _key(data)
        path = self._path(key)
        with self._lock:
            if path.exists():
                self._touch(path)
            else:
                atomic_write_bytes(path, data)
                self._touch(path)
                self._prune_when_due(len(data), path)
        return key

    def get(self, key: str) -> str | None:
        """The text of ``key``, exactly as it was put; ``None`` when it is unknown, expired or damaged."""
        plain = key.strip().strip("<>[]'\"`").lower()
        if _KEY.fullmatch(plain) is None:
            return None
        path = self._path(plain)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("The archived text %s could not be read: %s", plain, error)
            return None
        if _key(data) != plain:
            log.warning("The archived text %s is damaged and is not used", plain)
            return None
        self._touch(path)
        return data.decode("utf-8", "surrogatepass")

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}{_SUFFIX}"

    def _touch(self, path: Path) -> None:
        now = self._clock().timestamp()
        try:
            os.utime(path, (now, now))
        except OSError as error:
            log.debug("%s keeps its age: %s", path, error)

    def _prune_when_due(self, written: int, newest: Path) -> None:
        self._unpruned = None if self._unpruned is None else self._unpruned + written
        if self._unpruned is None or self._unpruned > min(_PRUNE_AFTER_BYTES, self._max_bytes // 4):
            self._unpruned = 0
            try:
                self._prune(newest)
            except OSError as error:
                log.warning("The archive could not be tidied: %s", error)

    def _prune(self, newest: Path) -> None:
        oldest_kept = (self._clock() - self._max_age).timestamp()
        entries = []
        for path in self._folder.glob(f"*{_SUFFIX}"):
            try:
                stat = path.stat()
            except FileNotFoundError:
                continue  # another process tidied it away
            entries.append((stat.st_mtime, stat.st_size, path))
        total = sum(size for _, size, _ in entries)
        for modified, size, path in sorted(entries, key=lambda entry: entry[0]):
            if path != newest and (modified < oldest_kept or total > self._max_bytes):
                path.unlink(missing_ok=True)
                total -= size


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _key(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:KEY_LENGTH]
