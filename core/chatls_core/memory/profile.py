"""Who the user is: one profile on disk, changed by ``key=value`` (spec/memory.md §5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from chatls_core.memory import profile_text as text
from chatls_core.memory.merges import LISTS, SCALARS
from chatls_core.memory.profile_edit import ProfileEdit
from chatls_core.memory.profile_heal import heal, keys_of
from chatls_core.memory.records import FieldMeta, Profile
from chatls_core.memory.stores import SideFile, Stores
from chatls_core.memory.views import Source
from chatls_core.store import Clock

_VALUES = (*SCALARS, *LISTS, "milestones", "stances", "environment", "preferences")


class ProfileBook:
    """The user's profile on disk. Thread-safe."""

    def __init__(self, stores: Stores, clock: Clock) -> None:
        self._stores = stores
        self._clock = clock

    def read(self) -> Profile:
        """The healed profile."""
        return heal(self._stores.profile.read(), self._stores.side.read().list_tombstones, self._clock())

    def update(self, changes: Mapping[str, str], source: Source) -> tuple[Profile, tuple[str, ...], Mapping[str, str]]:
        """Apply ``key=value`` updates; returns the profile, changed keys and refused keys with reasons."""
        now = self._clock()

        def change(disk: Profile) -> tuple[Profile, tuple[Profile, ProfileEdit]]:
            side = self._stores.side.read()
            before = heal(disk, side.list_tombstones, now)
            edit = ProfileEdit(before, side.list_tombstones, source, now)
            for key, value in changes.items():
                edit.apply(key, value)
            for key in edit.values["preferences"]:
                if text.is_sensitive_key(key) and f"pref:{key}" not in before.field_meta:
                    meta = edit.meta.get(f"pref:{key}", FieldMeta())
                    edit.meta[f"pref:{key}"] = meta.model_copy(update={"sensitive": True})
            edit.values["field_meta"] = edit.meta
            new = before.model_copy(update=edit.values)
            if new == disk:
                return disk, (disk, edit)
            # Removals first: a list item must not come back because we were killed in between.
            self._keep_tombstones(side, edit.tombstones)
            new = new.model_copy(update={"last_updated": max(now, disk.last_updated)})
            return new, (new, edit)

        profile, edit = self._stores.profile.update(change)
        return profile, tuple(dict.fromkeys(edit.changed)), edit.refused

    def replace_entry(self, item_id: str, value: str, source: Source) -> tuple[Profile, str, str]:
        """Put ``value`` in the place of the entry with an id of :class:`ProfileField`.

        Returns the profile, the entry's id then, and why it was refused, if it was. Raises :class:`KeyError`.
        """
        now, key = self._clock(), item_id.removeprefix("profile:")

        def change(disk: Profile) -> tuple[Profile, tuple[Profile, str, str]]:
            side = self._stores.side.read()
            edit = ProfileEdit(heal(disk, side.list_tombstones, now), side.list_tombstones, source, now)
            new_key = edit.replace(key, value)
            edit.values["field_meta"] = edit.meta
            new = disk.model_copy(update=edit.values)
            if not edit.changed:
                return disk, (disk, f"profile:{new_key}", "; ".join(edit.refused.values()))
            self._keep_tombstones(side, edit.tombstones)
            new = new.model_copy(update={"last_updated": max(now, disk.last_updated)})
            return new, (new, f"profile:{new_key}", "")

        return self._stores.profile.update(change)

    def remove_items(self, ids: Collection[str]) -> None:
        """Remove entries by id: ``profile:<scalar>``, ``profile:<list>:<item>``, ``profile:[env_]<key>``."""
        now = self._clock()

        def change(disk: Profile) -> tuple[Profile, None]:
            side = self._stores.side.read()
            edit = ProfileEdit(heal(disk, side.list_tombstones, now), side.list_tombstones, Source("user"), now)
            for key in ids:
                edit.take_away(key.removeprefix("profile:"))
            edit.values["field_meta"] = edit.meta
            self._keep_tombstones(side, edit.tombstones)
            new = disk.model_copy(update=edit.values)
            return (new.model_copy(update={"last_updated": max(now, disk.last_updated)}) if new != disk else disk), None

        self._stores.profile.update(change)

    def restore(self, values: Mapping[str, Any]) -> None:
        """Give back removed entries: list items are added, empty scalars and missing keys filled."""
        now = self._clock()
        kept = Profile.model_validate(dict(values))

        def change(disk: Profile) -> tuple[Profile, None]:
            side = self._stores.side.read()
            stones = {k: dict(v) for k, v in side.list_tombstones.items()}
            changes: dict[str, Any] = {}
            for field in kept.model_fields_set & set(_VALUES):
                for key in keys_of(getattr(kept, field)):
                    stones.get(field, {}).pop(key, None)
            for field in kept.model_fields_set & set(SCALARS):
                changes[field] = getattr(disk, field) or getattr(kept, field)
            for field in kept.model_fields_set & set(LISTS):
                changes[field] = text.upsert(getattr(kept, field), getattr(disk, field))
            for field in kept.model_fields_set & {"environment", "preferences"}:
                changes[field] = {**getattr(kept, field), **getattr(disk, field)}
            for field in kept.model_fields_set & {"milestones", "stances"}:
                changes[field] = tuple(dict.fromkeys((*getattr(disk, field), *getattr(kept, field))))
            changes["field_meta"] = {**kept.field_meta, **disk.field_meta}
            self._keep_tombstones(side, stones)
            return disk.model_copy(update={**changes, "last_updated": max(now, disk.last_updated)}), None

        self._stores.profile.update(change)

    def difference(self, before: Profile) -> tuple[dict[str, Any], dict[str, Any]]:
        """The fields that differ between ``before`` and now, as JSON trees: earlier values and present ones."""
        now = self.read()
        fields = {f for f in _VALUES if getattr(before, f) != getattr(now, f)}
        return before.model_dump(mode="json", include=fields), now.model_dump(mode="json", include=fields)

    def put_back(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
        """Give fields their values of ``before`` where they still have those of ``after``; returns which."""
        now = self._clock()
        old, new = Profile.model_validate(dict(before)), Profile.model_validate(dict(after))

        def change(disk: Profile) -> tuple[Profile, tuple[str, ...]]:
            side = self._stores.side.read()
            healed = heal(disk, side.list_tombstones, now)
            fields = [f for f in _VALUES if f in before and getattr(healed, f) == getattr(new, f)]
            stones = {k: dict(v) for k, v in side.list_tombstones.items()}
            meta = dict(disk.field_meta)
            for field in fields:
                kept, gone = keys_of(getattr(old, field)), keys_of(getattr(new, field))
                marks = stones.setdefault(field, {})
                marks.update(dict.fromkeys(gone - kept, now))
                for key in kept:
                    marks.pop(key, None)
                if field != "preferences":
                    meta[field] = meta.get(field, FieldMeta()).model_copy(update={"updated_at": now})
            if not fields:
                return disk, ()
            self._keep_tombstones(side, stones)
            values = {f: getattr(old, f) for f in fields}
            update = {**values, "field_meta": meta, "last_updated": max(now, disk.last_updated)}
            return disk.model_copy(update=update), tuple(fields)

        return self._stores.profile.update(change)

    def _keep_tombstones(self, side: SideFile, tombstones: Mapping[str, Mapping[str, datetime]]) -> None:
        if tombstones != side.list_tombstones:
            self._stores.side.update(lambda file: (file.model_copy(update={"list_tombstones": tombstones}), None))
