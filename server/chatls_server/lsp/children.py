"""Processes that would outlive us: found and killed at the very end, whatever group or session they run in."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

logger = logging.getLogger(__name__)


def kill_descendants(root: int | None = None) -> list[int]:
    """SIGKILL every living descendant of ``root`` (this process when left out); returns their ids.

    Turns stop their commands politely before this; here nobody is asked twice.
    """
    root = os.getpid() if root is None else root
    killed: list[int] = []
    for process_id in _descendants(root, _parents()):
        try:
            os.kill(process_id, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
            killed.append(process_id)
        except ProcessLookupError:
            continue
        except OSError as error:
            logger.warning("Process %d could not be ended: %s", process_id, error)
    return killed


def _descendants(root: int, parents: Mapping[int, int]) -> list[int]:
    """Everything below ``root``, parents before their children."""
    children: dict[int, list[int]] = {}
    for process_id, parent in parents.items():
        children.setdefault(parent, []).append(process_id)
    found: list[int] = []
    waiting = list(children.get(root, ()))
    while waiting:
        process_id = waiting.pop()
        found.append(process_id)
        waiting.extend(children.get(process_id, ()))
    return found


def _parents() -> dict[int, int]:
    """Process id → parent's id of all processes."""
    if Path("/proc/self/stat").exists():
        return _parents_from_proc()
    if sys.platform == "win32":
        return {}
    return _parents_from_ps()


def _parents_from_proc() -> dict[int, int]:
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        name = folder.name
        if not name.isdigit():
            continue
        try:
            stat = (folder / "stat").read_bytes()
        except OSError:
            continue
        # The command's name stands in parentheses and may itself hold any character.
        parents[int(name)] = int(stat.rpartition(b")")[2].split()[1])
    return parents


def _parents_from_ps() -> dict[int, int]:
    with subprocess.Popen(["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE, text=True) as lister:
        try:
            output, _ = lister.communicate(timeout=0.5)
        except subprocess.TimeoutExpired:
            lister.kill()
            logger.warning("The process list took too long; children may be left")
            return {}
        rows = [line.split() for line in output.splitlines()]
        return {int(row[0]): int(row[1]) for row in rows if len(row) == 2 and int(row[0]) != lister.pid}
