"""What does a question bring? One index over all that is remembered (spec/memory.md §8, §18.3)."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from chatls_core.memory import provenance, scoring, workspaces
from chatls_core.memory.context import episode_view
from chatls_core.memory.meaning import NEAREST, Meaning, Near, blended
from chatls_core.memory.profile_view import profile_view
from chatls_core.memory.question import FIRST_PERSON, Question
from chatls_core.memory.records import EPOCH, Episode, Fact, Origin, Profile
from chatls_core.memory.relevance import LEAST_ODDS, Candidate, about_another, about_user, weigh
from chatls_core.memory.snapshot import (
    Snapshot,
    beside_facts,
    entry_of,
    is_sensitive,
    passage,
    remembered,
    successor,
)
from chatls_core.memory.times import Window, window_in
from chatls_core.memory.views import AutoRecall, ProfileField, Recall, RecallItem, SourceView
from chatls_core.memory.wordlists import word_set
from chatls_core.store.changes import changed_span
from chatls_core.text import tokenizer
from chatls_core.text.cut import by_bytes, byte_length
from chatls_core.text.days import local_day

if TYPE_CHECKING:
    from chatls_core.text.ranking import Hit, PassageIndex

AUTO_FACTS = 3
AUTO_EPISODES = 2
AUTO_BYTES = 700
_AUTO_CANDIDATES = 20
AUTO_EPISODE_BYTES = 360
EPISODE_LINE_BYTES = 160
_SCOPED = frozenset({"architecture", "pattern", "gotcha", "project"})
"""Categories that speak of one project; the others speak of the user and hold everywhere."""
_OWN = 1.5
"""Of what is about the user, where the user asks about himself."""
_NEAR_THE_BEST = 0.35
"""Share of the best item's score that another needs to be recalled beside it."""
_AUTO_MARGIN = 1.5
"""Odds by which an item may bear less on a message than the best one."""
_NAMES_LOOKED_FOR = 500
"""Facts in which the user's name is looked for."""
_CALLED = re.compile(
    r"\b(?:user's name is|user is(?: called| named)?|usuári[oa] (?:se chama|chama-se|é)"
    r"|utilizadora? (?:se chama|chama-se|é)|nome d[oa] (?:usuári[oa]|utilizadora?) é)(?: [oa])? ([A-ZÀ-Ý]\w+)"
)
_PAST_WORDS = word_set(
    """
    previous previously former formerly before earlier originally used history past old older ago antes anterior
    anteriormente antigo antiga antigamente historico passado original
    """
)


_ABOUT_MEMORY = word_set(
    "know remember remembered recall memory memories tell learned sabe sabes saber lembra lembras lembrar conta"
    " diz conhece conheces memoria memorias aprendeu aprendeste"
)
"""Words that ask for what is remembered, not about a topic."""


