"""A picture of a graph as SVG: readable without a plug-in, drawn with theme variables where the viewer has them."""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from chatls_core.memory.views import GraphView
from chatls_core.text.cut import by_chars
from chatls_core.text.literal import one_line

if TYPE_CHECKING:
    import networkx as nx

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
_STEPS = 80
_CELL = 90
_LABELS = 120
"""Most nodes with a label, the strongest; one that would lie upon another's is left out. The title tells each name."""
_WIDEST = 18
"""Characters of a label's line."""
_LETTER, _LINE = 5.0, 11.0
"""Width of a letter and height of a line, about."""

_NO_XML = re.compile(r"[\ud800-\udfff\ufffe\uffff]")

Box = tuple[float, float, float, float]


def _springs(net: nx.Graph[str], keys: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Places of linked nodes by the pull of links and the push of all (Fruchterman and Reingold), within 0 and 1.

    As networkx does it, which needs scipy from 500 nodes on.
    """
    import networkx as nx
    import numpy as np

    count = len(keys)
    pull = nx.to_numpy_array(net, nodelist=keys)
    spots = np.random.default_rng(7).uniform(-1, 1, (count, 2))
    ideal = 1.8 / count**0.5
    for step in range(_STEPS):
        apart = spots[:, None, :] - spots[None, :, :]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 0.01)
        push = np.einsum("ijk,ij->ik", apart, ideal**2 / distance**2 - pull * distance / ideal)
        length = np.maximum(np.linalg.norm(push, axis=1), 0.01)
        spots += push * (0.2 * (1 - step / _STEPS) / length)[:, None]
    spots -= spots.min(axis=0)
    spots /= max(float(spots.max()), 1e-9)
    return {key: (float(x), float(y)) for key, (x, y) in zip(keys, spots, strict=True)}


def _places(graph: GraphView, side: int) -> tuple[dict[str, tuple[float, float]], int]:
    """Where nodes stand, and the picture's height.

    What is linked has a square of its own, the large ones first, in rows; below them stand nodes without a link.
    """
    import networkx as nx

    net: nx.Graph[str] = nx.Graph()
    net.add_weighted_edges_from((e.a, e.b, e.weight) for e in graph.edges)
    places: dict[str, tuple[float, float]] = {}
    left = top = below = 0.0
    groups = sorted((sorted(keys) for keys in nx.connected_components(net)), key=lambda keys: (-len(keys), keys))
    for keys in groups:
        square = min(side - _CELL, _CELL * len(keys) ** 0.5)
        if left and left + square + _CELL > side:
            left, top = 0.0, below
        for key, (x, y) in _springs(net, keys).items():
            places[key] = (left + _CELL / 2 + x * square, top + _CELL / 2 + y * square)
        left += square + _CELL
        below = max(below, top + square + _CELL)
    alone = [n.id for n in graph.nodes if n.id not in net]
    columns = max(1, side // _CELL)
    top = int(below)
    for position, key in enumerate(alone):
        places[key] = (_CELL * (position % columns + 0.5), top + _CELL * (position // columns + 0.4))
    return places, top + _CELL * -(-len(alone) // columns) + _CELL // 2


def _radius(degree: int) -> float:
    return 5 + 2 * math.sqrt(min(degree, 12))


def _text(text: str) -> str:
    """Text as XML may hold it."""
    return escape(_NO_XML.sub("", one_line(text)))


def _labels(
    graph: GraphView, places: Mapping[str, tuple[float, float]], degrees: Mapping[str, int]
) -> dict[str, list[str]]:
    """The lines of the labels that have room, the strongest nodes first."""
    found: dict[str, list[str]] = {}
    boxes: list[Box] = []
    for node in sorted(graph.nodes, key=lambda n: (n.hop, -degrees[n.id], n.id))[:_LABELS]:
        wrapped = textwrap.wrap(node.title, _WIDEST, break_long_words=False, break_on_hyphens=False)
        lines = [by_chars(line, _WIDEST) for line in wrapped[:3]]
        if len(wrapped) > 3:
            lines[2] = by_chars(lines[2] + "…", _WIDEST)
        x, y = places[node.id]
        half = _LETTER * max(map(len, lines), default=0) / 2
        top = y + _radius(degrees[node.id])
        box = (x - half, top, x + half, top + _LINE * len(lines))
        if not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in boxes):
            boxes.append(box)
            found[node.id] = lines
    return found


def draw(graph: GraphView) -> str:
    """The graph as one SVG document; empty for an empty graph. The same graph gives the same picture."""
    if not graph.nodes:
        return ""
    side = int(240 + _CELL * len(graph.nodes) ** 0.5)
    places, height = _places(graph, side)
    degrees = Counter(end for e in graph.edges for end in (e.a, e.b))
    labels = _labels(graph, places, degrees)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {height}" role="img" '
        f'aria-label="{_text(graph.subject or "Knowledge graph")}" font-family="sans-serif" font-size="9">'
    ]
    for edge in graph.edges:
        (x1, y1), (x2, y2) = places[edge.a], places[edge.b]
        parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" '
            f'stroke-opacity="0.25" stroke-width="{min(0.5 + edge.weight / 2, 3):.1f}"/>'
        )
    for node in graph.nodes:
        x, y = places[node.id]
        radius = _radius(degrees[node.id])
        colour = _COLOURS.get(node.kind, "#999999")
        lines = "".join(
            f'<tspan x="{x:.1f}" dy="{11 if i else radius + 9:.1f}">{_text(line)}</tspan>'
            for i, line in enumerate(labels.get(node.id, ()))
        )
        parts.append(
            f'<g data-id="{_text(node.id)}"><title>{_text(node.kind)}: {_text(node.title)}</title>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{colour}"/>'
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="currentColor">{lines}</text></g>'
        )
    parts.append("</svg>")
    return "".join(parts)
