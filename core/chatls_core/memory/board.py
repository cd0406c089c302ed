"""The task board of ChatCLI, read for the card and the graph (spec/memory.md §9.3, §15.4)."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from chatls_core.memory.graph import Card
from chatls_core.store import FileSystem

logger = logging.getLogger(__name__)


def read_board(path: Path, fs: FileSystem) -> tuple[Card, ...]:
    """Cards of ``board.json`` that are not archived; empty when there is none or it cannot be read."""
    try:
        tree = json.loads(fs.read(path))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        logger.warning("The board %s cannot be read: %s", path, error)
        return ()
    raw = tree.get("cards") if isinstance(tree, dict) else None
    items = raw.values() if isinstance(raw, dict) else raw if isinstance(raw, list) else ()
    cards = []
    for item in items:
        if not isinstance(item, dict) or item.get("archived"):
            continue
        column = str(item.get("column") or item.get("status") or "backlog")
        text = {k: str(item.get(k) or "") for k in ("id", "title", "description", "assignee")}
        if text["id"] and text["title"]:
            cards.append(Card(text["id"], column, text["title"], text["description"], text["assignee"]))
    return tuple(cards)
