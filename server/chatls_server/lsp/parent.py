"""Watches the editor's process, named by ``processId``: when it is gone, so are we."""

from __future__ import annotations

import logging
import os
import select
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.5


def watch_parent(process_id: int, gone: Callable[[], None]) -> bool:
    """Call ``gone`` from a thread once the process has ended; False when there is nothing to watch.

    A process that cannot be seen at the start lives in another container or on another machine: ending the server for
    it would make it useless there, so it is not watched (end of input still counts).
    """
    if process_id <= 0 or not is_alive(process_id):
        logger.info("The editor's process %d is not visible here and is not watched", process_id)
        return False

    def watch() -> None:
        if not _wait_by_handle(process_id):
            while is_alive(process_id):
                time.sleep(POLL_SECONDS)
        gone()

    threading.Thread(target=watch, name="chatls-parent", daemon=True).start()
    return True


def _wait_by_handle(process_id: int) -> bool:
    """Block until the process ends, where the system can tell; False when it cannot."""
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return False
    try:
        handle = os.pidfd_open(process_id)
    except ProcessLookupError:
        return True
    except OSError as error:
        logger.debug("The editor's process cannot be watched by handle: %s", error)
        return False
    try:
        select.select([handle], [], [])
        return True
    finally:
        os.close(handle)


def is_alive(process_id: int) -> bool:
    """Whether the process runs (a zombie does not)."""
    if sys.platform == "win32":
        return _is_alive_on_windows(process_id)
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        stat = Path(f"/proc/{process_id}/stat").read_bytes()
    except OSError:
        return True
    return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


def _is_alive_on_windows(process_id: int) -> bool:
    import ctypes

    synchronize, wait_timeout = 0x00100000, 0x102
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - the attribute exists on Windows only
    handle = kernel.OpenProcess(synchronize, False, process_id)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == wait_timeout)
    finally:
        kernel.CloseHandle(handle)
