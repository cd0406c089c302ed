"""What contains the words a person is typing, be it as parts of words, in any kind of item: for the Memory view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice

from chatls_core.memory import provenance
from chatls_core.memory.profile_text import fold
from chatls_core.memory.profile_view import profile_view
from chatls_core.memory.records import Fact
from chatls_core.memory.retrieval import episode_item
from chatls_core.memory.snapshot import Snapshot
from chatls_core.memory.views import RecallItem, SourceView

_Holds = Callable[..., bool]
"""Whether all the words stand in some texts together."""


def containing(now: Snapshot, text: str, limit: int, moment: datetime) -> tuple[RecallItem, ...]:
    """Items in which all the typed words stand, be it as parts of words: facts by score, then the rest."""
    words = fold(text).split()
    if not words:
        return ()
    why = f"contains “{' '.join(text.split())}”"

    def holds(*texts: str) -> bool:
        folded = fold(" ".join(texts))
        return all(word in folded for word in words)

    return tuple(islice(_found(now, holds, why, moment), max(0, limit)))


def _found(now: Snapshot, holds: _Holds, why: str, moment: datetime) -> Iterator[RecallItem]:
    details = now.alive.details

    def said(item_id: str, kind: str, time: datetime) -> SourceView:
        return provenance.latest(details, item_id) or SourceView(kind.split(" ")[0] or "extraction", time=time)

    for fact in now.alive.ranked:
        if holds(fact.content):
            yield _fact_item(fact, now, why, said(fact.id, fact.provenance, fact.created_at))
    for episode in sorted(now.episodes.values(), key=lambda e: e.date, reverse=True):
        if holds(episode.summary, episode.outcome, episode.project, *episode.refs):
            yield episode_item(now, episode, 0.0, why)
    for topic in now.topics:
        if holds(topic.name, topic.summary):
            key = f"topic:{topic.name}"
            source = said(key, "", topic.last_seen)
            yield RecallItem("topic", key, _joined(topic.name, topic.summary), 0.0, why, source, topic.last_seen)
    for p in now.projects:
        if holds(p.name, p.description, p.path, *p.technologies):
            key = f"project:{p.name.lower()}"
            source = said(key, "", p.last_active)
            yield RecallItem("project", key, _joined(p.name, p.description), 0.0, why, source, p.last_active)
    for field in profile_view(now.profile, moment).fields:
        if holds(field.key, field.value):
            time = field.updated_at or now.profile.last_updated
            source, text = said(field.id, field.source, time), f"{field.key}: {field.value}"
            kind = "sensitive" if field.sensitive else "profile"
            yield RecallItem("profile", field.id, text, 0.0, why, source, field.updated_at, kind)


def _fact_item(fact: Fact, now: Snapshot, why: str, source: SourceView) -> RecallItem:
    since, where = now.alive.valid_from(fact), fact.source_project
    return RecallItem("fact", fact.id, fact.content, 0.0, why, source, since, fact.category, where)


def _joined(name: str, about: str) -> str:
    return f"{name} — {about}" if about else name
