"""How long a provider is asked to keep the prompt's beginning: settled once, then promoted by evidence (§1.6).

The lifetime stands inside the cache markers, so changing it rewrites the prefix: it is held for the conversation.
An hour costs twice the input price to write instead of 1.25 times; it pays once a pause lets the prefix lapse.
"""

from __future__ import annotations

from datetime import datetime

from chatls_core.config import Settings
from chatls_core.llm.cache_life import carries_hour, names_caches, reports_writes, retains_for_a_day
from chatls_core.llm.model import Model
from chatls_core.prompt.cache_record import SECONDS, CacheRecord, Lifetime, cache_record, keep
from chatls_core.sessions.conversation import Conversation
from chatls_core.tools.base import Mode

PROMOTION = "ttl_promotion"
"""The cause of the one rewrite a promotion brings."""

LONGEST_IDLE = 3600.0
"""Seconds after which a vendor that does not say when its entries lapse is taken to have dropped them."""


def settled(conversation: Conversation, model: Model, settings: Settings, mode: Mode) -> Lifetime:
    """The lifetime for the next request. Where the user leaves it to us, the first mode that asks decides: agent and
    coder runs wait for commands and approvals, so they start with an hour, chat with five minutes."""
    record = cache_record(conversation)
    if settings.prompt.cache_ttl == "auto" and not record.ttl:
        record = record.model_copy(update={"ttl": "5m" if mode == "chat" else "1h"})
        keep(conversation, record)
    return explained(record, model, settings)[0]


def explained(record: CacheRecord, model: Model, settings: Settings) -> tuple[Lifetime, str]:
    """The lifetime a conversation's next request asks for, and who chose it, in words."""
    hour = carries_hour(model.provider, model.model)
    chosen = settings.prompt.cache_ttl
    named = settings.prompt.cache_explicit and names_caches(model.provider)
    if chosen != "auto" and (chosen == "5m" or hour or named or retains_for_a_day(model.provider, model.model)):
        return chosen, "as chatls.prompt.cacheTtl says"
    if not hour:
        return "5m", "the only one this model has"
    if record.promoted is not None:
        return "1h", "since the prefix lapsed in a pause that an hour covers"
    if record.ttl == "1h":
        return "1h", "as runs with tools wait"
    return "5m", "until a pause shows that an hour pays"


def promoted(record: CacheRecord, model: Model, settings: Settings, now: datetime) -> CacheRecord:
    """The record with an hour from now on, where that is due: the prefix lapsed in a pause an hour would have covered.
    It happens once in a conversation, and never over the user's own choice."""
    if record.promoted is not None or settings.prompt.cache_ttl != "auto" or record.ttl == "1h":
        return record
    if not record.idle_expiries or not carries_hour(model.provider, model.model):
        return record
    return record.model_copy(update={"ttl": "1h", "promoted": now, "expected": PROMOTION})


def idle_expiry(gap: float, ttl: Lifetime) -> bool:
    """Whether a prefix lost after ``gap`` seconds would still be there with an hour."""
    return ttl == "5m" and SECONDS["5m"] < gap <= SECONDS["1h"]


def lapsed(conversation: Conversation, now: datetime) -> bool:
    """Whether the provider has dropped the prefix for sure, so that building it afresh costs nothing (DESIGN.md,
    "natural rebuild")."""
    record = cache_record(conversation)
    age = record.age(now)
    provider = record.model.partition(":")[0]
    longest = SECONDS[record.used] if reports_writes(provider) else LONGEST_IDLE
    return age is not None and age > longest
