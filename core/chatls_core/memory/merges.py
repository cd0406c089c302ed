"""How two states of a file that grew apart become one (spec/memory.md §3.3).

Every rule is commutative, associative and idempotent: whichever process merges first, all end up with the same state.
"""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel

from chatls_core.memory.records import (
    EPOCH,
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

K = TypeVar("K")
V = TypeVar("V")
M = TypeVar("M", bound=BaseModel)


def union(a: Mapping[K, V], b: Mapping[K, V], both: Callable[[V, V], V]) -> dict[K, V]:
    """All keys of two maps; ``both`` decides where both have one."""
    merged = dict(a)
    for key, value in b.items():
        merged[key] = both(merged[key], value) if key in merged else value
    return merged


def rank(value: object) -> str:
    """A total order over JSON-like values, for choices that only need to be the same everywhere."""
    return json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)


def pick(a: V, b: V) -> V:
    """One of two values, the same one whichever comes first; something beats nothing."""
    if bool(a) != bool(b):
        return a if a else b
    return max((a, b), key=rank)


def fold_union(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    """Entries of two lists, equal when trimmed and without case; sorted where both have some and they differ."""
    if a == b or not (a and b):
        return a or b
    spellings: dict[str, str] = {}
    for entry in (*a, *b):
        key = entry.strip().casefold()
        spellings[key] = max(spellings.get(key, entry), entry)
    return tuple(spellings[key] for key in sorted(spellings))


def later(a: datetime | None, b: datetime | None) -> datetime | None:
    """The later time; a time beats none."""
    return max((t for t in (a, b) if t is not None), default=None)


def _extras(a: BaseModel, b: BaseModel) -> dict[str, Any]:
    return union(a.__pydantic_extra__ or {}, b.__pydantic_extra__ or {}, pick)


def _with(a: M, b: M, **fields: Any) -> M:
    """A record with ``fields`` and both records' unknown fields."""
    return type(a).model_construct(**{**_extras(a, b), **dict(a), **dict(b), **_extras(a, b), **fields})


def fact(a: Fact, b: Fact) -> Fact:
    """Two copies of one fact.

    The later ``created_at`` stands, so that a copy that outlives its tombstone still does after a merge.
    """
    return _with(
        a,
        b,
        id=a.id,
        content=pick(a.content, b.content),
        category=a.category
        if b.category == "general"
        else b.category
        if a.category == "general"
        else pick(a.category, b.category),
        tags=fold_union(a.tags or (), b.tags or ()),
        created_at=max(a.created_at, b.created_at),
        last_accessed=max(a.last_accessed, b.last_accessed),
        access_count=max(a.access_count, b.access_count),
        score=max(a.score, b.score),
        source=pick(a.source, b.source),
        source_project=pick(a.source_project, b.source_project),
        confidence=max(a.confidence, b.confidence),
        provenance=pick(a.provenance, b.provenance),
    )


def facts(a: tuple[Fact, ...], b: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Union by id, best score first."""
    return sort_facts(union(by_id(a), by_id(b), fact).values())


def by_id(items: Iterable[Fact]) -> dict[str, Fact]:
    """Facts by id; copies of one id are merged."""
    found: dict[str, Fact] = {}
    for item in items:
        found[item.id] = fact(found[item.id], item) if item.id in found else item
    return found


def sort_facts(items: Iterable[Fact]) -> tuple[Fact, ...]:
    """The order of ``memory_index.json``: by score, then id."""
    return tuple(sorted(items, key=_order))


_FEW = 50
"""New ones that are put in their places one by one."""


def placed(items: Iterable[Fact], new: Sequence[Fact], leaving: Iterable[Fact] = ()) -> tuple[Fact, ...]:
    """``items``, in the order of the file, without ``leaving``, with ``new`` in their places (instead of what has their
    ids); sorting 100,000 for one takes half a second.
    """
    gone = {fact.id for fact in (*new, *leaving)}
    others = [item for item in items if item.id not in gone]
    if len(new) > _FEW:
        return sort_facts((*others, *new))
    for fact in new:
        insort(others, fact, key=_order)
    return tuple(others)


def _order(item: Fact) -> tuple[float, str]:
    return -item.score, item.id


def times(a: Mapping[str, datetime], b: Mapping[str, datetime]) -> dict[str, datetime]:
    """Tombstones: the later time wins."""
    return union(a, b, max)


def nested_times(
    a: Mapping[str, Mapping[str, datetime]], b: Mapping[str, Mapping[str, datetime]]
) -> dict[str, dict[str, datetime]]:
    """Tombstones of list items by field."""
    return {key: times(a.get(key, {}), b.get(key, {})) for key in {**a, **b}}


def episode(a: Episode, b: Episode) -> Episode:
    """Two copies of one episode: an outcome is filled, references are united."""
    return _with(
        a,
        b,
        id=a.id,
        date=min((e.date for e in (a, b) if e.date != EPOCH), default=EPOCH),
        project=pick(a.project, b.project),
        summary=pick(a.summary, b.summary),
        outcome=pick(a.outcome, b.outcome),
        refs=fold_union(a.refs, b.refs),
        source=pick(a.source, b.source),
        created_at=max(a.created_at, b.created_at),
    )


def episodes(a: tuple[Episode, ...], b: tuple[Episode, ...]) -> tuple[Episode, ...]:
    """Union by id, oldest first."""
    return sort_episodes(union(episodes_by_id(a), episodes_by_id(b), episode).values())


def episodes_by_id(items: Iterable[Episode]) -> dict[str, Episode]:
    """Episodes by id; copies are merged."""
    found: dict[str, Episode] = {}
    for item in items:
        found[item.id] = episode(found[item.id], item) if item.id in found else item
    return found


def sort_episodes(items: Iterable[Episode]) -> tuple[Episode, ...]:
    """The order of ``episodes.json``: by date, then id."""
    return tuple(sorted(items, key=lambda e: (e.date, e.id)))


def topic(a: Topic, b: Topic) -> Topic:
    """Two copies of one topic: the later one's summary, the larger count."""
    return _with(
        a,
        b,
        name=pick(a.name, b.name),
        mentions=max(a.mentions, b.mentions),
        summary=max((bool(t.summary), t.last_seen, t.summary) for t in (a, b))[2],
        first_seen=min((t.first_seen for t in (a, b) if t.first_seen != EPOCH), default=EPOCH),
        last_seen=max(a.last_seen, b.last_seen),
        related_fact_ids=fold_union(a.related_fact_ids, b.related_fact_ids),
    )


def topics(a: tuple[Topic, ...], b: tuple[Topic, ...]) -> tuple[Topic, ...]:
    """Union by exact name, most mentioned first."""
    return sort_topics(union(topics_by_name(a), topics_by_name(b), topic).values())


def topics_by_name(items: Iterable[Topic]) -> dict[str, Topic]:
    """Topics by exact name; copies are merged."""
    found: dict[str, Topic] = {}
    for item in items:
        found[item.name] = topic(found[item.name], item) if item.name in found else item
    return found


def sort_topics(items: Iterable[Topic]) -> tuple[Topic, ...]:
    """The order of ``topics.json``."""
    return tuple(sorted(items, key=lambda t: (-t.mentions, t.name)))


PROJECT_VALUES = ("path", "description", "status", "priority")
FIELD_TIMES = "field_times"
"""An unknown field to ChatCLI: when each value of a merged project was said, so that a merge of merges still knows."""


def project(a: Project, b: Project) -> Project:
    """Two copies of one project: what the more recently active one says, filled from the other."""
    if a == b:
        return a
    chosen: dict[str, Any] = {}
    said: dict[str, str] = {}
    for field in PROJECT_VALUES:
        values = [getattr(p, field) for p in (a, b)]
        filled, time, _, index = max((bool(v), _said_at((a, b)[i], field), rank(v), i) for i, v in enumerate(values))
        chosen[field] = values[index]
        if filled:
            said[field] = time.isoformat()
    return _with(
        a,
        b,
        name=pick(a.name, b.name),
        **chosen,
        technologies=fold_union(a.technologies, b.technologies),
        key_files=fold_union(a.key_files, b.key_files),
        last_active=max(a.last_active, b.last_active),
        metadata=union(a.metadata, b.metadata, pick),
        **{FIELD_TIMES: said},
    )


def _said_at(owner: Project, field: str) -> datetime:
    stamps = _extra_of(owner).get(FIELD_TIMES)
    if isinstance(stamps, Mapping) and isinstance(text := stamps.get(field), str):
        try:
            return min(datetime.fromisoformat(text), owner.last_active)
        except (ValueError, TypeError):
            return owner.last_active
    return owner.last_active


def projects(a: tuple[Project, ...], b: tuple[Project, ...]) -> tuple[Project, ...]:
    """Union by name without case, most recently active first."""
    return sort_projects(union(projects_by_name(a), projects_by_name(b), project).values())


def projects_by_name(items: Iterable[Project]) -> dict[str, Project]:
    """Projects by lower-cased name; copies are merged."""
    found: dict[str, Project] = {}
    for item in items:
        key = item.name.lower()
        found[key] = project(found[key], item) if key in found else item
    return found


def sort_projects(items: Iterable[Project]) -> tuple[Project, ...]:
    """The order of ``projects.json``."""
    return tuple(sorted(items, key=lambda p: (-p.last_active.timestamp(), p.name)))


def usage(a: Usage, b: Usage) -> Usage:
    """Counters only grow, so the larger of two is the later one."""
    size = max(len(a.hour_distribution), len(b.hour_distribution), 24)
    hours = [max(a.hour_distribution[i : i + 1] + b.hour_distribution[i : i + 1] or (0,)) for i in range(size)]
    errors = union(
        {e.pattern: e for e in a.common_errors},
        {e.pattern: e for e in b.common_errors},
        lambda x, y: max(x, y, key=lambda e: (e.count, e.last_seen, e.resolution, rank(e.model_dump(mode="json")))),
    )
    newest = max((a, b), key=lambda u: (u.session_count, u.avg_session_secs))
    return _with(
        a,
        b,
        session_count=max(a.session_count, b.session_count),
        total_messages=max(a.total_messages, b.total_messages),
        avg_session_secs=newest.avg_session_secs,
        hour_distribution=tuple(hours),
        command_frequency=union(a.command_frequency, b.command_frequency, max),
        feature_usage=union(a.feature_usage, b.feature_usage, max),
        common_errors=tuple(sorted(errors.values(), key=lambda e: (-e.count, e.pattern))),
        last_session=later(a.last_session, b.last_session),
    )


SCALARS = (
    "name",
    "role",
    "expertise_level",
    "preferred_language",
    "communication_style",
    "company",
    "location",
)
LISTS = ("certifications", "skills", "goals", "interests", "directives")


def field_meta(a: FieldMeta, b: FieldMeta) -> FieldMeta:
    """The later change wins; the later confirmation is kept."""
    first, second = sorted((a, b), key=_change_order)
    return _with(
        first,
        second,
        source=second.source,
        updated_at=second.updated_at,
        confirmed_at=later(a.confirmed_at, b.confirmed_at),
        sensitive=second.sensitive,
    )


def _change_order(meta: FieldMeta) -> tuple[datetime, bool, str, bool, str]:
    return (meta.updated_at or EPOCH, meta.updated_at is not None, meta.source, meta.sensitive, rank(_extra_of(meta)))


def _extra_of(model: BaseModel) -> Mapping[str, Any]:
    return model.__pydantic_extra__ or {}


def profile(a: Profile, b: Profile) -> Profile:
    """Scalars and preferences: the later change wins; lists and maps are united."""
    if a == b:
        return a
    a, b = _stamped(a), _stamped(b)

    def changed(owner: Profile, key: str) -> datetime:
        meta = owner.field_meta.get(key)
        return (meta.updated_at if meta else None) or EPOCH

    def scalar(field: str) -> str:
        choices = [(changed(p, field), bool(getattr(p, field)), str(getattr(p, field))) for p in (a, b)]
        return max(choices)[2]

    preferences = {
        key: max((changed(p, f"pref:{key}"), p.preferences[key]) for p in (a, b) if key in p.preferences)[1]
        for key in {**a.preferences, **b.preferences}
    }
    milestones = {(m.text, m.date): m for m in sorted((*a.milestones, *b.milestones), key=_rank_of)}
    stances: dict[str, Stance] = {}
    for stance in sorted((*a.stances, *b.stances), key=lambda s: (s.updated_at, _rank_of(s))):
        stances[stance.position.strip().casefold()] = stance
    return _with(
        a,
        b,
        **{field: scalar(field) for field in SCALARS},
        **{field: fold_union(getattr(a, field), getattr(b, field)) for field in LISTS},
        milestones=_settled(a.milestones, b.milestones, sorted(milestones.values(), key=lambda m: (m.date, m.text))),
        stances=_settled(a.stances, b.stances, [stances[key] for key in sorted(stances)]),
        environment=union(a.environment, b.environment, pick),
        preferences=preferences,
        top_commands=union(a.top_commands, b.top_commands, max),
        field_meta=union(a.field_meta, b.field_meta, field_meta),
        last_updated=max(a.last_updated, b.last_updated),
    )


def _stamped(owner: Profile) -> Profile:
    """A profile whose values each say when they were set, so that a merge of merges still knows."""
    keys = [f for f in SCALARS if getattr(owner, f)] + [f"pref:{k}" for k in owner.preferences]
    fresh = {
        key: (owner.field_meta.get(key) or FieldMeta()).model_copy(update={"updated_at": owner.last_updated})
        for key in keys
        if (meta := owner.field_meta.get(key)) is None or meta.updated_at is None
    }
    return owner.model_copy(update={"field_meta": {**owner.field_meta, **fresh}}) if fresh else owner


def _rank_of(model: Milestone | Stance) -> str:
    return rank(model.model_dump(mode="json"))


def _settled(a: tuple[M, ...], b: tuple[M, ...], merged: list[M]) -> tuple[M, ...]:
    return a if a == b else tuple(merged)


def origins(a: tuple[Origin, ...], b: tuple[Origin, ...]) -> tuple[Origin, ...]:
    """All distinct sources, oldest first."""
    seen = {rank(o.model_dump(mode="json")): o for o in (*a, *b)}
    return tuple(sorted(seen.values(), key=lambda o: (o.time, rank(o.model_dump(mode="json")))))


def edit(a: Edit, b: Edit) -> Edit:
    """The later edit of a field holds; its former names are all kept."""
    first, second = sorted((a, b), key=lambda e: (e.time, e.text, rank(_extra_of(e))))
    return _with(first, second, text=second.text, time=second.time, was=fold_union(a.was, b.was))


def details(a: Details, b: Details) -> Details:
    """Sources are united; a flag set later wins, and so does an edit."""

    def flag(name: str) -> tuple[datetime | None, bool]:
        value = max(
            ((getattr(d, f"{name}_at") or EPOCH, getattr(d, name), getattr(d, f"{name}_at")) for d in (a, b)),
            key=lambda t: (t[0], t[1]),
        )
        return value[2], value[1]

    pinned_at, pinned = flag("pinned")
    sensitive_at, sensitive = flag("sensitive")
    return _with(
        a,
        b,
        valid_from=min((d.valid_from for d in (a, b) if d.valid_from is not None), default=None),
        sources=a.sources if a.sources == b.sources else origins(a.sources, b.sources),
        pinned=pinned,
        pinned_at=pinned_at,
        sensitive=sensitive,
        sensitive_at=sensitive_at,
        edits=union(a.edits, b.edits, edit),
    )


def all_details(a: Mapping[str, Details], b: Mapping[str, Details]) -> dict[str, Details]:
    """Union by item id."""
    return union(a, b, details)


def history(a: tuple[HistoryEntry, ...], b: tuple[HistoryEntry, ...]) -> tuple[HistoryEntry, ...]:
    """Union by fact and period, oldest first."""
    if a == b:
        return a
    found: dict[tuple[str, datetime, datetime], HistoryEntry] = {}
    for entry in sorted((*a, *b), key=lambda e: rank(e.model_dump(mode="json"))):
        found[entry.fact.id, entry.valid_from, entry.valid_to] = entry
    return tuple(sorted(found.values(), key=lambda e: (e.valid_to, e.valid_from, e.fact.id)))


def undo(a: tuple[UndoEntry, ...], b: tuple[UndoEntry, ...]) -> tuple[UndoEntry, ...]:
    """Union by token; an entry used anywhere is used."""
    found: dict[str, UndoEntry] = {}
    for entry in sorted((*a, *b), key=lambda e: (e.used, rank(e.model_dump(mode="json")))):
        found[entry.token] = entry
    return tuple(sorted(found.values(), key=lambda e: (e.time, e.token)))
