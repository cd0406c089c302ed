"""Passages on disk are found as in memory, whatever was put and dropped before."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.store import IndexFile
from chatls_core.text import stored
from chatls_core.text.ranking import Passage, PassageIndex
from chatls_core.text.stored import StoredPassage
from chatls_core.text.stored_search import search

_words = st.sampled_from(
    [
        "deploy",
        "deployment",
        "cache",
        "caching",
        "server",
        "token",
        "lisbon",
        "lisboa",
        "pytest",
        "porto",
        "main.go",
        "the",
        "of",
    ]
)
_text = st.lists(_words, min_size=1, max_size=9).map(" ".join)
_pages = st.lists(_text, min_size=0, max_size=2)
_library = st.dictionaries(st.integers(1, 6), _pages, max_size=6)


@contextmanager
def index() -> Iterator[sqlite3.Connection]:
    file = IndexFile(None, stored.SCHEMA, 1)
    with file.writing() as db:
        yield db
    file.close()


def passages(texts: list[str], document: int = 0) -> list[StoredPassage]:
    """The passages of a document, each said on a day of its own."""
    begun = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(weeks=document)
    return [StoredPassage(f"{n}:{text}", text, begun + timedelta(days=n)) for n, text in enumerate(texts)]


def scores(db: sqlite3.Connection, question: str) -> dict[tuple[int, str], float]:
    return {(f.document, f.passage.key): f.hit.score for f in search(db, question)}


@given(_library, _text)
@settings(max_examples=150, deadline=None)
def test_pages_are_scored_as_in_memory(library: dict[int, list[str]], question: str) -> None:
    ordered = sorted(library.items())
    memory = PassageIndex(
        Passage(f"{document}/{p.key}", p.text, p.time) for document, texts in ordered for p in passages(texts, document)
    )
    with index() as db:
        for document, texts in ordered:
            stored.put(db, document, passages(texts, document))
        found = scores(db, question)
    expected = {
        (int(hit.id.partition("/")[0]), hit.id.partition("/")[2]): hit.score for hit in memory.search(question, 100)
    }
    assert found == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(1, 3), _pages), max_size=8), _text)
@settings(max_examples=100, deadline=None)
def test_what_was_replaced_or_dropped_leaves_no_trace(changes: list[tuple[int, list[str]]], question: str) -> None:
    last = dict(changes)
    with index() as changed, index() as fresh:
        for document, texts in changes:
            stored.put(changed, document, passages(texts))
        for document in last:
            if document == 3:
                stored.drop(changed, document)
        for document, texts in last.items():
            if document != 3:
                stored.put(fresh, document, passages(texts))
        assert scores(changed, question) == pytest.approx(scores(fresh, question))


def test_an_answer_without_the_words_of_its_question_is_found_beside_it_in_a_conversation() -> None:
    with index() as db:
        for number in range(3):
            talk = [("user", f"Do you like place {number}?"), ("assistant", "Yes."), ("user", "Good to know.")]
            stored.put(db, number + 1, [StoredPassage(f"{n}", t, None, who) for n, (who, t) in enumerate(talk)])
        talk = [("user", "How often do you water the orchid?"), ("assistant", "Twice a month."), ("user", "Thanks!")]
        stored.put(db, 9, [StoredPassage(f"{n}", t, None, who) for n, (who, t) in enumerate(talk)])
        found = search(db, "how often is the orchid watered")
    assert {(f.document, f.passage.text) for f in found[:2]} == {
        (9, "How often do you water the orchid?"),
        (9, "Twice a month."),
    }


def test_only_the_asked_documents_times_and_speakers_are_looked_at() -> None:
    with index() as db:
        for document in (1, 2):
            stored.put(
                db,
                document,
                [
                    StoredPassage("a", "the orchid bloomed", datetime(2026, document, 1, tzinfo=UTC), "user"),
                    StoredPassage("b", "orchid noted", datetime(2026, document, 2, tzinfo=UTC), "tool"),
                ],
            )

        def keys(**reach: object) -> set[tuple[int, str]]:
            return {(f.document, f.passage.key) for f in search(db, "orchid", **reach)}  # type: ignore[arg-type]

        assert keys() == {(1, "a"), (1, "b"), (2, "a"), (2, "b")}
        assert keys(documents=[2]) == {(2, "a"), (2, "b")}
        assert keys(without=[2]) == {(1, "a"), (1, "b")}
        assert keys(speakers=["user"]) == {(1, "a"), (2, "a")}
        assert keys(start=datetime(2026, 1, 2, tzinfo=UTC), end=datetime(2026, 2, 2, tzinfo=UTC)) == {
            (1, "b"),
            (2, "a"),
        }


def test_a_small_document_is_found_beside_a_large_one_that_is_full_of_its_words() -> None:
    with index() as db:
        for number in range(1, 41):
            many = [StoredPassage(f"{n}", f"the heron and the orchid, walk {n} of {number}") for n in range(600)]
            stored.put(db, number, many)
        stored.put(db, 99, [StoredPassage("a", "the orchid is watered on Sunday"), StoredPassage("b", "a heron")])
        found = search(db, "orchid of the heron", documents=[99])
    assert {f.passage.key for f in found} == {"a", "b"}


def test_half_a_character_does_not_stop_the_index() -> None:
    with index() as db:
        stored.put(db, 1, [StoredPassage("k\ud800", "orchid \udc00 blooms")])
        assert [f.document for f in search(db, "orchid \ud800")] == [1]
