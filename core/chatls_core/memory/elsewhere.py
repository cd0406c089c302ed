"""What another process writes into the memory folder while we look at it: another window, ChatCLI, a hand edit.

A notice is all that depends on it: every reading looks at the disk anyway. So a folder that cannot be watched is no
failure.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatls_core.memory.snapshot import Snapshot
from chatls_core.memory.views import MemoryChange
from chatls_core.store import StoreReadOnlyError

if TYPE_CHECKING:
    from chatls_core.memory.memory import Memory

logger = logging.getLogger(__name__)

SETTLE_SECONDS = 0.3
"""How long after an event more are waited for: remembering one fact writes several files."""

_REVIEW = "memory_review.json"


class Elsewhere:
    """Calls ``told`` after other processes changed what is remembered, on a thread of its own.

    The change says ``elsewhere``; it is empty where only what waits for review may have changed.
    """

    def __init__(
        self, memory: Memory, told: Callable[[MemoryChange], None], *, settle_seconds: float = SETTLE_SECONDS
    ) -> None:
        self._memory = memory
        self._told = told
        self._settle_seconds = settle_seconds
        stores = memory.stores
        shown = (stores.facts, stores.tombstones, stores.episodes, stores.topics, stores.projects, stores.profile)
        self._names = {store.path.name for store in (*shown, stores.side, stores.history)} | {_REVIEW}
        self._seen: Snapshot | None = None
        self._written: set[str] = set()
        self._wake = threading.Condition()
        self._stopped = False
        self._observer: Any = None
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> bool:
        """Begin to watch; whether the system lets us."""
        from watchdog.events import FileSystemEvent, FileSystemEventHandler
        from watchdog.observers import Observer

        watch = self

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                if event.event_type in ("moved", "created", "modified", "deleted"):
                    watch.note(os.fsdecode(event.src_path), os.fsdecode(event.dest_path))

        stores = self._memory.stores
        self._observer = Observer()
        try:
            stores.fs.make_folder(stores.folder)
            self._observer.schedule(Handler(), str(stores.folder))
            self._observer.start()
        except OSError as error:
            logger.warning("What other programs remember is seen only when it is looked for: %s", error)
            return False
        self._seen = self._memory.snapshot()
        self._unsubscribe = self._memory.subscribe(lambda _: self._keep_up())
        threading.Thread(target=self._deliver, name="memory-watcher", daemon=True).start()
        return True

    def stop(self) -> None:
        """Stop; what was seen so far may still be told."""
        self._unsubscribe()
        with self._wake:
            self._stopped = True
            self._wake.notify_all()
        if self._observer is not None and self._observer.is_alive():
            self._observer.stop()
            self._observer.join()

    def note(self, *paths: str) -> None:
        """Files were written, renamed or deleted, by whomever."""
        names = {Path(path).name for path in paths if path} & self._names
        if names:
            with self._wake:
                self._written |= names
                self._wake.notify_all()

    def _keep_up(self) -> None:
        """What we wrote ourselves was told already."""
        self._seen = self._memory.snapshot()

    def _deliver(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._written or self._stopped)
                self._wake.wait_for(lambda: self._stopped, self._settle_seconds)
                if self._stopped:
                    return
                names, self._written = self._written, set()
            try:
                self._look(names)
            except (OSError, StoreReadOnlyError) as error:
                logger.warning("Memory could not be read after another program wrote it: %s", error)

    def _look(self, names: set[str]) -> None:
        before, now = self._seen, self._memory.snapshot()
        self._seen = now
        change = difference(before, now) if before is not None and before is not now else MemoryChange(elsewhere=True)
        if change or _REVIEW in names:
            self._told(change)


def difference(before: Snapshot, now: Snapshot) -> MemoryChange:
    """What came, went and changed between two moments, by the ids of :class:`MemoryChange`."""
    old, new = _items(before), _items(now)
    return MemoryChange(
        added=tuple(i for i in new if i not in old),
        changed=tuple(i for i, item in new.items() if i in old and old[i] != item),
        removed=tuple(i for i in old if i not in new),
        elsewhere=True,
    )


def _items(now: Snapshot) -> Mapping[str, object]:
    details = now.alive.details
    return {
        **{i: (fact, details.get(i)) for i, fact in now.alive.facts.items()},
        **{i: (episode, details.get(i)) for i, episode in now.episodes.items()},
        **{f"topic:{t.name}": t for t in now.topics},
        **{f"project:{p.name.lower()}": p for p in now.projects},
        "profile:": now.profile,
    }
