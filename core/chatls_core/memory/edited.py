"""What an edit by the user makes of a topic, a project or an episode (docs/memory-format.md, "Edits").

An edit stands in the shared file and in the details beside it: there it outlasts what is learned later, and what
another program writes back from a copy of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from chatls_core.memory.records import Details, Episode, LenientRecord, Project, Topic

Item = Topic | Project | Episode
R = TypeVar("R", bound=LenientRecord)

EDITABLE: Mapping[str, tuple[str, ...]] = {
    "topic": ("summary", "name"),
    "project": ("description", "status"),
    "episode": ("summary", "outcome"),
}
"""What may be edited of each kind; the first where nothing is named."""

NAME = "name"
"""The one of them an item is known by: another name makes another item of it."""

_HELD = frozenset(field for fields in EDITABLE.values() for field in fields) - {NAME}


def kind_of(item_id: str) -> str:
    """The kind an id of :class:`~chatls_core.memory.views.MemoryChange` belongs to; ``fact`` for all but three."""
    if item_id.startswith("ep_"):
        return "episode"
    return "topic" if item_id.startswith("topic:") else "project" if item_id.startswith("project:") else "fact"


def id_of(item: Item) -> str:
    """The id of an item."""
    match item:
        case Topic():
            return f"topic:{item.name}"
        case Project():
            return f"project:{item.name.lower()}"
        case _:
            return item.id


def fields_of(item: Item) -> dict[str, str]:
    """The values that may be edited, by field."""
    return {field: getattr(item, field) for field in EDITABLE[kind_of(id_of(item))]}


def as_edited(item: R, details: Details | None) -> R:
    """An item with the values the user gave it; the same object where it has them."""
    if details is None or not details.edits:
        return item
    changes = {
        field: edit.text
        for field, edit in details.edits.items()
        if field in _HELD and getattr(item, field, edit.text) != edit.text
    }
    return item.model_copy(update=changes) if changes else item


def carried(before: Any, after: Any, now: Any) -> Any:
    """``before``, with all that happened between ``after`` and ``now``: JSON values, ``None`` for none."""
    if before == after:
        return now
    if now == after:
        return before
    if isinstance(now, dict):
        old, new = (tree if isinstance(tree, dict) else {} for tree in (before, after))
        trees = ((key, carried(old.get(key), new.get(key), now.get(key))) for key in {**old, **new, **now})
        return {key: tree for key, tree in trees if tree is not None}
    if isinstance(now, list):
        known = after if isinstance(after, list) else []
        return [*(before or ()), *(entry for entry in now if entry not in known)]
    if isinstance(now, int) and isinstance(before, int) and isinstance(after, int):
        return before + now - after
    return now
