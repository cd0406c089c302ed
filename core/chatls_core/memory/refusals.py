"""What a person is told when memory cannot be written: one sentence with what happened and what to do."""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path

from chatls_core.store import LockTimeoutError, StoreReadOnlyError

_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def told(error: OSError | StoreReadOnlyError) -> str:
    """A write that did not happen, in words for the user."""
    if isinstance(error, StoreReadOnlyError | LockTimeoutError):
        return f"Memory could not be written: {error}"
    if error.errno in _FORBIDDEN:
        path = Path(str(error.filename)) if error.filename else None
        folder = path.parent if path is not None else None
        closed = path if folder is not None and os.access(folder, os.W_OK | os.X_OK) else folder or "its folder"
        return f"Memory cannot be written: {closed} is read-only here. Nothing is lost; make it writable and try again."
    if error.errno in _FULL:
        return "Memory could not be written: the disk is full. Nothing is lost; free some space and try again."
    reason = error.strerror or str(error) or type(error).__name__
    return f"Memory could not be written ({reason}). Nothing is lost; try again once the disk takes it."


class Complaints:
    """Faults that come again with every turn, logged when they begin or change, and once more when they are over."""

    def __init__(self, logger: logging.Logger, what: str) -> None:
        """``what`` begins the log line: "What was said could not be queued"."""
        self._logger = logger
        self._what = what
        self._last = ""

    def told(self, error: OSError | StoreReadOnlyError) -> str:
        """Note a fault; returns the sentence for the user, with a line in the log unless it says what the last said."""
        text = told(error)
        if text != self._last:
            self._last = text
            self._logger.warning("%s: %s", self._what, text)
        return text

    def over(self) -> None:
        """It worked this time."""
        if self._last:
            self._last = ""
            self._logger.warning("%s: it works again", self._what)
