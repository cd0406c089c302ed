"""Who the user is: one profile, changed by ``key=value`` (spec/memory.md §5)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from chatls_core.memory import profile_text as text
from chatls_core.memory.merges import LISTS, SCALARS, union
from chatls_core.memory.records import EPOCH, FieldMeta, Milestone, Profile, Stance
from chatls_core.memory.stores import SideFile, Stores
from chatls_core.memory.views import ProfileField, ProfileView, Source
from chatls_core.memory.withheld import is_secret_value, scrub
from chatls_core.store import Clock
from chatls_core.text.cut import encodable
from chatls_core.text.days import local_day
from chatls_core.text.personal_numbers import is_personal

_VALUES = (*SCALARS, *LISTS, "milestones", "stances", "environment", "preferences")
STALE_DAYS = 120
LIST_TOMBSTONE_DAYS = 30

_ALIASES: dict[str, str] = {
    alias: field
    for field, aliases in {
        "name": "name",
        "role": "role",
        "expertise_level": "expertise_level expertise level",
        "preferred_language": "preferred_language language lang",
        "communication_style": "communication_style comm_style style",
        "company": "company employer organization org",
        "location": "location city country timezone tz",
        "certifications": "certifications certification certs cert",
        "skills": "skills skill",
        "goals": "goals goal objectives objective",
        "interests": "interests interest hobbies hobby",
        "directives": "directives directive",
        "milestones": "milestones milestone",
        "stances": "stances stance position opinion",
    }.items()
    for alias in aliases.split()
}
_LEVELS = {
    **dict.fromkeys(("beginner", "novice", "iniciante"), "beginner"),
    **dict.fromkeys(("intermediate", "mid", "intermediario"), "intermediate"),
    **dict.fromkeys(("expert", "advanced", "senior", "avancado"), "expert"),
}
_OPERATIONS = {
    **dict.fromkeys(("add",), "add"),
    **dict.fromkeys(("replace", "set"), "replace"),
    **dict.fromkeys(("remove", "done", "delete", "del"), "remove"),
}
_TO_ENVIRONMENT = re.compile(
    r"(?:os|shell|terminal|editor|ide|hardware)\Z|(?:mac|macos|os|hw|machine|env)_", re.IGNORECASE
)
_MAP_REMOVALS = {
    **dict.fromkeys(("env_remove", "environment_remove", "remove_env", "remove_environment"), "environment"),
    **dict.fromkeys(
        ("preferences_remove", "preference_remove", "remove_preference", "remove_preferences"), "preferences"
    ),
}
_MARKS = {"sensitive_mark": True, "mark_sensitive": True, "sensitive_unmark": False, "unmark_sensitive": False}


def parse_key(key: str) -> tuple[str, str]:
    """``(field, operation)`` of an update key; field is ``""`` when the key is a free preference."""
    name = key.strip().lower().replace(" ", "_").replace("-", "_")
    if name in _ALIASES:
        return _ALIASES[name], "add"
    head, _, tail = name.rpartition("_")
    if head in _ALIASES and tail in _OPERATIONS:
        return _ALIASES[head], _OPERATIONS[tail]
    first, _, rest = name.partition("_")
    if rest in _ALIASES and first in _OPERATIONS:
        return _ALIASES[rest], _OPERATIONS[first]
    return "", "add"


class _Edit:
    """One update of a profile in the making."""

    def __init__(
        self, profile: Profile, tombstones: Mapping[str, Mapping[str, datetime]], source: Source, now: datetime
    ) -> None:
        self.values: dict[str, Any] = dict(profile)
        self.meta: dict[str, FieldMeta] = dict(profile.field_meta)
        self.tombstones: dict[str, dict[str, datetime]] = {k: dict(v) for k, v in tombstones.items()}
        self.user = source.kind in ("user", "correction")
        self.said = source.time or now
        self.now = now
        self.changed: list[str] = []
        self.refused: dict[str, str] = {}

    def note(self, key: str, *, changed: bool, affirmable: bool = True, named: str = "") -> None:
        """Provenance and freshness (spec/memory.md §5.6), by the time it was said (§18.1 row 6).

        ``named`` is the key as the user knows it.
        """
        meta = self.meta.get(key, FieldMeta())
        confirmed = self._latest(meta.confirmed_at)
        if changed:
            self.changed.append(named or key)
            kind = "user" if self.user else "extraction"
            updated = self._latest(meta.updated_at)
            meta = meta.model_copy(update={"source": kind, "updated_at": updated, "confirmed_at": confirmed})
        elif affirmable and self.user:
            meta = meta.model_copy(update={"source": "user", "confirmed_at": confirmed})
        else:
            return
        self.meta[key] = meta

    def _latest(self, known: datetime | None) -> datetime:
        return known if known is not None and self._said_before(known) else self.said

    def _said_before(self, time: datetime) -> bool:
        """Whether this was said before ``time``. A time to come, left by a clock set back since, tells nothing."""
        return self.said < time <= self.now

    def outranked(self, key: str, old: object) -> bool:
        """Whether something learned in the background may not change a field: the user set it (§18.1 row 4), or what
        stands there was said later (row 6)."""
        return self.set_by_user(key, old) or self.outdated(key, old)

    def set_by_user(self, key: str, old: object) -> bool:
        """Whether the user set what stands there, and this is only an extraction."""
        if self.user or not old or self.meta.get(key, FieldMeta()).source != "user":
            return False
        self.refused[key] = "The user set it; something learned in the background does not change it."
        return True

    def outdated(self, key: str, old: object) -> bool:
        """Whether what stands there was said later than this extraction, which came late through a queue."""
        updated = self.meta.get(key, FieldMeta()).updated_at
        if self.user or not old or updated is None or not self._said_before(updated):
            return False
        self.refused[key] = f"What stands there was said later, on {updated:%Y-%m-%d}."
        return True

    def removed_since(self, field: str, key: str) -> bool:
        """Whether an entry was removed after this was said, be it learned only now."""
        gone = self.tombstones.get(field, {}).get(key)
        if self.user or gone is None or not self._said_before(gone):
            return False
        self.refused[field] = f"It was removed later, on {gone:%Y-%m-%d}."
        return True

    def note_entries(self, field: str, *, there: Collection[str] = (), gone: Collection[str] = ()) -> None:
        """Tombstones of a field's entries, by their keys: what is gone has one, what is there has none."""
        stones = {**self.tombstones.get(field, {}), **dict.fromkeys(gone, self.said)}
        stones = {key: time for key, time in stones.items() if key not in there}
        if stones or field in self.tombstones:
            self.tombstones[field] = stones

    def scalar(self, field: str, value: str) -> None:
        if field == "expertise_level":
            value = _LEVELS.get(text.fold(value), value)
        old = self.values[field]
        if value == old:
            self.note(field, changed=False)
        elif not self.outranked(field, old) and not self.removed_since(field, text.stem(value)):
            self.values[field] = value
            self.note_entries(field, there={text.stem(value)})
            self.note(field, changed=True)

    def clear_scalar(self, field: str) -> None:
        """Empty a scalar."""
        self.note_entries(field, gone={text.stem(self.values[field])})
        self.values[field] = ""
        self.note(field, changed=True)

    def list_items(self, field: str, operation: str, value: str) -> None:
        old: tuple[str, ...] = self.values[field]
        items = [value] if field == "directives" and operation != "remove" else text.split_items(value)
        if field == "directives" and operation != "remove":
            items = text.split_items(value, sentences=True)
        if operation == "remove":
            if not items:
                return
            new = tuple(i for i in old if not any(_hits(i, wanted) for wanted in items))
        else:
            if operation == "replace" and self.outdated(field, old):
                return
            items = [i for i in items if not self.removed_since(field, text.stem(i))]
            new = text.upsert(() if operation == "replace" else old, items)
        if field == "goals":
            new = tuple(i for i in new if not text.is_completed(i) and not text.is_instruction_echo(i))
        if fragments := [i for i in items if text.is_fragment(i)]:
            self.refused[field] = f"Unbalanced parentheses: {'; '.join(fragments)}"
        self.note_entries(field, there=_keys(new), gone=_keys(old))
        self.values[field] = new
        self.note(field, changed=new != old, affirmable=operation == "add")

    def milestones(self, operation: str, value: str) -> None:
        old: tuple[Milestone, ...] = self.values["milestones"]
        items = text.split_items(value, sentences=True)
        if operation == "remove":
            new = tuple(m for m in old if not any(_hits(m.text, wanted) for wanted in items))
        else:
            kept = () if operation == "replace" else old
            known = {text.stem(m.text) for m in kept}
            fresh = [
                Milestone(date=_date_in(i, self.said), text=i)
                for i in dict.fromkeys(items)
                if text.stem(i) not in known and not self.removed_since("milestones", text.stem(i))
            ]
            new = tuple(sorted((*kept, *fresh), key=lambda m: (m.date, m.text)))
        self.note_entries("milestones", there=_keys(new), gone=_keys(old))
        self.values["milestones"] = new
        self.note("milestones", changed=new != old, affirmable=False)

    def stances(self, operation: str, value: str) -> None:
        old: tuple[Stance, ...] = self.values["stances"]
        items = [
            tuple(part.strip() for part in i.partition("::")[::2]) for i in text.split_items(value, sentences=True)
        ]
        if operation == "remove":
            new = tuple(s for s in old if not any(_hits(s.position, wanted) for wanted, _ in items))
        else:
            kept = {} if operation == "replace" else {text.stem(s.position): s for s in old}
            for position, reason in items:
                key = text.stem(position)
                before = kept.get(key)
                if before is not None and (
                    (before.position == position and before.reason in (reason, reason or before.reason))
                    or (not self.user and self._said_before(before.updated_at))
                ):
                    continue
                if not self.removed_since("stances", key):
                    kept[key] = Stance(position=position, reason=reason, updated_at=self.said)
            new = tuple(kept.values())
        self.note_entries("stances", there=_keys(new), gone=_keys(old))
        self.values["stances"] = new
        self.note("stances", changed=new != old)

    def entry(self, field: str, key: str, value: str) -> None:
        entries: dict[str, str] = dict(self.values[field])
        known = next((k for k in entries if k.casefold() == key.casefold()), key)
        meta, named = ("environment", f"env_{known}") if field == "environment" else (f"pref:{known}", known)
        old = entries.get(known, "")
        if old == value:
            self.note(meta, changed=False)
            return
        # All of the environment has one time: what was said about one entry tells nothing of another.
        outranked = self.outranked(meta, old) if field == "preferences" else self.set_by_user(meta, old)
        if outranked or self.removed_since(field, text.fold(key)):
            return
        entries[known] = value
        self.values[field] = entries
        self.note_entries(field, there={text.fold(key)})
        self.note(meta, changed=True, named=named)

    def drop_entries(self, field: str, value: str) -> None:
        wanted = {text.fold(i.removeprefix("env_")) for i in text.split_items(value)}
        entries: dict[str, str] = self.values[field]
        gone = [k for k in entries if text.fold(k) in wanted]
        if gone:
            self.values[field] = {k: v for k, v in entries.items() if k not in gone}
            self.note_entries(field, gone={text.fold(key) for key in gone})
            for key in gone:
                self.meta.pop(f"pref:{key}", None)
            self.changed += [f"env_{k}" if field == "environment" else k for k in gone]

    def take_away(self, key: str) -> None:
        """Remove one entry named exactly: a scalar, ``list:item``, ``env_key`` or a preference."""
        field, _, item = key.partition(":")
        if item and field in LISTS:
            gone = text.stem(item)
            self.values[field] = tuple(i for i in self.values[field] if text.stem(i) != gone)
            self.note_entries(field, gone={gone})
        elif item and field == "milestones":
            self.values[field] = tuple(m for m in self.values[field] if m.text != item)
            self.note_entries(field, gone={text.stem(item)})
        elif item and field == "stances":
            self.values[field] = tuple(s for s in self.values[field] if s.position != item)
            self.note_entries(field, gone={text.stem(item)})
        elif field in SCALARS:
            self.clear_scalar(field)
            return
        elif key.startswith("env_"):
            self.drop_entry("environment", key.removeprefix("env_"))
            return
        else:
            self.drop_entry("preferences", key)
            return
        self.note(field, changed=True, affirmable=False)

    def replace(self, key: str, value: str) -> str:
        """Put ``value`` in the place of one entry named as in :meth:`take_away`; returns the key it has then.

        Raises :class:`KeyError` where there is no such entry.
        """
        field, _, item = key.partition(":")
        if not item or field not in (*LISTS, "milestones", "stances"):
            if not self.holds(key):
                raise KeyError(f"profile:{key}")
            self.apply(key, value)
            return key
        entries: tuple[Any, ...] = self.values[field]
        old = next((entry for entry in entries if _text_of(entry) == item), None)
        if old is None:
            raise KeyError(f"profile:{key}")
        value = scrub(value.strip())
        if not value or is_secret_value(field, value):
            self.refused[field] = "Passwords, PINs and keys are not kept." if value else "An entry needs words."
            return key
        new: Any = value
        if field == "milestones":
            new = Milestone(date=_date_in(value, self.said), text=value)
        elif field == "stances":
            position, given, reason = (part.strip() for part in value.partition("::"))
            new = Stance(position=position, reason=reason if given else old.reason, updated_at=self.said)
        same = text.stem(_text_of(new))
        self.values[field] = tuple(
            new if entry is old else entry for entry in entries if entry is old or text.stem(_text_of(entry)) != same
        )
        self.note_entries(field, there=_keys(self.values[field]), gone=_keys(entries))
        self.note(field, changed=self.values[field] != entries)
        return f"{field}:{_text_of(new)}"

    def holds(self, key: str) -> bool:
        """Whether there is a scalar, an ``env_key`` or a preference of that name."""
        if key in SCALARS:
            return bool(self.values[key])
        if key.startswith("env_"):
            return key.removeprefix("env_") in self.values["environment"]
        return key in self.values["preferences"]

    def drop_entry(self, field: str, key: str) -> None:
        self.values[field] = {k: v for k, v in self.values[field].items() if k != key}
        self.note_entries(field, gone={text.fold(key)})
        self.meta.pop(f"pref:{key}", None)

    def mark(self, value: str, sensitive: bool) -> None:
        for name in text.split_items(value):
            field, _ = parse_key(name)
            known = next((k for k in self.values["preferences"] if k.casefold() == name.casefold()), None)
            is_env = name.casefold() == "environment" or name.lower().startswith("env_")
            key = field or ("environment" if is_env else f"pref:{known or name}")
            self.meta[key] = self.meta.get(key, FieldMeta()).model_copy(update={"sensitive": sensitive})
            self.changed.append(key.removeprefix("pref:"))

    def apply(self, key: str, value: str) -> None:
        """One ``key=value``."""
        name = encodable(key.strip())
        lowered = name.lower()
        if is_secret_value(name, value.strip()):
            self.refused[name] = "Passwords, PINs and keys are not kept."
            return
        value = scrub(value.strip())
        if lowered in _MARKS:
            self.mark(value, _MARKS[lowered])
            return
        if lowered in _MAP_REMOVALS:
            self.drop_entries(_MAP_REMOVALS[lowered], value)
            return
        field, operation = parse_key(name)
        if not value and not (operation == "replace" and field in (*LISTS, "milestones", "stances")):
            self.refused[name] = "An empty value changes nothing; remove entries with <list>_remove or <list>_replace."
        elif field in SCALARS:
            if operation == "remove":
                if _hits(self.values[field], value) and not self.outdated(field, self.values[field]):
                    self.clear_scalar(field)
            else:
                self.scalar(field, value)
        elif field == "milestones":
            self.milestones(operation, value)
        elif field == "stances":
            self.stances(operation, value)
        elif field:
            self.list_items(field, operation, value)
        elif lowered.startswith("env_"):
            self.entry("environment", name[4:], value)
        elif not name:
            self.refused[name] = "A key is needed."
        else:
            self.entry("preferences", name, value)


