"""The watch on macOS, Windows and BSD: one recursive watch per folder, filtered by name."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import ObservedWatch

from chatls_core.instructions import pathtext
from chatls_core.instructions.watch import WatchState

if TYPE_CHECKING:
    from chatls_core.instructions.watch import WatchPlan

log = logging.getLogger(__name__)

MOST_FOLLOWED = 200
"""Folders of imported files outside the watched trees: each costs the system a handle."""


class ObserverBackend(FileSystemEventHandler):
    """Lets the system watch whole trees, which costs it one handle each."""

    def __init__(self, plan: WatchPlan, seen: Callable[[Iterable[str]], None]) -> None:
        self._plan = plan
        self._seen = seen
        self._observer = Observer()
        self._followed: dict[str, ObservedWatch] = {}

    def start(self) -> WatchState:
        """Watch everything in the plan that can be watched."""
        watched = 0
        partial = ""
        for recursive, folders in ((True, self._plan.deep), (False, self._plan.shallow)):
            for folder in folders:
                try:
                    self._observer.schedule(self, folder, recursive=recursive)
                    watched += 1
                except OSError as error:
                    partial = f"{folder} cannot be watched ({error.strerror})"
        try:
            self._observer.start()
        except OSError as error:
            return WatchState(0, f"the system gives no more file watches ({error.strerror})")
        return WatchState(watched, partial)

    def follow(self, folders: frozenset[str]) -> None:
        """Watch folders of imported files that lie in no watched tree."""
        wanted = {
            folder
            for folder in folders
            if folder not in self._plan.shallow
            and not any(pathtext.is_within(folder, deep) for deep in self._plan.deep)
        }
        for folder in tuple(self._followed):
            if folder not in wanted:
                with contextlib.suppress(KeyError):
                    self._observer.unschedule(self._followed.pop(folder))
        for folder in sorted(wanted - self._followed.keys())[: MOST_FOLLOWED - len(self._followed)]:
            try:
                self._followed[folder] = self._observer.schedule(self, folder, recursive=False)
            except OSError as error:
                log.debug("%s cannot be watched: %s", folder, error)

    def stop(self) -> None:
        """Stop the observer and wait for its threads."""
        if self._observer.is_alive():
            self._observer.stop()
            self._observer.join()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by watchdog on its thread."""
        if event.event_type not in ("opened", "closed_no_write"):
            self._seen(os.fsdecode(path) for path in (event.src_path, event.dest_path) if path)
