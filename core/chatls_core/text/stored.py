"""Passages kept in an SQLite file, as the ranker reads them: terms, speakers, marks, and counts over all of them.

A document is what its passages belong together in: a conversation, a file. :mod:`.stored_search` finds them again. All
functions take an open connection whose database holds :data:`SCHEMA`, in a transaction. They raise
:class:`sqlite3.Error`.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from . import cut
from .passages import Passage, analyse

SCHEMA = (
    """CREATE TABLE passage (
        row INTEGER PRIMARY KEY, place INTEGER NOT NULL, key TEXT NOT NULL, speaker TEXT NOT NULL, time REAL,
        text TEXT NOT NULL, weight REAL NOT NULL, marks INTEGER NOT NULL, length INTEGER NOT NULL
    )""",
    "CREATE TABLE document (document INTEGER PRIMARY KEY, passages INTEGER NOT NULL, length INTEGER NOT NULL)",
    "CREATE TABLE speaker (speaker TEXT PRIMARY KEY, passages INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE term (term TEXT PRIMARY KEY, passages INTEGER NOT NULL, written TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE whole (documents INTEGER NOT NULL, passages INTEGER NOT NULL, length INTEGER NOT NULL,"
    " portuguese INTEGER NOT NULL)",
    "INSERT INTO whole VALUES (0, 0, 0, 0)",
    """CREATE VIRTUAL TABLE words USING fts5 (
        terms, detail = none, columnsize = 0,
        tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* P* S* Co'"
    )""",
)
"""Statements that make the tables; ``passage.row`` holds the numbers of document and passage (:func:`rows`)."""

PASSAGE_BITS = 24
"""A row's low bits count a document's passages: posting lists then tell documents without reading a passage."""

PORTUGUESE, ASKS, DATED, COUNTED = 1, 2, 4, 8
"""What :class:`~.passages.Analysis` tells of a passage, as bits of ``marks``."""


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """What a document says in one place. ``key``, never empty, is its own in the document and changes with the text.

    ``speaker`` is who says it (one word), empty where nobody does; ``weight`` multiplies its score.
    """

    key: str
    text: str
    time: datetime | None = None
    speaker: str = ""
    weight: float = 1.0


def rows(document: int) -> tuple[int, int]:
    """The first and last row that passages of a document may have; the first stays empty."""
    return document << PASSAGE_BITS, ((document + 1) << PASSAGE_BITS) - 1


def fingerprint(text: str) -> str:
    """What a passage's key needs to change with its text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def put(db: sqlite3.Connection, document: int, passages: Sequence[StoredPassage]) -> None:
    """Make ``document`` hold exactly these passages, in their order; unchanged ones are not read again."""
    first, last = rows(document)
    known: dict[str, tuple[int, int]] = {
        key: (row, place)
        for key, row, place in db.execute(
            "SELECT key, row, place FROM passage WHERE row BETWEEN ? AND ?", (first, last)
        )
    }
    wanted = {cut.encodable(p.key): (place, p) for place, p in enumerate(passages)}
    change = _Change(db, document)
    change.remove([row for key, (row, _) in known.items() if key not in wanted])
    row = max((row for row, _ in known.values()), default=first)
    for key, (place, passage) in wanted.items():
        if key not in known:
            row += 1
            change.add(row, place, key, passage)
    db.executemany(
        "UPDATE passage SET place = ? WHERE row = ?",
        [(wanted[key][0], row) for key, (row, place) in known.items() if key in wanted and wanted[key][0] != place],
    )
    change.finish()


def drop(db: sqlite3.Connection, document: int) -> None:
    """Forget a document."""
    put(db, document, ())


def purge(db: sqlite3.Connection) -> None:
    """Write the posting lists anew, so that no word of a dropped passage stays in the file; takes a while."""
    db.execute("INSERT INTO words (words) VALUES ('optimize')")


class _Change:
    """What adding and removing passages of one document changes in the counts, written at the end."""

    def __init__(self, db: sqlite3.Connection, document: int) -> None:
        self._db = db
        self._document = document
        self._terms: Counter[str] = Counter()
        self._written: dict[str, str] = {}
        self._speakers: Counter[str] = Counter()
        self._passages = self._length = self._portuguese = 0

    def add(self, row: int, place: int, key: str, passage: StoredPassage) -> None:
        """Store a passage under an unused row."""
        text = cut.encodable(passage.text)
        said = f"{passage.speaker}: {text}" if passage.speaker else text
        read = analyse(Passage(key, said, passage.time))
        marks = PORTUGUESE * read.portuguese + ASKS * read.asks + DATED * read.dated + COUNTED * read.counted
        time = passage.time.timestamp() if passage.time else None
        self._db.execute(
            "INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (row, place, key, passage.speaker, time, text, passage.weight, marks, len(read.pairs)),
        )
        terms = [term for term, _ in read.pairs]
        self._db.execute("INSERT INTO words (rowid, terms) VALUES (?, ?)", (row, " ".join(terms)))
        for term, word in read.pairs:
            self._written.setdefault(term, word)
        self._count(terms, passage.speaker, read.portuguese, 1)

    def remove(self, rows: Sequence[int]) -> None:
        """Forget stored passages."""
        for row in rows:
            speaker, marks, terms = self._db.execute(
                "SELECT p.speaker, p.marks, words.terms FROM passage p JOIN words ON words.rowid = p.row"
                " WHERE p.row = ?",
                (row,),
            ).fetchone()
            self._count(terms.split(), speaker, bool(marks & PORTUGUESE), -1)
        self._db.executemany("DELETE FROM words WHERE rowid = ?", [(row,) for row in rows])
        self._db.executemany("DELETE FROM passage WHERE row = ?", [(row,) for row in rows])

    def finish(self) -> None:
        """Bring the counts up to date."""
        db = self._db
        if not self._passages and not self._terms and not self._length:
            return
        before = db.execute("SELECT passages FROM document WHERE document = ?", (self._document,)).fetchone()
        db.execute(
            "INSERT INTO document VALUES (?1, ?2, ?3) ON CONFLICT (document)"
            " DO UPDATE SET passages = passages + ?2, length = length + ?3",
            (self._document, self._passages, self._length),
        )
        db.execute("DELETE FROM document WHERE document = ? AND passages = 0", (self._document,))
        there = int(before is not None)
        still = int((before[0] if before else 0) + self._passages > 0)
        db.execute(
            "UPDATE whole SET documents = documents + ?, passages = passages + ?, length = length + ?,"
            " portuguese = portuguese + ?",
            (still - there, self._passages, self._length, self._portuguese),
        )
        db.executemany(
            "INSERT INTO speaker VALUES (?1, ?2) ON CONFLICT (speaker) DO UPDATE SET passages = passages + ?2",
            [(s, n) for s, n in self._speakers.items() if n],
        )
        db.executemany(
            "INSERT INTO term VALUES (?1, ?2, ?3) ON CONFLICT (term) DO UPDATE SET passages = passages + ?2",
            [(t, n, self._written.get(t, t)) for t, n in self._terms.items() if n],
        )
        db.executemany(
            "DELETE FROM term WHERE term = ? AND passages <= 0", [(t,) for t, n in self._terms.items() if n < 0]
        )

    def _count(self, terms: Sequence[str], speaker: str, portuguese: bool, sign: int) -> None:
        for term in set(terms):
            self._terms[term] += sign
        self._speakers[speaker] += sign
        self._passages += sign
        self._length += sign * len(terms)
        self._portuguese += sign * portuguese