class Retriever:
    """Searches a :class:`Snapshot`; follows its changes. Thread-safe."""

    def __init__(self) -> None:
        self.meaning: Meaning | None = None
        """Search by meaning beside the words, where it is configured."""
        self._guard = threading.RLock()
        self._index: PassageIndex | None = None
        self._facts: tuple[Fact, ...] = ()
        self._known: dict[str, object] = {}
        """What is in the index beside facts."""
        self._at: Snapshot | None = None
        self._texts: tuple[Snapshot, Mapping[str, str]] | None = None
        self._fields: tuple[Profile, tuple[ProfileField, ...]] | None = None

    def _follow(self, now: Snapshot) -> PassageIndex:
        """Bring the index up to date; unchanged items are not read again."""
        from chatls_core.text.ranking import PassageIndex

        index = self._index or PassageIndex(standalone=True)
        if self._at is now:
            return index
        self._index = index
        self._follow_facts(index, now)
        wanted = dict(beside_facts(now))
        for gone in self._known.keys() - wanted.keys():
            index.remove(gone)
        for key, item in wanted.items():
            known = self._known.get(key)
            if known is not item and known != item:
                index.add(passage(key, item, now))
        self._known = wanted
        self._at = now
        return index

    def _follow_facts(self, index: PassageIndex, now: Snapshot) -> None:
        """Facts are many, and most are the same objects as before."""
        listed = now.alive.listed
        start, old_end, new_end = changed_span(self._facts, listed)
        before = {fact.id: fact for fact in self._facts[start:old_end]}
        after = {fact.id: fact for fact in listed[start:new_end]}
        for gone in before.keys() - after.keys():
            index.remove(f"fact:{gone}")
        for key, fact in after.items():
            if key not in before or before[key].content != fact.content:
                index.add(passage(f"fact:{key}", fact, now))
        self._facts = listed

    def read_ahead(self, now: Snapshot) -> None:
        """Read what is remembered into the index, so that the first question need not wait for it."""
        with self._guard:
            self._follow(now)

    def _hits(self, now: Snapshot, query: str, k: int, moment: datetime, *, verbatim: bool = False) -> list[Hit]:
        with self._guard:
            return self._follow(now).search(query, k, now=moment, verbatim=verbatim)

    def _blended(
        self, now: Snapshot, asked: str, hits: list[Hit], moment: datetime
    ) -> tuple[list[Hit], Mapping[str, Near]]:
        """``hits`` joined with those by meaning; ``asked`` is the whole question that was prepared for."""
        if self.meaning is None:
            return hits, {}
        known = self.meaning.asked(asked)
        guessed = _telling(self._hits(now, known.words, len(hits) + NEAREST, moment)) if known.words else []
        near: Mapping[str, Near] = {}
        if known.vector is not None:
            with self._guard:
                if self._texts is None or self._texts[0] is not now:
                    self._texts = now, remembered(now)
                near = self.meaning.near(known, self._texts[1])
        return blended(hits, guessed, near), near

    def recall(
        self, now: Snapshot, query: str, *, as_of: datetime | None, limit: int, project: str, moment: datetime
    ) -> Recall:
        """What a question brings, with reasons; a time expression in it is counted from ``as_of`` or ``moment``."""
        if not query.strip():
            return Recall(query, (), as_of=as_of)
        window = window_in(query, as_of or moment)
        rest = window.rest if window else query
        sought = window is None and _is_search_word(query)
        framing = _ABOUT_MEMORY | FIRST_PERSON
        topic = sought or any(w.folded not in framing for w in tokenizer.topic_words(rest))
        past = window is not None or as_of is not None or _asks_for_past(query)
        items: list[RecallItem] = []
        if topic:
            by_words = _telling(self._hits(now, rest, limit * 4 + 20, as_of or moment, verbatim=sought))
            replaced: list[RecallItem] = []
            for hit in self._blended(now, query, by_words, as_of or moment)[0]:
                item = self._item(now, hit.id, hit.score, hit.why, project)
                if item is not None and item.kind == "past" and not past:
                    replaced.append(item)
                elif item is not None and (item := _in_time(now, item, window, as_of, past)) is not None:
                    items.append(item)
            items += self._in_their_place(now, replaced, {i.id for i in items}, project)
        elif window is None and _asks_for_everything(query):
            return Recall(query, tuple(self._what_matters_most(now, limit, moment, project))[:limit], None, as_of)
        if window is not None and not any(i.kind == "episode" for i in items):
            items += _episodes_within(now, window)
        items = _newest_truth(items)
        own = Question(rest).own
        items.sort(key=lambda i: -_standing(now, i, moment, project) * (_OWN if own and about_user(i.text) else 1.0))
        found = (window.start, window.end) if window else None
        return Recall(query, tuple(items[:limit]), found, as_of)

    def _in_their_place(
        self, now: Snapshot, replaced: Sequence[RecallItem], found: Set[str], project: str
    ) -> Iterator[RecallItem]:
        """The facts that hold now in the place of earlier ones that the words met: "how do we deploy?" meets "we deploy
        with Jenkins", and "we switched to Actions" answers it.
        """
        shown = set(found)
        for item in replaced:
            fact = successor(now, item.id)
            if fact is None or fact.id in shown:
                continue
            shown.add(fact.id)
            why = f"{item.why}, in an earlier statement"
            if (current := self._item(now, f"fact:{fact.id}", item.score * _IN_PLACE, why, project)) is not None:
                yield current

    def _what_matters_most(self, now: Snapshot, limit: int, moment: datetime, project: str) -> Iterator[RecallItem]:
        """A question without a topic ("what do you know about me?") gets the profile and the best facts."""
        for position, field in enumerate(profile_view(now.profile, moment).fields[:limit]):
            key = f"profile:{position}"
            if (item := self._item(now, key, 1.0, f"{_IN_PROFILE}{field.key}", project)) is not None:
                yield item
        for fact in now.alive.ranked[:limit]:
            if (
                item := self._item(now, f"fact:{fact.id}", scoring.score(fact, moment), _MATTERS_MOST, project)
            ) is not None:
                yield item

    def auto_recall(
        self, now: Snapshot, query: str, *, carried: Collection[str], project: str, moment: datetime
    ) -> AutoRecall:
        """What rides in the turn unasked (spec/memory.md §8.7); nothing unless it clearly answers the question."""
        window = window_in(query, moment)
        rest = window.rest if window else query
        question = Question(rest)
        if not question.parts:
            return AutoRecall()
        facts: list[RecallItem] = []
        episodes: list[RecallItem] = []
        better: list[str] = []
        bearing, near = self._blended(now, query, self._bearing(now, question, moment), moment)
        sure = {hit.id for hit in bearing if hit.met} | {key for key, item in near.items() if item.sure}
        for hit in bearing:
            item = self._item(now, hit.id, hit.score, hit.why, project)
            if item is None or hit.id not in sure:
                continue
            if any(about_another(question, item.text, text) for text in better):
                continue
            better.append(item.text)
            if item.id in carried:
                continue
            if item.kind == "episode":
                if window is None or (item.date is not None and window.start <= item.date < window.end):
                    episodes.append(item)
            elif item.kind in ("fact", "profile") and _may_ride(now, item, rest, project):
                facts.append(item)
        shown = [
            *_fitting(facts, AUTO_FACTS, AUTO_BYTES, _fact_line),
            *_fitting(episodes, AUTO_EPISODES, AUTO_EPISODE_BYTES, _episode_line),
        ]
        if not shown:
            return AutoRecall()
        from chatls_core.text.injection import blank

        lines = blank("\n".join(line for _, line in shown), "memory")
        return AutoRecall(lines, tuple(i.id for i, _ in shown), tuple(i for i, _ in shown))

    def _bearing(self, now: Snapshot, question: Question, moment: datetime) -> list[Hit]:
        """What clearly bears on a part of the message, the clearest first."""
        name = _user_name(now) if question.own else ""
        odds: dict[str, tuple[float, Hit]] = {}
        for part in question.parts:
            hits = self._hits(now, part.text, _AUTO_CANDIDATES, moment)
            found = [candidate for hit in hits if (candidate := self._candidate(now, hit, name)) is not None]
            for item, value in zip(found, weigh(part, found, parts=len(question.parts)), strict=True):
                if value >= LEAST_ODDS and value > odds.get(item.hit.id, (0.0, item.hit))[0]:
                    odds[item.hit.id] = value, item.hit
        best = max((value for value, _ in odds.values()), default=0.0)
        clear = [(value, hit) for value, hit in odds.values() if value >= best - _AUTO_MARGIN]
        clear.sort(key=lambda found: -found[0])
        return [hit for _, hit in clear]

    def _candidate(self, now: Snapshot, hit: Hit, name: str) -> Candidate | None:
        """What may ride with a turn: facts that hold, episodes and the profile; the user may be called ``name``."""
        kind, _, key = hit.id.partition(":")
        if not hit.met:
            return None
        if kind == "fact" and (fact := now.alive.facts.get(key)) is not None:
            return Candidate(hit, fact.content, about_user(fact.content, name))
        if kind == "episode" and (episode := now.episodes.get(key)) is not None:
            return Candidate(hit, episode.summary, about_user(episode.summary, name))
        if kind == "profile" and (field := self._profile_field(now, key)) is not None:
            return Candidate(hit, f"{field.key} {field.value}", True)
        return None

    def _profile_field(self, now: Snapshot, place: str) -> ProfileField | None:
        """The entry of the profile that is known by its place."""
        if self._fields is None or self._fields[0] is not now.profile:
            self._fields = now.profile, profile_view(now.profile, EPOCH).fields
        fields = self._fields[1]
        return fields[int(place)] if place.isdigit() and int(place) < len(fields) else None

    def _item(self, now: Snapshot, key: str, score: float, why: str, project: str) -> RecallItem | None:
        kind, _, rest = key.partition(":")
        if kind == "fact" and (fact := now.alive.facts.get(rest)) is not None:
            details = now.alive.details.get(fact.id)
            origin = details.sources[0] if details and details.sources else None
            foreign = fact.source_project if not workspaces.same_project(fact.source_project, project) else ""
            return RecallItem(
                "fact",
                fact.id,
                fact.content,
                score,
                why,
                source_view(origin, fact.provenance, fact.created_at),
                now.alive.valid_from(fact),
                fact.category,
                foreign,
            )
        if kind == "past" and (entry := entry_of(now, rest)) is not None:
            origin = entry.sources[0] if entry.sources else None
            return RecallItem(
                "past",
                rest,
                entry.fact.content,
                score,
                why,
                source_view(origin, entry.fact.provenance, entry.fact.created_at),
                entry.valid_from,
                entry.fact.category,
                entry.fact.source_project,
            )
        if kind == "episode" and (episode := now.episodes.get(rest)) is not None:
            return episode_item(now, episode, score, why)
        if kind == "profile" and (field := self._profile_field(now, rest)) is not None:
            return RecallItem(
                "profile",
                field.id,
                f"{field.key}: {field.value}",
                score,
                why,
                provenance.latest(now.alive.details, field.id)
                or SourceView(field.source or "extraction", time=field.updated_at or EPOCH),
                field.updated_at,
                "sensitive" if field.sensitive else "profile",
            )
        if kind == "topic" and (topic := next((t for t in now.topics if t.name == rest), None)) is not None:
            text = f"{topic.name} — {topic.summary}" if topic.summary else topic.name
            said = provenance.latest(now.alive.details, key) or SourceView("extraction", time=topic.last_seen)
            return RecallItem("topic", key, text, score, why, said, topic.last_seen)
        if kind == "project" and (p := next((p for p in now.projects if p.name.lower() == rest), None)) is not None:
            text = f"{p.name}: {p.description}" if p.description else p.name
            said = provenance.latest(now.alive.details, key) or SourceView("extraction", time=p.last_active)
            return RecallItem("project", key, text, score, why, said, p.last_active)
        return None


