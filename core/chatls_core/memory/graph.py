"""How the things that are remembered hang together: one undirected graph (spec/memory.md §12)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from chatls_core.memory.learning import topic_links
from chatls_core.memory.profile_text import fold
from chatls_core.memory.snapshot import Snapshot, title
from chatls_core.memory.times import day_told
from chatls_core.memory.views import EdgeView, GraphView, NodeView
from chatls_core.memory.workspaces import same_project
from chatls_core.text import tokenizer
from chatls_core.text.amounts import amount
from chatls_core.text.cut import by_chars
from chatls_core.text.days import local_day
from chatls_core.text.literal import one_line

if TYPE_CHECKING:
    import networkx as nx

    Net = nx.Graph[str]

MAX_EPISODES = 300
MAX_SESSIONS = 50
KINDS = ("project", "fact", "topic", "profile", "episode", "session", "kbcontext", "skill", "card", "tag")
_WIKILINK = re.compile(r"\[\[([^\]|]+)(?:\|[^\]]*)?\]\]")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A thing other rooms know: a session, a knowledge base (``kbcontext``), a skill.

    ``tags`` become tag nodes; ``day`` links sessions to the episodes of that day.
    """

    kind: str
    name: str
    title: str = ""
    summary: str = ""
    tags: tuple[str, ...] = ()
    day: date | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """A card of ``board.json``."""

    id: str
    column: str
    title: str
    description: str = ""
    assignee: str = ""


HUBS = 8
"""Nodes that the index card names."""
_OUTLINED = 64
"""So many hubs are known, that enough are left where some may not be named."""
_PREFIX = {"kbcontext": "kb"}


def build(now: Snapshot, others: Sequence[Neighbour] = (), cards: Sequence[Card] = ()) -> Net:
    """The whole graph. Nodes carry ``kind``, ``title``, ``summary``, ``weight``; edges ``weight``."""
    import networkx as nx

    net: Net = nx.Graph()
    _add_nodes(net, now, others, cards)
    _link_facts(net, now)
    _link_episodes(net, now)
    _link_others(net, now, others, cards)
    _link_wikilinks(net)
    return net


def _node(net: Net, key: str, kind: str, name: str, summary: str = "", weight: float = 0.0) -> None:
    net.add_node(key, kind=kind, title=name, summary=summary, weight=weight)


def _edge(net: Net, a: str, b: str, weight: float) -> None:
    """Add to a link's weight; missing ends and loops are ignored."""
    if a != b and a in net and b in net:
        known = net.get_edge_data(a, b, default={"weight": 0.0})["weight"]
        net.add_edge(a, b, weight=known + weight)


def _tag(net: Net, key: str, label: str, weight: float = 1.0) -> None:
    name = label.strip().lower()
    if name:
        if f"tag:{name}" not in net:
            _node(net, f"tag:{name}", "tag", name)
        _edge(net, key, f"tag:{name}", weight)


def _add_nodes(net: Net, now: Snapshot, others: Sequence[Neighbour], cards: Sequence[Card]) -> None:
    for p in now.projects:
        _node(net, f"project:{p.name.lower()}", "project", p.name, p.description, p.priority)
    for f in now.alive.facts.values():
        _node(net, f"fact:{f.id}", "fact", title(f.content), f.content, f.score)
    for t in now.topics:
        _node(net, f"topic:{t.name.lower()}", "topic", t.name, t.summary, t.mentions)
    if now.profile.model_copy(update={"last_updated": None, "field_meta": {}}) != type(now.profile)().model_copy(
        update={"last_updated": None, "field_meta": {}}
    ):
        _node(net, "profile:user", "profile", now.profile.name or "user", now.profile.role, 10)
    for e in sorted(now.episodes.values(), key=lambda e: e.date)[-MAX_EPISODES:]:
        _node(net, f"episode:{e.id}", "episode", f"{day_told(e.date)} {title(e.summary)}".strip(), e.told)
    sessions = sorted((o for o in others if o.kind == "session"), key=lambda o: (o.day or date.min, o.name))
    for other in [*sessions[-MAX_SESSIONS:], *(o for o in others if o.kind != "session")]:
        _node(net, _other_key(other), other.kind, other.title or other.name, other.summary, 1)
    for card in cards:
        weight = 2 if card.column == "doing" else 1
        _node(net, f"card:{card.id}", "card", f"[{card.column}] {card.title}", card.description, weight)


