"""The persistent index of saved sessions: a list with titles and dates, and every passage by its words.

It is derived from the session files and never the only copy of anything: a damaged or older index is thrown away and
built again. A session is a document of :mod:`chatls_core.text.stored`, so sessions are searched like facts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from chatls_core.sessions.conversation import SessionSummary
from chatls_core.sessions.passages import Source, message_of
from chatls_core.sessions.question import Question
from chatls_core.store import IndexFile, Signature
from chatls_core.text import cut, stored, stored_search
from chatls_core.text.hits import Hit
from chatls_core.text.stored import StoredPassage

_VERSION = 4
"""Raised when the schema or the tokenizer's terms change: older indexes are then built again."""

_SCHEMA = (
    """CREATE TABLE session (
        row INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, id TEXT NOT NULL, title TEXT NOT NULL,
        created REAL, updated REAL, messages INTEGER NOT NULL, named INTEGER NOT NULL,
        signature TEXT NOT NULL, indexed INTEGER NOT NULL DEFAULT 0
    )""",
    "CREATE INDEX session_id ON session (id)",
    "CREATE INDEX session_updated ON session (updated DESC)",
    *stored.SCHEMA,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A passage of the session ``session`` (its name) that answers a question, and how well.

    ``terms`` are its search terms in order, a blank between two.
    """

    session: str
    passage: StoredPassage
    terms: str
    hit: Hit

    @property
    def message_id(self) -> str:
        """The message it is a piece of."""
        return message_of(self.passage)

    @property
    def source(self) -> Source:
        """Who said it."""
        return cast("Source", self.passage.speaker)


class Catalog:
    """See the module. Thread-safe; several processes may use one file. ``path`` ``None`` keeps it in memory."""

    def __init__(self, path: Path | None) -> None:
        self._file = IndexFile(path, _SCHEMA, _VERSION)

    # -- the list ---------------------------------------------------------------------------------------------------

    def signatures(self) -> dict[str, str]:
        """The state in which each session's file was read, by name."""
        with self._file.reading() as db:
            return dict(db.execute("SELECT name, signature FROM session"))

    def put(self, summary: SessionSummary, signature: Signature | None) -> None:
        """List a session, or bring its line up to date; its passages are due again."""
        with self._file.writing() as db:
            _put(db, summary, signature)

    def take(self, sessions: Iterable[tuple[SessionSummary, Signature | None, Sequence[StoredPassage]]]) -> None:
        """List sessions with exactly these passages, in one transaction; unchanged passages are not read again."""
        with self._file.writing() as db:
            for summary, signature, passages in sessions:
                stored.put(db, _put(db, summary, signature), passages)
                db.execute("UPDATE session SET indexed = 1 WHERE name = ?", (summary.name,))

    def drop(self, names: Iterable[str]) -> None:
        """Forget sessions whose files are gone; nothing of them stays in the index."""
        with self._file.writing() as db:
            for name in names:
                for (row,) in db.execute("SELECT row FROM session WHERE name = ?", (name,)).fetchall():
                    stored.drop(db, row)
                    db.execute("DELETE FROM session WHERE row = ?", (row,))
            stored.purge(db)

    def name_of(self, session_id: str) -> str | None:
        """The name under which the session with this id is saved."""
        with self._file.reading() as db:
            found = db.execute(
                "SELECT name FROM session WHERE id = ? ORDER BY row", (cut.encodable(session_id),)
            ).fetchone()
        return cast("str", found[0]) if found else None

    def has_others(self, names: Collection[str]) -> bool:
        """Whether there is any session but those of these names."""
        marks = ",".join("?" * len(names))
        with self._file.reading() as db:
            found = db.execute(
                f"SELECT 1 FROM session WHERE name NOT IN ({marks}) LIMIT 1", [*map(cut.encodable, names)]
            )
            return found.fetchone() is not None

    def page(self, limit: int, offset: int = 0) -> tuple[list[SessionSummary], int]:
        """Sessions, most recently used first (those without a date last), and how many there are in all."""
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT id, name, title, created, updated, messages, named FROM session"
                " ORDER BY updated IS NULL, updated DESC, name LIMIT ? OFFSET ?",
                (limit, offset),
            ).fetchall()
            (total,) = db.execute("SELECT count(*) FROM session").fetchone()
        return [_summary(row) for row in rows], total

    def summaries(self, names: Sequence[str]) -> dict[str, SessionSummary]:
        """The listed sessions of these names."""
        marks = ",".join("?" * len(names))
        with self._file.reading() as db:
            rows = db.execute(
                f"SELECT id, name, title, created, updated, messages, named FROM session WHERE name IN ({marks})",
                tuple(names),
            ).fetchall()
        return {row[1]: _summary(row) for row in rows}

    def recent(self, limit: int, *, start: datetime | None = None, end: datetime | None = None) -> list[SessionSummary]:
        """Dated sessions that were used in ``[start, end)``, the last first."""
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT id, name, title, created, updated, messages, named FROM session WHERE updated IS NOT NULL"
                " AND (?1 IS NULL OR updated >= ?1) AND (?2 IS NULL OR created < ?2) ORDER BY updated DESC LIMIT ?3",
                (_stamp(start), _stamp(end), limit),
            ).fetchall()
        return [_summary(row) for row in rows]

    # -- passages ---------------------------------------------------------------------------------------------------

    def due(self) -> list[str]:
        """Names of listed sessions whose passages are not in the index yet, the most recently used first."""
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT name FROM session WHERE indexed = 0 ORDER BY updated IS NULL, updated DESC"
            ).fetchall()
        return [name for (name,) in rows]

    def search(
        self,
        question: Question,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        only: Sequence[str] | None = None,
        exclude: Collection[str] = (),
        sources: Collection[Source] | None = None,
    ) -> list[Found]:
        """The passages that answer a question and were said in ``[start, end)``, best first.

        ``only`` and ``exclude`` name the sessions to look in and not to, ``sources`` are kinds of passages.
        """
        with self._file.reading() as db:
            found = stored_search.search(
                db,
                question.text,
                start=start,
                end=end,
                documents=None if only is None else _numbers(db, only).keys(),
                without=_numbers(db, exclude).keys(),
                speakers=sources,
                ignored=question.ignored,
                verbatim=bool(question.phrases),
            )
            names = _names(db, {f.document for f in found})
        return [Found(names[f.document], f.passage, f.terms, f.hit) for f in found if f.document in names]

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def state_of(signature: Signature | None) -> str:
    """A file's state as text."""
    return f"{signature.inode}:{signature.size}:{signature.modified_ns}" if signature else ""