def _hits(item: str, wanted: str) -> bool:
    """Whether a removal names an item: its text is part of it, or both have one stem."""
    return text.fold(wanted) in text.fold(item) or text.stem(item) == text.stem(wanted)


def _date_in(item: str, said: datetime) -> datetime:
    """The date a milestone's text names, else when it was said (§18.1 row 26)."""
    from chatls_core.memory.times import window_in

    window = window_in(item, said)
    return window.start if window is not None else said


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


def _keys(value: Any) -> set[str]:
    """What the entries of a field are tombstoned by."""
    match value:
        case dict():
            return {text.fold(k) for k in value}
        case str():
            return {text.stem(value)} if value else set()
        case _:
            return {text.stem(_text_of(i)) for i in value}


def _text_of(item: str | Milestone | Stance) -> str:
    match item:
        case Milestone():
            return item.text
        case Stance():
            return item.position
        case _:
            return item


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

        def change(disk: Profile) -> tuple[Profile, tuple[Profile, _Edit]]:
            side = self._stores.side.read()
            before = heal(disk, side.list_tombstones, now)
            edit = _Edit(before, side.list_tombstones, source, now)
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
            edit = _Edit(heal(disk, side.list_tombstones, now), side.list_tombstones, source, now)
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
            edit = _Edit(heal(disk, side.list_tombstones, now), side.list_tombstones, Source("user"), now)
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
                for key in _keys(getattr(kept, field)):
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
                kept, gone = _keys(getattr(old, field)), _keys(getattr(new, field))
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


def view(
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
        add("milestones", f"[{local_day(milestone.date)}] {milestone.text}", "milestones", milestone.text)
    for key, value in sorted(profile.preferences.items()):
        add(key, value, f"pref:{key}")
    return ProfileView(tuple(fields), changed, dict(refused or {}))


def _is_stale(meta: FieldMeta, now: datetime) -> bool:
    seen = meta.confirmed_at or meta.updated_at
    return seen is not None and seen > EPOCH and now - seen > timedelta(days=STALE_DAYS)
