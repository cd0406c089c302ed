"""Search over :mod:`.stored` passages: the same arithmetic as in memory, without reading them all first.

The posting lists of the rarest words asked for tell which documents hold most of the question, and :mod:`.scoring`
decides among their passages with what is known of the whole (:class:`_Whole`): how many passages hold a term, how long
they are, who speaks.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from . import bm25, conversation, hits, scoring, wishes
from .bm25 import Vocabulary
from .hits import Hit
from .passages import LABEL
from .stored import ASKS, COUNTED, DATED, PASSAGE_BITS, StoredPassage, rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]

_POSTINGS, _RELATED_POSTINGS = 6_000, 2_000
"""Most postings a search reads, of the words asked for and of related ones: rare words decide where to look."""

_LONGEST = 20_000
"""Most postings of one term: where even the rarest word is everywhere, any of its passages will do."""

_DOCUMENTS, _PASSAGES = 60, 250
"""Most documents and passages (those beside them not counted) that are scored, …"""

_FOUND = 150
"""… and most that are found."""

_LEANING = 0.25
"""Context (see :mod:`.conversation`) from which the passages beside one are read as well."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage of ``document`` that answers a question.

    ``terms`` are its search terms in order, a blank between two.
    """

    document: int
    passage: StoredPassage
    terms: str
    hit: Hit


def search(
    db: sqlite3.Connection,
    text: str,
    *,
    start: datetime | None = None,
    end: datetime | None = None,
    documents: Collection[int] | None = None,
    without: Collection[int] = (),
    speakers: Collection[str] | None = None,
    ignored: Collection[str] = (),
    verbatim: bool = False,
) -> list[Found]:
    """The passages that answer ``text``, best first, at most a few hundred; none for a question without a topic.

    Only what was said in ``[start, end)``, in ``documents`` but those ``without``, and by ``speakers`` is looked at.
    ``ignored`` are folded words that are no topic here; ``verbatim`` asks for common words where there are no others.
    """
    whole = _Whole(db)
    if not whole.live:
        return []
    shape = whole.shape()
    wish = wishes.wish(
        text,
        whole,
        speakers=shape.speakers,
        portuguese=whole.portuguese,
        ignored=ignored,
        verbatim=verbatim,
    )
    if not wish.words:
        return []
    reach = _Reach(db, start, end, None if documents is None else frozenset(documents), frozenset(without), speakers)
    postings = _postings(whole, wish, reach)
    chosen = _chosen(whole, wish, postings)
    read = _read(reach, chosen, frozenset(t for w in wish.words for t, _ in w.terms), beside=shape.context >= _LEANING)
    if not read:
        return []
    corpus = _corpus(whole, shape, read, reach.documents_with(postings))
    result = scoring.score(corpus, wish)
    slots = [slot for slot in scoring.best(result.total, _FOUND) if read[slot].stored.key]
    found = hits.hits_of(corpus.postings, lambda slot: (str(slot), read[slot].stored.speaker), slots, wish, result)
    return [read[slot].found(hit) for slot, hit in zip(slots, found, strict=True)]


# -- what is known of the whole --------------------------------------------------------------------------------------


class _Whole(Vocabulary):
    """Counts over everything stored, asked for as needed and remembered for one search."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        counts: tuple[int, int, int, int] = db.execute(
            "SELECT documents, passages, length, portuguese FROM whole"
        ).fetchone()
        self.documents, self._passages, self._length, self.portuguese = counts
        self._known: dict[str, int] = {}

    @property
    def live(self) -> int:
        return self._passages

    @property
    def average_length(self) -> float:
        return self._length / self._passages if self._length else 1.0

    @property
    def document_length(self) -> float:
        """Mean number of terms of a document."""
        return max(self._length / max(self.documents, 1), 1.0)

    def frequency(self, term: str) -> int:
        found = self._known.get(term)
        if found is None:
            row: tuple[int] | None = self._db.execute("SELECT passages FROM term WHERE term = ?", (term,)).fetchone()
            found = self._known[term] = row[0] if row else 0
        return found

    def beginning_with(self, prefix: str) -> Iterable[str]:
        rows = self._db.execute("SELECT term FROM term WHERE term >= ? AND term < ?", (prefix, prefix + "\U0010ffff"))
        return [term for (term,) in rows]

    def written(self, term: str) -> str:
        row = self._db.execute("SELECT written FROM term WHERE term = ?", (term,)).fetchone()
        return str(row[0]) if row else term

    def lengths_of(self, documents: Iterable[int]) -> Scores:
        """The number of terms of each document, in the given order."""
        import numpy as np

        wanted = list(documents)
        marks = ",".join("?" * len(wanted))
        known = dict(self._db.execute(f"SELECT document, length FROM document WHERE document IN ({marks})", wanted))
        return np.array([known.get(document, 0) for document in wanted], dtype=np.float64)

    def scattered_over(self, term: str) -> int:
        """How many documents hold a term, were its passages thrown among them by chance."""
        return round(self.documents * (1 - (1 - 1 / max(self.documents, 1)) ** self.frequency(term)))

    def shape(self) -> conversation.Shape:
        """How the corpus is to be read: documents are its conversations; those that nobody speaks in are pages."""
        labels = Counter(dict(self._db.execute("SELECT speaker, passages FROM speaker")))
        return conversation.shape(
            labels, self.live, max(self.documents, 1), self.average_length, lambda: True, lambda: 0.0
        )