def _put(db: sqlite3.Connection, summary: SessionSummary, signature: Signature | None) -> int:
    """Write a session's line; returns its row."""
    db.execute(
        "INSERT INTO session (name, id, title, created, updated, messages, named, signature)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET id = excluded.id,"
        " title = excluded.title, created = excluded.created, updated = excluded.updated,"
        " messages = excluded.messages, named = excluded.named, signature = excluded.signature, indexed = 0",
        (
            summary.name,
            cut.encodable(summary.id),
            cut.encodable(summary.title),
            _stamp(summary.created),
            _stamp(summary.updated),
            summary.messages,
            summary.named,
            state_of(signature),
        ),
    )
    (row,) = db.execute("SELECT row FROM session WHERE name = ?", (summary.name,)).fetchone()
    return int(row)


def _numbers(db: sqlite3.Connection, names: Collection[str]) -> dict[int, str]:
    """The sessions of these names by their row."""
    marks = ",".join("?" * len(names))
    return dict(db.execute(f"SELECT row, name FROM session WHERE name IN ({marks})", [*map(cut.encodable, names)]))


def _names(db: sqlite3.Connection, rows: Collection[int]) -> dict[int, str]:
    marks = ",".join("?" * len(rows))
    return dict(db.execute(f"SELECT row, name FROM session WHERE row IN ({marks})", [*rows]))


def _summary(row: tuple[str, str, str, float | None, float | None, int, int]) -> SessionSummary:
    session_id, name, title, created, updated, messages, named = row
    return SessionSummary(session_id, name, title, _date(created), _date(updated), messages, bool(named))


def _stamp(value: datetime | None) -> float | None:
    return value.timestamp() if value else None


def _date(value: float | None) -> datetime | None:
    return datetime.fromtimestamp(value, UTC) if value is not None else None