def source_view(origin: Origin | None, provenance: str, created: datetime) -> SourceView:
    """Where an item comes from; for items of other programs as far as their own fields tell."""
    if origin is not None:
        return SourceView(origin.kind, origin.session, origin.message, origin.time)
    return SourceView(provenance.split(" ")[0] or "extraction", time=created)


def _user_name(now: Snapshot) -> str:
    """How the user is called, folded; empty when it is not known."""
    names = (m[1] for fact in now.alive.ranked[:_NAMES_LOOKED_FOR] if (m := _CALLED.search(fact.content)))
    name = now.profile.name or next(names, "")
    return tokenizer.fold(name.split()[0]) if name.split() else ""


def _telling(hits: list[Hit]) -> list[Hit]:
    """Hits that match by their own words, and not far worse than the best: an irrelevant item is a fault."""
    best = max((h.score for h in hits), default=0.0)
    return [h for h in hits if h.coverage > 0 and h.score >= _NEAR_THE_BEST * best]


_IN_PLACE = 0.7
"""What it is worth that the words stand in the statement that a fact took the place of."""
_IN_PROFILE, _MATTERS_MOST = "profile: ", "matters most"


def was_asked_for(item: RecallItem) -> bool:
    """Whether words of the question found an item, which was not just counted up for a question without a topic."""
    return item.why != _MATTERS_MOST and not item.why.startswith(_IN_PROFILE)


