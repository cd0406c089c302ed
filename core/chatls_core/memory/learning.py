"""What a conversation leaves behind besides facts: episodes, topics, projects, habits (spec/memory.md §6, §7).

The background worker and the import write through here. Items that were forgotten stay forgotten: a copy that another
process still holds is older than its tombstone.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import reduce
from typing import TypeVar

from chatls_core.memory import merges, provenance
from chatls_core.memory.edited import NAME, as_edited, id_of
from chatls_core.memory.identity import episode_id
from chatls_core.memory.records import Episode, ErrorPattern, Fact, Project, Topic, Usage
from chatls_core.memory.stores import Stores
from chatls_core.memory.views import Source
from chatls_core.memory.withheld import scrub_record
from chatls_core.store import Clock, StoreReadOnlyError
from chatls_core.text import tokenizer
from chatls_core.text.cut import by_bytes, encodable

logger = logging.getLogger(__name__)

MAX_EPISODES = 2000
TOPIC_SUMMARY_BYTES = 240
MAX_ERRORS = 50
MAX_COMMANDS = 200
MAX_KEY_FILES = 20
MAX_PRIORITY = 10.0
_PRIORITIES = {
    **dict.fromkeys(("high", "urgent", "top", "alta", "urgente"), 3.0),
    **dict.fromkeys(("normal", "medium", "media"), 2.0),
    **dict.fromkeys(("low", "baixa"), 1.0),
}
_TICK = timedelta(microseconds=1)
_STATUSES = {
    **dict.fromkeys(("active", "ativo", "ativa"), "active"),
    **dict.fromkeys(("paused", "pausado", "pausada"), "paused"),
    **dict.fromkeys(("completed", "done", "concluido", "concluído", "concluida", "concluída"), "completed"),
}

M = TypeVar("M")


def clean_line(text: str) -> str:
    """A text on one line, without what memory never keeps."""
    return scrub_record(" ".join(text.split()))


def topic_name(text: str) -> str:
    """A topic's name (spec/memory.md §6.1); empty for a text that is none."""
    name = scrub_record(text.strip()).strip("-•*# ").strip()
    return name if len(name) >= 2 else ""


def status_word(text: str) -> str:
    """A project's status in the word the files have for it; others as they are given (spec/memory.md §6.2)."""
    return _STATUSES.get(text.lower(), text)


