"""Watch instruction files where no editor does: the global folder, and the workspace of clients without watchers.

A notice is all that depends on it: every turn looks at the disk anyway. So a watch may be partial (too many folders,
the system's limit), says so, and never fails. Events are gathered for a moment and handed over on the watcher's thread.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from chatls_core.instructions import pathtext
from chatls_core.instructions.loader import Instructions
from chatls_core.instructions.rules import RULE_FOLDERS

log = logging.getLogger(__name__)

MOST_FOLDERS = 2000
SETTLE_SECONDS = 0.05
"""How long after an event more are waited for: saving one file is several events."""

RULE_HOMES = frozenset(home for home, _, _, _ in RULE_FOLDERS)
"""Folders watched although a ``.gitignore`` may name them: personal rules often live in ignored folders."""


@dataclass(frozen=True, slots=True)
class WatchState:
    """How much is watched; ``partial`` says why not all, in words for the user, "" when everything is."""

    folders: int
    partial: str = ""


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """``deep`` folders are watched with everything below, ``shallow`` ones by themselves."""

    deep: tuple[str, ...]
    shallow: tuple[str, ...]


class Backend(Protocol):
    """One way to be told of changes."""

    def start(self) -> WatchState:
        """Begin to watch; never raises for a limit of the system."""

    def follow(self, folders: frozenset[str]) -> None:
        """Watch these folders too, by themselves, and no longer those of an earlier call that are not among them."""

    def stop(self) -> None:
        """Stop, and wait for the backend's threads."""


class InstructionWatcher:
    """Calls ``on_change`` with the instruction files that were written, created, renamed or deleted.

    ``workspace`` False watches only what no editor watches: the global folder and the folders above the opened ones.
    ``concerns`` says which files are told, by default those that ``instructions`` knows. Both callbacks run on a
    thread of the watcher; what ``on_change`` raises is logged.
    """

    def __init__(
        self,
        instructions: Instructions,
        on_change: Callable[[tuple[Path, ...]], None],
        *,
        workspace: bool = True,
        concerns: Callable[[Path], bool] | None = None,
        most_folders: int = MOST_FOLDERS,
        settle_seconds: float = SETTLE_SECONDS,
    ) -> None:
        self._instructions = instructions
        self._on_change = on_change
        self._concerns = concerns or instructions.is_instruction_file
        self._settle_seconds = settle_seconds
        plan = watch_plan(instructions, workspace=workspace)
        self._backend = _backend(plan, self._seen, most_folders)
        self._changed: set[str] = set()
        self._wake = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._deliver, name="instruction-watcher", daemon=True)

    def start(self) -> WatchState:
        """Begin to watch and say how much of it works. Logs a warning when the watch is partial."""
        state = self._backend.start()
        if state.partial:
            log.warning("instruction files are watched in part: %s", state.partial)
        self._thread.start()
        return state

    def follow(self, paths: Iterable[str], *, workspace: bool) -> None:
        """Watch ``paths`` as well, which are loaded but may stand where nothing is watched so far.

        ``workspace`` False leaves out those below the opened folders: an editor watches them.
        """
        roots = () if workspace else tuple(map(str, self._instructions.roots))
        outside = (path for path in paths if not any(pathtext.is_within(path, root) for root in roots))
        self._backend.follow(frozenset(map(pathtext.real, set(map(pathtext.parent, outside)))))

    def stop(self) -> None:
        """Stop; no callback runs after it returns, unless it is called from the callback itself."""
        self._backend.stop()
        with self._wake:
            self._stopped = True
            self._wake.notify_all()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    def _seen(self, paths: Iterable[str]) -> None:
        found = {path for path in paths if self._concerns(Path(path))}
        if found:
            with self._wake:
                self._changed |= found
                self._wake.notify_all()

    def _deliver(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._changed or self._stopped)
                if self._stopped:
                    return
                self._wake.wait_for(lambda: self._stopped, self._settle_seconds)
                if self._stopped:
                    return
                changed, self._changed = self._changed, set()
            try:
                self._on_change(tuple(Path(path) for path in sorted(changed)))
            except Exception:
                log.exception("a listener for instruction files failed")


def watch_plan(instructions: Instructions, *, workspace: bool) -> WatchPlan:
    """Which folders matter."""
    with instructions.locked() as (library, _):
        roots = tuple(root.path for root in library.workspace.roots) if workspace else ()
        parents = tuple(folder for root in library.workspace.roots for folder in root.parents if folder not in roots)
        above = (*parents, library.global_folder)
        rules = [pathtext.join(folder, home, below) for folder in parents for home, below, _, _ in RULE_FOLDERS]
        rules.append(pathtext.join(library.global_folder, "rules"))
    deep = (*roots, *(folder for folder in dict.fromkeys(rules) if pathtext.is_folder(folder)))
    return WatchPlan(deep, tuple(folder for folder in dict.fromkeys(above) if pathtext.is_folder(folder)))


def _backend(plan: WatchPlan, seen: Callable[[Iterable[str]], None], most_folders: int) -> Backend:
    if sys.platform == "linux":
        from chatls_core.instructions.watch_inotify import InotifyBackend

        return InotifyBackend(plan, seen, most_folders)
    from chatls_core.instructions.watch_observer import ObserverBackend

    return ObserverBackend(plan, seen)