def _asks_for_everything(query: str) -> bool:
    """Whether a question without a topic is about the user or the memory itself ("what do you know about me?")."""
    return any(w.folded in _ABOUT_MEMORY or w.folded in FIRST_PERSON for w in tokenizer.words(query))


def _is_search_word(query: str) -> bool:
    """Whether a query is one word to be looked for as it is, however common: ``Go``."""
    words = [w.folded for w in tokenizer.words(query) if not w.part]
    return len(words) == 1 and not _asks_for_everything(query)


def _asks_for_past(query: str) -> bool:
    return any(w.folded in _PAST_WORDS for w in tokenizer.words(query))


def _in_time(
    now: Snapshot, item: RecallItem, window: Window | None, as_of: datetime | None, past: bool
) -> RecallItem | None:
    """The item if it held at the time asked about, with the reason; ``None`` if it did not."""
    start = window.start if window is not None else as_of
    end = window.end if window is not None else as_of
    if item.kind == "past":
        entry = entry_of(now, item.id)
        if not past or entry is None:
            return None
        until = f"true from {local_day(entry.valid_from)} until {local_day(entry.valid_to)}"
        if start is None or end is None:
            return replace(item, why=f"{item.why}; {until}")
        held = entry.valid_from <= end and start < entry.valid_to and (window is None or entry.valid_from < end)
        return replace(item, why=f"{item.why}; {until}") if held else None
    if start is None or end is None or item.date is None:
        return item
    if item.kind == "episode":
        if window is not None:
            return item if start <= item.date < end else None
        return item if item.date <= end else None
    if item.kind != "fact" or item.date < end or (window is None and item.date <= end):
        return item
    if any(e.superseded_by == item.id and e.valid_from < end for e in now.history):
        return None  # what held at that time is known, and it was another value
    return replace(item, score=item.score * 0.5, why=f"{item.why}; learned only on {local_day(item.date)}")


