"""The persistent index of saved sessions: a list with titles and dates, and every passage by its words.

It is derived from the session files and never the only copy of anything: a damaged or older index is thrown away and
built again. SQLite's full-text index does the scoring; words come from our own tokenizer, so that sessions are read
like facts.
"""

from __future__ import annotations

import logging
import math
import os
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from chatls_core.sessions.conversation import SessionSummary
from chatls_core.sessions.passages import SessionPassage, Source
from chatls_core.store import FILE_MODE, FOLDER_MODE, Signature
from chatls_core.text import dates, tokenizer

logger = logging.getLogger(__name__)

_FORMAT = 1
"""Raised when the schema or the tokenizer's terms change: older indexes are then built again."""

_BUSY_SECONDS = 5.0

_SCHEMA = """
CREATE TABLE session (
    row INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, id TEXT NOT NULL, title TEXT NOT NULL,
    created REAL, updated REAL, messages INTEGER NOT NULL, named INTEGER NOT NULL,
    signature TEXT NOT NULL, indexed INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX session_id ON session (id);

CREATE INDEX session_updated ON session (updated DESC);

CREATE TABLE passage (
    row INTEGER PRIMARY KEY, session INTEGER NOT NULL, place INTEGER NOT NULL, key TEXT NOT NULL,
    message TEXT NOT NULL, source TEXT NOT NULL, time REAL, text TEXT NOT NULL, length INTEGER NOT NULL,
    UNIQUE (session, key)
);

CREATE TABLE size (passages INTEGER NOT NULL, terms INTEGER NOT NULL);

INSERT INTO size VALUES (0, 0);

CREATE TRIGGER added AFTER INSERT ON passage BEGIN
    UPDATE size SET passages = passages + 1, terms = terms + new.length;
END;

CREATE TRIGGER removed AFTER DELETE ON passage BEGIN
    UPDATE size SET passages = passages - 1, terms = terms - old.length;
END;

CREATE VIRTUAL TABLE words USING fts5 (
    terms, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* P* S* Co'"
);

CREATE VIRTUAL TABLE word USING fts5vocab (words, 'row');
"""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage whose words match; ``terms`` are its index terms in order."""

    row: int
    session: str
    place: int
    message_id: str
    source: Source
    time: datetime | None
    text: str
    terms: list[str]


@dataclass(frozen=True, slots=True)
class Statistics:
    """In how many passages terms stand, how many passages there are, and how long they are on average (in terms)."""

    containing: Mapping[str, int]
    passages: int
    mean_length: float

    def information(self, terms: Iterable[str]) -> float:
        """How telling it is that a passage holds one of these terms, in nats; never negative."""
        containing = min(sum(self.containing.get(t, 0) for t in terms), self.passages)
        return math.log(1 + (self.passages - containing + 0.5) / (containing + 0.5))

    def affordable(self, terms: Iterable[str], budget: int) -> list[str]:
        """The rarest of ``terms``, as many as stand in ``budget`` passages together; always the rarest that occurs."""
        chosen: list[str] = []
        for term in sorted((t for t in terms if self.containing.get(t)), key=lambda t: self.containing[t]):
            budget -= self.containing[term]
            if chosen and budget < 0:
                break
            chosen.append(term)
        return chosen


class Catalog:
    """See the module. Thread-safe; several processes may use one file. ``path`` ``None`` keeps it in memory."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._guard = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    # -- the list ---------------------------------------------------------------------------------------------------

    def signatures(self) -> dict[str, str]:
        """The state in which each session's file was read, by name."""
        with self._reading() as db:
            return dict(db.execute("SELECT name, signature FROM session"))

    def put(self, summary: SessionSummary, signature: Signature | None) -> None:
        """List a session, or bring its line up to date; its passages are due again."""
        with self._writing() as db:
            db.execute(
                "INSERT INTO session (name, id, title, created, updated, messages, named, signature)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET id = excluded.id,"
                " title = excluded.title, created = excluded.created, updated = excluded.updated,"
                " messages = excluded.messages, named = excluded.named, signature = excluded.signature, indexed = 0",
                (
                    summary.name,
                    _sound(summary.id),
                    _sound(summary.title),
                    _stamp(summary.created),
                    _stamp(summary.updated),
                    summary.messages,
                    summary.named,
                    state_of(signature),
                ),
            )

    def drop(self, names: Iterable[str]) -> None:
        """Forget sessions whose files are gone."""
        with self._writing() as db:
            for name in names:
                for (row,) in db.execute("SELECT row FROM session WHERE name = ?", (name,)).fetchall():
                    passages = db.execute("SELECT row FROM passage WHERE session = ?", (row,)).fetchall()
                    db.executemany("DELETE FROM words WHERE rowid = ?", passages)
                    db.execute("DELETE FROM passage WHERE session = ?", (row,))
                    db.execute("DELETE FROM session WHERE row = ?", (row,))

    def name_of(self, session_id: str) -> str | None:
        """The name under which the session with this id is saved."""
        with self._reading() as db:
            found = db.execute("SELECT name FROM session WHERE id = ? ORDER BY row", (_sound(session_id),)).fetchone()
        return cast("str", found[0]) if found else None

    def has_others(self, names: Collection[str]) -> bool:
        """Whether there is any session but those of these names."""
        marks = ",".join("?" * len(names))
        with self._reading() as db:
            found = db.execute(f"SELECT 1 FROM session WHERE name NOT IN ({marks}) LIMIT 1", [*map(_sound, names)])
            return found.fetchone() is not None

    def page(self, limit: int, offset: int = 0) -> tuple[list[SessionSummary], int]:
        """Sessions, most recently used first (those without a date last), and how many there are in all."""
        with self._reading() as db:
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
        with self._reading() as db:
            rows = db.execute(
                f"SELECT id, name, title, created, updated, messages, named FROM session WHERE name IN ({marks})",
                tuple(names),
            ).fetchall()
        return {row[1]: _summary(row) for row in rows}

    def recent(self, limit: int, *, start: datetime | None = None, end: datetime | None = None) -> list[SessionSummary]:
        """Dated sessions that were used in ``[start, end)``, the last first."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT id, name, title, created, updated, messages, named FROM session WHERE updated IS NOT NULL"
                " AND (?1 IS NULL OR updated >= ?1) AND (?2 IS NULL OR created < ?2) ORDER BY updated DESC LIMIT ?3",
                (_stamp(start), _stamp(end), limit),
            ).fetchall()
        return [_summary(row) for row in rows]

    # -- passages ---------------------------------------------------------------------------------------------------

    def due(self) -> list[str]:
        """Names of listed sessions whose passages are not in the index yet, the most recently used first."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT name FROM session WHERE indexed = 0 ORDER BY updated IS NULL, updated DESC"
            ).fetchall()
        return [name for (name,) in rows]

    def put_passages(self, name: str, passages: Sequence[SessionPassage]) -> None:
        """Make the index hold exactly these passages of a listed session; unchanged ones are not read again."""
        with self._guard, self._writing() as db:
            found = db.execute("SELECT row FROM session WHERE name = ?", (name,)).fetchone()
            if found is None:
                return
            (session,) = found
            known = dict(db.execute("SELECT key, row FROM passage WHERE session = ?", (session,)))
            wanted = {_sound(p.key): (place, p) for place, p in enumerate(passages)}
            gone = [(row,) for key, row in known.items() if key not in wanted]
            db.executemany("DELETE FROM words WHERE rowid = ?", gone)
            db.executemany("DELETE FROM passage WHERE row = ?", gone)
            for key, (place, passage) in wanted.items():
                if key in known:
                    continue
                terms = _terms_of(passage)
                inserted = db.execute(
                    "INSERT INTO passage (session, place, key, message, source, time, text, length)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        session,
                        place,
                        key,
                        _sound(passage.message_id),
                        passage.source,
                        _stamp(passage.time),
                        _sound(passage.text),
                        len(terms),
                    ),
                )
                db.execute("INSERT INTO words (rowid, terms) VALUES (?, ?)", (inserted.lastrowid, " ".join(terms)))
            db.executemany(
                "UPDATE passage SET place = ? WHERE row = ? AND place <> ?",
                [(wanted[key][0], row, wanted[key][0]) for key, row in known.items() if key in wanted],
            )
            db.execute("UPDATE session SET indexed = 1 WHERE row = ?", (session,))

    def statistics(self, terms: Iterable[str]) -> Statistics:
        """What ranking needs to know of the whole."""
        with self._reading() as db:
            total, length = db.execute("SELECT passages, terms FROM size").fetchone()
            counts = {}
            for term in terms:
                row = db.execute("SELECT doc FROM word WHERE term = ?", (term,)).fetchone()
                counts[term] = row[0] if row else 0
        return Statistics(counts, total, length / total if total else 1.0)

    def match(
        self,
        terms: Sequence[str],
        limit: int,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        only: Sequence[str] | None = None,
    ) -> list[Found]:
        """The best passages that hold any of ``terms`` and were said in ``[start, end)``, best first.

        ``only`` names the sessions to look in.
        """
        if not terms:
            return []
        where = ["words MATCH ?"]
        values: list[object] = [" OR ".join('"' + t.replace('"', '""') + '"' for t in terms)]
        if start is not None:
            where.append("p.time >= ?")
            values.append(_stamp(start))
        if end is not None:
            where.append("p.time < ?")
            values.append(_stamp(end))
        if only is not None:
            where.append(f"s.name IN ({','.join('?' * len(only))})")
            values.extend(only)
        with self._reading() as db:
            rows = db.execute(
                "SELECT p.row, s.name, p.place, p.message, p.source, p.time, p.text, words.terms"
                " FROM words JOIN passage p ON p.row = words.rowid JOIN session s ON s.row = p.session"
                f" WHERE {' AND '.join(where)} ORDER BY words.rank LIMIT ?",
                (*values, limit),
            ).fetchall()
        return [
            Found(row, name, place, message, source, _date(time), text, words.split())
            for row, name, place, message, source, time, text, words in rows
        ]

    def close(self) -> None:
        """Let go of the file."""
        with self._guard:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # -- the database -----------------------------------------------------------------------------------------------

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._guard:
            try:
                yield self._open()
            except sqlite3.DatabaseError as error:
                self._start_over(error)
                raise

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._guard:
            try:
                connection = self._open()
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    yield connection
            except sqlite3.DatabaseError as error:
                self._start_over(error)
                raise

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        if self._path is None:
            return _prepared(":memory:")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
            # SQLite would let everybody read it; its companion files take over the mode.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, FILE_MODE))
            return _prepared(self._path)
        except (OSError, sqlite3.OperationalError) as error:
            logger.warning("The session index %s cannot be used (%s); it is kept in memory", self._path, error)
            return _prepared(":memory:")
        except sqlite3.DatabaseError as error:
            logger.warning("The session index %s is damaged (%s); it is built again", self._path, error)
            _remove(self._path)
            return _prepared(self._path)

    def _start_over(self, error: sqlite3.DatabaseError) -> None:
        """After an error that is no mere contention: close; a damaged file is thrown away, the next use builds anew."""
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            return
        self.close()
        if self._path is not None and not isinstance(error, (sqlite3.OperationalError, sqlite3.ProgrammingError)):
            logger.warning("The session index %s is damaged (%s); it is built again", self._path, error)
            _remove(self._path)


