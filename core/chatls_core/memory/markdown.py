"""Results as readable Markdown, for an editor without a view of its own.

Each function takes ``quote``, which sets remembered text: :func:`~chatls_core.text.literal.literal` for a person, so
that nothing is taken for markup, :func:`~chatls_core.text.literal.one_line` for a model, which reads it as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chatls_core.memory.identity import CATEGORIES
from chatls_core.memory.times import day_told
from chatls_core.text.amounts import amount
from chatls_core.text.days import days_of
from chatls_core.text.literal import literal, one_line

if TYPE_CHECKING:
    from chatls_core.memory import views

Quote = Callable[[str], str]

NOTHING = "Nothing is remembered yet. Tell me something with `/remember We deploy on Thursdays`, or just talk."

_ITEM = "- "
_WHO = {"user": "you", "correction": "you", "extraction": "learned", "import": "imported"}


def _day(time: datetime | None) -> str:
    return day_told(time) or "—" if time is not None else "—"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _who(kind: str, quote: Quote) -> str:
    """``you`` for ``user``; what stands behind the word (``(supersedes …)``) is left as it is."""
    word, blank, rest = kind.partition(" ")
    return quote(f"{_WHO.get(word, word)}{blank}{rest}")


def _said(source: views.SourceView, quote: Quote) -> str:
    where = f" in session {quote(source.session)}" if source.session else ""
    message = f", message {quote(source.message)}" if source.message else ""
    day = f", {_day(source.time)}" if source.time.year > 1970 else ""
    return f"{_who(source.kind, quote)}{where}{message}{day}"


def _source(source: views.SourceView | None, quote: Quote) -> str:
    return _said(source, quote) if source is not None else "—"


def remembered(r: views.Remembered, quote: Quote) -> str:
    """What became of it, and what it took the place of."""
    if r.reason:
        return quote(r.reason) if r.added else f"Not remembered: {quote(r.content)}\n\n{quote(r.reason)}"
    head = "Remembered" if r.added else "Known already"
    past = [
        f"- was: {quote(p.content)} ({_day(p.valid_from)} to {_day(p.valid_to)}, kept as history)" for p in r.superseded
    ]
    return "\n".join([f"{head} [{r.category}]: {quote(r.content)}", *past])


def recall(r: views.Recall, quote: Quote) -> str:
    """Items with the reason and source of each."""
    if not r.items:
        return f"Nothing is remembered about “{quote(r.query)}”." if r.query.strip() else "Ask about something."
    head = f"## Recall: {quote(r.query)}"
    if r.window and (days := days_of(r.window)):
        head += f"\n\nOf this time: {days}."
    lines = []
    for item in r.items:
        tag = item.category if item.kind == "fact" else f"was {item.category}" if item.kind == "past" else item.kind
        day = _day(item.date) if item.date is not None and item.date.year > 1970 else ""
        about = " · ".join(filter(None, (day, quote(item.why), _said(item.source, quote))))
        lines.append(f"- **[{tag}]** {quote(item.text)}  \n  *{about}*")
    return head + "\n\n" + "\n".join(lines)


def forgotten(f: views.Forgotten, quote: Quote) -> str:
    """The list, and how to take it back."""
    if not f.items:
        return "Nothing matches, so nothing was forgotten."
    head = "These would be forgotten:" if f.dry_run else f"Forgotten {amount(len(f.items), 'item')}:"
    lines = [f"- [{i.kind}] {quote(i.text)}" for i in f.items]
    if f.notes:
        lines.append(f"\nDaily notes that still mention it: {', '.join(f.notes)}.")
    if f.undo_token:
        lines.append(f"\n`/memory undo {f.undo_token}` brings it back.")
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


def fact_page(p: views.FactPage, quote: Quote) -> str:
    """A table of facts."""
    if not p.facts:
        if p.category and p.category not in CATEGORIES:
            return f"There is no category called {quote(p.category)}; there are {', '.join(CATEGORIES)}."
        return f"No facts in category {p.category}." if p.category else NOTHING
    rows = [
        (
            str(p.offset + n),
            ("📌 " if f.pinned else "") + ("🔒 " if f.sensitive else "") + quote(f.content),
            quote(f.category),
            f"{f.score:.2f}",
            f"{f.confidence:.0%}",
            f"{f.access_count:,} ×",
            age(f.age_days) if f.created_at.year > 1970 else "—",
            _said(f.sources[-1], quote) if f.sources else _who(f.provenance, quote) or "—",
        )
        for n, f in enumerate(p.facts, 1)
    ]
    last = p.offset + len(p.facts)
    text = f"## Facts ({p.offset + 1}–{last} of {p.total:,})\n\n" + _table(
        ("#", "fact", "category", "score", "confidence", "used", "age", "source"), rows
    )
    if last < p.total:
        narrow = "" if p.category else " Name a category to see fewer, such as `/memory facts gotcha`;"
        text += f"\n\n{p.total - last:,} more.{narrow} `/recall` with some words finds any of them."
    return text


def fact_lines(text: str) -> str:
    """``MEMORY.md``'s lines for a person."""
    lines = text.splitlines()
    if not any(line.startswith(_ITEM) for line in lines):
        return NOTHING
    return "\n".join(_ITEM + literal(line[len(_ITEM) :]) if line.startswith(_ITEM) else line for line in lines)


