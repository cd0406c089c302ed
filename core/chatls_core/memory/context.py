"""What of memory a model is given as one text: the pushed block of full mode and the answer of the recall tool.

Sections and budget as in spec/memory.md §8.5: nothing overruns, whole items only, and where one does not fit the next
smaller one is tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from chatls_core.memory import markdown, notes, workspaces
from chatls_core.memory.profile_text import is_hard_rule, scope_of
from chatls_core.memory.records import EPOCH, Episode, Profile, Usage
from chatls_core.memory.snapshot import Snapshot
from chatls_core.memory.stores import Stores
from chatls_core.memory.times import day_told
from chatls_core.memory.views import WITHHELD, EpisodeView, NodeView, Recall, RecallItem, SourceView
from chatls_core.text.cut import by_bytes, by_chars, byte_length
from chatls_core.text.days import days_of, local_day
from chatls_core.text.personal_numbers import is_personal, mask

RECENT_DAYS = 14
HABITUAL = 20
"""From so many messages on something is a habit."""
RECURRING = 3
"""How often an error was met to be told."""


class Budget:
    """A text made of sections that fit in a number of bytes."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._parts: list[str] = []

    @property
    def left(self) -> int:
        """Bytes left for the next section."""
        return self._left - (2 if self._parts else 0)

    def add(self, section: str) -> bool:
        """Add a section if it fits whole."""
        size = byte_length(section)
        if not section or size > self.left:
            return False
        self._left = self.left - size
        self._parts.append(section)
        return True

    def add_lines(self, heading: str, lines: Iterable[str], most: int | None = None) -> int:
        """Add as many lines under a heading as fit, skipping those that do not; returns how many."""
        room = self.left - byte_length(heading) - 1
        kept: list[str] = []
        for line in lines:
            if len(kept) == most:
                break
            size = byte_length(line) + 1
            if size <= room:
                kept.append(line)
                room -= size
        if kept:
            self.add(heading + "\n" + "\n".join(kept))
        return len(kept)

    def text(self) -> str:
        """The sections, joined by blank lines."""
        return "\n\n".join(self._parts)