def _other_key(other: Neighbour) -> str:
    return f"{_PREFIX.get(other.kind, other.kind)}:{other.name}"


def _projects_at(now: Snapshot) -> Callable[[str], tuple[str, ...]]:
    """The nodes of the projects a path or a name means; each path is compared once, not for every fact."""

    @cache
    def found(where: str) -> tuple[str, ...]:
        return tuple(
            f"project:{p.name.lower()}"
            for p in now.projects
            if same_project(where, p.path) or where.lower() == p.name.lower()
        )

    return found


def _link_facts(net: Net, now: Snapshot) -> None:
    projects_at = _projects_at(now)
    for f in now.alive.facts.values():
        key = f"fact:{f.id}"
        for tag in f.tags or ():
            _tag(net, key, tag)
        _tag(net, key, f.category, 0.5)
        if f.source_project:
            for project in projects_at(f.source_project):
                _edge(net, key, project, 2)
    links = topic_links([t.name for t in now.topics], now.alive.facts.values())
    for t in now.topics:
        for fact_id in {*t.related_fact_ids, *links[t.name]}:
            _edge(net, f"topic:{t.name.lower()}", f"fact:{fact_id}", 2)
    for item in (*now.profile.skills, *now.profile.goals):
        if "profile:user" in net:
            _tag(net, "profile:user", item)
    for p in now.projects:
        for technology in p.technologies:
            _tag(net, f"project:{p.name.lower()}", technology)


def _link_episodes(net: Net, now: Snapshot) -> None:
    projects_at = _projects_at(now)
    by_day: defaultdict[tuple[str, date], list[str]] = defaultdict(list)
    for f in now.alive.facts.values():
        if f.source_project:
            by_day[f.source_project, local_day(now.alive.valid_from(f))].append(f.id)
    for e in now.episodes.values():
        key = f"episode:{e.id}"
        if key not in net or not e.project:
            continue
        for project in projects_at(e.project):
            _edge(net, key, project, 2)
        for fact_id in by_day.get((e.project, local_day(e.date)), ()):
            _edge(net, key, f"fact:{fact_id}", 1)


def _link_others(net: Net, now: Snapshot, others: Sequence[Neighbour], cards: Sequence[Card]) -> None:
    topics = {_slug(t.name): f"topic:{t.name.lower()}" for t in now.topics}
    for other in others:
        key = _other_key(other)
        if other.kind == "session":
            words = {w.folded for w in tokenizer.words(f"{other.name} {other.title}")}
            for p in now.projects:
                if {w.folded for w in tokenizer.words(p.name) if not w.part} <= words:
                    _edge(net, key, f"project:{p.name.lower()}", 1.5)
            for e in now.episodes.values():
                if other.day is not None and local_day(e.date) == other.day:
                    _edge(net, key, f"episode:{e.id}", 1)
        for tag in other.tags:
            _tag(net, key, tag, 0.5 if other.kind == "skill" else 1)
        if other.kind == "skill" and (topic := topics.get(_slug(other.name))):
            _edge(net, key, topic, 1)
    for card in cards:
        _tag(net, f"card:{card.id}", card.assignee)


def _link_wikilinks(net: Net) -> None:
    titles: dict[str, str] = {}
    for key in sorted(net.nodes):
        titles.setdefault(fold(net.nodes[key]["title"]), key)
    for key in list(net.nodes):
        for name in _WIKILINK.findall(net.nodes[key]["summary"]):
            if (target := titles.get(fold(name.strip()))) is not None:
                _edge(net, key, target, 1.5)


def _slug(name: str) -> str:
    return "-".join(fold(name).split())


def view_of(net: Net, keys: Iterable[str], *, hops: dict[str, int] | None = None, subject: str = "") -> GraphView:
    """Nodes in the given order with the links between them."""
    chosen = list(dict.fromkeys(keys))
    inside = set(chosen)
    nodes = tuple(_view(net, key, (hops or {}).get(key, 0)) for key in chosen)
    edges = tuple(
        EdgeView(min(a, b), max(a, b), data["weight"])
        for a, b, data in sorted(net.edges(inside, data=True), key=lambda e: sorted((e[0], e[1])))
        if a in inside and b in inside
    )
    return GraphView(nodes, edges, subject, total_nodes=net.number_of_nodes(), total_edges=net.number_of_edges())


def _view(net: Net, key: str, hop: int) -> NodeView:
    data: dict[str, Any] = net.nodes[key]
    return NodeView(key, data["kind"], data["title"], by_chars(data["summary"], 160), data["weight"], hop)


