"""The watch on Linux: one inotify instance, one thread, one watch per folder that is not ignored.

Watchdog's own observer would watch everything below a root (``node_modules`` too) or take a thread per folder; its
inotify layer underneath does neither.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from watchdog.observers.inotify_c import CallbackId, InotifyConstants, InotifyEvent, InotifyFD, Mask, WatchDescriptor

from chatls_core.instructions import pathtext
from chatls_core.instructions.files import walk
from chatls_core.instructions.watch import RULE_HOMES, WatchState

if TYPE_CHECKING:
    from chatls_core.instructions.watch import WatchPlan

log = logging.getLogger(__name__)

_EVENTS = Mask(
    InotifyConstants.IN_CLOSE_WRITE
    | InotifyConstants.IN_CREATE
    | InotifyConstants.IN_MOVED_TO
    | InotifyConstants.IN_MOVED_FROM
    | InotifyConstants.IN_DELETE
    | InotifyConstants.IN_ONLYDIR
)
_ID = CallbackId(1)


class InotifyBackend:
    """Watches folder by folder, new folders as they come, up to a number of folders."""

    def __init__(self, plan: WatchPlan, seen: Callable[[Iterable[str]], None], most_folders: int) -> None:
        self._plan = plan
        self._seen = seen
        self._most_folders = most_folders
        self._watches: dict[WatchDescriptor, tuple[str, str]] = {}
        self._followed: frozenset[str] = frozenset()
        self._partial = ""
        self._inotify: InotifyFD | None = None

    def start(self) -> WatchState:
        """Watch everything in the plan that can be watched."""
        try:
            self._inotify = InotifyFD()
        except OSError as error:
            return WatchState(0, f"the system gives no more file watches ({error.strerror})")
        for folder in self._plan.shallow:
            self._add(folder, "")
        for root in self._plan.deep:
            for _ in self._add_below(root, ""):
                pass
        self._inotify.start()
        return WatchState(len(self._watches), self._partial)

    def follow(self, folders: frozenset[str]) -> None:
        """Watch folders of imported files, as far as they are not watched already."""
        if self._inotify is None:
            return
        before, self._followed = self._followed, folders - frozenset(self._plan.shallow)
        watches = tuple(self._watches.items())
        for wd, (folder, root) in watches:
            # What was followed may have become part of a tree that is watched: then it stays.
            if not root and folder in before and folder not in self._followed:
                del self._watches[wd]
                self._inotify.remove_callbacks([(wd, _ID)])
        for folder in sorted(self._followed - {folder for _, (folder, _) in watches}):
            if not self._add(folder, ""):
                return

    def stop(self) -> None:
        """Close the inotify instance and wait for its thread."""
        if self._inotify is not None:
            self._inotify.stop()
            self._inotify.join()
            self._inotify = None

    def on_event(self, event: InotifyEvent) -> None:
        """Called by watchdog on its thread for every event of a watched folder."""
        known = self._watches.get(event.wd)
        if known is None or not event.name:
            return
        folder, root = known
        path = pathtext.join(folder, os.fsdecode(event.name))
        found = [path]
        if event.is_directory and root and (event.is_create or event.is_moved_to):
            # Files may have been written into the folder before it was watched.
            found.extend(self._add_below(root, pathtext.below(path, root)))
        self._seen(found)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """Called by watchdog when a watched folder is gone."""
        self._watches.pop(wd, None)

    def on_queue_overflow(self) -> None:
        """Called by watchdog when events were lost; the next turn looks at the disk anyway."""
        log.warning("events about instruction files were lost; the next turn reads them anew")

    def _add_below(self, root: str, below: str) -> Iterator[str]:
        """Watch ``below`` and what lies under it; the files met."""
        for found, _, files in walk(root, below, always=RULE_HOMES):
            folder = pathtext.join(root, found.replace("/", pathtext.SEP)) if found else root
            if not self._add(folder, root):
                return
            for name in files:
                yield pathtext.join(folder, name)

    def _add(self, folder: str, root: str) -> bool:
        """Watch one folder; whether more may be added. ``root`` is "" where what lies below is not wanted."""
        if self._inotify is None:
            return False
        if len(self._watches) >= self._most_folders:
            self._partial = f"there are more than {self._most_folders:,} folders"
            return False
        if not os.access(folder, os.R_OK | os.X_OK):
            self._partial = self._partial or "some folders cannot be read"
            return True
        try:
            wd = self._inotify.add_callback(os.fsencode(folder), _EVENTS, self, _ID)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                return True
            self._partial = f"the system gives no more file watches ({error.strerror})"
            return False
        if wd != -1 and (root or wd not in self._watches):
            self._watches[wd] = folder, root
        return True
