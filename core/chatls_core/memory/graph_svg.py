"""A picture of a graph as SVG: readable without a plug-in, drawn with theme variables where the viewer has them."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping
from html import escape
from typing import Any

from chatls_core.memory.views import GraphView

_COLOURS = {
    "project": "#4c8bf5",
    "fact": "#6aa84f",
    "topic": "#e69138",
    "profile": "#a64d79",
    "episode": "#76a5af",
    "session": "#8e7cc3",
    "kbcontext": "#45818e",
    "skill": "#cc4125",
    "card": "#bf9000",
    "tag": "#999999",
}
_SPRING_BELOW = 500
"""Beyond this networkx lays springs out with scipy, which we do not need for anything else."""
_CELL = 90
_EDGE_LABELS_BELOW = 120
"""With more nodes than this only the strongest ones carry a label, so that the picture stays readable."""


def _places(graph: GraphView, side: int) -> tuple[dict[str, tuple[float, float]], int]:
    """Where nodes stand, and the picture's height: linked ones by the pull of their links, the others in rows below."""
    import networkx as nx

    net: nx.Graph[str] = nx.Graph()
    net.add_weighted_edges_from((e.a, e.b, e.weight) for e in graph.edges)
    count = net.number_of_nodes()
    spots: Mapping[str, Any] = {}
    if count >= _SPRING_BELOW:
        spots = nx.forceatlas2_layout(net, max_iter=60, seed=7)
    else:
        spots = nx.spring_layout(net, seed=7, iterations=60, k=1.8 / max(1, count) ** 0.5)
    reach = max((abs(float(c)) for spot in spots.values() for c in spot), default=1.0) or 1.0
    places = {
        key: ((float(x) / reach + 1.1) / 2.2 * side, (float(y) / reach + 1.1) / 2.2 * side)
        for key, (x, y) in spots.items()
    }
    alone = [n.id for n in graph.nodes if n.id not in net]
    columns = max(1, side // _CELL)
    top = side if count else 0
    for position, key in enumerate(alone):
        places[key] = (_CELL * (position % columns + 0.5), top + _CELL * (position // columns + 0.4))
    return places, top + _CELL * -(-len(alone) // columns) + (0 if count else _CELL // 2)


def draw(graph: GraphView) -> str:
    """The graph as one SVG document; empty for an empty graph. The same graph gives the same picture."""
    if not graph.nodes:
        return ""
    side = int(240 + 90 * len(graph.nodes) ** 0.5)
    places, height = _places(graph, side)
    degrees = Counter(end for e in graph.edges for end in (e.a, e.b))
    labelled = {n.id for n in sorted(graph.nodes, key=lambda n: (n.hop, -degrees[n.id], n.id))[:_EDGE_LABELS_BELOW]}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {height}" role="img" '
        f'aria-label="{escape(graph.subject or "Knowledge graph")}" font-family="sans-serif" font-size="9">'
    ]
    for edge in graph.edges:
        (x1, y1), (x2, y2) = places[edge.a], places[edge.b]
        parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" '
            f'stroke-opacity="0.25" stroke-width="{min(0.5 + edge.weight / 2, 3):.1f}"/>'
        )
    for node in graph.nodes:
        x, y = places[node.id]
        radius = 5 + min(degrees[node.id], 12) ** 0.5 * 2
        colour = _COLOURS.get(node.kind, "#999999")
        label = textwrap.wrap(node.title, 18)[:3] if node.id in labelled else []
        if len(label) == 3 and len(node.title) > 54:
            label[2] = label[2][:16] + "…"
        lines = "".join(
            f'<tspan x="{x:.1f}" dy="{11 if i else radius + 9:.1f}">{escape(line)}</tspan>'
            for i, line in enumerate(label)
        )
        parts.append(
            f'<g data-id="{escape(node.id)}"><title>{escape(node.kind)}: {escape(node.title)}</title>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{colour}"/>'
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="currentColor">{lines}</text></g>'
        )
    parts.append("</svg>")
    return "".join(parts)
