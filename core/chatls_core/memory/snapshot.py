"""All that is remembered at one moment, and how each item of it is searched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chatls_core.memory.alive import Alive
from chatls_core.memory.profile_view import profile_view
from chatls_core.memory.records import EPOCH, Episode, Fact, HistoryEntry, Profile, Project, Topic
from chatls_core.memory.slots import asked_with
from chatls_core.memory.views import RecallItem
from chatls_core.text.cut import by_chars

if TYPE_CHECKING:
    from chatls_core.text.passages import Passage


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that is remembered at one moment."""

    alive: Alive
    history: tuple[HistoryEntry, ...]
    episodes: Mapping[str, Episode]
    topics: tuple[Topic, ...]
    projects: tuple[Project, ...]
    profile: Profile


def remembered(now: Snapshot, *, private: bool = True) -> dict[str, str]:
    """The texts that get vectors, by key, the most important facts first; without ``private`` no sensitive fact."""
    facts = (f for f in now.alive.ranked if private or not now.alive.is_sensitive(f))
    found = {f"fact:{fact.id}": fact.content for fact in facts}
    return found | {f"episode:{episode.id}": episode.summary for episode in now.episodes.values()}


def beside_facts(now: Snapshot) -> Iterator[tuple[str, object]]:
    """Everything that can be found but facts, by a key that says its kind."""
    for entry in now.history:
        if entry.reason != "contested":
            yield f"past:{past_id(entry)}", entry
    for episode in now.episodes.values():
        yield f"episode:{episode.id}", episode
    for topic in now.topics:
        yield f"topic:{topic.name}", topic
    for project in now.projects:
        yield f"project:{project.name.lower()}", project
    for position, field in enumerate(profile_view(now.profile, EPOCH).fields):
        yield f"profile:{position}", f"{field.key.removeprefix('env_').replace('_', ' ')} {field.value}"


def passage(key: str, item: object, now: Snapshot) -> Passage:
    """An item as the ranker reads it."""
    from chatls_core.text.passages import Passage

    match item:
        case Fact():
            names = (Path(item.source_project).name,) if item.source_project else ()
            tags = (*(item.tags or ()), *names, *asked_with(item.content))
            return Passage(key, item.content, now.alive.valid_from(item), tags)
        case HistoryEntry():
            tags = (*(item.fact.tags or ()), *asked_with(item.fact.content))
            return Passage(key, item.fact.content, item.valid_from, tags)
        case Episode():
            text = " ".join((item.summary, item.outcome, Path(item.project).name, *item.refs))
            return Passage(key, text, item.date)
        case Topic():
            return Passage(key, f"{item.name} {item.summary}")
        case Project():
            return Passage(key, " ".join((item.name, item.description, *item.technologies)))
        case _:
            return Passage(key, str(item))


def past_id(entry: HistoryEntry) -> str:
    """Id of a past value: its fact's id and the moment it ended."""
    return f"{entry.fact.id}@{entry.valid_to:%Y%m%dT%H%M%S}"


def entry_of(now: Snapshot, key: str) -> HistoryEntry | None:
    """The past value with this id."""
    return next((e for e in now.history if past_id(e) == key), None)


def successor(now: Snapshot, key: str) -> Fact | None:
    """The fact that holds now in the place of a past value; ``None`` where nothing took its place."""
    seen: set[str] = set()
    entry = entry_of(now, key)
    while entry is not None and entry.reason != "contested" and entry.superseded_by not in seen:
        if (fact := now.alive.facts.get(entry.superseded_by)) is not None:
            return fact
        seen.add(entry.superseded_by)
        entry = next((e for e in reversed(now.history) if e.fact.id == entry.superseded_by), None)
    return None


def is_sensitive(now: Snapshot, item: RecallItem) -> bool:
    """Whether a found item is for the user alone: nobody brings it up unasked."""
    if item.kind == "profile":
        return item.category == "sensitive"
    if item.kind == "past":
        entry = entry_of(now, item.id)
        return entry is not None and now.alive.is_sensitive(entry.fact)
    fact = now.alive.facts.get(item.id)
    return fact is not None and now.alive.is_sensitive(fact)


def title(text: str, limit: int = 60) -> str:
    """The first line of a text, cut at a character."""
    return by_chars(text.strip().split("\n", 1)[0], limit)