def assemble(
    now: Snapshot,
    stores: Stores,
    recall: Recall,
    *,
    limit: int,
    project: str,
    moment: datetime,
    related: Sequence[NodeView] = (),
) -> str:
    """Everything relevant within ``limit`` bytes: what the question brought, and what is ``related`` in the graph."""
    budget = Budget(limit)
    asked = [i.id for i in recall.items if i.kind == "profile"]
    if recall.window is not None:
        inside = [i for i in recall.items if i.kind == "episode"]
        heading = f"## Timeline {days_of(recall.window)}"
        budget.add_lines(heading, (_item_line(i) for i in inside), most=15)
    budget.add(_section("## User Profile", profile_text(now.profile, moment, project, asked)))
    budget.add(_section("## Projects", projects_text(now)))
    budget.add(_section("## Topics", topics_text(now)))
    facts = [i for i in recall.items if i.kind in ("fact", "past")]
    budget.add_lines("## Long-term Memory", (_item_line(i) for i in facts))
    if budget.left > 200:
        days = list(notes.recent(stores, moment.date()))
        # Half at most: what was done and what hangs together with it must find room behind long notes.
        share = max(200, budget.left // 2 // max(1, len(days))) - len("### 2026-01-01\n\n")
        budget.add_lines("## Recent Activity", (f"### {day:%Y-%m-%d}\n{by_bytes(text, share)}" for day, text in days))
    if budget.left > 250 and recall.window is None:
        recent = [e for e in now.episodes.values() if 0 <= (moment - e.date).days <= RECENT_DAYS]
        budget.add_lines("## Recent Episodes", (markdown.episode_line(episode_view(e, now)) for e in recent[-5:]))
    if budget.left > 250:
        budget.add_lines("## Related (graph)", (_related_line(n, now) for n in related))
    if budget.left > 250:
        text = notes.trajectory(stores, budget.left // 4)
        budget.add(_section("## Trajectory", text))
    if budget.left > 100:
        budget.add(_section("## Usage Patterns", usage_text(stores.usage.read())))
    return budget.text()


def _section(heading: str, text: str) -> str:
    return f"{heading}\n{text}" if text else ""


def _item_line(item: RecallItem) -> str:
    """One recalled item, to be frozen: absolute dates, no scores or ages."""
    origin = f" (from: {workspaces.label(item.project)})" if item.project and item.kind != "episode" else ""
    date = local_day(item.date).isoformat() if item.date and item.date > EPOCH else ""
    if item.kind == "past":
        return f"- [{item.category}, no longer true] {item.text}{origin} ({item.why.rsplit('; ', 1)[-1]})"
    if item.kind == "episode":
        return f"- {date} {item.text}".replace("-  ", "- ")
    return f"- [{item.category}] {item.text}{origin}" + (f" (since {date})" if date else "")


def _related_line(node: NodeView, now: Snapshot) -> str:
    """A neighbour in the graph with the way to see more of it."""
    if node.kind == "fact":
        fact = now.alive.facts.get(node.id.removeprefix("fact:"))
        return f"- [{fact.category if fact else 'fact'}] {node.summary}"
    if node.kind == "episode":
        return f"- [episode] {node.title} (details: memory timeline)"
    about = f" — {node.summary}" if node.summary else ""
    return f"- [{node.kind}] {node.title}{about} (expand: memory neighbors {node.title})"


def profile_text(profile: Profile, moment: datetime, project: str = "", asked: Collection[str] = ()) -> str:
    """The profile for a model, in the order of spec/memory.md §5.9; directives of other projects are left out, and
    sensitive values whose entries were not ``asked`` for, by their ids (§5.7)."""
    lines: list[str] = []
    named = {item.removeprefix("profile:").partition(":")[0] for item in asked}

    def add(label: str, text: str, *fields: str) -> None:
        if text:
            lines.append(f"{label}: {text if named.intersection(fields) else mask(text)}")

    add("Name", profile.name, "name")
    add("Role", profile.role, "role")
    add("Expertise", profile.expertise_level, "expertise_level")
    add("Language", profile.preferred_language, "preferred_language")
    add("Style", profile.communication_style, "communication_style")
    add("Company", profile.company, "company")
    add("Location", profile.location, "location")
    add("Certifications", ", ".join(profile.certifications), "certifications")
    add("Skills", ", ".join(profile.skills), "skills")
    add("Goals", ", ".join(profile.goals), "goals")
    add("Interests", ", ".join(profile.interests), "interests")
    directives = [d for d in profile.directives if _in_scope(d, project)]
    add("Rules you MUST follow", "; ".join(_scoped(d) for d in directives if is_hard_rule(d)), "directives")
    add("Wishes", "; ".join(_scoped(d) for d in directives if not is_hard_rule(d)), "directives")
    stances = (s.position + (f" (why: {s.reason})" if s.reason else "") for s in profile.stances)
    add("Stances", "; ".join(stances), "stances")
    machine = sorted(profile.environment.items())
    add("Environment", ", ".join(f"{k}={v}" for k, v in machine), *(f"env_{k}" for k, _ in machine))
    told = [(day_told(m.date), m.text) for m in profile.milestones[-8:]]
    add("Milestones", "; ".join(f"[{day}] {text}" if day else text for day, text in told), "milestones")
    add("Most used commands", ", ".join(most_used(profile.top_commands)))
    meta = profile.field_meta
    for key, value in sorted(profile.preferences.items()):
        private = is_personal(value) or ((m := meta.get(f"pref:{key}")) is not None and m.sensitive)
        shown = WITHHELD if private and key not in named else value
        lines.append(f"{key}{' [sensitive]' * private}: {shown}")
    stale = sorted(
        f"{key.removeprefix('pref:')} ({local_day(seen)})"
        for key, m in meta.items()
        if (seen := m.confirmed_at or m.updated_at) is not None and (moment - seen).days > 120
    )
    if stale and lines:
        lines.append("Not confirmed for long; ask casually whether it still holds: " + ", ".join(stale))
    if lines and any(m.sensitive for m in meta.values()):
        lines.append("Private values are for talking with this user only: never put them into code, files or commits.")
    return "\n".join(lines)


def _in_scope(directive: str, project: str) -> bool:
    scope, _ = scope_of(directive)
    if not scope or not project:
        return True
    return scope.casefold() in (part.casefold() for part in project.replace("\\", "/").split("/"))


def _scoped(directive: str) -> str:
    scope, text = scope_of(directive)
    return f"[{scope}] {text}" if scope else text


def projects_text(now: Snapshot) -> str:
    """Active and paused projects, most recent first."""
    lines = []
    for p in now.projects:
        if p.status in ("active", "paused"):
            path = f" ({p.path})" if p.path else ""
            about = f": {p.description}" if p.description else ""
            technologies = f" [{', '.join(p.technologies)}]" if p.technologies else ""
            files = f" (key files: {', '.join(p.key_files)})" if p.key_files else ""
            lines.append(f"- {p.name}{path}{about}{technologies}{files}")
    return "\n".join(["Active projects:", *lines]) if lines else ""


def topics_text(now: Snapshot, most: int = 10) -> str:
    """Topics, most mentioned first."""
    lines = [f"- {t.name}" + (f" — {by_chars(t.summary, 80)}" if t.summary else "") for t in now.topics[:most]]
    return "\n".join(["Active topics:", *lines]) if lines else ""


def usage_text(usage: Usage) -> str:
    """Habits in a few lines without counts, which would differ from turn to turn; empty before there are any."""
    if usage.total_messages < HABITUAL:
        return ""
    lines = []
    if hours := peak_hours(usage):
        lines.append("Busiest hours: " + ", ".join(f"{h:02d}:00" for h in hours))
    if modes := most_used(usage.feature_usage, 3):
        lines.append("Modes: " + ", ".join(modes))
    if commands := most_used(usage.command_frequency):
        lines.append("Commands: " + ", ".join(commands))
    errors: Sequence[str] = [by_bytes(e.pattern, 80) for e in usage.common_errors[:1] if e.count >= RECURRING]
    lines += [f"Recurring error: {e}" for e in errors]
    return "\n".join(lines)


def most_used(counts: Mapping[str, int], most: int = 5) -> tuple[str, ...]:
    """The names counted most, in that order."""
    return tuple(sorted(counts, key=lambda name: (-counts[name], name))[:most])


def peak_hours(usage: Usage, most: int = 3) -> tuple[int, ...]:
    """Hours with the most messages, busiest first."""
    busy = [h for h, count in enumerate(usage.hour_distribution) if count]
    return tuple(sorted(busy, key=lambda h: (-usage.hour_distribution[h], h))[:most])


def episode_view(episode: Episode, now: Snapshot) -> EpisodeView:
    """An episode as a person sees it."""
    details = now.alive.details.get(episode.id)
    origin = details.sources[0] if details and details.sources else None
    source = (
        SourceView(origin.kind, origin.session, origin.message, origin.time)
        if origin
        else SourceView(episode.source or "extraction", time=episode.created_at)
    )
    return EpisodeView(
        episode.id, episode.date, episode.summary, episode.outcome, episode.project, episode.refs, source
    )
