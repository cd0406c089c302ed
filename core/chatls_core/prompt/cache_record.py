"""What a conversation knows about its cached prefix; saved with the session (spec/agent.md §1.6, §1.7)."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from chatls_core.sessions.conversation import Conversation

STATE_KEY = "cache"
"""In ``Conversation.state``. A rewind does not take it back: the provider's cache does not go back either."""

MAX_EVENTS = 8
MAX_CAUSES = 100

Lifetime = Literal["5m", "1h"]
LossKind = Literal["miss", "rebuild", "expired"]

SECONDS: dict[Lifetime, int] = {"5m": 300, "1h": 3600}


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class CacheEvent(_Kept):
    """The prompt's beginning was read anew. ``section`` names for people what changed; tokens."""

    at: datetime
    kind: LossKind
    cause: str
    section: str = ""
    lost: int = 0


class CacheRecord(_Kept):
    """State of one conversation's cached prefix.

    ``ttl`` is what was settled where the user leaves the choice to us, empty before the first request; ``used`` is the
    lifetime the latest request asked for. ``prints`` are those of the latest request that was answered, at ``at`` by
    ``model`` (``provider:model``); ``prompt`` are its prompt tokens as the provider counted them, ``cached`` those the
    provider had in its cache after it. ``expected`` is the cause the next rewrite of the prefix will have. ``in_row``
    counts misses without a hit between them.
    """

    ttl: Lifetime | Literal[""] = ""
    used: Lifetime = "5m"
    promoted: datetime | None = None
    model: str = ""
    prints: tuple[str, ...] = ()
    prompt: int = 0
    cached: int = 0
    at: datetime | None = None
    requests: int = 0
    reads_seen: bool = False
    idle_expiries: int = 0
    expected: str = ""
    in_row: int = 0
    alerted: bool = False
    causes: dict[str, int] = {}
    events: tuple[CacheEvent, ...] = ()

    def age(self, now: datetime) -> float | None:
        """Seconds since the latest answered request; ``None`` when there was none. Never negative."""
        return None if self.at is None else max(0.0, (now - self.at).total_seconds())

    def warm(self, now: datetime) -> bool:
        """Whether the provider should still have the prefix."""
        age = self.age(now)
        return age is not None and age <= SECONDS[self.used]

    def sorted_causes(self) -> tuple[tuple[str, int], ...]:
        """Causes of losses, the most frequent first."""
        return tuple(sorted(self.causes.items(), key=lambda row: (-row[1], row[0])))


def cache_record(conversation: Conversation) -> CacheRecord:
    """The record of a conversation; an empty one where there is none or it cannot be read."""
    try:
        return CacheRecord.model_validate(conversation.state.get(STATE_KEY) or {})
    except ValidationError:
        return CacheRecord()


def keep(conversation: Conversation, record: CacheRecord) -> None:
    """Put the record into the conversation's state, as JSON."""
    conversation.state[STATE_KEY] = record.model_dump(mode="json", exclude_defaults=True)