def _newest_truth(items: list[RecallItem]) -> list[RecallItem]:
    """Without repetitions of one text (a value that came, went and came back)."""
    seen: dict[tuple[str, str], RecallItem] = {}
    for item in items:
        key = ("fact" if item.kind == "past" else item.kind, item.text)
        if key not in seen or seen[key].kind == "past":
            seen[key] = item
    return list(seen.values())


def _standing(now: Snapshot, item: RecallItem, moment: datetime, project: str) -> float:
    """Order among found items: the words first, then use and freshness, pins and the own project."""
    value = item.score
    if item.kind == "fact":
        fact = now.alive.facts[item.id]
        details = now.alive.details.get(item.id)
        value *= 1 + 0.1 * min(1.0, scoring.score(fact, moment) / 3)
        if details is not None and details.pinned:
            value *= 1.15
        if item.project and project and item.category in _SCOPED:
            value *= 0.7
    return value


def _episodes_within(now: Snapshot, window: Window) -> list[RecallItem]:
    found = [e for e in now.episodes.values() if window.start <= e.date < window.end]
    return [episode_item(now, e, 0.01, "happened in that time") for e in sorted(found, key=lambda e: e.date)]


def episode_item(now: Snapshot, episode: Episode, score: float, why: str) -> RecallItem:
    """An episode as it is found, with the reason."""
    source = episode_view(episode, now).source
    return RecallItem("episode", episode.id, episode.told, score, why, source, episode.date, "", episode.project)


def _may_ride(now: Snapshot, item: RecallItem, query: str, project: str) -> bool:
    """Private items and other projects' business stay where they are unless the question names the project."""
    if is_sensitive(now, item):
        return False
    if not item.project or item.category not in _SCOPED:
        return True
    return tokenizer.fold(Path(item.project).name) in tokenizer.fold(query)


def _fact_line(item: RecallItem) -> str:
    origin = f" (from: {workspaces.label(item.project)})" if item.project and item.category in _SCOPED else ""
    return f"- [{item.category}] {' '.join(item.text.split())}{origin}"


def _episode_line(item: RecallItem) -> str:
    date = str(local_day(item.date)) if item.date else "undated"
    return by_bytes(f"- [episode {date}] {' '.join(item.text.split())}", EPISODE_LINE_BYTES)


def _fitting(
    items: list[RecallItem], most: int, budget: int, line: Callable[[RecallItem], str]
) -> list[tuple[RecallItem, str]]:
    """The best items that fit whole; one that is too long lets the next smaller one through."""
    shown: list[tuple[RecallItem, str]] = []
    for item in items:
        text = line(item)
        if len(shown) == most:
            break
        if byte_length(text) + 1 <= budget:
            budget -= byte_length(text) + 1
            shown.append((item, text))
    return shown
