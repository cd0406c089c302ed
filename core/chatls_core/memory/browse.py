"""What a person looks at: facts with their sources, the timeline, notes, files, numbers (spec/memory.md §13.1)."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import date, datetime

from chatls_core.memory import context, notes, provenance, scoring
from chatls_core.memory.alive import Alive
from chatls_core.memory.profile_text import fold
from chatls_core.memory.records import Fact, HistoryEntry
from chatls_core.memory.snapshot import Snapshot, past_id
from chatls_core.memory.stores import Stores
from chatls_core.memory.times import window_in
from chatls_core.memory.views import (
    EpisodeView,
    FactDetails,
    FactPage,
    FactView,
    FileList,
    ProjectList,
    ProjectView,
    Stats,
    TextView,
    Timeline,
    TopicList,
    TopicView,
)
from chatls_core.store import PLAIN
from chatls_core.text import tokenizer
from chatls_core.text.cut import byte_length
from chatls_core.text.days import local_day
from chatls_core.text.literal import one_line
from chatls_core.text.passages import Passage
from chatls_core.text.ranking import PassageIndex

TRUNCATED = "- … (more facts are stored than fit here)"
LISTED = 10
"""Notes and digests that are named in the list of files."""


def fact_view(fact: Fact, alive: Alive, now: datetime) -> FactView:
    """A fact with everything a person may want to know about it."""
    details = alive.details.get(fact.id)
    return FactView(
        id=fact.id,
        content=fact.content,
        category=fact.category,
        tags=fact.tags or (),
        score=round(scoring.score(fact, now), 4),
        confidence=scoring.confidence_of(fact),
        provenance=fact.provenance,
        project=fact.source_project,
        created_at=fact.created_at,
        last_accessed=fact.last_accessed,
        access_count=fact.access_count,
        valid_from=alive.valid_from(fact),
        pinned=bool(details and details.pinned),
        sensitive=alive.is_sensitive(fact),
        sources=provenance.sources(alive.details, fact.id),
        age_days=max(0, (local_day(now) - local_day(alive.valid_from(fact))).days),
    )


def past_view(entry: HistoryEntry, alive: Alive, now: datetime) -> FactView:
    """A value that was true once."""
    return replace(
        fact_view(entry.fact, alive, now),
        id=past_id(entry),
        valid_from=entry.valid_from,
        age_days=max(0, (local_day(now) - local_day(entry.valid_from)).days),
        valid_to=entry.valid_to,
        superseded_by=entry.superseded_by,
        sources=provenance.shown(entry.sources),
        pinned=False,
    )


def fact_page(alive: Alive, now: datetime, category: str, limit: int, offset: int) -> FactPage:
    """Facts, pinned ones first, then by score."""
    wanted = category.strip().lower()
    pinned = {f.id for f in alive.pinned}
    order = itertools.chain(alive.pinned, (f for f in alive.ranked if f.id not in pinned))
    chosen = (f for f in order if not wanted or f.category == wanted)
    start = max(0, offset)
    page = tuple(fact_view(f, alive, now) for f in itertools.islice(chosen, start, start + max(0, limit)))
    total = alive.counts.get(wanted, 0) if wanted else len(alive.facts)
    return FactPage(page, total, wanted, start)


def why(now: Snapshot, item_id: str, moment: datetime) -> FactDetails:
    """A fact (or a past value, by its id) with its sources and the values before it. Raises :class:`KeyError`."""
    entries = {past_id(e): e for e in now.history}
    if item_id in entries:
        fact, key = past_view(entries[item_id], now.alive, moment), entries[item_id].fact.id
    else:
        fact, key = fact_view(now.alive.facts[item_id], now.alive, moment), item_id
    chain: list[HistoryEntry] = []
    wanted = {key}
    while found := [e for e in now.history if e.superseded_by in wanted and e not in chain]:
        chain += found
        wanted = {e.fact.id for e in found}
    chain.sort(key=lambda e: e.valid_to, reverse=True)
    return FactDetails(fact, tuple(past_view(e, now.alive, moment) for e in chain if past_id(e) != item_id))


def timeline(
    now: Snapshot,
    query: str,
    *,
    start: str | datetime,
    end: str | datetime,
    project: str,
    limit: int,
    moment: datetime,
) -> Timeline:
    """Episodes in order of time (spec/memory.md §7.2, §13.2).

    ``start`` and ``end`` are times or expressions; an expression in ``query`` sets the window when both are empty.
    Words of the query are searched by rank inside the window; when none matches, the whole window is shown. When there
    are more than ``limit``, the most recent stay.
    """
    window, rest = _window(query, start, end, moment)
    inside = [
        e
        for e in now.episodes.values()
        if (window is None or window[0] <= e.date < window[1]) and fold(project) in fold(e.project)
    ]
    chosen = inside
    if tokenizer.topic_words(rest):
        index = PassageIndex(
            (
                Passage(e.id, " ".join((e.summary, e.outcome, e.project.replace("/", " "), *e.refs)), e.date)
                for e in inside
            ),
            standalone=True,
        )
        hits = {h.id for h in index.search(rest, max(limit, 1) * 2, now=moment)}
        chosen = [e for e in inside if e.id in hits]
        if not chosen and window is not None:
            chosen = inside
    shown = sorted(chosen, key=lambda e: (e.date, e.id))[-limit:] if limit > 0 else []
    views: tuple[EpisodeView, ...] = tuple(context.episode_view(e, now) for e in shown)
    return Timeline(views, window, query, len(chosen))


def _window(
    query: str, start: str | datetime, end: str | datetime, moment: datetime
) -> tuple[tuple[datetime, datetime] | None, str]:
    if start or end:
        first = start if isinstance(start, datetime) else _edge(start, moment, last=False)
        last = end if isinstance(end, datetime) else _edge(end, moment, last=True)
        return (
            first or datetime.min.replace(tzinfo=moment.tzinfo),
            last or datetime.max.replace(tzinfo=moment.tzinfo),
        ), query
    found = window_in(query, moment)
    return ((found.start, found.end), found.rest) if found else (None, query)


def _edge(text: str, moment: datetime, *, last: bool) -> datetime | None:
    """An edge of a window. Raises :class:`ValueError` for words that name no time."""
    if not text.strip():
        return None
    found = window_in(text, moment)
    if found is None:
        raise ValueError(f"{text!r} names no time; write a date like 2026-04-12 or words like 'last month'.")
    return found.end if last else found.start


def topics(now: Snapshot, moment: datetime) -> TopicList:
    """Topics by mentions, decaying by month (spec/memory.md §6.1)."""
    ranked = sorted(
        now.topics,
        key=lambda t: (-t.mentions / (1 + max(0.0, (moment - t.last_seen).total_seconds() / 86400) / 30), t.name),
    )
    details = now.alive.details
    return TopicList(
        tuple(
            TopicView(
                t.name,
                t.mentions,
                t.summary,
                t.first_seen,
                t.last_seen,
                t.related_fact_ids,
                provenance.latest(details, f"topic:{t.name}"),
            )
            for t in ranked
        )
    )


def projects(now: Snapshot) -> ProjectList:
    """Projects, most recently active first."""
    return ProjectList(
        tuple(
            ProjectView(
                p.name,
                p.path,
                p.description,
                p.status,
                p.technologies,
                p.last_active,
                p.key_files,
                provenance.latest(now.alive.details, f"project:{p.name.lower()}"),
            )
            for p in now.projects
        )
    )


def stats(now: Snapshot, stores: Stores, cap: int) -> Stats:
    """Sizes, habits, and what is wrong with the files."""
    usage = stores.usage.read()
    features = dict(sorted(usage.feature_usage.items(), key=lambda f: (-f[1], f[0])))
    return Stats(
        facts=now.alive.counts,
        cap=cap,
        episodes=len(now.episodes),
        topics=len(now.topics),
        projects=len(now.projects),
        past_values=len(now.history),
        archived=len(stores.archive.read()),
        sessions=usage.session_count,
        messages=usage.total_messages,
        session_minutes=round(usage.avg_session_secs / 60),
        peak_hours=context.peak_hours(usage),
        features=features,
        commands=context.most_used(usage.command_frequency),
        errors=tuple(e.pattern for e in usage.common_errors if e.count >= context.RECURRING)[:5],
        problems=stores.faults(),
        sealed=stores.codec is not PLAIN,
    )


def longterm(alive: Alive, limit: int, *, private: bool = True) -> str:
    """``MEMORY.md``: facts by category, best first, in at most ``limit`` bytes (spec/memory.md §4.8); without
    ``private`` no sensitive fact."""
    by_category: dict[str, list[Fact]] = {}
    for fact in alive.ranked if private else (f for f in alive.ranked if not alive.is_sensitive(f)):
        by_category.setdefault(fact.category, []).append(fact)
    lines = ["# Long-term Memory"]
    room = limit - byte_length(lines[0]) - 1 - byte_length(TRUNCATED) - 1
    for category in sorted(by_category):
        heading = f"\n## {category.title()}\n"
        if byte_length(heading) + 1 > room:
            return "\n".join([*lines, TRUNCATED]) + "\n"
        lines.append(heading)
        room -= byte_length(heading) + 1
        for fact in by_category[category]:
            line = f"- {one_line(fact.content)}"
            if byte_length(line) + 1 > room:
                return "\n".join([*lines, TRUNCATED]) + "\n"
            lines.append(line)
            room -= byte_length(line) + 1
    return "\n".join(lines) + "\n"


def files(stores: Stores) -> FileList:
    """The files of memory with their sizes, those that were set aside as damaged included."""
    sizes = {}
    for path in stores.fs.list(stores.folder):
        signature = stores.fs.signature(path)
        if signature is not None and (path.suffix in (".json", ".md") or stores.is_set_aside(path.name)):
            sizes[path.name] = signature.size
    lists = (stores.facts, stores.archive, stores.episodes, stores.topics, stores.projects)
    items = {store.path.name: len(store.read()) for store in lists if store.path.name in sizes}
    items |= {
        store.path.name: len(entries)
        for store, entries in (
            (stores.history, stores.history.read().entries),
            (stores.undo, stores.undo.read().entries),
            (stores.side, stores.side.read().items),
        )
        if store.path.name in sizes
    }
    days, digests = notes.days(stores), notes.digests(stores)
    return FileList(
        str(stores.folder),
        sizes,
        tuple(d.isoformat() for d in days[:LISTED]),
        tuple(name for name, _ in digests[:LISTED]),
        items,
        len(days),
        len(digests),
    )


def daily(stores: Stores, day: date) -> TextView:
    """The note of a day."""
    text = notes.note(stores, day).strip()
    return TextView(f"Note of {day.isoformat()}", text or f"There is no note for {day.isoformat()}.")


def week(stores: Stores, today: date) -> TextView:
    """The notes of the last seven days, newest first."""
    found = list(notes.recent(stores, today, 7))
    text = "\n\n".join(f"# {day.isoformat()}\n\n{entry}" for day, entry in found)
    return TextView("Notes of the last seven days", text or "There is no note of the last seven days.")


def loaded(now: Snapshot, stores: Stores, day: date, limit: int) -> TextView:
    """The text that brings a day's note into a conversation (spec/memory.md §13.1 ``load``)."""
    parts = [f"[MEMORY CONTEXT — loaded from {day.isoformat()}]", longterm(now.alive, limit, private=False).strip()]
    note = notes.note(stores, day).strip()
    parts.append(f"## Note of {day.isoformat()}\n\n{note}" if note else f"There is no note for {day.isoformat()}.")
    return TextView(f"Memory of {day.isoformat()}", "\n\n".join(parts))
