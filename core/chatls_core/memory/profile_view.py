"""The profile as a person sees it (spec/memory.md §5.9)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from chatls_core.memory.merges import LISTS, SCALARS
from chatls_core.memory.records import EPOCH, FieldMeta, Profile
from chatls_core.memory.times import day_told
from chatls_core.memory.views import ProfileField, ProfileView
from chatls_core.text.personal_numbers import is_personal

STALE_DAYS = 120


def profile_view(
    profile: Profile, now: datetime, changed: tuple[str, ...] = (), refused: Mapping[str, str] | None = None
) -> ProfileView:
    """The profile as fields in the fixed order of spec/memory.md §5.9."""
    fields: list[ProfileField] = []

    def add(key: str, value: str, meta_key: str, item: str = "") -> None:
        meta = profile.field_meta.get(meta_key, FieldMeta())
        name = f"profile:{key}:{item}" if item else f"profile:{key}"
        stale, sensitive = _is_stale(meta, now), meta.sensitive or is_personal(value)
        fields.append(ProfileField(key, value, meta.source, meta.updated_at, meta.confirmed_at, sensitive, stale, name))

    for field in SCALARS:
        if value := getattr(profile, field):
            add(field, value, field)
    for field in LISTS:
        for item in getattr(profile, field):
            add(field, item, field, item)
    for stance in profile.stances:
        why = f" (why: {stance.reason})" if stance.reason else ""
        add("stances", stance.position + why, "stances", stance.position)
    for key, value in sorted(profile.environment.items()):
        add(f"env_{key}", value, "environment")
    for milestone in profile.milestones:
        day = day_told(milestone.date)
        add("milestones", f"[{day}] {milestone.text}" if day else milestone.text, "milestones", milestone.text)
    for key, value in sorted(profile.preferences.items()):
        add(key, value, f"pref:{key}")
    return ProfileView(tuple(fields), changed, dict(refused or {}))


def _is_stale(meta: FieldMeta, now: datetime) -> bool:
    seen = meta.confirmed_at or meta.updated_at
    return seen is not None and seen > EPOCH and now - seen > timedelta(days=STALE_DAYS)
