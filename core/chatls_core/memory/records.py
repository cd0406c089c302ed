"""What memory's files hold: ChatCLI's schemas (spec/memory.md §4-§7), our side files' (docs/memory-format.md).

Every record keeps fields it does not know, so that another version's data survives a round trip.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for a time nobody wrote down."""


_FIRST, _LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
"""The edges of the calendar: Go's time that nobody set, and the last one that every zone can tell."""


def _aware(value: datetime) -> datetime:
    moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    if 1 < moment.year < 9999:
        return moment
    return _FIRST if moment.year == 1 else min(moment.replace(tzinfo=UTC), _LAST)


Time = Annotated[datetime, AfterValidator(_aware)]


class Record(BaseModel):
    """An immutable record of a file."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


class LenientRecord(Record):
    """A record of a small file, where ``null`` means "not there" (Go writes it for empty lists and maps)."""

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        if isinstance(data, dict) and any(v is None for k, v in data.items() if k in cls.model_fields):
            return {k: v for k, v in data.items() if v is not None or k not in cls.model_fields}
        return data


class Fact(Record):
    """One fact of ``memory_index.json`` (spec/memory.md §4.1)."""

    id: str = ""
    content: str = ""
    category: str = "general"
    tags: tuple[str, ...] | None = ()
    created_at: Time = EPOCH
    last_accessed: Time = EPOCH
    access_count: int = 1
    score: float = 0.0
    source: str = ""
    source_project: str = ""
    confidence: float = 0.0
    provenance: str = ""


class Episode(LenientRecord):
    """One piece of finished work of ``episodes.json`` (spec/memory.md §7.1)."""

    id: str = ""
    date: Time = EPOCH
    project: str = ""
    summary: str = ""
    outcome: str = ""
    refs: tuple[str, ...] = ()
    source: str = ""
    created_at: Time = EPOCH

    @property
    def told(self) -> str:
        """What was done, with what came of it."""
        return f"{self.summary} → {self.outcome}" if self.outcome else self.summary


class Topic(LenientRecord):
    """One topic of ``topics.json`` (spec/memory.md §6.1)."""

    name: str = ""
    mentions: int = 1
    summary: str = ""
    first_seen: Time = EPOCH
    last_seen: Time = EPOCH
    related_fact_ids: tuple[str, ...] = ()


class Project(LenientRecord):
    """One project of ``projects.json`` (spec/memory.md §6.2)."""

    name: str = ""
    path: str = ""
    description: str = ""
    status: str = "active"
    technologies: tuple[str, ...] = ()
    key_files: tuple[str, ...] = ()
    last_active: Time = EPOCH
    priority: float = 0
    metadata: dict[str, Any] = {}


class ErrorPattern(LenientRecord):
    """A recurring error of ``usage_stats.json``."""

    pattern: str = ""
    count: int = 1
    resolution: str = ""
    last_seen: Time = EPOCH


class Usage(LenientRecord):
    """``usage_stats.json`` (spec/memory.md §6.3)."""

    session_count: int = 0
    total_messages: int = 0
    avg_session_secs: float = 0
    hour_distribution: tuple[int, ...] = (0,) * 24
    command_frequency: dict[str, int] = {}
    feature_usage: dict[str, int] = {}
    common_errors: tuple[ErrorPattern, ...] = ()
    last_session: Time | None = None


class Milestone(LenientRecord):
    """A dated achievement."""

    date: Time = EPOCH
    text: str = ""


class Stance(LenientRecord):
    """An opinion with its reason."""

    position: str = ""
    reason: str = ""
    updated_at: Time = EPOCH


class FieldMeta(LenientRecord):
    """Who set a profile field, and when it was last confirmed."""

    source: str = ""
    updated_at: Time | None = None
    confirmed_at: Time | None = None
    sensitive: bool = False


class Profile(LenientRecord):
    """``user_profile.json`` (spec/memory.md §5.1)."""

    name: str = ""
    role: str = ""
    expertise_level: str = ""
    preferred_language: str = ""
    communication_style: str = ""
    company: str = ""
    location: str = ""
    certifications: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    interests: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    milestones: tuple[Milestone, ...] = ()
    stances: tuple[Stance, ...] = ()
    environment: dict[str, str] = {}
    preferences: dict[str, str] = {}
    top_commands: dict[str, int] = {}
    field_meta: dict[str, FieldMeta] = {}
    last_updated: Time = EPOCH


SourceKind = Literal["user", "extraction", "correction", "import"]


class Origin(LenientRecord):
    """Who said something, in which session and message, when (``time``: the message's own time)."""

    kind: str = "extraction"
    session: str = ""
    message: str = ""
    time: Time = EPOCH


class Edit(LenientRecord):
    """What the user put in the place of a field's value, when; ``was`` are names that went before."""

    text: str = ""
    time: Time = EPOCH
    was: tuple[str, ...] = ()


class Details(LenientRecord):
    """What ChatCLI's schema has no room for, per item id (``memory_details.json``).

    ``valid_from`` is when the item became true by the conversation's time. Flags carry the time they were set, so that
    two processes agree on the later one. ``edits`` are those of a topic, project or episode, by field.
    """

    valid_from: Time | None = None
    sources: tuple[Origin, ...] = ()
    pinned: bool = False
    pinned_at: Time | None = None
    sensitive: bool = False
    sensitive_at: Time | None = None
    edits: dict[str, Edit] = {}


class HistoryEntry(LenientRecord):
    """A value that was true from ``valid_from`` until ``valid_to`` (``memory_history.json``).

    ``kept_as`` are ids of facts made of what still holds of it.
    ``reason``: ``superseded``; ``edited``; ``contested`` (something extracted contradicted what the user had said, and
    was not believed: ``valid_from`` equals ``valid_to``).
    """

    fact: Fact = Fact.model_construct()
    valid_from: Time = EPOCH
    valid_to: Time = EPOCH
    superseded_by: str = ""
    reason: str = "superseded"
    sources: tuple[Origin, ...] = ()
    kept_as: tuple[str, ...] = ()


class UndoEntry(LenientRecord):
    """What an operation took away, to be given back (``memory_undo.json``). ``removed``/``added`` hold record trees."""

    token: str = ""
    time: Time = EPOCH
    action: str = ""
    restore: dict[str, list[Any]] = {}
    added: tuple[str, ...] = ()
    used: bool = False