def find(net: Net, query: str) -> str | None:
    """The node a query means: its id, its title, else the one with the most of the query's words."""
    if query in net:
        return query
    wanted = fold(query.strip())
    exact = sorted(k for k in net.nodes if fold(net.nodes[k]["title"]) == wanted or fold(k.partition(":")[2]) == wanted)
    if exact:
        return exact[0]
    words = {tokenizer.stem(w.folded, "en") for w in tokenizer.topic_words(query)}
    if not words:
        return None

    def hits(key: str) -> int:
        return len(words & set(tokenizer.terms(f"{net.nodes[key]['title']} {net.nodes[key]['summary']}", "en")))

    best = max(
        net.nodes, key=lambda k: (hits(k), net.nodes[k]["kind"] != "tag", net.nodes[k]["weight"], k), default=None
    )
    return best if best is not None and hits(best) else None


def neighbourhood(net: Net, subject: str, *, hops: int = 2, most: int = 12) -> GraphView:
    """What is near the node a query means: breadth first, by hop, then by the strength of the link."""
    start = find(net, subject)
    if start is None:
        return replace(view_of(net, ()), subject=subject)
    found: dict[str, int] = {start: 0}
    frontier = [start]
    for hop in range(1, hops + 1):
        reached: Counter[str] = Counter()
        for key in frontier:
            for other, data in net[key].items():
                if other not in found:
                    reached[other] = max(reached[other], data["weight"])
        frontier = [k for k, _ in sorted(reached.items(), key=lambda r: (-r[1], r[0]))][: most - len(found) + 1]
        found.update(dict.fromkeys(frontier, hop))
    return view_of(net, list(found)[: most + 1], hops=found, subject=subject)


def beside(net: Net, seeds: Sequence[str], shown: Collection[str], most: int = 6) -> tuple[NodeView, ...]:
    """Direct neighbours of some nodes, strongest links first; tags, the profile and what is shown already left out."""
    reached: Counter[str] = Counter()
    for seed in seeds:
        for other, data in net[seed].items() if seed in net else ():
            if other not in shown and other not in seeds and net.nodes[other]["kind"] not in ("tag", "profile"):
                reached[other] += data["weight"]
    best = sorted(reached, key=lambda k: (-reached[k], k))[:most]
    return tuple(_view(net, key, 1) for key in best)


def hubs(net: Net, most: int, *, tags: bool = True) -> list[str]:
    """Node ids by number and strength of links; isolated ones are left out."""
    degrees = dict(net.degree())
    weighted = dict(net.degree(weight="weight"))
    linked = [k for k in net.nodes if degrees[k] and (tags or net.nodes[k]["kind"] != "tag")]
    return sorted(linked, key=lambda k: (-degrees[k], -weighted[k], -net.nodes[k]["weight"], k))[:most]


@dataclass(frozen=True, slots=True)
class Outline:
    """The graph in a line: its size, and its hubs by key with their titles, the greatest first."""

    size: str
    hubs: tuple[tuple[str, str], ...]


def outline(net: Net, *, without: str = "") -> Outline | None:
    """The outline of a graph ``without`` the nodes of one kind; ``None`` where nothing is left."""
    net = net.subgraph([key for key, data in net.nodes(data=True) if data["kind"] != without])
    if not net.number_of_nodes():
        return None
    counts = Counter(data["kind"] for _, data in net.nodes(data=True))
    listed = ", ".join(f"{kind} {counts[kind]}" for kind in KINDS if counts[kind])
    size = f"{amount(net.number_of_nodes(), 'node')}, {amount(net.number_of_edges(), 'link')}"
    greatest = hubs(net, net.number_of_nodes())[:_OUTLINED]
    return Outline(
        f"Knowledge graph: {size} ({listed}).", tuple((k, one_line(net.nodes[k]["title"])) for k in greatest)
    )


def index_card(outlined: Outline | None, hidden: Callable[[str], bool] = lambda _: False) -> str:
    """``Knowledge graph: N nodes, M links (kind count, …). Hubs: …`` on one line; empty for an empty graph. Nodes that
    are ``hidden`` are counted and not named."""
    if outlined is None:
        return ""
    names = list(islice((title for key, title in outlined.hubs if not hidden(key)), HUBS))
    return outlined.size + (f" Hubs: {', '.join(names)}." if names else "")