def state_of(signature: Signature | None) -> str:
    """A file's state as text."""
    return f"{signature.inode}:{signature.size}:{signature.modified_ns}" if signature else ""


def _prepared(path: Path | str) -> sqlite3.Connection:
    """An open database with our schema; one of another format is emptied. Transactions are begun by hand."""
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found != _FORMAT:
            for table in ("word", "words", "passage", "session", "size"):
                connection.execute(f"DROP TABLE IF EXISTS {table}")
            for statement in _SCHEMA.strip().split("\n\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {_FORMAT}")
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _terms_of(passage: SessionPassage) -> list[str]:
    """The passage's terms and those by which its date is found."""
    date = dates.date_terms(passage.time) if passage.time else ()
    return [*tokenizer.terms(_sound(passage.text)), *date]


def _sound(text: str) -> str:
    """The text without halves of characters, which SQLite cannot hold."""
    return text.encode("utf-8", "replace").decode()


def _summary(row: tuple[str, str, str, float | None, float | None, int, int]) -> SessionSummary:
    session_id, name, title, created, updated, messages, named = row
    return SessionSummary(session_id, name, title, _date(created), _date(updated), messages, bool(named))


def _stamp(value: datetime | None) -> float | None:
    return value.timestamp() if value else None


def _date(value: float | None) -> datetime | None:
    return datetime.fromtimestamp(value, UTC) if value is not None else None
