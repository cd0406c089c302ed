"""The graph on disk, so that a start need not derive it anew (spec/memory.md §12.4)."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chatls_core.memory.graph import Card, Neighbour
from chatls_core.memory.stores import Stores
from chatls_core.store import UnopenableError, atomic_write_bytes

if TYPE_CHECKING:
    from chatls_core.memory.graph import Net

logger = logging.getLogger(__name__)

SCHEMA_VERSION = 1
FILE = "graph.json"
_MAKER = "chatls-2"
"""Part of the fingerprint: another program's derivation, or an older one of ours, is not taken for this one."""


def fingerprint(stores: Stores, others: Sequence[Neighbour], cards: Sequence[Card]) -> str:
    """What the graph is derived from, as one hash: the files' names, sizes and times, and what other rooms told."""
    sources = (stores.facts, stores.topics, stores.projects, stores.profile, stores.episodes, stores.side)
    parts = [_MAKER]
    for store in sources:
        seen = store.signature
        parts.append(f"{store.path.name}:{seen.size}:{seen.modified_ns}" if seen else f"{store.path.name}:none")
    parts += [repr(o) for o in (*others, *cards)]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def load(stores: Stores, wanted: str) -> Net | None:
    """The saved graph if it was derived from the same things; ``None`` otherwise."""
    import networkx as nx

    path = stores.folder / FILE
    try:
        tree = json.loads(stores.codec.decode(path.name, stores.fs.read(path)))
        if tree["schema_version"] != SCHEMA_VERSION or tree["fingerprint"] != wanted:
            return None
        net: Net = nx.Graph()
        for node in tree["graph"]["nodes"]:
            net.add_node(
                node["id"], kind=node["kind"], title=node["title"], summary=node["summary"], weight=node["weight"]
            )
        for edge in tree["graph"]["edges"]:
            net.add_edge(edge["a"], edge["b"], weight=edge["w"])
    except FileNotFoundError:
        return None
    except (OSError, UnopenableError, ValueError, KeyError, TypeError) as error:
        logger.info("The saved graph is derived anew: %s", error)
        return None
    return net


def save(stores: Stores, net: Net, derived_from: str, now: datetime) -> None:
    """Keep the graph; a disk that refuses is logged, since the graph can always be derived."""
    nodes = [
        {"id": key, **{k: net.nodes[key][k] for k in ("kind", "title", "summary", "weight")}}
        for key in sorted(net.nodes)
    ]
    pairs = sorted((min(a, b), max(a, b)) for a, b in net.edges)
    edges = [{"a": a, "b": b, "w": net[a][b]["weight"]} for a, b in pairs]
    tree = {
        "schema_version": SCHEMA_VERSION,
        "fingerprint": derived_from,
        "saved_at": now.isoformat(),
        "graph": {"nodes": nodes, "edges": edges},
    }
    path = stores.folder / FILE
    try:
        data = stores.codec.encode(path.name, json.dumps(tree, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        atomic_write_bytes(path, data, fs=stores.fs)
    except OSError as error:
        logger.warning("The graph could not be saved: %s", error)
