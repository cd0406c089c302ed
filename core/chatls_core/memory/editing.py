"""Topics, projects and episodes corrected by the user, and corrections taken back.

Writes go in an order that is safe to cut anywhere: first the way back, then the details, then the file that makes the
edit visible, then the tombstone of a former name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from typing import Any

from chatls_core.memory import merges, provenance
from chatls_core.memory.edited import EDITABLE, NAME, Item, as_edited, carried, fields_of, id_of, kind_of
from chatls_core.memory.learning import TOPIC_SUMMARY_BYTES, Learning, clean_line, status_word, topic_name
from chatls_core.memory.records import Details, Edit, Episode, Project, Topic, UndoEntry
from chatls_core.memory.stores import SideFile, Stores
from chatls_core.memory.views import Source
from chatls_core.store import Clock, JsonStore
from chatls_core.text.cut import by_bytes

_TICK = timedelta(microseconds=1)
_MAY_BE_EMPTY = frozenset({("topic", "summary"), ("project", "description"), ("episode", "outcome")})

Remember = Callable[[Sequence[Mapping[str, Any]], Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Edited:
    """What an edit came to: ``gone`` are ids the item is no longer known by, ``undo_token`` is empty where all was so
    before."""

    id: str
    kind: str
    field: str
    text: str
    gone: tuple[str, ...] = ()
    undo_token: str = ""


@dataclass(frozen=True, slots=True)
class _Shelf:
    """Where the items of one kind are."""

    kind: str
    model: type[Item]
    store: JsonStore[Any]
    merge: Callable[[Any, Any], Any]


def _shelf(stores: Stores, kind: str) -> _Shelf:
    match kind:
        case "topic":
            return _Shelf(kind, Topic, stores.topics, merges.topics)
        case "project":
            return _Shelf(kind, Project, stores.projects, merges.projects)
        case _:
            return _Shelf(kind, Episode, stores.episodes, merges.episodes)


class Editing:
    """Edits by hand. Thread-safe."""

    def __init__(self, stores: Stores, learning: Learning, clock: Clock, remember: Remember) -> None:
        """``remember`` notes what was before and what is after, for an undo, and returns its token."""
        self._stores = stores
        self._learning = learning
        self._clock = clock
        self._remember = remember

    def edit(self, item_id: str, field: str, text: str, source: Source) -> Edited:
        """Put ``text`` in the place of a field's value (:data:`EDITABLE`; empty: the first of its kind).

        A topic that is given the name of another one is united with it. Raises :class:`KeyError` for what is not
        remembered, :class:`ValueError` for what has no such field and for a text the field cannot have.
        """
        kind = kind_of(item_id)
        if kind not in EDITABLE:
            raise KeyError(item_id)
        field = field or EDITABLE[kind][0]
        if field not in EDITABLE[kind]:
            raise ValueError(f"{field!r} of a {kind} cannot be edited; {' and '.join(EDITABLE[kind])} can.")
        text = _cleaned(kind, field, text)
        shelf, now = _shelf(self._stores, kind), self._clock()

        def change(disk: tuple[Item, ...]) -> tuple[tuple[Item, ...], tuple[Edited, Mapping[str, datetime]]]:
            living = self._living(kind)
            item = living[item_id]
            if fields_of(item)[field] == text:
                return disk, (Edited(item_id, kind, field, text), {})
            others = [o for o in living.values() if field == NAME and o is not item and _is_called(o, text)]
            before = [item, *others]
            known = {id_of(i): self._details(id_of(i)) for i in before}
            details = _with_edit([*known.values()], before, field, text, source, now)
            new = as_edited(_changed(before, field, text, now), details)
            after_id = id_of(new)
            token = self._remember(
                [_tree(kind, i, known[id_of(i)]) for i in before],
                _tree(kind, new, details),
            )
            _note(self._stores, kind, {after_id: details})
            rest = tuple(i for i in disk if id_of(i) not in known and id_of(i) != after_id)
            gone = _times((i for i in before if id_of(i) != after_id), now)
            return shelf.merge(rest, (new,)), (Edited(after_id, kind, field, text, tuple(gone), token), gone)

        done, gone = shelf.store.update(change)
        _bury(self._stores, kind, gone)
        return done

    def _living(self, kind: str) -> dict[str, Item]:
        items: Sequence[Item]
        match kind:
            case "topic":
                items = self._learning.topics()
            case "project":
                items = self._learning.projects()
            case _:
                items = self._learning.episodes()
        return {id_of(item): item for item in items}

    def _details(self, item_id: str) -> Details:
        return self._stores.side.read().items.get(item_id) or Details()


def take_back(stores: Stores, entry: UndoEntry, now: datetime) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Undo an edit, and nothing that was learned or edited since; returns the ids that came back and those that went.

    Both are empty where the item is gone, or the field was edited again.
    """
    before, after = entry.restore["edit_before"], entry.restore["edit_after"][0]
    shelf = _shelf(stores, str(after["kind"]))
    after_id = id_of(shelf.model.model_validate(after["record"]))

    def change(disk: tuple[Item, ...]) -> tuple[tuple[Item, ...], tuple[tuple[str, ...], Mapping[str, datetime]]]:
        details = stores.side.read().items
        found = next((i for i in disk if id_of(i) == after_id), None) or _renamed(disk, after_id, details)
        if found is None:
            return disk, ((), {})
        known = details.get(id_of(found)) or Details()
        item: Item = as_edited(found, known)
        first = shelf.model.model_validate(carried(before[0]["record"], after["record"], item.model_dump(mode="json")))
        back = (first, *(shelf.model.model_validate(tree["record"]) for tree in before[1:]))
        if len(back) == 1 and fields_of(first) == fields_of(item):
            return disk, ((), {})
        there = {id_of(i): Details.model_validate(t["details"]) for i, t in zip(back, before, strict=True)}
        joined = carried(before[0]["details"], after["details"], known.model_dump(mode="json"))
        there[id_of(first)] = Details.model_validate(joined)
        _note(stores, shelf.kind, there)
        gone = {} if id_of(item) in there else _times((item,), now)
        return shelf.merge(tuple(i for i in disk if i is not found), back), (tuple(there), gone)

    restored, removed = shelf.store.update(change)
    _bury(stores, shelf.kind, removed)
    return restored, tuple(removed)


