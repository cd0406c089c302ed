"""Merging is commutative, associative and idempotent for every store, and keeps unknown fields."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.memory import merges
from chatls_core.memory.records import (
    Details,
    Edit,
    Episode,
    Fact,
    FieldMeta,
    HistoryEntry,
    Milestone,
    Origin,
    Profile,
    Project,
    Stance,
    Topic,
    UndoEntry,
    Usage,
)

times = st.integers(0, 4).map(lambda n: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=n))
words = st.sampled_from(["", "a", "B", "ção"])
names = st.sampled_from(["x", "y", "Z"])
lists = st.lists(words.filter(bool), max_size=3, unique_by=str.casefold).map(tuple)
extras = st.fixed_dictionaries({}, optional={"unknown": st.sampled_from(["1", "2"])})
ids = st.sampled_from(["i1", "i2"])


def records(model: type[Any], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.fixed_dictionaries({}, optional=fields), extras).map(lambda p: model(**p[0], **p[1]))


def listed(records_: st.SearchStrategy[Any], settle: Callable[[tuple[Any, ...]], Any]) -> st.SearchStrategy[Any]:
    return st.lists(records_, max_size=3).map(tuple).map(settle)


facts = listed(
    st.tuples(ids, records(
        Fact, category=st.sampled_from(["general", "project"]), tags=lists, created_at=times, last_accessed=times,
        access_count=st.integers(0, 3), confidence=st.sampled_from([0.0, 0.6, 0.9]), provenance=words,
    )).map(lambda p: p[1].model_copy(update={"id": p[0], "content": p[0]})),
    lambda t: merges.facts(t, ()),
)  # fmt: skip
episodes = listed(
    st.tuples(ids, records(Episode, date=times, summary=words, outcome=words, refs=lists, created_at=times)).map(
        lambda p: p[1].model_copy(update={"id": p[0]})
    ),
    lambda t: merges.episodes(t, ()),
)
topics = listed(
    st.tuples(names, records(
        Topic, mentions=st.integers(0, 3), summary=words, first_seen=times, last_seen=times, related_fact_ids=lists,
    )).map(lambda p: p[1].model_copy(update={"name": p[0]})),
    lambda t: merges.topics(t, ()),
)  # fmt: skip
projects = listed(
    st.tuples(names, records(
        Project, path=words, description=words, status=words, technologies=lists, key_files=lists, last_active=times,
        metadata=st.dictionaries(names, words, max_size=2),
    )).map(lambda p: p[1].model_copy(update={"name": p[0]})),
    lambda t: merges.projects(t, ()),
)  # fmt: skip
metas = records(FieldMeta, source=words, updated_at=times, confirmed_at=times, sensitive=st.booleans())
profiles = records(
    Profile, name=words, role=words, skills=lists, goals=lists,
    milestones=st.lists(st.builds(Milestone, date=times, text=words), max_size=2).map(tuple),
    stances=st.lists(st.builds(Stance, position=names, reason=words, updated_at=times), max_size=2).map(tuple),
    environment=st.dictionaries(names, words, max_size=2), preferences=st.dictionaries(names, words, max_size=2),
    top_commands=st.dictionaries(names, st.integers(0, 3), max_size=2),
    field_meta=st.dictionaries(st.sampled_from(["name", "role", "pref:x", "environment"]), metas, max_size=2),
    last_updated=times,
).map(lambda p: merges.profile(p, Profile()))  # fmt: skip
usages = records(
    Usage, session_count=st.integers(0, 3), total_messages=st.integers(0, 3), feature_usage=st.dictionaries(
        names, st.integers(0, 3), max_size=2), last_session=times,
)  # fmt: skip
origins = st.builds(Origin, kind=st.sampled_from(["user", "import"]), session=words, time=times)
edits = st.dictionaries(names, st.builds(Edit, text=words, time=times, was=lists), max_size=2)
details = st.dictionaries(
    ids,
    records(
        Details, valid_from=times, sources=st.lists(origins, max_size=2).map(tuple), pinned=st.booleans(),
        pinned_at=times, sensitive=st.booleans(), sensitive_at=times, edits=edits,
    ).map(lambda d: merges.details(d, d.model_copy(update={"sources": ()}))),
    max_size=2,
)  # fmt: skip
histories = listed(
    st.builds(HistoryEntry, valid_from=times, valid_to=times, superseded_by=words, fact=st.builds(Fact, id=ids)),
    lambda t: merges.history(t, (HistoryEntry(),)),
)
undos = listed(st.builds(UndoEntry, token=names, time=times, used=st.booleans()), lambda t: merges.undo(t, ()))
stones = st.dictionaries(names, times, max_size=3)

STORES: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any, Any], Any]]] = {
    "facts": (facts, merges.facts),
    "tombstones": (stones, merges.times),
    "episodes": (episodes, merges.episodes),
    "topics": (topics, merges.topics),
    "projects": (projects, merges.projects),
    "profile": (profiles, merges.profile),
    "usage": (usages, merges.usage),
    "details": (details, merges.all_details),
    "history": (histories, merges.history),
    "undo": (undos, merges.undo),
}


@pytest.mark.parametrize("name", STORES)
def test_the_order_of_merging_does_not_matter(name: str) -> None:
    values, merge = STORES[name]

    @settings(max_examples=20, deadline=None)
    @given(values, values, values)
    def holds(a: Any, b: Any, c: Any) -> None:
        assert merge(a, b) == merge(b, a)
        assert merge(a, merge(b, c)) == merge(merge(a, b), c)
        assert merge(a, merge(a, b)) == merge(a, b)
        assert merge(a, a) == a

    holds()


def test_unknown_fields_of_both_sides_are_kept() -> None:
    a = Topic.model_validate({"name": "x", "mine": 1})
    b = Topic.model_validate({"name": "x", "theirs": 2})
    merged = merges.topic(a, b).model_dump()
    assert (merged["mine"], merged["theirs"]) == (1, 2)
