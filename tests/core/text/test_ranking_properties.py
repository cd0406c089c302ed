"""Rules that hold for every index and every history of changes."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.text.ranking import Passage, PassageIndex

_word = st.sampled_from(
    ["deploy", "cache", "redis", "paint", "painting", "gym", "Ann:", "Bob:", "kayak", "token", "main.go", "what", "the"]
)
_text = st.lists(_word, max_size=8).map(" ".join)
_id = st.sampled_from([f"s{i // 4}:{i % 4}" for i in range(12)])
_time = st.one_of(st.none(), st.integers(0, 40).map(lambda h: datetime(2024, 5, 1) + timedelta(hours=h)))
_passage = st.builds(Passage, id=_id, text=_text, time=_time, weight=st.sampled_from([1.0, 0.5]))
_change = st.one_of(
    st.tuples(st.just("add"), _passage),
    st.tuples(st.just("remove"), _id),
    st.tuples(st.just("replace"), st.lists(_passage, max_size=6)),
    st.tuples(st.just("search"), _text),
)
_QUERIES = ("deploy cache", "paint", "what did Ann say about the gym", "May 2024", "main.go token lisbon")


def apply(index: PassageIndex, model: dict[str, Passage], change: tuple[str, object]) -> None:
    """Change the index, and a plain ordered dict that says what it should hold."""
    match change:
        case ("add", Passage() as passage):
            index.add(passage)
            model[passage.id] = passage
        case ("remove", str(passage_id)):
            assert index.remove(passage_id) == (model.pop(passage_id, None) is not None)
        case ("replace", list(passages)):
            index.replace(passages)
            model.clear()
            model.update({p.id: p for p in passages})
        case ("search", str(query)):
            index.search(query, 3)


@given(st.lists(_change, max_size=25))
@settings(max_examples=60, deadline=None)
def test_a_changed_index_answers_like_a_fresh_one(changes: list[tuple[str, object]]) -> None:
    index: PassageIndex = PassageIndex()
    model: dict[str, Passage] = {}
    for change in changes:
        apply(index, model, change)
    fresh = PassageIndex(model.values())
    assert len(index) == len(model)
    for query in _QUERIES:
        assert [(h.id, h.score, h.coverage, h.why) for h in index.search(query, 10)] == [
            (h.id, h.score, h.coverage, h.why) for h in fresh.search(query, 10)
        ]


@given(st.lists(_passage, max_size=12, unique_by=lambda p: p.id), _text, st.integers(0, 12))
@settings(max_examples=60, deadline=None)
def test_answers_are_deterministic_sorted_and_bounded(passages: list[Passage], query: str, k: int) -> None:
    index = PassageIndex(passages)
    hits = index.search(query, k)
    assert hits == index.search(query, k) == PassageIndex(passages).search(query, k)
    assert len(hits) <= k
    assert len({hit.id for hit in hits}) == len(hits)
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert all(hit.score > 0 and 0 <= hit.coverage <= 1 and hit.why for hit in hits)


@given(st.lists(_passage, max_size=12, unique_by=lambda p: p.id), _text)
@settings(max_examples=40, deadline=None)
def test_fewer_hits_are_the_beginning_of_more(passages: list[Passage], query: str) -> None:
    index = PassageIndex(passages)
    assert index.search(query, 2) == index.search(query, 12)[:2]
