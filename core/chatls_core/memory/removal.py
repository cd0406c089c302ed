"""Forgetting any kind of item, and taking it back (spec/memory.md §4.8, §18.1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from chatls_core.memory import merges
from chatls_core.memory.edited import kind_of
from chatls_core.memory.editing import take_back
from chatls_core.memory.facts import FactBook
from chatls_core.memory.profile import ProfileBook
from chatls_core.memory.profile_text import fold
from chatls_core.memory.records import Details, Episode, Fact, HistoryEntry, Profile, Project, Topic, UndoEntry
from chatls_core.memory.snapshot import past_id
from chatls_core.memory.stores import Stores
from chatls_core.memory.views import Forgotten, ForgottenItem, Undone
from chatls_core.store import Clock
from chatls_core.text.cut import encodable

UNDO_DAYS = 30
UNDO_ENTRIES = 50
"""Kept per kind of operation: learning all day long must not push out what the user forgot."""

_EDIT = "edit"

_SUBSTRING_FROM = 4
"""Shorter texts match whole words only: forgetting "go" must leave "Django" alone."""


def matcher(match: str) -> Callable[[str], bool]:
    """Whether a text contains ``match`` at word boundaries, without case and accents."""
    wanted = " ".join(fold(encodable(match)).split())
    if not wanted:
        return lambda _: False
    pattern = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
    return lambda text: bool(pattern.search(" ".join(fold(text).split())))


def part_matcher(match: str) -> Callable[[str], bool]:
    """Whether a text contains ``match`` anywhere; never for very short ones."""
    wanted = " ".join(fold(encodable(match)).split())
    if len(wanted) < _SUBSTRING_FROM:
        return lambda _: False
    return lambda text: wanted in " ".join(fold(text).split())


def _kept(entries: Sequence[UndoEntry], limit: datetime, action: str) -> list[UndoEntry]:
    """Entries young enough, with room for one more of ``action``."""
    young = [e for e in entries if e.time >= limit]
    same = [e for e in young if e.action == action]
    crowded = {e.token for e in same[: max(0, len(same) - UNDO_ENTRIES + 1)]}
    return [e for e in young if e.token not in crowded]


class Removal:
    """Forget and undo across all stores."""

    def __init__(
        self, stores: Stores, facts: FactBook, profile: ProfileBook, clock: Clock, tokens: Callable[[], str]
    ) -> None:
        self._stores = stores
        self._facts = facts
        self._profile = profile
        self._clock = clock
        self._tokens = tokens

    def forget(self, match: str, ids: Sequence[str], *, dry_run: bool) -> Forgotten:
        """Remove matching items of every kind; what was removed can be undone for 30 days."""
        found = list(self._matching(matcher(match), frozenset(ids)))
        if not found and match.strip():
            found = list(self._matching(part_matcher(match), frozenset(ids)))
        items = tuple(item for item, _ in found)
        notes = self._notes_with(match) if match.strip() and found else ()
        if dry_run or not found:
            return Forgotten(items, dry_run, "", notes)
        token = self._tokens()
        restore: dict[str, list[Any]] = {}
        for item, tree in found:
            restore.setdefault(item.kind, []).append(tree)
        side = self._stores.side.read().items
        restore["details"] = [{"id": i.id, **side[i.id].model_dump(mode="json")} for i in items if i.id in side]
        # The way back is written first: a process killed in between has forgotten less, never without undo.
        self._record(UndoEntry(token=token, time=self._clock(), action="forget", restore=restore))
        self._remove(items)
        return Forgotten(items, False, token, notes)

    def _matching(self, hits: Callable[[str], bool], ids: frozenset[str]) -> Iterator[tuple[ForgottenItem, Any]]:
        for fact in self._facts.alive().facts.values():
            if fact.id in ids or hits(fact.content):
                yield ForgottenItem("fact", fact.id, fact.content), fact.model_dump(mode="json")
        for entry in self._stores.history.read().entries:
            key = past_id(entry)
            if key in ids or hits(entry.fact.content):
                yield ForgottenItem("past", key, entry.fact.content), entry.model_dump(mode="json")
        for archived in self._stores.archive.read():
            key = f"archive:{archived.id}"
            if archived.id in ids or key in ids or hits(archived.content):
                yield ForgottenItem("archived", key, archived.content), archived.model_dump(mode="json")
        for episode in self._stores.episodes.read():
            if episode.id in ids or hits(f"{episode.summary} {episode.outcome} {' '.join(episode.refs)}"):
                yield ForgottenItem("episode", episode.id, episode.summary), episode.model_dump(mode="json")
        for topic in self._stores.topics.read():
            if f"topic:{topic.name}" in ids or hits(f"{topic.name} {topic.summary}"):
                yield ForgottenItem("topic", f"topic:{topic.name}", topic.name), topic.model_dump(mode="json")
        for project in self._stores.projects.read():
            key = f"project:{project.name.lower()}"
            if key in ids or hits(f"{project.name} {project.description}"):
                yield ForgottenItem("project", key, project.name), project.model_dump(mode="json")
        yield from self._matching_profile(hits, ids)

    def _matching_profile(
        self, hits: Callable[[str], bool], ids: frozenset[str]
    ) -> Iterator[tuple[ForgottenItem, Any]]:
        profile = self._profile.read()
        for field in merges.SCALARS:
            value = getattr(profile, field)
            if value and (f"profile:{field}" in ids or hits(value)):
                yield ForgottenItem("profile", f"profile:{field}", f"{field}: {value}"), {field: value}
        for field in merges.LISTS:
            for item in getattr(profile, field):
                key = f"profile:{field}:{item}"
                if key in ids or hits(item):
                    yield ForgottenItem("profile", key, f"{field}: {item}"), {field: [item]}
        for field in ("environment", "preferences"):
            for name, value in getattr(profile, field).items():
                key = f"profile:{'env_' if field == 'environment' else ''}{name}"
                if key in ids or hits(value) or hits(name):
                    tree: dict[str, Any] = {field: {name: value}}
                    if (meta := profile.field_meta.get(f"pref:{name}")) is not None:
                        tree["field_meta"] = {f"pref:{name}": meta.model_dump(mode="json")}
                    yield ForgottenItem("profile", key, f"{name}: {value}"), tree
        for milestone in profile.milestones:
            key = f"profile:milestones:{milestone.text}"
            if key in ids or hits(milestone.text):
                tree = {"milestones": [milestone.model_dump(mode="json")]}
                yield ForgottenItem("profile", key, f"milestone: {milestone.text}"), tree
        for stance in profile.stances:
            key = f"profile:stances:{stance.position}"
            if key in ids or hits(f"{stance.position} {stance.reason}"):
                tree = {"stances": [stance.model_dump(mode="json")]}
                yield ForgottenItem("profile", key, f"stance: {stance.position}"), tree

    def _remove(self, items: Sequence[ForgottenItem]) -> None:
        ids: dict[str, set[str]] = {}
        for item in items:
            ids.setdefault(item.kind, set()).add(item.id)
        now = self._clock()
        if past := ids.get("past"):
            self._stores.history.update(
                lambda f: (
                    f.model_copy(update={"entries": tuple(e for e in f.entries if past_id(e) not in past)}),
                    None,
                )
            )
        if archived := ids.get("archived"):
            self._stores.archive.update(lambda f: (tuple(a for a in f if f"archive:{a.id}" not in archived), None))
        if facts := ids.get("fact"):
            self._facts.remove(facts)
        gone = {item.id for item in items}
        if gone & self._stores.side.read().items.keys():
            self._stores.side.update(
                lambda s: (s.model_copy(update={"items": {k: v for k, v in s.items.items() if k not in gone}}), None)
            )
        stones = {str(kind): dict.fromkeys(ids[kind], now) for kind in ("episode", "topic", "project") if kind in ids}
        if stones:
            self._stores.side.update(
                lambda s: (
                    s.model_copy(update={"list_tombstones": merges.nested_times(s.list_tombstones, stones)}),
                    None,
                )
            )
        if episodes := ids.get("episode"):
            self._stores.episodes.update(lambda f: (tuple(e for e in f if e.id not in episodes), None))
        if topics := ids.get("topic"):
            self._stores.topics.update(lambda f: (tuple(t for t in f if f"topic:{t.name}" not in topics), None))
        if projects := ids.get("project"):
            self._stores.projects.update(
                lambda f: (tuple(p for p in f if f"project:{p.name.lower()}" not in projects), None)
            )
        if profile := ids.get("profile"):
            self._profile.remove_items(profile)

    def undo(self, token: str) -> Undone:
        """Give back what ``token`` removed, or take away what it added."""
        if token.startswith("add-"):
            return self._undo_add(token)

        def claim(file: Any) -> tuple[Any, UndoEntry | None]:
            entry = next((e for e in file.entries if e.token == token and not e.used), None)
            if entry is None:
                return file, None
            rest = tuple(e.model_copy(update={"used": True, "restore": {}}) if e is entry else e for e in file.entries)
            return file.model_copy(update={"entries": rest}), entry

        entry = next((e for e in self._stores.undo.read().entries if e.token == token and not e.used), None)
        if entry is None:
            return Undone(token, (), ())
        if entry.action == _EDIT:
            restored, removed = take_back(self._stores, entry, self._clock())
        else:
            back, removed = self._take_back(entry)
            restored = (*self._restore(entry.restore), *back)
        self._stores.undo.update(claim)
        return Undone(token, restored, removed, entry.action)

    def remember_additions(self, added: Sequence[str], before: Profile) -> str:
        """Note what several writes added, and the profile ``before`` them; returns the token that takes it back.

        Empty when there is nothing to take back.
        """
        past, present = self._profile.difference(before)
        if not (added or past):
            return ""
        token = self._tokens()
        restore = {"profile_before": [past], "profile_after": [present]} if past else {}
        entry = UndoEntry(token=token, time=self._clock(), action="learn", restore=restore, added=tuple(added))
        self._record(entry)
        return token

    def remember_edit(self, before: Sequence[Mapping[str, Any]], after: Mapping[str, Any]) -> str:
        """Note what an edit made of some items; returns the token that takes it back."""
        token = self._tokens()
        restore = {"edit_before": list(before), "edit_after": [after]}
        self._record(UndoEntry(token=token, time=self._clock(), action=_EDIT, restore=restore))
        return token

    def _take_back(self, entry: UndoEntry) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Remove what ``entry`` added; a fact's former values hold again, profile fields get theirs back.

        Returns what came back and what went.
        """
        back: list[str] = []
        gone: list[str] = []
        others: list[ForgottenItem] = []
        for item in entry.added:
            kind = kind_of(item)
            if kind == "fact":
                undone = self._undo_add(f"add-{item}")
                back += undone.restored
                gone += undone.removed
            else:
                others.append(ForgottenItem(kind, item, ""))
        if others:
            self._remove(others)
            gone += [i.id for i in others]
        for past, present in zip(
            entry.restore.get("profile_before", ()), entry.restore.get("profile_after", ()), strict=False
        ):
            for field in self._profile.put_back(past, present):
                (back if past.get(field) else gone).append(f"profile:{field}")
        return tuple(back), tuple(gone)

    def _undo_add(self, token: str) -> Undone:
        """Take a remembered fact away again and let the values it replaced hold as before."""
        fact_id = token.removeprefix("add-")
        if fact_id not in self._facts.alive().facts:
            return Undone(token, (), ())
        before = [
            e for e in self._stores.history.read().entries if e.superseded_by == fact_id and e.reason != "contested"
        ]
        newest = max((e.valid_to for e in before), default=None)
        back = [e for e in before if e.valid_to == newest]
        taken = (fact_id, *(part for entry in back for part in entry.kept_as))
        self._facts.remove(taken)
        restored = self._facts.restore([e.fact for e in back])
        self._facts.change_details(
            [e.fact.id for e in back],
            lambda d: d.model_copy(update={"valid_from": min((e.valid_from for e in back), default=d.valid_from)}),
        )
        gone = {past_id(e) for e in back}
        self._stores.history.update(
            lambda f: (f.model_copy(update={"entries": tuple(e for e in f.entries if past_id(e) not in gone)}), None)
        )
        return Undone(token, tuple(restored), taken, "remember")

    def _restore(self, trees: dict[str, list[Any]]) -> list[str]:
        back: list[str] = []
        details = {
            str(t["id"]): Details.model_validate({k: v for k, v in t.items() if k != "id"})
            for t in trees.get("details", ())
        }
        if details:
            self._stores.side.update(
                lambda s: (s.model_copy(update={"items": merges.all_details(s.items, details)}), None)
            )
        facts = [Fact.model_validate(t) for t in trees.get("fact", ())]
        if facts:
            for fact in facts:
                if fact.id not in details:
                    self._facts.change_details(
                        [fact.id],
                        lambda d, f=fact: d.model_copy(update={"valid_from": d.valid_from or f.created_at}),  # type: ignore[misc]  # a default argument binds the loop's fact
                    )
            back += self._facts.restore(facts)
        past = tuple(HistoryEntry.model_validate(t) for t in trees.get("past", ()))
        if past:
            self._stores.history.update(
                lambda f: (f.model_copy(update={"entries": merges.history(f.entries, past)}), None)
            )
            back += [past_id(e) for e in past]
        if archived := tuple(Fact.model_validate(t) for t in trees.get("archived", ())):
            self._stores.archive.update(lambda f: (merges.facts(f, archived), None))
            back += [f"archive:{f.id}" for f in archived]
        self._lift_tombstones(trees)
        if episodes := tuple(Episode.model_validate(t) for t in trees.get("episode", ())):
            self._stores.episodes.update(lambda f: (merges.episodes(f, episodes), None))
            back += [e.id for e in episodes]
        if topics := tuple(Topic.model_validate(t) for t in trees.get("topic", ())):
            self._stores.topics.update(lambda f: (merges.topics(f, topics), None))
            back += [f"topic:{t.name}" for t in topics]
        if projects := tuple(Project.model_validate(t) for t in trees.get("project", ())):
            self._stores.projects.update(lambda f: (merges.projects(f, projects), None))
            back += [f"project:{p.name.lower()}" for p in projects]
        for tree in trees.get("profile", ()):
            self._profile.restore(tree)
            back += [f"profile:{key}" for key in tree if key != "field_meta"]
        return back

    def _lift_tombstones(self, trees: dict[str, list[Any]]) -> None:
        lifted = {
            "episode": {str(t["id"]) for t in trees.get("episode", ())},
            "topic": {f"topic:{t['name']}" for t in trees.get("topic", ())},
            "project": {f"project:{str(t['name']).lower()}" for t in trees.get("project", ())},
        }
        if any(lifted.values()):
            self._stores.side.update(
                lambda s: (
                    s.model_copy(
                        update={
                            "list_tombstones": {
                                k: {i: t for i, t in v.items() if i not in lifted.get(k, ())}
                                for k, v in s.list_tombstones.items()
                            }
                        }
                    ),
                    None,
                )
            )

    def _record(self, entry: UndoEntry) -> None:
        limit = self._clock() - timedelta(days=UNDO_DAYS)
        self._stores.undo.update(
            lambda f: (
                f.model_copy(update={"entries": (*_kept(f.entries, limit, entry.action), entry)}),
                None,
            )
        )

    def _notes_with(self, match: str) -> tuple[str, ...]:
        from chatls_core.memory.notes import notes_with

        return notes_with(self._stores, part_matcher(match) if len(match) >= _SUBSTRING_FROM else matcher(match))
