"""Results as readable Markdown, for an editor without a view of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chatls_core.text.amounts import amount

if TYPE_CHECKING:
    from chatls_core.memory import views


def _day(time: datetime | None) -> str:
    return f"{time:%Y-%m-%d}" if time is not None and time.year > 1970 else "—"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(_cell(c) for c in row) + " |" for row in rows]
    return "\n".join(lines)


def _said(source: views.SourceView) -> str:
    where = f" in session {source.session}" if source.session else ""
    message = f", message {source.message}" if source.message else ""
    return f"{source.kind}{where}{message}, {_day(source.time)}"


def remembered(r: views.Remembered) -> str:
    """What became of it, and what it took the place of."""
    if r.reason:
        return f"Not remembered: {r.content}\n\n{r.reason}" if not r.added else r.reason
    head = f"Remembered [{r.category}]: {r.content}" if r.added else f"Known already [{r.category}]: {r.content}"
    past = [f"- was: {p.content} ({_day(p.valid_from)} to {_day(p.valid_to)}, kept as history)" for p in r.superseded]
    return "\n".join([head, *past])


def recall(r: views.Recall) -> str:
    """Items with the reason and source of each."""
    if not r.items:
        return f"Nothing is remembered about “{r.query}”." if r.query.strip() else "Ask about something."
    head = f"## Recall: {r.query}"
    if r.window:
        head += f"\n\nBetween {_day(r.window[0])} and {_day(r.window[1])}."
    lines = []
    for item in r.items:
        tag = item.category if item.kind == "fact" else f"was {item.category}" if item.kind == "past" else item.kind
        lines.append(f"- **[{tag}]** {item.text}  \n  *{_day(item.date)} · {item.why} · {_said(item.source)}*")
    return head + "\n\n" + "\n".join(lines)


def forgotten(f: views.Forgotten) -> str:
    """The list, and how to take it back."""
    if not f.items:
        return "Nothing matches, so nothing was forgotten."
    head = "These would be forgotten:" if f.dry_run else f"Forgotten {amount(len(f.items), 'item')}:"
    lines = [f"- [{i.kind}] {i.text}" for i in f.items]
    if f.notes:
        lines.append(f"\nDaily notes that still mention it: {', '.join(f.notes)}.")
    if f.undo_token:
        lines.append(f"\nUndo token: `{f.undo_token}`")
    return head + "\n\n" + "\n".join(lines)


def undone(u: views.Undone) -> str:
    """One sentence."""
    if not u.restored and not u.removed:
        return "There is nothing to undo for this token: it is unknown, too old or used already."
    parts = []
    if u.restored:
        parts.append(f"brought back {amount(len(u.restored), 'item')}")
    if u.removed:
        parts.append(f"took away {amount(len(u.removed), 'item')}")
    return "Undone: " + " and ".join(parts) + "."


def fact_page(p: views.FactPage) -> str:
    """A table of facts."""
    if not p.facts:
        return f"No facts in category {p.category}." if p.category else "Nothing is remembered yet."
    rows = [
        (
            str(p.offset + n),
            ("📌 " if f.pinned else "") + ("🔒 " if f.sensitive else "") + f.content,
            f.category,
            f"{f.score:.2f}",
            f"{f.confidence:.0%}",
            f"{f.age_days} d" if f.created_at.year > 1970 else "—",
            _said(f.sources[-1]) if f.sources else f.provenance or "—",
        )
        for n, f in enumerate(p.facts, 1)
    ]
    head = f"## Facts ({p.offset + 1}–{p.offset + len(p.facts)} of {p.total})\n\n"
    return head + _table(("#", "fact", "category", "score", "confidence", "age", "source"), rows)


def fact_details(d: views.FactDetails) -> str:
    """Where a fact comes from, and what it was before."""
    f = d.fact
    flags = ", ".join(name for name, on in (("pinned", f.pinned), ("sensitive", f.sensitive)) if on)
    lines = [
        f"## {f.content}",
        "",
        f"- category {f.category}, confidence {f.confidence:.0%}, used {amount(f.access_count, 'time')}"
        + (f", {flags}" if flags else ""),
        f"- true since {_day(f.valid_from)}" + (f" until {_day(f.valid_to)}" if f.valid_to else ""),
    ]
    lines += [f"- said by {_said(s)}" for s in f.sources] or [f"- provenance: {f.provenance or 'unknown'}"]
    if f.project:
        lines.append(f"- learned in {f.project}")
    if d.history:
        lines += ["", "### Before", ""]
        lines += [f"- {h.content} ({_day(h.valid_from)} to {_day(h.valid_to)})" for h in d.history]
    return "\n".join(lines)


def profile(p: views.ProfileView) -> str:
    """A table of the profile, with what was changed or refused."""
    parts = []
    if p.changed:
        parts.append("Changed: " + ", ".join(p.changed) + ".")
    parts += [f"{key} is unchanged: {why}" for key, why in p.refused.items()]
    if p.fields:
        rows = [
            (
                f.key + (" 🔒" if f.sensitive else ""),
                f.value,
                f.source or "—",
                _day(f.confirmed_at or f.updated_at) + (" (old: confirm?)" if f.stale else ""),
            )
            for f in p.fields
        ]
        parts.append(_table(("field", "value", "source", "confirmed"), rows))
    else:
        parts.append("The profile is empty.")
    return "\n\n".join(parts)


def episode_line(e: views.EpisodeView) -> str:
    """``- 2026-04-12 [project] summary — outcome (refs: a, b)`` (spec/memory.md §7.2)."""
    from chatls_core.memory.workspaces import label

    project = f" [{label(e.project)}]" if e.project else ""
    outcome = f" — {e.outcome}" if e.outcome else ""
    refs = f" (refs: {', '.join(e.refs)})" if e.refs else ""
    return f"- {e.date:%Y-%m-%d}{project} {e.summary}{outcome}{refs}"


def timeline(t: views.Timeline) -> str:
    """One line per episode."""
    span = f", {_day(t.window[0])} → {_day(t.window[1])}" if t.window else ""
    head = f"## Timeline ({len(t.episodes)} episodes{span})"
    return head + "\n\n" + ("\n".join(episode_line(e) for e in t.episodes) or "No episodes.")


def topics(t: views.TopicList) -> str:
    """A table of topics."""
    if not t.topics:
        return "No topics yet."
    rows = [(x.name, str(x.mentions), x.summary or "—", _day(x.last_seen)) for x in t.topics]
    return "## Topics\n\n" + _table(("topic", "mentions", "summary", "last seen"), rows)


def projects(p: views.ProjectList) -> str:
    """A table of projects."""
    if not p.projects:
        return "No projects yet."
    rows = [
        (x.name, x.status, x.description or "—", ", ".join(x.technologies) or "—", x.path or "—", _day(x.last_active))
        for x in p.projects
    ]
    return "## Projects\n\n" + _table(("project", "status", "description", "technologies", "path", "active"), rows)


def stats(s: views.Stats) -> str:
    """Sizes and habits."""
    by_category = ", ".join(f"{name} {count}" for name, count in s.facts.items()) or "none"
    lines = [
        "## Memory",
        "",
        f"- facts: {sum(s.facts.values())} of at most {s.cap} ({by_category})",
        f"- earlier values kept as history: {s.past_values}; archived: {s.archived}",
        f"- episodes: {s.episodes}; topics: {s.topics}; projects: {s.projects}",
        f"- sessions: {s.sessions}; messages: {s.messages}",
    ]
    if s.peak_hours:
        lines.append("- busiest hours: " + ", ".join(f"{h:02d}:00" for h in s.peak_hours))
    if s.features:
        lines.append("- modes: " + ", ".join(f"{name} {count}" for name, count in s.features.items()))
    if s.sealed:
        lines.append("- files are encrypted")
    lines += [f"- **problem:** {p}" for p in s.problems]
    return "\n".join(lines)


def file_list(f: views.FileList) -> str:
    """Files with sizes."""
    parts = [f"## {f.folder}", _table(("file", "bytes"), [(n, f"{s:,}") for n, s in f.files.items()])]
    if f.notes:
        parts.append("Notes: " + ", ".join(f.notes))
    if f.digests:
        parts.append("Digests: " + ", ".join(f.digests))
    return "\n\n".join(parts)


def graph(g: views.GraphView) -> str:
    """The neighbours of a subject, or the hubs."""
    if not g.nodes:
        return f"Nothing in the graph is called “{g.subject}”." if g.subject else "The graph is empty."
    first, rest = g.nodes[0], g.nodes[1:]
    if g.subject:
        lines = [f"## {first.title} ({first.kind})", ""]
        if first.summary:
            lines += [first.summary, ""]
        lines += ["Connected:", ""] if rest else ["Connected to nothing yet."]
    else:
        lines = [f"## Knowledge graph: {g.total_nodes} nodes, {g.total_edges} links", ""]
        rest = g.nodes
    lines += [
        f"- [{n.kind}] {n.title}" + (f" — {n.summary}" if n.summary and n.summary != n.title else "") for n in rest
    ]
    return "\n".join(lines)


_NOUNS = {"history": "earlier statement", "details": "record of details"}
_PLURALS = {"details": "records of details"}


def transfer(t: views.Transfer) -> str:
    """One sentence."""
    what = (
        ", ".join(
            amount(count, _NOUNS.get(kind, kind), _PLURALS.get(kind, "")) for kind, count in t.counts.items() if count
        )
        or "nothing"
    )
    skipped = f"; {amount(t.skipped, 'record')} skipped" if t.skipped else ""
    verb, place = ("Exported", "to") if t.direction == "export" else ("Imported", "from")
    return f"{verb} {what} {place} `{t.path}`{skipped}."
