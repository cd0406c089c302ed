"""BM25: two scorers with one formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.text import bm25

_words = st.sampled_from(["deploy", "cache", "server", "token", "lisbon", "pytest"])
_documents = st.lists(st.lists(_words, min_size=1, max_size=12), min_size=1, max_size=12)


def dense(scorer: bm25.Scorer, term: str, size: int) -> list[float]:
    result = np.zeros(size)
    slots, values = scorer.scores(term)
    result[slots] = values
    return list(result)


@given(_documents, st.sampled_from([0.4, 0.75]))
@settings(max_examples=60, deadline=None)
def test_rank_bm25_and_posting_lists_agree(documents: list[list[str]], b: float) -> None:
    postings = bm25.documents_of(documents)
    library, own = bm25.RankBm25Scorer(postings, b=b), bm25.PostingsScorer(postings, b=b)
    for term in {t for d in documents for t in d} | {"absent"}:
        assert dense(library, term, len(documents)) == pytest.approx(dense(own, term, len(documents)))


@given(_documents, st.data())
@settings(max_examples=40, deadline=None)
def test_removing_leaves_the_scores_of_what_stays(documents: list[list[str]], data: st.DataObject) -> None:
    gone = data.draw(st.integers(0, len(documents) - 1))
    kept = [d for i, d in enumerate(documents) if i != gone]
    postings, fresh = bm25.documents_of(documents), bm25.documents_of(kept)
    postings.clear(gone)
    changed, rebuilt = bm25.PostingsScorer(postings, b=0.75), bm25.PostingsScorer(fresh, b=0.75)
    for term in {t for d in documents for t in d}:
        scores = dense(changed, term, len(documents))
        assert scores.pop(gone) == 0
        assert scores == pytest.approx(dense(rebuilt, term, len(kept)))


def test_a_word_that_everything_holds_never_counts_against_a_passage() -> None:
    postings = bm25.documents_of([["the", "cache"], ["the", "server"], ["the", "token"]])
    assert all(value >= 0 for value in dense(bm25.RankBm25Scorer(postings, b=0.75), "the", 3))


def test_a_rare_word_tells_more_than_a_common_one() -> None:
    assert bm25.inverse_frequency(100, 1) > bm25.inverse_frequency(100, 50) > 0
    assert math.isclose(bm25.inverse_frequency(0, 0), math.log(2))


def test_a_small_corpus_is_scored_by_rank_bm25_and_a_large_one_by_posting_lists() -> None:
    small, large = ([["word"]] * n for n in (bm25.SMALL_CORPUS, bm25.SMALL_CORPUS + 1))
    assert isinstance(bm25.scorer(bm25.documents_of(small), b=0.75), bm25.RankBm25Scorer)
    assert isinstance(bm25.scorer(bm25.documents_of(large), b=0.75), bm25.PostingsScorer)


def test_a_conversation_is_scored_as_one_text() -> None:
    postings = bm25.documents_of([["cache", "redis"], ["cache"], ["server"]])
    groups = bm25.GroupScorer(postings, bm25.grouping(postings, np.array([0, 0, 1]), 2), b=0.75)
    scores, _ = groups.scores("cache")
    assert scores[0] > 0
    assert scores[1] == 0
