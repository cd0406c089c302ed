"""Keeps the index of sessions true to their files: after our own saves, after another program's, after damage."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

from chatls_core.sessions import names
from chatls_core.sessions.catalog import Catalog, state_of
from chatls_core.sessions.conversation import SessionError, SessionSummary, title_of
from chatls_core.sessions.document import SessionDocument, as_utc
from chatls_core.sessions.files import SessionFiles
from chatls_core.sessions.passages import passages_of
from chatls_core.store import Signature
from chatls_core.text.stored import StoredPassage

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

_RESCAN_SECONDS = 30.0
"""How long a file changed in place (no rename, so the folder looks unchanged) may stay unnoticed."""

_SETTLED_NS = 50_000_000
"""A folder changed less than this ago may change again without showing it: clocks of file systems are coarse."""

_BATCH = 16
"""Sessions read into the index in one transaction: their words are largely the same, and are then written once."""

_PATIENCE_SECONDS = 0.5
"""How long a search waits for new files to be read into the index; the rest follows in the background."""


class SessionIndex:
    """The catalog, brought up to date before it is asked. Thread-safe."""

    def __init__(self, files: SessionFiles, catalog: Catalog) -> None:
        self._files = files
        self.catalog = catalog
        self._guard = threading.RLock()
        self._folder_state = -1
        self._scanned = float("-inf")
        self._worker: threading.Thread | None = None
        self._closing = threading.Event()

    def sync(self, *, passages: bool = False, wait: bool = False) -> None:
        """Bring the list up to date with the folder; with ``passages`` what can be searched too.

        Many new sessions are read in the background, the latest first, unless ``wait``. An index that fails is logged
        and built again at the next call.
        """
        try:
            self._sync_list()
            if passages:
                self._sync_passages(None if wait else _PATIENCE_SECONDS)
        except sqlite3.Error as error:
            logger.warning("The session index could not be brought up to date: %s", error)
            with self._guard:
                self._folder_state = -1

    def ask(self, question: Callable[[], Answer], *, passages: bool = False) -> Answer:
        """The answer to a question about the catalog, brought up to date first; once more after damage.

        Raises :class:`SessionError` when the index cannot be used at all.
        """
        self.sync(passages=passages)
        try:
            return question()
        except sqlite3.Error as error:
            logger.warning("The session index failed (%s); it is asked again", error)
        self.forget()
        self.sync(passages=passages)
        try:
            return question()
        except sqlite3.Error as error:
            raise SessionError(f"The index of saved sessions cannot be used: {error}") from error

    def saved(self, name: str, document: SessionDocument, signature: Signature | None, folder_before: int) -> None:
        """Take in what we have just saved ourselves; ``folder_before`` is :meth:`folder_state` before it was."""
        try:
            self.catalog.take([_entry(name, document, signature)])
        except sqlite3.Error as error:
            logger.warning("The session index could not take in %s: %s", name, error)
            return
        with self._guard:
            if folder_before == self._folder_state:
                self._folder_state = self.folder_state()

    def folder_state(self) -> int:
        """When the folder's entries last changed, in nanoseconds; 0 where there is no folder."""
        try:
            return self._files.folder.stat().st_mtime_ns
        except OSError:
            return 0

    def forget(self) -> None:
        """A file is gone or renamed: look at the folder again before the next answer."""
        with self._guard:
            self._folder_state = -1

    def progress(self) -> tuple[int, int]:
        """How many sessions can be searched, and how many there are."""
        total = self.catalog.page(0)[1]
        return total - len(self.catalog.due()), total

    def close(self) -> None:
        """Stop the background work and let go of the file."""
        self._closing.set()
        if (worker := self._worker) is not None and worker is not threading.current_thread():
            worker.join()
        self.catalog.close()

    def _sync_list(self) -> None:
        with self._guard:
            state = self.folder_state()
            fresh = time.monotonic() - self._scanned < _RESCAN_SECONDS
            if state == self._folder_state and fresh:
                return
            known = self.catalog.signatures()
            present: set[str] = set()
            changed: list[str] = []
            for name, signature in self._files.scan():
                present.add(name)
                if known.get(name) != state_of(signature):
                    changed.append(name)
            for name in changed:
                self._list(name)
            if gone := known.keys() - present:
                self.catalog.drop(gone)
            self._scanned = time.monotonic()
            settled = time.time_ns() - state > _SETTLED_NS
            self._folder_state = state if settled else -1

    def _list(self, name: str) -> None:
        document, signature = self._document(name)
        if document is None:
            self.catalog.drop([name])
        else:
            self.catalog.put(summary_of(name, document), signature)

    def _document(self, name: str) -> tuple[SessionDocument | None, Signature | None]:
        signature = self._files.signature(name)
        return self._files.peek(name), signature

    def _sync_passages(self, seconds: float | None) -> None:
        if seconds is not None and self._worker is not None and self._worker.is_alive():
            return
        end = None if seconds is None else time.monotonic() + seconds
        for batch in self._due():
            if end is not None and time.monotonic() > end:
                self._continue_in_background()
                return
            self._index(batch)

    def _due(self) -> Iterator[list[str]]:
        """The sessions that cannot be searched yet, the latest first, as many together as are read at once."""
        due = self.catalog.due()
        return (due[at : at + _BATCH] for at in range(0, len(due), _BATCH))

    def _index(self, batch: Sequence[str]) -> None:
        read = [(name, *self._document(name)) for name in batch]
        if gone := [name for name, document, _ in read if document is None]:
            self.catalog.drop(gone)
        self.catalog.take(
            _entry(name, document, signature) for name, document, signature in read if document is not None
        )

    def _continue_in_background(self) -> None:
        with self._guard:
            if self._worker is None or not self._worker.is_alive():
                self._worker = threading.Thread(target=self._work, name="chatls-session-index", daemon=True)
                self._worker.start()

    def _work(self) -> None:
        try:
            for batch in self._due():
                if self._closing.is_set():
                    return
                self._index(batch)
        except sqlite3.Error as error:
            logger.warning("Reading sessions into the index stopped: %s", error)


def _entry(
    name: str, document: SessionDocument, signature: Signature | None
) -> tuple[SessionSummary, Signature | None, list[StoredPassage]]:
    """A session as the catalog takes it."""
    summary = summary_of(name, document)
    return summary, signature, passages_of(document.messages, summary.updated)


def summary_of(name: str, document: SessionDocument) -> SessionSummary:
    """A session's line in the list. Dates come from its messages, its own fields or its name, never from the file."""
    ours = document.ours
    times: list[datetime] = [m.time for m in document.messages if m.time is not None]
    begun = [t for t in (as_utc(ours.created), names.date_in(name), min(times, default=None)) if t is not None]
    created = min(begun, default=None)
    updated = max(times, default=None) or as_utc(ours.updated) or created
    return SessionSummary(
        id=ours.id or name,
        name=name,
        title=document.title or title_of(list(document.messages)),
        created=created or updated,
        updated=updated,
        messages=len(document.messages),
        named=ours.named if ours.named is not None else not names.is_machine_made(name),
    )
