"""Was the prompt's beginning read from the provider's cache, and if not, what moved it (spec/agent.md §1.7)?"""

from __future__ import annotations

import asyncio
from datetime import datetime

from chatls_core.config import Settings
from chatls_core.llm.cache_life import caches, reports_writes
from chatls_core.llm.events import Usage
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import Model
from chatls_core.prompt.cache_lifetime import idle_expiry, promoted
from chatls_core.prompt.cache_prints import difference, prints
from chatls_core.prompt.cache_record import (
    MAX_CAUSES,
    MAX_EVENTS,
    SECONDS,
    CacheEvent,
    CacheRecord,
    LossKind,
    cache_record,
    keep,
)
from chatls_core.sessions.conversation import Conversation

REBUILT_KEY = "prefix_rebuilt"
"""In ``Conversation.state``: we wrote the prefix anew since the latest request; why."""

LAPSED = "lapsed"
"""The reason when it was written anew because the provider had dropped it anyway."""

CLEARED = "cleared"
"""The reason when the service itself left out a part of the history (spec/agent.md §1.5)."""

LEAST_TOKENS = 2_000
"""Smaller prompts may be below a vendor's least size for caching."""

LOST_SHARE = 0.05
ALERT_AFTER = 3


async def fingerprints(conversation: Conversation, request: ModelRequest) -> tuple[str, ...]:
    """What tells one request from the next; in a thread, since it reads the whole history."""
    names = conversation.state.get("sections")
    sections = [str(n) for n in names] if isinstance(names, list) else ()
    return await asyncio.to_thread(prints, request, sections)


def observe(
    conversation: Conversation,
    request: ModelRequest,
    marks: tuple[str, ...],
    usage: Usage,
    model: Model,
    settings: Settings,
    now: datetime,
) -> str:
    """Take in what an answered request of the user's own turn cost; keeps the conversation's record.

    ``marks`` are the request's :func:`fingerprints`.

    Returns a sentence for the user when the cache has failed several times in a row without a reason of ours, else
    an empty one.
    """
    if not usage.prompt_tokens:
        return ""
    before = cache_record(conversation)
    rebuilt = str(conversation.state.pop(REBUILT_KEY, ""))
    event = _loss(before, marks, usage, model, rebuilt, now)
    after = before.model_copy(
        update={
            "model": _who(usage, model),
            "used": request.cache_ttl,
            "prints": marks,
            "prompt": usage.prompt_tokens,
            "cached": _cached(usage, model),
            "at": now,
            "requests": before.requests + 1,
            "reads_seen": before.reads_seen or usage.cache_read_tokens > 0,
            "expected": "",
            **_counted(before, event, now),
        }
    )
    after = promoted(after, model, settings, now)
    alert = after.in_row >= ALERT_AFTER and not after.alerted
    keep(conversation, after.model_copy(update={"alerted": after.alerted or alert}))
    if not alert or event is None:
        return ""
    why = f"what changed: {event.section}" if event.section else "though its beginning did not change"
    return f"The provider read the prompt anew {ALERT_AFTER} times in a row ({why}); that costs more than it should."


def _loss(
    before: CacheRecord, marks: tuple[str, ...], usage: Usage, model: Model, rebuilt: str, now: datetime
) -> CacheEvent | None:
    """What was lost of the cached prefix, and why."""
    lost = before.cached - usage.cache_read_tokens
    if not before.requests or not _is_lost(before, usage, model, lost):
        return None
    gap = before.age(now) or 0.0
    over = gap > SECONDS[before.used]
    found = None if rebuilt == LAPSED else difference(before.prints, marks)
    kind: LossKind
    if before.expected:
        kind, cause, section = "rebuild", before.expected, ""
    elif before.model != _who(usage, model):
        kind, cause, section = "rebuild", "model", f"the model, which was {before.model}"
    elif rebuilt == CLEARED and found is None:
        kind, cause, section = "rebuild", "context_engine", "the service, which cleared old results"
    elif found is not None:
        kind = "rebuild" if rebuilt else "expired" if over else "miss"
        cause, section = found.cause, found.section
    else:
        kind = "expired" if over else "miss"
        cause, section = f"unobserved:{kind}", ""
    return CacheEvent(at=now, kind=kind, cause=cause, section=section, lost=max(0, lost))


def _is_lost(before: CacheRecord, usage: Usage, model: Model, lost: int) -> bool:
    read, prompt = usage.cache_read_tokens, usage.prompt_tokens
    if before.cached < LEAST_TOKENS or lost <= before.cached * LOST_SHARE:
        return False
    if reports_writes(usage.provider or model.provider):
        written = usage.cache_write_tokens
        return written >= LEAST_TOKENS and written > (read + written) * LOST_SHARE
    believed = caches(usage.provider or model.provider) or before.reads_seen
    return believed and prompt >= LEAST_TOKENS and read < prompt * LOST_SHARE


def _counted(before: CacheRecord, event: CacheEvent | None, now: datetime) -> dict[str, object]:
    if event is None:
        return {"in_row": 0}
    causes = dict(before.causes)
    if event.cause in causes or len(causes) < MAX_CAUSES:
        causes[event.cause] = causes.get(event.cause, 0) + 1
    idle = event.cause == "unobserved:expired" and idle_expiry(before.age(now) or 0.0, before.used)
    return {
        "causes": causes,
        "events": (*before.events, event)[-MAX_EVENTS:],
        "in_row": before.in_row + 1 if event.kind == "miss" else 0,
        "idle_expiries": before.idle_expiries + idle,
    }


def _cached(usage: Usage, model: Model) -> int:
    """Tokens the provider has cached after a request; vendors that do not report writes cache nearly all of it."""
    if reports_writes(usage.provider or model.provider):
        return usage.cache_read_tokens + usage.cache_write_tokens
    return usage.prompt_tokens


def _who(usage: Usage, model: Model) -> str:
    return f"{usage.provider or model.provider}:{usage.model or model.model}"
