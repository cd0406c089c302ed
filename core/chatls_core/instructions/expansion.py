"""Expand imports into one text (spec/memory.md §1.5): 4 hops, each file once, nothing from outside the boundary."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from chatls_core.instructions import caps, pathtext
from chatls_core.instructions.boundary import Boundary
from chatls_core.instructions.disk import FileTable, FileText, Unreadable
from chatls_core.instructions.imports import MOST_IMPORTS, ImportReference, find_imports, resolve
from chatls_core.instructions.model import FILE_LIMIT, ImportRecord, ImportStatus

MOST_HOPS = 4


@dataclass(frozen=True, slots=True)
class Expanded:
    """A file's text with its imports in place, the imports met, and every path the result rests on.

    ``line_ends`` gives for each line of the file the size in bytes of the expanded text up to its end.
    """

    text: str
    line_ends: tuple[int, ...]
    imports: tuple[ImportRecord, ...]
    sources: frozenset[str]
    looked_at: frozenset[str]


@dataclass(slots=True)
class _Walk:
    table: FileTable
    boundary: Boundary
    seen: set[tuple[int, int]] = field(default_factory=set)
    stack: list[tuple[int, int]] = field(default_factory=list)
    records: list[ImportRecord] = field(default_factory=list)
    sources: set[str] = field(default_factory=set)
    looked_at: set[str] = field(default_factory=set)
    line_ends: list[int] = field(default_factory=list)


def expand(table: FileTable, path: str, content: FileText, text: str, boundary: Boundary) -> Expanded:
    """``text`` (the body of ``content``, read from ``path``) with every import expanded.

    What cannot be imported stays as written, with a record that says why.
    """
    walk = _Walk(table, boundary, {content.identity}, [content.identity], [], {path}, {path})
    expanded = _expand(walk, path, text, 0)
    return Expanded(
        expanded, tuple(walk.line_ends), tuple(walk.records), frozenset(walk.sources), frozenset(walk.looked_at)
    )


def _expand(walk: _Walk, path: str, text: str, depth: int) -> str:
    references = find_imports(text)
    if not references and depth:
        return text
    by_line: dict[int, list[ImportReference]] = {}
    for reference in references:
        by_line.setdefault(reference.line, []).append(reference)
    out: list[str] = []
    size = 0
    for number, line in enumerate(text.split("\n")):
        pieces = [line]
        for reference in by_line.get(number, ()):
            imported = _import(walk, path, reference, depth, size)
            if imported is not None and not reference.in_sentence:
                pieces = [imported]
            elif imported is not None:
                pieces.append(imported)
        out.extend(pieces)
        size += sum(caps.size(piece) + 1 for piece in pieces)
        if not depth:
            walk.line_ends.append(size)
    return "\n".join(out)


def _import(walk: _Walk, importing: str, reference: ImportReference, depth: int, size: int) -> str | None:
    if len(walk.records) >= MOST_IMPORTS:
        return None
    target = resolve(reference.path, importing)
    outcome = _judge(walk, target, depth, size)
    if isinstance(outcome, FileText) and target is not None:
        walk.seen.add(outcome.identity)
        walk.stack.append(outcome.identity)
        walk.sources.add(target)
        at = len(walk.records)
        text = _expand(walk, target, outcome.text.strip(), depth + 1)
        walk.stack.pop()
        cut = caps.cut(text, FILE_LIMIT, caps.file_note(pathtext.base(target), outcome.size_bytes))
        lost = max(0, caps.size(text) - caps.size(cut)) + (
            outcome.size_bytes - caps.size(outcome.text) if outcome.truncated else 0
        )
        record = _record(importing, reference, target, "expanded", "", outcome.size_bytes, lost)
        walk.records.insert(at, record)
        return f"<!-- import {caps.shown(pathtext.base(target))} -->\n{cut}"
    assert isinstance(outcome, tuple)
    walk.records.append(_record(importing, reference, target, *outcome))
    return None


def _judge(walk: _Walk, target: str | None, depth: int, size: int) -> FileText | tuple[ImportStatus, str]:
    """The text to import, or why it stays as written."""
    if target is None or not walk.boundary.admits_as_written(target):
        return "refused", "it lies outside the workspace and the global instruction folder"
    if depth >= MOST_HOPS:
        return "too-deep", f"imports go at most {MOST_HOPS} files deep"
    if size > 2 * FILE_LIMIT:
        return "beyond-cap", "what stands here is beyond the cap and would be cut"
    walk.looked_at.add(target)
    if not walk.boundary.admits(walk.table.real(target)):
        return "refused", "it is a link that leaves the workspace and the global instruction folder"
    content = walk.table.text(target)
    if isinstance(content, Unreadable):
        return "missing" if content.kind == "missing" else "unreadable", content.reason
    if not walk.boundary.admits(content.real):
        return "refused", "it is a link that leaves the workspace and the global instruction folder"
    if content.identity in walk.stack:
        return "cycle", "it is being imported already: the files import each other"
    if content.identity in walk.seen:
        return "repeated", "it stands further up already"
    return content


def _record(
    importing: str,
    reference: ImportReference,
    target: str | None,
    status: ImportStatus,
    reason: str,
    size_bytes: int = 0,
    cut_bytes: int = 0,
) -> ImportRecord:
    return ImportRecord(
        Path(importing),
        reference.line,
        reference.start,
        reference.end,
        reference.path,
        Path(target) if target else None,
        status,
        reason,
        size_bytes,
        cut_bytes,
    )
