"""How should a profile be read? (spec/memory.md §5.8)"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from chatls_core.memory import profile_text as text
from chatls_core.memory.merges import LISTS, SCALARS, union
from chatls_core.memory.records import FieldMeta, Milestone, Profile, Stance

LIST_TOMBSTONE_DAYS = 30
_TO_ENVIRONMENT = re.compile(
    r"(?:os|shell|terminal|editor|ide|hardware)\Z|(?:mac|macos|os|hw|machine|env)_", re.IGNORECASE
)


def heal(profile: Profile, tombstones: Mapping[str, Mapping[str, datetime]], now: datetime) -> Profile:
    """The profile as it should be read: cleaned lists, settings of the machine in ``environment``, removed items gone.

    Idempotent (spec/memory.md §5.8).
    """
    limit = now - timedelta(days=LIST_TOMBSTONE_DAYS)

    def gone(field: str, key: str, said: datetime | None = None) -> bool:
        """Whether an entry was removed, and not said again since as far as its own time tells."""
        time = tombstones.get(field, {}).get(key)
        return time is not None and time >= limit and (said is None or said <= time)

    changes: dict[str, Any] = {}
    for field in SCALARS:
        said = (profile.field_meta.get(field) or FieldMeta()).updated_at
        if (value := getattr(profile, field)) and gone(field, text.stem(value), said):
            changes[field] = ""
    changes["milestones"] = tuple(m for m in profile.milestones if not gone("milestones", text.stem(m.text)))
    changes["stances"] = tuple(s for s in profile.stances if not gone("stances", text.stem(s.position), s.updated_at))
    for field in LISTS:
        items = text.upsert((), getattr(profile, field))
        items = tuple(i for i in items if not gone(field, text.stem(i)))
        if field == "goals":
            items = tuple(i for i in items if not text.is_completed(i) and not text.is_instruction_echo(i))
        changes[field] = items
    moved = {k: v for k, v in profile.preferences.items() if _TO_ENVIRONMENT.match(k)}
    changes["environment"] = {
        k: v
        for k, v in union(
            profile.environment, {k.removeprefix("env_"): v for k, v in moved.items()}, lambda a, _: a
        ).items()
        if not gone("environment", text.fold(k))
    }
    changes["preferences"] = {
        k: v for k, v in profile.preferences.items() if k not in moved and not gone("preferences", text.fold(k))
    }
    meta = dict(profile.field_meta)
    for key in changes["preferences"]:
        if text.is_sensitive_key(key) and f"pref:{key}" not in meta:
            meta[f"pref:{key}"] = FieldMeta(sensitive=True)
    changes["field_meta"] = meta
    if all(getattr(profile, k) == v for k, v in changes.items()):
        return profile
    return profile.model_copy(update=changes)


def keys_of(value: Any) -> set[str]:
    """What the entries of a field are tombstoned by."""
    match value:
        case dict():
            return {text.fold(k) for k in value}
        case str():
            return {text.stem(value)} if value else set()
        case _:
            return {text.stem(text_of(i)) for i in value}


def text_of(item: str | Milestone | Stance) -> str:
    match item:
        case Milestone():
            return item.text
        case Stance():
            return item.position
        case _:
            return item