# -- where to look ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reach:
    """The part of the whole that a search may look at."""

    db: sqlite3.Connection
    start: datetime | None
    end: datetime | None
    documents: frozenset[int] | None
    without: frozenset[int]
    speakers: Collection[str] | None

    def holders(self, term: str) -> list[int]:
        """The rows of the passages in reach that hold ``term``; the first of very many."""
        where, values = self._limits
        quoted = '"' + term.replace('"', '""') + '"'
        join = " JOIN passage p ON p.row = words.rowid" if where else ""
        if self.documents:
            where = [*where, "words.rowid BETWEEN ? AND ?"]
            values = [*values, rows(min(self.documents))[0], rows(max(self.documents))[1]]
        found = self.db.execute(
            f"SELECT words.rowid FROM words{join} WHERE words MATCH ?{''.join(f' AND {w}' for w in where)}",
            (quoted, *values),
        )
        return list(itertools.islice((row for (row,) in found if self._holds(row >> PASSAGE_BITS)), _LONGEST))

    def documents_with(self, postings: Mapping[str, Sequence[int]]) -> dict[str, int]:
        """How many documents hold each term whose posting list was read; nothing where only a part was."""
        if self._limits[0] or self.documents is not None:
            return {}
        return {term: len({row >> PASSAGE_BITS for row in rows}) for term, rows in postings.items()}

    def _holds(self, document: int) -> bool:
        return document not in self.without and (self.documents is None or document in self.documents)

    def passages(
        self, rows: Sequence[int]
    ) -> Iterator[tuple[int, int, str, str, float | None, str, float, int, int, str]]:
        """These passages, as far as they are in reach, in the order of documents and places."""
        where, values = self._limits
        marks = ",".join("?" * len(rows))
        yield from self.db.execute(
            "SELECT p.row, p.place, p.key, p.speaker, p.time, p.text, p.weight, p.marks, p.length, words.terms"
            f" FROM passage p JOIN words ON words.rowid = p.row WHERE p.row IN ({marks})"
            f"{''.join(f' AND {w}' for w in where)}",
            (*rows, *values),
        )

    @cached_property
    def _limits(self) -> tuple[list[str], list[object]]:
        where: list[str] = []
        values: list[object] = []
        if self.start is not None:
            where.append("p.time >= ?")
            values.append(self.start.timestamp())
        if self.end is not None:
            where.append("p.time < ?")
            values.append(self.end.timestamp())
        if self.speakers is not None:
            where.append(f"p.speaker IN ({','.join('?' * len(self.speakers))})")
            values.extend(self.speakers)
        return where, values


def _postings(whole: _Whole, wish: scoring.Wish, reach: _Reach) -> dict[str, list[int]]:
    """The rows that hold each term worth reading; the rarest first, within the budget, and always the rarest."""
    own = {term for word in wish.words for term, worth in word.terms if worth == 1.0}
    related = {term for word in wish.words for term, _ in word.terms} - own
    read: dict[str, list[int]] = {}
    for terms, budget in ((own, _POSTINGS), (related, _RELATED_POSTINGS)):
        for number, term in enumerate(sorted((t for t in terms if whole.frequency(t)), key=whole.frequency)):
            # A word that is everywhere may still be rare in the few documents that are asked.
            if number and budget < (whole.frequency(term) if reach.documents is None else 0):
                break
            read[term] = reach.holders(term)
            budget -= len(read[term])
    return read


