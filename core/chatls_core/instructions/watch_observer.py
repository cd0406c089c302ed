"""The watch on macOS, Windows and BSD: one recursive watch per folder, filtered by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from chatls_core.instructions.watch import WatchState

if TYPE_CHECKING:
    from chatls_core.instructions.watch import WatchPlan


class ObserverBackend(FileSystemEventHandler):
    """Lets the system watch whole trees, which costs it one handle each."""

    def __init__(self, plan: WatchPlan, seen: Callable[[Iterable[str]], None]) -> None:
        self._plan = plan
        self._seen = seen
        self._observer = Observer()

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

    def stop(self) -> None:
        """Stop the observer and wait for its threads."""
        if self._observer.is_alive():
            self._observer.stop()
            self._observer.join()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by watchdog on its thread."""
        if event.event_type not in ("opened", "closed_no_write"):
            self._seen(os.fsdecode(path) for path in (event.src_path, event.dest_path) if path)