def age(days: int) -> str:
    """``today``, ``12 d``."""
    return f"{days:,} d" if days else "today"


def fact_details(d: views.FactDetails, quote: Quote) -> str:
    """Where a fact comes from, and what it was before."""
    f = d.fact
    flags = ", ".join(name for name, on in (("pinned", f.pinned), ("sensitive", f.sensitive)) if on)
    lines = [
        f"## {quote(f.content)}",
        "",
        f"- category {quote(f.category)}, confidence {f.confidence:.0%}, used {amount(f.access_count, 'time')}"
        + (f", {flags}" if flags else ""),
        f"- true since {_day(f.valid_from)}" + (f" until {_day(f.valid_to)}" if f.valid_to else ""),
    ]
    lines += [f"- said by {_said(s, quote)}" for s in f.sources] or [
        f"- source: {_who(f.provenance, quote) or 'unknown'}"
    ]
    if f.project:
        lines.append(f"- learned in {quote(f.project)}")
    if d.history:
        lines += ["", "### Before", ""]
        lines += [f"- {quote(h.content)} ({_day(h.valid_from)} to {_day(h.valid_to)})" for h in d.history]
    return "\n".join(lines)


def item_details(d: views.ItemDetails, quote: Quote) -> str:
    """Where an item comes from, and its facts."""
    lines = [f"## {quote(d.title)} ({d.kind})"]
    if d.text and d.text != d.title:
        lines += ["", quote(d.text)]
    lines += ["", *([f"- said by {_said(s, quote)}" for s in d.sources] or ["Nobody wrote down where it comes from."])]
    if d.facts:
        lines += ["", "### Facts", "", *(f"- [{quote(f.category)}] {quote(f.content)}" for f in d.facts)]
    return "\n".join(lines)


def profile(p: views.ProfileView, quote: Quote) -> str:
    """A table of the profile, with what was changed or refused."""
    parts = []
    if p.changed:
        parts.append("Changed: " + ", ".join(map(quote, p.changed)) + ".")
    parts += [f"{quote(key)} is unchanged: {quote(why)}" for key, why in p.refused.items()]
    if p.fields:
        rows = [
            (
                quote(f.key) + (" 🔒" if f.sensitive else ""),
                quote(f.value),
                _said(f.said, quote) if f.said else _who(f.source, quote) or "—",
                _day(f.confirmed_at or f.updated_at) + (" (old: confirm?)" if f.stale else ""),
            )
            for f in p.fields
        ]
        parts.append(_table(("field", "value", "source", "confirmed"), rows))
    else:
        parts.append("The profile is empty. Add to it with `/profile name=Ana`.")
    if p.undo_token:
        parts.append(f"`/memory undo {p.undo_token}` takes the change back.")
    return "\n\n".join(parts)


def episode_line(e: views.EpisodeView, quote: Quote = one_line) -> str:
    """``- 2026-04-12 [project] summary — outcome (refs: a, b)`` (spec/memory.md §7.2)."""
    from chatls_core.memory.workspaces import label

    project = f" [{quote(label(e.project))}]" if e.project else ""
    outcome = f" — {quote(e.outcome)}" if e.outcome else ""
    refs = f" (refs: {', '.join(map(quote, e.refs))})" if e.refs else ""
    return f"- {day_told(e.date) or 'undated'}{project} {quote(e.summary)}{outcome}{refs}"


def timeline(t: views.Timeline, quote: Quote) -> str:
    """One line per episode."""
    days = days_of(t.window) if t.window else ""
    head = f"## Timeline ({amount(len(t.episodes), 'episode')}{f', {days}' if days else ''})"
    if not t.episodes:
        asked = bool(t.query.strip() or days)
        return head + "\n\n" + ("No finished work matches." if asked else "No finished work is remembered yet.")
    text = head + "\n\n" + "\n".join(f"{episode_line(e, quote)} · {_said(e.source, quote)}" for e in t.episodes)
    if t.total > len(t.episodes):
        text += f"\n\nThese are the latest of {t.total:,}; name a time or a subject to see others."
    return text


