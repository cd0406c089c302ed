"""Markdown as a reader of it sees it."""

from __future__ import annotations

from collections.abc import Iterable

from markdown_it import MarkdownIt
from markdown_it.token import Token

_READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_KNOWN = {"softbreak": "\n", "hardbreak": "\n"}


def tokens(markdown: str) -> list[Token]:
    """The blocks of a text, each inline one with its parts in ``children``."""
    return _READER.parse(markdown)


def shown(parts: Iterable[Token]) -> str:
    """What a reader sees of inline parts: `code` keeps its backticks, anything but text and emphasis is named."""
    text = ""
    for part in parts:
        if part.type == "code_inline":
            text += f"`{part.content}`"
        elif part.type in ("text", "text_special"):
            text += part.content
        elif part.type in _KNOWN:
            text += _KNOWN[part.type]
        elif not part.type.startswith("strong_"):
            text += f"<{part.type}>"
    return text


def lines(markdown: str) -> list[str]:
    """What a reader sees, a text for each heading, paragraph, list item and cell."""
    return [shown(token.children or ()) for token in tokens(markdown) if token.type == "inline"]


def tables(markdown: str) -> list[list[list[str]]]:
    """The cells of each row of each table."""
    found: list[list[list[str]]] = []
    for token in tokens(markdown):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and found and token.level >= 3:
            found[-1][-1].append(shown(token.children or ()))
    return found


def structure(markdown: str) -> set[str]:
    """The kinds of blocks and of inline parts."""
    kinds = set()
    for token in tokens(markdown):
        kinds.add(token.type)
        kinds |= {part.type for part in token.children or ()}
    return kinds
