"""An answer becomes memory: each item with the time and the message it comes from (spec/memory.md §18.1 row 6).

Storing the same answer again changes nothing, so that storing may be cut at any point and begun again.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from chatls_core.memory.facts import clean_content
from chatls_core.memory.identity import fact_id
from chatls_core.memory.records import Origin
from chatls_core.memory.views import MemoryChange, Source
from chatls_core.memory.withheld import scrub
from chatls_core.memory.worker.parsing import Learned
from chatls_core.memory.worker.review import ReviewItem, ReviewStore, item_id
from chatls_core.memory.worker.segment import Line, Segment
from chatls_core.text import tokenizer

if TYPE_CHECKING:
    from chatls_core.memory.memory import Memory

logger = logging.getLogger(__name__)

_OF_THE_PROJECT = frozenset(("architecture", "pattern", "gotcha", "project"))
_ABOUT_THE_USER = frozenset(("fact", "profile"))


@dataclass
class Tally:
    """What an answer changed: new items by kind, and how many wait for acceptance."""

    kinds: Counter[str] = field(default_factory=Counter)
    waiting: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.kinds + other.kinds, self.waiting + other.waiting)

    @property
    def sentence(self) -> str:
        """``remembered 2 facts, 1 episode``; empty when only the diary grew."""
        parts = [
            f"{count} {word if count == 1 else plural}"
            for kind, word, plural in (
                ("fact", "fact", "facts"),
                ("profile", "profile entry", "profile entries"),
                ("project", "project", "projects"),
                ("topic", "topic", "topics"),
                ("episode", "episode", "episodes"),
            )
            if (count := self.kinds[kind])
        ]
        told = f"remembered {', '.join(parts)}" if parts else ""
        if self.waiting:
            asks = f"{self.waiting} {'item waits' if self.waiting == 1 else 'items wait'} for your review"
            told = f"{told}; {asks}" if told else asks
        return told


class Origins:
    """Finds the message an item comes from: the one that shares most words with it, the user's before the model's."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._words = [frozenset(tokenizer.terms(line.text, "en")) for line in segment.lines]

    def line(self, text: str) -> Line:
        """The message; the last one when none shares a word."""
        wanted = frozenset(tokenizer.terms(text, "en"))
        best, best_score = self._segment.lines[-1], 0.0
        for line, words in zip(self._segment.lines, self._words, strict=True):
            shared = len(wanted & words)
            score = shared + (0.5 if shared and line.role == "user" else 0.0)
            if score > best_score:
                best, best_score = line, score
        return best

    def source(self, text: str) -> Source:
        """Where an item was said, and when."""
        line = self.line(text)
        return Source("extraction", self._segment.session, line.id, line.time)


def store(
    memory: Memory, review: ReviewStore, learned: Learned, segment: Segment, *, ask: bool, again: bool, now: datetime
) -> Tally:
    """Put an answer into memory, or what needs the user's yes before into ``review``.

    ``ask``: everything waits. ``again``: this answer may be stored in part already. Raises :class:`OSError` and
    :class:`~chatls_core.store.StoreReadOnlyError` where memory cannot be written: call it again later.
    """
    tally = Tally()
    waiting: list[ReviewItem] = []
    for item in _items(learned, segment, now):
        if ask or (segment.external and item.kind in _ABOUT_THE_USER):
            waiting.append(item)
        else:
            try:
                tally.kinds[item.kind] += keep(memory, item, again=again)
            except (ValueError, KeyError) as error:
                logger.warning("Not remembered (%s): %r", item.kind, error)
    if waiting:
        tally.waiting = review.add(waiting)
        if tally.waiting:
            memory.announce(MemoryChange(changed=tuple(f"review:{i.id}" for i in waiting), background=True))
    return Tally(+tally.kinds, tally.waiting)


def _items(learned: Learned, segment: Segment, now: datetime) -> list[ReviewItem]:
    origins = Origins(segment)
    found: list[ReviewItem] = []

    def add(kind: str, text: str, fields: dict[str, str], line: Line | None = None) -> None:
        line = line or origins.line(text)
        clean = {k: scrub(v) for k, v in fields.items()}
        identity = {**clean, "day": f"{line.time:%Y-%m-%d}"} if kind in ("episode", "note") else clean
        found.append(
            ReviewItem(
                id=item_id(kind, identity),
                kind=kind,
                fields=clean,
                origin=Origin(kind="extraction", session=segment.session, message=line.id, time=line.time),
                workspace=segment.workspace,
                external=segment.external,
                created_at=now,
            )
        )

    for fact in learned.facts:
        add("fact", fact.content, {"content": fact.content, "category": fact.category})
    for key, value in learned.profile:
        add("profile", f"{key} {value}", {"key": key, "value": value})
    for name, summary in learned.topics:
        add("topic", f"{name} {summary}", {"name": name, "summary": summary})
    for project in learned.projects:
        add("project", " ".join(project.values()), dict(project))
    for episode in learned.episodes:
        fields = {"summary": episode.summary, "outcome": episode.outcome, "refs": ", ".join(episode.refs)}
        add("episode", f"{episode.summary} {episode.outcome}", fields)
    if learned.daily:
        add("note", learned.daily, {"text": learned.daily}, segment.lines[-1])
    return found


def keep(memory: Memory, item: ReviewItem, *, again: bool = False) -> int:
    """Put one item into memory; returns 1 when it was new. Raises as :func:`store`, and :class:`ValueError`."""
    source = Source("extraction", item.origin.session, item.origin.message, item.origin.time)
    f = item.fields
    match item.kind:
        case "fact":
            scope = item.workspace if f.get("category") in _OF_THE_PROJECT else ""
            if again and _told_already(memory, f["content"], source):
                return 0
            return int(memory.remember(f["content"], f.get("category", ""), scope=scope, source=source).added)
        case "profile":
            return int(bool(memory.profile({f["key"]: f["value"]}, source=source).changed))
        case "topic":
            known = {t.name.casefold(): t for t in memory.topics().topics}
            old = known.get(f["name"].casefold())
            if again and old is not None and old.last_seen >= item.origin.time:
                return 0
            return int(bool(memory.record_topics({f["name"]: f.get("summary", "")}, source=source)) and old is None)
        case "project":
            names = {p.name for p in memory.projects().projects}
            name = memory.record_project(f, source=source)
            return int(bool(name) and name not in names)
        case "episode":
            refs = [r.strip() for r in f.get("refs", "").split(",") if r.strip()]
            before = len(memory.snapshot().episodes)
            memory.record_episode(
                f["summary"],
                outcome=f.get("outcome", ""),
                refs=refs,
                project=item.workspace,
                date=item.origin.time,
                source=source,
            )
            return int(len(memory.snapshot().episodes) > before)
        case "note":
            local = item.origin.time.astimezone()
            if f["text"].strip() in memory.daily(local.date()).text:
                return 0
            memory.note(f["text"], time=local)
            return 1
        case _:
            raise ValueError(f"There is no kind of memory called {item.kind!r}.")


def _told_already(memory: Memory, content: str, source: Source) -> bool:
    """Whether this very message told this very fact before."""
    cleaned = clean_content(re.sub(r"\A\s*\[[A-Za-z]+\]\s*", "", content))
    try:
        known = memory.why(fact_id(cleaned))
    except KeyError:
        return False
    sources = known.fact.sources
    return any(s.session == source.session and s.message == source.message for s in sources)
