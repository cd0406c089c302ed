"""The names the model calls remote tools by: ``mcp_<tool>``, the same ones whatever order servers came up in."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from chatls_core.mcp.model import NamedTool, RemoteTool

PREFIX = "mcp_"
MAX_NAME = 64
"""The longest name vendors take; letters, digits, underscore and dash."""

_UNUSUAL = re.compile(r"[^A-Za-z0-9_-]+")


def named(tools: Iterable[RemoteTool]) -> tuple[NamedTool, ...]:
    """The tools under their names, sorted by name.

    Where two servers have a tool of one name, both carry their server's name (``mcp_<server>_<tool>``); what is still
    the same then carries a number made of its origin.
    """
    # A server that lists a tool twice means one tool.
    remotes = list({(t.server, t.name): t for t in sorted(tools, key=lambda t: (t.server, t.name))}.values())
    short = Counter(_shortened(PREFIX + _plain(t.name)).lower() for t in remotes)
    names: list[tuple[str, RemoteTool]] = []
    for tool in remotes:
        name = _shortened(PREFIX + _plain(tool.name))
        if short[name.lower()] > 1:
            name = _shortened(f"{PREFIX}{_plain(tool.server)}_{_plain(tool.name)}")
        names.append((name, tool))
    taken = Counter(name.lower() for name, _ in names)
    found = [NamedTool(_marked(name, tool) if taken[name.lower()] > 1 else name, tool) for name, tool in names]
    return tuple(sorted(found, key=lambda t: t.exposed))


def plain_name(tool: RemoteTool) -> str:
    """``mcp_<tool>``, the name rules may use whatever the tool is called at the moment."""
    return _shortened(PREFIX + _plain(tool.name))


def _plain(text: str) -> str:
    return _UNUSUAL.sub("_", text).strip("_") or "tool"


def _shortened(name: str) -> str:
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 9]}_{_digest(name)}"


def _marked(name: str, tool: RemoteTool) -> str:
    return f"{name[: MAX_NAME - 9]}_{_digest(f'{tool.server} {tool.name}')}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
