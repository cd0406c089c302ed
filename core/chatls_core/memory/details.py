"""Who said a thing that is no fact, and the facts it hangs together with: for the view and the graph (§12, §13.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chatls_core.memory import provenance
from chatls_core.memory.browse import fact_view
from chatls_core.memory.context import episode_view
from chatls_core.memory.edited import Item, fields_of, id_of
from chatls_core.memory.profile_view import profile_view
from chatls_core.memory.snapshot import Snapshot
from chatls_core.memory.views import FactView, ItemDetails, SourceView

if TYPE_CHECKING:
    from chatls_core.memory.graph import Net

MOST_FACTS = 50


def item_details(now: Snapshot, net: Net, item_id: str, moment: datetime) -> ItemDetails:
    """An episode, a topic, a project, an entry of the profile, or any node of the graph. Raises :class:`KeyError`."""
    if item_id.startswith("profile:") and item_id not in net:
        return _profile_entry(now, item_id)
    node = _node(item_id)
    if node not in net:
        raise KeyError(item_id)
    kind, _, name = node.partition(":")
    data = net.nodes[node]
    if kind == "session":
        said: tuple[SourceView, ...] = (SourceView("session", name),)
        facts = _said_in(now, name)
    else:
        said = _sources(now, kind, name)
        beside = sorted(net[node].items(), key=lambda link: -link[1]["weight"])
        facts = (other.removeprefix("fact:") for other, _ in beside if other.startswith("fact:"))
    item = _item(now, item_id, node)
    fields = fields_of(item) if item is not None else {}
    return ItemDetails(data["kind"], item_id, data["title"], data["summary"], said, _views(now, facts, moment), fields)


def _node(item_id: str) -> str:
    """The id an item has in the graph."""
    if item_id.startswith("ep_"):
        return f"episode:{item_id}"
    kind, colon, name = item_id.partition(":")
    return f"{kind}{colon}{name.lower()}" if kind in ("topic", "project") else item_id


def _item(now: Snapshot, item_id: str, node: str) -> Item | None:
    """What can be edited of this id; a node of the graph may stand for topics that differ in case."""
    kind, _, name = node.partition(":")
    match kind:
        case "episode":
            return now.episodes.get(name)
        case "topic" | "project":
            known: Sequence[Item] = now.topics if kind == "topic" else now.projects
            items = [item for item in known if id_of(item).lower() == node]
            return next((item for item in items if id_of(item) == item_id), items[0] if items else None)
        case _:
            return None


def _sources(now: Snapshot, kind: str, name: str) -> tuple[SourceView, ...]:
    details = now.alive.details
    match kind:
        case "episode":
            known = provenance.sources(details, name)
            return known or ((episode_view(now.episodes[name], now).source,) if name in now.episodes else ())
        case "topic":
            named = next((t.name for t in now.topics if t.name.lower() == name), name)
            return provenance.sources(details, f"topic:{named}")
        case "project":
            return provenance.sources(details, f"project:{name}")
        case _:
            return ()


def _said_in(now: Snapshot, session: str) -> Iterable[str]:
    for item_id, known in now.alive.details.items():
        if any(origin.session == session for origin in known.sources):
            yield item_id


def _views(now: Snapshot, ids: Iterable[str], moment: datetime) -> tuple[FactView, ...]:
    facts = [now.alive.facts[i] for i in ids if i in now.alive.facts]
    return tuple(fact_view(fact, now.alive, moment) for fact in facts[:MOST_FACTS])


def _profile_entry(now: Snapshot, item_id: str) -> ItemDetails:
    for field in profile_view(now.profile, now.profile.last_updated).fields:
        if field.id == item_id:
            said = provenance.sources(now.alive.details, item_id)
            if not said and field.source:
                known = field.confirmed_at or field.updated_at
                said = (SourceView(field.source, time=known) if known else SourceView(field.source),)
            return ItemDetails("profile", item_id, field.key, field.value, said)
    raise KeyError(item_id)
