"""Syntax errors an edit brought in, and the outline of a file, both by tree-sitter (issue 5, "tree-sitter check")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from chatls_core.edits.diffing import opcodes
from chatls_core.edits.grammars import MAX_BYTES, language_of, parse
from chatls_core.edits.lines import split_keepends, to_lf
from chatls_core.edits.outlining import OutlineItem, outline

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["OutlineItem", "SyntaxFinding", "errors", "language_of", "new_errors", "outline"]

Kind = Literal["unexpected", "missing"]

_MAX_FINDINGS = 20
_MAX_ERRORS = 500


@dataclass(frozen=True, slots=True)
class SyntaxFinding:
    """One syntax error: 0-based ``line`` and code-point ``column``, and what is wrong there."""

    line: int
    column: int
    message: str
    kind: Kind

    def __str__(self) -> str:
        return f"line {self.line + 1}, column {self.column + 1}: {self.message}"


def errors(path: str, text: str) -> tuple[SyntaxFinding, ...]:
    """The syntax errors of ``text``, read as the language of ``path``; none for a language without a grammar.

    Texts above 2 MB are not read. At most 500 are given.
    """
    language = language_of(path)
    if language is None or len(text) > MAX_BYTES:
        return ()
    # tree-sitter counts lines by "\n" only.
    data = to_lf(text).encode("utf-8", "surrogatepass")
    if len(data) > MAX_BYTES:
        return ()
    root = parse(language, data).root_node
    if not root.has_error:
        return ()
    found: list[SyntaxFinding] = []
    for node in _error_nodes(root):
        row, column = node.start_point
        before = data[node.start_byte - column : node.start_byte].decode("utf-8", "surrogatepass")
        found.append(SyntaxFinding(row, len(before), *_describe(node)))
    return tuple(found)


def _error_nodes(root: Node) -> list[Node]:
    """The outermost error and missing nodes in order; where the whole file is one error, those inside it."""
    found: list[Node] = []
    stack = [root]
    while stack and len(found) < _MAX_ERRORS:
        node = stack.pop()
        if node.is_missing or (node.is_error and node.parent is not None):
            found.append(node)
        elif node.has_error:
            stack.extend(reversed(node.children))
    return found or [root]


def _describe(node: Node) -> tuple[str, Kind]:
    if node.is_missing:
        return f"missing {node.type!r}" if not node.is_named else f"missing {node.type.replace('_', ' ')}", "missing"
    text = (node.text or b"").decode("utf-8", "replace").strip().splitlines()
    shown = text[0][:40] if text else ""
    return (f"unexpected {shown!r}" if shown else "the text cannot be read"), "unexpected"


def new_errors(path: str, before: str | None, after: str) -> tuple[SyntaxFinding, ...]:
    """The syntax errors of ``after`` that ``before`` (``None``: no file) did not have, at most 20.

    An error on an unchanged line is an old one where ``before`` has one of its kind on that line; on changed lines, as
    many as the replaced lines had are old. Where a file was broken before and has no more errors now, only those on
    changed lines count: the others are the old ones, found at another place.
    """
    now = errors(path, after)
    if not now or before is None:
        return now[:_MAX_FINDINGS]
    was = errors(path, before)
    if not was:
        return now[:_MAX_FINDINGS]
    return _brought_in(was, now, split_keepends(before), split_keepends(after))[:_MAX_FINDINGS]


def _brought_in(
    was: Sequence[SyntaxFinding], now: Sequence[SyntaxFinding], before: Sequence[str], after: Sequence[str]
) -> tuple[SyntaxFinding, ...]:
    drifted = len(now) <= len(was)
    new: list[SyntaxFinding] = []
    for tag, i1, i2, j1, j2 in opcodes(before, after):
        if tag == "equal":
            if not drifted:
                known = Counter((error.line - i1 + j1, error.kind) for error in was if i1 <= error.line < i2)
                new += _beyond(known, [error for error in now if j1 <= error.line < j2], by_line=True)
        else:
            replaced = Counter((0, error.kind) for error in was if i1 <= error.line < i2)
            new += _beyond(replaced, [error for error in now if j1 <= error.line < j2], by_line=False)
    return tuple(new)


def _beyond(known: Counter[tuple[int, Kind]], now: Sequence[SyntaxFinding], *, by_line: bool) -> list[SyntaxFinding]:
    new: list[SyntaxFinding] = []
    for error in now:
        key = (error.line if by_line else 0, error.kind)
        if known[key]:
            known[key] -= 1
        else:
            new.append(error)
    return new