def _is_called(item: Item, name: str) -> bool:
    return isinstance(item, Topic) and item.name.casefold() == name.casefold()


def _renamed(items: Sequence[Item], item_id: str, details: Mapping[str, Details]) -> Item | None:
    """The topic that had this id once."""
    for item in items:
        named = (known.edits if (known := details.get(id_of(item))) else {}).get(NAME)
        if isinstance(item, Topic) and named and item_id.removeprefix("topic:") in named.was:
            return item
    return None


def _cleaned(kind: str, field: str, text: str) -> str:
    """A text as the field may have it. Raises :class:`ValueError`."""
    if field == NAME:
        text = topic_name(" ".join(text.split()))
        if not text:
            raise ValueError("A topic needs a name of two characters at least.")
        return text
    text = clean_line(text)
    if not text and (kind, field) not in _MAY_BE_EMPTY:
        raise ValueError(f"The {field} of {'an' if kind == 'episode' else 'a'} {kind} cannot be empty.")
    if kind == "topic":
        return by_bytes(text, TOPIC_SUMMARY_BYTES)
    return status_word(text) if field == "status" else text


def _changed(before: Sequence[Item], field: str, text: str, now: datetime) -> Item:
    """The first of some items with the new value; under a new name it is one with the others."""
    item = before[0]
    match item:
        case Topic():
            topics = [t for t in before if isinstance(t, Topic)]
            one = reduce(merges.topic, (t.model_copy(update={field: text}) if field == NAME else t for t in topics))
            mentions = sum(t.mentions for t in topics)
            return one.model_copy(update={field: text, "mentions": mentions, "last_seen": max(now, one.last_seen)})
        case Project():
            return item.model_copy(update={field: text, "last_active": max(now, item.last_active)})
        case _:
            return item.model_copy(update={field: text, "source": "user"})


def _with_edit(
    known: Sequence[Details], before: Sequence[Item], field: str, text: str, source: Source, now: datetime
) -> Details:
    """What is known of an item, with the edit and who made it."""
    joined = reduce(merges.details, known)
    last = joined.edits.get(field)
    was = (*(last.was if last else ()), *(i.name for i in before if isinstance(i, Topic))) if field == NAME else ()
    edit = Edit(
        text=text,
        time=max(now, last.time + _TICK) if last else now,  # a clock set back must not make it the earlier one
        was=tuple(name for name in dict.fromkeys(was) if name != text),
    )
    origin = provenance.origin_of(Source("correction", source.session, source.message, source.time), now)
    sources = provenance.capped(merges.origins(joined.sources, (origin,)))
    return joined.model_copy(update={"sources": sources, "edits": {**joined.edits, field: edit}})


def _tree(kind: str, item: Item, details: Details) -> dict[str, Any]:
    return {"kind": kind, "record": item.model_dump(mode="json"), "details": details.model_dump(mode="json")}


def _note(stores: Stores, kind: str, there: Mapping[str, Details]) -> None:
    """Write down what is known of some items, which are not forgotten then."""

    def change(side: SideFile) -> tuple[SideFile, None]:
        stones = {i: t for i, t in side.list_tombstones.get(kind, {}).items() if i not in there}
        lifted = {**side.list_tombstones, kind: stones} if kind in side.list_tombstones else side.list_tombstones
        kept = {i: d for i, d in {**side.items, **there}.items() if i not in there or d != Details()}
        return side.model_copy(update={"items": kept, "list_tombstones": lifted}), None

    stores.side.update(change)


def _times(gone: Iterable[Item], now: datetime) -> dict[str, datetime]:
    """Tombstone times: later than the copies they bury, even when the clock was set back."""
    return {id_of(i): max(now, i.last_seen + _TICK) if isinstance(i, Topic) else now for i in gone}


def _bury(stores: Stores, kind: str, gone: Mapping[str, datetime]) -> None:
    """Write that nothing has these ids any more, lest another program bring a copy back."""
    if not gone:
        return

    def change(side: SideFile) -> tuple[SideFile, None]:
        stones = merges.nested_times(side.list_tombstones, {kind: gone})
        kept = {i: d for i, d in side.items.items() if i not in gone}
        return side.model_copy(update={"items": kept, "list_tombstones": stones}), None

    stores.side.update(change)