def topics(t: views.TopicList, quote: Quote) -> str:
    """A table of topics."""
    if not t.topics:
        return "No topics yet."
    rows = [
        (quote(x.name), str(x.mentions), quote(x.summary) or "—", _day(x.last_seen), _source(x.source, quote))
        for x in t.topics
    ]
    return "## Topics\n\n" + _table(("topic", "mentions", "summary", "last seen", "source"), rows)


def projects(p: views.ProjectList, quote: Quote) -> str:
    """A table of projects."""
    if not p.projects:
        return "No projects yet."
    rows = [
        (
            quote(x.name),
            quote(x.status),
            quote(x.description) or "—",
            ", ".join(map(quote, x.technologies)) or "—",
            ", ".join(map(quote, x.key_files)) or "—",
            quote(x.path) or "—",
            _day(x.last_active),
            _source(x.source, quote),
        )
        for x in p.projects
    ]
    head = ("project", "status", "description", "technologies", "key files", "path", "active", "source")
    return "## Projects\n\n" + _table(head, rows)


def stats(s: views.Stats, quote: Quote) -> str:
    """Sizes and habits."""
    by_category = ", ".join(f"{quote(name)} {count:,}" for name, count in s.facts.items()) or "none"
    lines = [
        "## Memory",
        "",
        f"- facts: {sum(s.facts.values()):,} of at most {s.cap:,} ({by_category})",
        f"- earlier values kept as history: {s.past_values:,}; archived: {s.archived:,}",
        f"- episodes: {s.episodes:,}; topics: {s.topics:,}; projects: {s.projects:,}",
        f"- sessions: {s.sessions:,}"
        + (f", {amount(s.session_minutes, 'minute')} on average" if s.session_minutes else "")
        + f"; messages: {s.messages:,}",
    ]
    if s.peak_hours:
        lines.append("- busiest hours: " + ", ".join(f"{h:02d}:00" for h in s.peak_hours))
    if s.features:
        lines.append("- modes: " + ", ".join(f"{quote(name)} {count:,}" for name, count in s.features.items()))
    if s.commands:
        lines.append("- most used commands: " + ", ".join(map(quote, s.commands)))
    if s.errors:
        lines.append("- errors that come again: " + "; ".join(map(quote, s.errors)))
    if s.sealed:
        lines.append("- files are encrypted")
    lines += [f"- **problem:** {quote(p)}" for p in s.problems]
    return "\n".join(lines)


def file_list(f: views.FileList, quote: Quote) -> str:
    """Files with sizes and what they hold."""
    parts = [f"## {quote(f.folder)}"]
    if f.files:
        rows = [
            (quote(name), f"{f.items[name]:,}" if name in f.items else "—", f"{s:,}") for name, s in f.files.items()
        ]
        parts.append(_table(("file", "items", "bytes"), rows))
    if f.notes:
        parts.append(f"{_listed('Daily note', f.notes, f.note_count)} Read one with `/memory {f.notes[0]}`.")
    if f.digests:
        parts.append(f"{_listed('Digest', f.digests, f.digest_count)} Read one with `/memory digests {f.digests[0]}`.")
    return "\n\n".join(parts if len(parts) > 1 else [*parts, "There is nothing in it yet."])


def _listed(noun: str, names: Sequence[str], count: int) -> str:
    more = f" and {count - len(names):,} older" if count > len(names) else ""
    return f"{noun}s ({count:,}): {', '.join(names)}{more}."


def graph(g: views.GraphView, quote: Quote) -> str:
    """The neighbours of a subject, or the hubs."""
    if not g.nodes:
        return f"Nothing in the graph is called “{quote(g.subject)}”." if g.subject else "The graph is empty."
    first, rest = g.nodes[0], g.nodes[1:]
    if g.subject:
        lines = [f"## {quote(first.title)} ({first.kind})", ""]
        if first.summary and first.summary != first.title:
            lines += [quote(first.summary), ""]
        lines += ["Connected:", ""] if rest else ["Connected to nothing yet."]
    else:
        lines = [f"## Knowledge graph: {amount(g.total_nodes, 'node')}, {amount(g.total_edges, 'link')}", ""]
        rest = g.nodes
    lines += [
        f"- [{n.kind}] {quote(n.title)}" + (f" — {quote(n.summary)}" if n.summary and n.summary != n.title else "")
        for n in rest
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