class Learning:
    """Writes episodes, topics, projects and usage. Thread-safe."""

    def __init__(self, stores: Stores, clock: Clock) -> None:
        self._stores = stores
        self._clock = clock

    # Reading: what is on disk without what was forgotten

    def episodes(self) -> tuple[Episode, ...]:
        """Episodes, oldest first."""
        episodes, edits = self._stores.episodes.read(), self._stores.side.read().items
        living = _living(episodes, lambda e: (e.id, e.created_at), self._gone("episode"))
        return tuple(as_edited(e, edits.get(e.id)) for e in living)

    def topics(self) -> tuple[Topic, ...]:
        """Topics, most mentioned first."""
        topics, edits = self._stores.topics.read(), self._stores.side.read().items
        living = _living(topics, lambda t: (id_of(t), t.last_seen), self._gone("topic"))
        return tuple(as_edited(t, edits.get(id_of(t))) for t in living)

    def projects(self) -> tuple[Project, ...]:
        """Projects, most recently active first."""
        projects, edits = self._stores.projects.read(), self._stores.side.read().items
        living = _living(projects, lambda p: (id_of(p), p.last_active), self._gone("project"))
        return tuple(as_edited(p, edits.get(id_of(p))) for p in living)

    def _gone(self, kind: str) -> Mapping[str, datetime]:
        return self._stores.side.read().list_tombstones.get(kind, {})

    def _forgotten_since(self, kind: str, key: str, said: datetime) -> bool:
        """Whether an item was forgotten after it was said, be it learned only now."""
        gone = self._gone(kind).get(key)
        return gone is not None and self._is_later(gone, said)

    def _is_later(self, time: datetime, said: datetime) -> bool:
        """Whether ``time`` lies after ``said``. A time to come, left by a clock set back since, tells nothing."""
        return said < time <= self._clock()

    # Writing

    def episode(
        self, summary: str, *, outcome: str, refs: Sequence[str], project: str, date: datetime, source: Source
    ) -> tuple[str, bool]:
        """Record finished work; returns its id and whether it is new.

        Raises :class:`ValueError` for a blank summary, and for work that was forgotten after it was told.
        """
        summary, project = clean_line(summary), encodable(project)
        if not summary:
            raise ValueError("An episode needs a summary.")
        new_id = self._corrected(episode_id(date, project, summary))
        gone = self._gone("episode").get(new_id)
        now = self._clock()
        if source.kind == "extraction" and self._forgotten_since("episode", new_id, source.time or now):
            raise ValueError("It was forgotten after it was told.")
        episode = Episode(
            id=new_id,
            date=date,
            project=project,
            summary=summary,
            outcome=clean_line(outcome),
            refs=tuple(dict.fromkeys(clean_line(r) for r in refs if r.strip())),
            source="user" if source.kind in ("user", "correction") else "extraction",
            created_at=max(now, gone + _TICK) if gone else now,
        )
        provenance.note(self._stores, [new_id], source, now)

        def change(disk: tuple[Episode, ...]) -> tuple[tuple[Episode, ...], bool]:
            known = merges.episodes_by_id(disk)
            added = new_id not in known
            if not added:
                old = known[new_id]
                episode_refs = tuple(dict.fromkeys((*old.refs, *episode.refs)))
                newer = old.model_copy(update={"outcome": old.outcome or episode.outcome, "refs": episode_refs})
                newer = as_edited(newer, self._stores.side.read().items.get(new_id))
                if newer == old:
                    return disk, False
                known[new_id] = newer
            else:
                known[new_id] = episode
            return merges.sort_episodes(known.values())[-MAX_EPISODES:], added

        return new_id, self._stores.episodes.update(change)

    def _corrected(self, new_id: str) -> str:
        """The id of the episode the user gave the words that ``new_id`` stands for, or ``new_id``."""
        edited = self._stores.side.read().items
        for episode in self.episodes():
            known = edited.get(episode.id)
            worded = known is not None and "summary" in known.edits
            if worded and episode_id(episode.date, episode.project, episode.summary) == new_id:
                return episode.id
        return new_id

    def note_topics(
        self, topics: Mapping[str, str], *, facts: Iterable[Fact], time: datetime
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Count a mention of each topic (name → summary, may be empty) and link it to the facts that speak of it.

        A name the user changed means the topic it belonged to. Returns ``(new names, names seen again)``.
        """
        names = self._names(self._stores.topics.read())
        wanted = {
            n: s
            for name, s in topics.items()
            if (n := topic_name(name))
            and not self._forgotten_since("topic", f"topic:{names.get(n.casefold(), n)}", time)
        }
        if not wanted:
            return (), ()
        links = topic_links(wanted, facts)

        def change(disk: tuple[Topic, ...]) -> tuple[tuple[Topic, ...], tuple[tuple[str, ...], tuple[str, ...]]]:
            known = merges.topics_by_name(disk)
            names, edits = self._names(disk), self._stores.side.read().items
            new: list[str] = []
            again: list[str] = []
            for name, summary in wanted.items():
                key = names.get(name.casefold(), name)
                old = known.get(key) or Topic(name=key, mentions=0, first_seen=time, last_seen=time)
                (again if key in known else new).append(key)
                summary = by_bytes(clean_line(summary), TOPIC_SUMMARY_BYTES)
                newest = time >= old.last_seen
                seen = old.model_copy(
                    update={
                        "mentions": old.mentions + 1,
                        "last_seen": max(time, old.last_seen),
                        "first_seen": min(time, old.first_seen) if old.mentions else time,
                        "summary": summary if summary and (newest or not old.summary) else old.summary,
                        "related_fact_ids": merges.fold_union(old.related_fact_ids, tuple(sorted(links[name]))),
                    }
                )
                known[key] = as_edited(seen, edits.get(f"topic:{key}"))
            return merges.sort_topics(known.values()), (tuple(new), tuple(again))

        result = self._stores.topics.update(change)
        self._lift("topic", {f"topic:{n}" for n in (*result[0], *result[1])})
        return result

    def _names(self, topics: Iterable[Topic]) -> dict[str, str]:
        """What each topic is called, by the names it has and had, without case."""
        edits = self._stores.side.read().items
        living = {t.name: edits.get(id_of(t)) for t in self.topics()}
        former = {
            old.casefold(): name
            for name, known in living.items()
            if known and NAME in known.edits
            for old in known.edits[NAME].was
        }
        return {t.name.casefold(): t.name for t in topics} | former | {name.casefold(): name for name in living}

    def relink(self, replaced: Mapping[str, str]) -> None:
        """Link topics to the facts that took the place of others (§18.1 row 21).

        Never raises for the disk: most links are told by their words as well.
        """

        def relinked(topic: Topic) -> Topic:
            ids = topic.related_fact_ids
            if not replaced.keys() & set(ids):
                return topic
            return topic.model_copy(update={"related_fact_ids": tuple(dict.fromkeys(replaced.get(i, i) for i in ids))})

        def change(disk: tuple[Topic, ...]) -> tuple[tuple[Topic, ...], None]:
            new = tuple(map(relinked, disk))
            return (disk if all(a is b for a, b in zip(disk, new, strict=True)) else new), None

        try:
            if replaced:
                self._stores.topics.update(change)
        except (OSError, StoreReadOnlyError) as error:
            logger.warning("Links of topics could not be renewed: %s", error)

    def note_project(self, fields: Mapping[str, str], *, time: datetime) -> tuple[str, bool] | None:
        """Add to what is known of a project; ``fields`` as in spec/memory.md §6.2, with or without ``project_``.

        What was said before the project was last active only fills what is empty. Returns its name and whether anything
        changed; ``None`` without a name, and for a project that was forgotten after ``time``.
        """
        given = {k.strip().lower().removeprefix("project_"): clean_line(v) for k, v in fields.items()}
        name = given.get("name", "").strip().lower()
        if not name or self._forgotten_since("project", f"project:{name}", time):
            return None
        status = status_word(given.get("status", ""))
        technologies, key_files = (_parts(given.get(key, "")) for key in ("technologies", "key_files"))
        priority = _priority(given.get("priority", ""))

        def change(disk: tuple[Project, ...]) -> tuple[tuple[Project, ...], bool]:
            known = merges.projects_by_name(disk)
            old = known.get(name) or Project(name=name)
            folded = {t.casefold() for t in old.technologies}
            files = (*old.key_files, *key_files)
            late = name in known and self._is_later(old.last_active, time)

            def told(value: str, known: str) -> str:
                return known or value if late else value or known

            told_of = old.model_copy(
                update={
                    "path": told(given.get("path", ""), old.path),
                    "description": told(given.get("description", ""), old.description),
                    "status": told(status, old.status),
                    "priority": (old.priority or priority) if late else priority or old.priority,
                    "key_files": tuple(dict.fromkeys(files))[:MAX_KEY_FILES],
                    "technologies": (*old.technologies, *(t for t in technologies if t.casefold() not in folded)),
                }
            )
            new = as_edited(told_of, self._stores.side.read().items.get(f"project:{name}"))
            if name in known and new == old:
                return disk, False
            known[name] = new.model_copy(update={"last_active": max(time, old.last_active)})
            return merges.sort_projects(known.values()), True

        changed = self._stores.projects.update(change)
        self._lift("project", {f"project:{name}"})
        return name, changed

    def note_use(
        self,
        *,
        messages: int = 0,
        feature: str = "",
        session_seconds: float | None = None,
        started: bool = False,
        commands: Sequence[str] = (),
        errors: Sequence[str] = (),
        hour: int | None = None,
    ) -> None:
        """Count use (spec/memory.md §6.3): messages by local hour (0-23) and feature, sessions, commands, errors."""
        now = self._clock()

        def change(disk: Usage) -> tuple[Usage, None]:
            hours = [*disk.hour_distribution, *(0,) * (24 - len(disk.hour_distribution))]
            if hour is not None:
                hours[hour % 24] += messages
            features = dict(disk.feature_usage)
            if feature:
                features[feature] = features.get(feature, 0) + max(messages, 1)
            count = disk.session_count + (1 if started else 0)
            average = disk.avg_session_secs
            if session_seconds is not None and count:
                average += (session_seconds - average) / count
            return disk.model_copy(
                update={
                    "session_count": count,
                    "total_messages": disk.total_messages + messages,
                    "avg_session_secs": average,
                    "hour_distribution": tuple(hours),
                    "feature_usage": features,
                    "command_frequency": _with_commands(disk.command_frequency, commands),
                    "common_errors": reduce(
                        lambda known, error: _with_error(known, error, now), errors, disk.common_errors
                    ),
                    "last_session": now if started or session_seconds is not None else disk.last_session,
                }
            ), None

        self._stores.usage.update(change)

    def _lift(self, kind: str, keys: set[str]) -> None:
        """What is learned anew is no longer forgotten."""
        if keys & self._gone(kind).keys():
            self._stores.side.update(
                lambda s: (
                    s.model_copy(
                        update={
                            "list_tombstones": {
                                **s.list_tombstones,
                                kind: {k: t for k, t in s.list_tombstones.get(kind, {}).items() if k not in keys},
                            }
                        }
                    ),
                    None,
                )
            )


def _with_commands(known: Mapping[str, int], commands: Sequence[str]) -> dict[str, int]:
    counts = Counter(known) + Counter(name for command in commands if (name := by_bytes(clean_line(command), 60, "")))
    return dict(sorted(counts.items(), key=lambda c: (-c[1], c[0]))[:MAX_COMMANDS])


def _with_error(known: tuple[ErrorPattern, ...], error: str, now: datetime) -> tuple[ErrorPattern, ...]:
    text = by_bytes(clean_line(error), 100, "")
    if not text:
        return known
    head = by_bytes(text, 50, "")
    found = list(known)
    for position, old in enumerate(found):
        if head in old.pattern:
            found[position] = old.model_copy(update={"count": old.count + 1, "last_seen": now})
            break
    else:
        found.append(ErrorPattern(pattern=text, count=1, last_seen=now))
    return tuple(sorted(found, key=lambda e: (-e.count, e.pattern))[:MAX_ERRORS])


def _parts(value: str) -> tuple[str, ...]:
    return tuple(part for part in map(str.strip, re.split(r"[,;|]", value)) if part)


def _priority(value: str) -> float:
    """A project's weight in the graph: a number, or a word for one; 0 for what says neither."""
    if re.fullmatch(r"\d{1,3}(?:\.\d+)?", value):
        return min(float(value), MAX_PRIORITY)
    return _PRIORITIES.get(tokenizer.fold(value), 0.0)


def topic_links(topics: Iterable[str], facts: Iterable[Fact]) -> dict[str, set[str]]:
    """Which facts speak of which topic: all words of the topic's name occur in the fact (§18.1 row 30)."""
    wanted = {name: {tokenizer.stem(w.folded, "en") for w in tokenizer.topic_words(name)} for name in topics}
    links: dict[str, set[str]] = {name: set() for name in wanted}
    for fact in facts:
        stems = set(tokenizer.terms(fact.content, "en"))
        for name, needed in wanted.items():
            if needed and needed <= stems:
                links[name].add(fact.id)
    return links


def _living(
    items: tuple[M, ...], key: Callable[[M], tuple[str, datetime]], gone: Mapping[str, datetime]
) -> tuple[M, ...]:
    """Items that were not forgotten since."""
    if not gone:
        return items

    def alive(item: M) -> bool:
        item_id, time = key(item)
        return item_id not in gone or time >= gone[item_id]

    return tuple(i for i in items if alive(i))