def _chosen(whole: _Whole, wish: scoring.Wish, postings: dict[str, list[int]]) -> list[int]:
    """The rows to score: those that hold most of the question, of the documents that do."""
    own: dict[int, float] = {}
    together: dict[int, float] = {}
    for word in wish.words:
        best: dict[int, float] = {}
        for term, worth in word.terms:
            value = word.weight * worth * min(word.idf, bm25.idf(whole, term))
            for row in postings.get(term, ()):
                if value > best.get(row, 0.0):
                    best[row] = value
        of_document: dict[int, float] = {}
        for row, value in best.items():
            own[row] = own.get(row, 0.0) + value
            document = row >> PASSAGE_BITS
            if value > of_document.get(document, 0.0):
                of_document[document] = value
        for document, value in of_document.items():
            together[document] = together.get(document, 0.0) + value
    strongest: dict[int, float] = {}
    for row, value in own.items():
        document = row >> PASSAGE_BITS
        if value > strongest.get(document, 0.0):
            strongest[document] = value
    documents = sorted(together, key=lambda d: (-strongest[d] - together[d], d))[:_DOCUMENTS]
    kept = set(documents)
    rows = [row for row in own if row >> PASSAGE_BITS in kept]
    return sorted(rows, key=lambda row: (-own[row] - together[row >> PASSAGE_BITS], row))[:_PASSAGES]


# -- deciding among what was found -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A passage read for scoring; ``asked`` are those of its terms that are asked for, ``length`` counts all."""

    document: int
    place: int
    stored: StoredPassage
    terms: str
    asked: Sequence[tuple[str, str]]
    marks: int
    length: int

    def found(self, hit: Hit) -> Found:
        return Found(self.document, self.stored, self.terms, hit)


_GAP = StoredPassage("", "")


def _read(reach: _Reach, chosen: Sequence[int], asked: frozenset[str], *, beside: bool) -> list[_Candidate]:
    """The chosen passages, and those beside them where they matter, in the order of documents and places.

    Where passages between two of them were not read stands a gap without a key.
    """
    rows = {row + step for row in chosen for step in ((-1, 0, 1) if beside else (0,))}
    passages = sorted((found[0] >> PASSAGE_BITS, *found[1:]) for found in reach.passages(sorted(rows)))
    read: list[_Candidate] = []
    for document, place, key, speaker, time, text, weight, marks, length, terms in passages:
        if read and read[-1].document == document:
            for missed in range(read[-1].place + 1, min(place, read[-1].place + 3)):
                read.append(_Candidate(document, missed, _GAP, "", (), 0, 0))
        said = None if time is None else datetime.fromtimestamp(time, UTC)
        wanted = [(term, term) for term in terms.split() if term in asked]
        if speaker:
            wanted.append((LABEL + speaker, speaker))
        stored = StoredPassage(key, text, said, speaker, weight)
        read.append(_Candidate(document, place, stored, terms, wanted, marks, length))
    return read


def _corpus(
    whole: _Whole, shape: conversation.Shape, read: Sequence[_Candidate], documents_with: Mapping[str, int]
) -> scoring.Corpus:
    """What was read as the scorer takes it; times are left out, since no search asks the scorer for one."""
    import numpy as np

    postings = bm25.Postings()
    for candidate in read:
        postings.fill(postings.append(), candidate.asked, candidate.length)
    numbers = {document: n for n, document in enumerate(dict.fromkeys(c.document for c in read))}
    group = np.array([numbers[c.document] for c in read], dtype=np.int64)
    groups = None
    if shape.context:
        grouping = bm25.Grouping(
            group,
            whole.lengths_of(numbers),
            whole.documents,
            whole.document_length,
            lambda term: documents_with.get(term, 0) or whole.scattered_over(term),
        )
        groups = bm25.GroupScorer(postings, grouping, b=shape.b)
    marks = np.array([c.marks for c in read], dtype=np.int64)
    untimed = np.full(len(read), np.nan)
    return scoring.Corpus(
        postings,
        whole,
        shape,
        bm25.PostingsScorer(postings, b=shape.b, vocabulary=whole),
        postings.filled(),
        group,
        groups,
        np.array([c.stored.weight for c in read]),
        (marks & ASKS > 0).astype(np.float64),
        (marks & DATED > 0).astype(np.float64),
        (marks & COUNTED > 0).astype(np.float64),
        untimed,
        untimed,
    )
