"""How a conversation's cached prefix stands, for the user (spec/agent.md §1.7, §1.11)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chatls_core.config import Settings
from chatls_core.llm.model import Model
from chatls_core.prompt.cache_lifetime import explained
from chatls_core.prompt.cache_record import Lifetime, cache_record
from chatls_core.sessions.conversation import Conversation

SHOWN_EVENTS = 5


@dataclass(frozen=True, slots=True)
class CacheLoss:
    """Once the prompt's beginning was read anew: when (ISO 8601), ``miss``, ``rebuild`` or ``expired``, and why.
    ``lost`` are tokens that had been cached."""

    at: str
    kind: str
    cause: str
    section: str
    lost: int


@dataclass(frozen=True, slots=True)
class CacheStanding:
    """``lifetime`` is what the next request asks for; ``why`` says who chose it. ``promoted`` is when an hour was
    chosen by evidence (ISO 8601, empty: never). ``causes`` count the losses, the most frequent first."""

    lifetime: Lifetime
    why: str
    promoted: str
    warm: bool
    causes: tuple[tuple[str, int], ...]
    losses: tuple[CacheLoss, ...]

    @property
    def markdown(self) -> str:
        """The same for people."""
        lines = [f"Cache lifetime: {self.lifetime}, {self.why}; the prefix is {'warm' if self.warm else 'cold'}."]
        if self.causes:
            lines.append(
                "Read anew because of: " + ", ".join(f"{cause} ({count}×)" for cause, count in self.causes) + "."
            )
        lines += [
            f"- {loss.at}: {loss.kind}, {loss.lost:,} tokens; {loss.section or loss.cause}"
            for loss in reversed(self.losses)
        ]
        return "\n".join(lines)


def cache_standing(conversation: Conversation, model: Model, settings: Settings, now: datetime) -> CacheStanding:
    """How the cached prefix of a conversation stands. Changes nothing."""
    record = cache_record(conversation)
    lifetime, why = explained(record, model, settings)
    return CacheStanding(
        lifetime,
        why,
        record.promoted.isoformat() if record.promoted else "",
        record.warm(now),
        record.sorted_causes(),
        tuple(CacheLoss(e.at.isoformat(), e.kind, e.cause, e.section, e.lost) for e in record.events[-SHOWN_EVENTS:]),
    )
