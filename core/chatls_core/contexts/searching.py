"""Search over the files of contexts: read once into an index on disk, later only what changed (spec/agent.md §2.3).

Reading a large knowledge base takes seconds (docs/ranking.md), a question to it milliseconds, after a restart too. A
file of a context is a document of :mod:`chatls_core.text.stored`. The index is derived from the stored contexts: a
damaged one is built again.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatls_core.contexts.model import Context, ContextError
from chatls_core.contexts.reading import segments, shown_paths
from chatls_core.store import IndexFile
from chatls_core.text import cut, stored, stored_search
from chatls_core.text.hits import Hit
from chatls_core.text.stored import StoredPassage

logger = logging.getLogger(__name__)

MAX_SEGMENTS = 50_000
"""Most passages of one context."""

_BATCH_CHARS = 500_000
"""About how much is read in one transaction: another window may have to wait for it."""

_VERSION = 3
"""Raised when the schema, the pieces or the tokenizer's terms change: older indexes are then built again."""

_SCHEMA = (
    "CREATE TABLE context (id TEXT PRIMARY KEY, state TEXT NOT NULL)",
    "CREATE TABLE file (row INTEGER PRIMARY KEY, context TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL,"
    " passages INTEGER NOT NULL, UNIQUE (context, source))",
    *stored.SCHEMA,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A passage: its context's name, its file as shown, its first line (from 1) and text; how well it answers."""

    context: str
    source: str
    line: int
    text: str
    hit: Hit


class ContextSearch:
    """Answers questions from contexts. Thread-safe; methods read and write the disk: call them in a thread."""

    def __init__(self, path: Path | None) -> None:
        """``path`` is the index's file; ``None`` keeps it in memory."""
        self._file = IndexFile(path, _SCHEMA, _VERSION)

    def search(
        self, contexts: Sequence[Context], query: str, limit: int = 8, ignored: Collection[str] = ()
    ) -> tuple[Found, ...]:
        """The passages of ``contexts`` as they are now that answer ``query`` best, best first. ``ignored`` are folded
        words of it that are no topic.

        Raises :class:`ContextError` when the index cannot be used at all.
        """
        try:
            return self._search(contexts, query, limit, ignored)
        except sqlite3.Error as error:
            logger.warning("The index of contexts failed (%s); it is asked again", error)
        try:
            return self._search(contexts, query, limit, ignored)
        except sqlite3.Error as error:
            raise ContextError(f"The index of contexts cannot be used ({error}); read with get instead.") from error

    def read(self, context: Context) -> None:
        """Read a context into the index, so that the first question about it need not wait. Errors are logged."""
        try:
            self._follow(context)
        except sqlite3.Error as error:
            logger.warning("%s could not be read into the index of contexts: %s", context.name, error)

    def keep(self, present: Collection[str]) -> None:
        """Only the contexts of these ids are left: nothing of others stays in the index."""
        try:
            with self._file.writing() as db:
                known = {context for (context,) in db.execute("SELECT DISTINCT context FROM file")}
                for context in known.difference(present):
                    _drop(db, context, ())
                    db.execute("DELETE FROM context WHERE id = ?", (context,))
                    stored.purge(db)
        except sqlite3.Error as error:
            logger.warning("The index of contexts could not forget one that is gone: %s", error)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _search(
        self, contexts: Sequence[Context], query: str, limit: int, ignored: Collection[str]
    ) -> tuple[Found, ...]:
        for context in contexts:
            self._follow(context)
        names = {context.id: context.name for context in contexts}
        marks = ",".join("?" * len(names))
        with self._file.reading() as db:
            rows = db.execute(f"SELECT row, context, source FROM file WHERE context IN ({marks})", [*names])
            files: dict[int, tuple[str, str]] = {row: (names[context], source) for row, context, source in rows}
            found = stored_search.search(db, query, documents=files.keys(), ignored=ignored)[:limit]
        return tuple(_found(*files[f.document], f) for f in found)

    def _follow(self, context: Context) -> None:
        """Bring the index up to date with a context."""
        state = _state(context)
        with self._file.reading() as db:
            known = db.execute("SELECT state FROM context WHERE id = ?", (context.id,)).fetchone()
            if known == (state,):
                return
            digests: dict[str, str] = dict(
                db.execute("SELECT source, digest FROM file WHERE context = ?", (context.id,))
            )
        files = shown_paths(context)
        with self._file.writing() as db:
            _drop(db, context.id, files.keys())
        batch: list[tuple[str, str, str]] = []
        size = 0
        for source, file in files.items():
            digest = hashlib.blake2b(file.content.encode("utf-8", "replace"), digest_size=16).hexdigest()
            if digests.get(source) != digest:
                batch.append((source, digest, file.content))
                size += len(file.content)
            if size > _BATCH_CHARS:
                self._read(context.id, batch)
                batch, size = [], 0
        self._read(context.id, batch)
        with self._file.writing() as db:
            db.execute(
                "INSERT INTO context VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET state = ?2", (context.id, state)
            )

    def _read(self, context: str, files: Sequence[tuple[str, str, str]]) -> None:
        """Put files (shown path, digest, content) into the index, as long as the context has room."""
        if not files:
            return
        with self._file.writing() as db:
            for source, digest, content in files:
                (others,) = db.execute(
                    "SELECT coalesce(sum(passages), 0) FROM file WHERE context = ? AND source <> ?", (context, source)
                ).fetchone()
                passages = _passages(source, content)[: max(MAX_SEGMENTS - others, 0)]
                db.execute(
                    "INSERT INTO file (context, source, digest, passages) VALUES (?1, ?2, ?3, ?4)"
                    " ON CONFLICT (context, source) DO UPDATE SET digest = ?3, passages = ?4",
                    (context, cut.encodable(source), digest, len(passages)),
                )
                (row,) = db.execute(
                    "SELECT row FROM file WHERE context = ? AND source = ?", (context, cut.encodable(source))
                ).fetchone()
                stored.put(db, row, passages)


def _state(context: Context) -> str:
    """What tells one gathering of a context from another."""
    digest = hashlib.blake2b(f"{context.updated_at.isoformat()}\n".encode(), digest_size=16)
    for file in context.files:
        digest.update(f"{file.path}\0{file.size}\0{file.modified}\n".encode("utf-8", "replace"))
    return digest.hexdigest()


def _drop(db: sqlite3.Connection, context: str, present: Collection[str]) -> None:
    """Forget the files of a context that are not ``present`` (shown paths) any more."""
    for row, source in db.execute("SELECT row, source FROM file WHERE context = ?", (context,)).fetchall():
        if source not in present:
            stored.drop(db, row)
            db.execute("DELETE FROM file WHERE row = ?", (row,))


def _passages(source: str, content: str) -> list[StoredPassage]:
    """A file's pieces, each below the file's name: a question may name either."""
    return [
        StoredPassage(f"{line}:{stored.fingerprint(piece)}", f"{source}\n{piece}") for line, piece in segments(content)
    ]


def _found(context: str, source: str, found: stored_search.Found) -> Found:
    passage = found.passage
    return Found(context, source, int(passage.key.partition(":")[0]), passage.text.partition("\n")[2], found.hit)
