"""One update of a profile in the making (spec/memory.md §5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from chatls_core.memory import profile_text as text
from chatls_core.memory.merges import LISTS, SCALARS
from chatls_core.memory.profile_heal import keys_of, text_of
from chatls_core.memory.profile_keys import LEVELS, MAP_REMOVALS, MARKS, parse_key
from chatls_core.memory.records import FieldMeta, Milestone, Profile, Stance
from chatls_core.memory.views import Source
from chatls_core.memory.withheld import is_secret_value, scrub
from chatls_core.text.cut import encodable
from chatls_core.text.days import local_day


class ProfileEdit:
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
        self.refused[key] = f"What stands there was said later, on {local_day(updated)}."
        return True

    def removed_since(self, field: str, key: str) -> bool:
        """Whether an entry was removed after this was said, be it learned only now."""
        gone = self.tombstones.get(field, {}).get(key)
        if self.user or gone is None or not self._said_before(gone):
            return False
        self.refused[field] = f"It was removed later, on {local_day(gone)}."
        return True

    def note_entries(self, field: str, *, there: Collection[str] = (), gone: Collection[str] = ()) -> None:
        """Tombstones of a field's entries, by their keys: what is gone has one, what is there has none."""
        stones = {**self.tombstones.get(field, {}), **dict.fromkeys(gone, self.said)}
        stones = {key: time for key, time in stones.items() if key not in there}
        if stones or field in self.tombstones:
            self.tombstones[field] = stones

    def scalar(self, field: str, value: str) -> None:
        if field == "expertise_level":
            value = LEVELS.get(text.fold(value), value)
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
        self.note_entries(field, there=keys_of(new), gone=keys_of(old))
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
        self.note_entries("milestones", there=keys_of(new), gone=keys_of(old))
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
        self.note_entries("stances", there=keys_of(new), gone=keys_of(old))
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
        old = next((entry for entry in entries if text_of(entry) == item), None)
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
        same = text.stem(text_of(new))
        self.values[field] = tuple(
            new if entry is old else entry for entry in entries if entry is old or text.stem(text_of(entry)) != same
        )
        self.note_entries(field, there=keys_of(self.values[field]), gone=keys_of(entries))
        self.note(field, changed=self.values[field] != entries)
        return f"{field}:{text_of(new)}"

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
        if lowered in MARKS:
            self.mark(value, MARKS[lowered])
            return
        if lowered in MAP_REMOVALS:
            self.drop_entries(MAP_REMOVALS[lowered], value)
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
