"""What of memory stands in the system text: the index digest and the card (spec/memory.md §9.2, §9.3).

Both hold no times, ages, scores or counters of use, so they change only when what is remembered changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chatls_core.memory.graph import Card
from chatls_core.memory.snapshot import Snapshot
from chatls_core.text.amounts import amount
from chatls_core.text.cut import by_chars
from chatls_core.text.injection import blank

DIGEST_CHARS = 600
_PINNED_LINE = 160


def digest(now: Snapshot) -> str:
    """``# Memory Index`` in at most 600 characters; empty when nothing is remembered. Whole entries only."""
    lines = [
        line
        for line in (_profile(now), _pinned(now), _projects(now), _topics(now), _facts(now), _episodes(now))
        if line
    ]
    if not lines:
        return ""
    text, room = ["# Memory Index"], DIGEST_CHARS - len("# Memory Index")
    for line in lines:
        if len(line) + 1 <= room:
            text.append(line)
            room -= len(line) + 1
    return safe("\n".join(text))


def card(now: Snapshot, board: Sequence[Card], saved: int, latest: str) -> str:
    """The persistent-memory card; empty when nothing is remembered, saved or under way."""
    facts, episodes = len(now.alive.facts), len(now.episodes)
    doing = [c.title for c in board if c.column == "doing"]
    if not (facts or episodes or saved or doing or _profile(now)):
        return ""
    lines = [
        "[PERSISTENT MEMORY — REAL, CROSS-SESSION]",
        "You have a durable memory of earlier conversations with this user, and conversations are saved automatically. "
        "State of the memory when this conversation began:",
        f"- {amount(facts, 'fact')}, {amount(episodes, 'episode')} of finished work",
    ]
    if saved:
        lines.append(f"- {amount(saved, 'saved conversation')}" + (f"; latest: {latest}" if latest else ""))
    if doing:
        quoted = ", ".join(f'"{by_chars(t, 60)}"' for t in doing[:3]) + (", …" if len(doing) > 3 else "")
        lines.append(f"- {amount(len(doing), 'task')} in progress on the board: {quoted}")
    return safe("\n".join(lines))


def safe(text: str) -> str:
    """Remembered text with lines that look like directives to the model blanked out (spec/memory.md §1.7)."""
    return blank(text, "memory")


def _profile(now: Snapshot) -> str:
    p = now.profile
    parts = [p.name, p.role]
    if p.expertise_level:
        parts.append(f"({p.expertise_level})")
    if p.company:
        parts.append(f"@ {p.company}")
    text = " ".join(part for part in parts if part)
    return by_chars(f"Profile: {text}", 120) if text else ""


def _pinned(now: Snapshot) -> str:
    pinned = sorted(f.content for f in now.alive.pinned if not now.alive.is_sensitive(f))
    return _line("Pinned: ", pinned, "; ", _PINNED_LINE)


def _projects(now: Snapshot) -> str:
    names = sorted(p.name for p in now.projects if p.status in ("active", "paused"))[:6]
    return _line("Projects: ", names, ", ", 140)


def _topics(now: Snapshot) -> str:
    best = sorted(now.topics, key=lambda t: (-t.mentions, t.name))[:8]
    return _line("Topics: ", [t.name for t in best], ", ", 160)


def _facts(now: Snapshot) -> str:
    counts = now.alive.counts
    if not counts:
        return ""
    listed = ", ".join(f"{name} {count}" for name, count in counts.items())
    return f"Facts: {len(now.alive.facts)} stored ({listed})"


def _episodes(now: Snapshot) -> str:
    count = len(now.episodes)
    return f"Episodes: {count} (ask the memory tool for the timeline)" if count else ""


def _line(head: str, entries: Iterable[str], joiner: str, limit: int) -> str:
    """Whole entries up to ``limit`` characters; empty when none fits."""
    kept: list[str] = []
    for entry in entries:
        if len(head) + len(joiner.join([*kept, entry])) <= limit:
            kept.append(entry)
    return head + joiner.join(kept) if kept else ""
