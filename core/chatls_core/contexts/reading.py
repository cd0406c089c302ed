"""Looking into contexts that are not whole in the prompt: pages, table of contents, segments, chunks (§2.2, §2.3)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chatls_core.contexts.model import Context, ContextError, ContextFile

PAGE_CHARS = 12_000
SEGMENT_CHARS = 1_200
OVERLAP_LINES = 2
MAX_ENTRIES = 200
SNIPPET_CHARS = 360
CHUNK_TOKENS = 30_000


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a file; ``next_offset`` is ``None`` on the last page. Offsets are characters."""

    text: str
    offset: int
    next_offset: int | None
    total: int


def shown_paths(context: Context) -> dict[str, ContextFile]:
    """The files by the path they are shown under: relative to the folder all of them share."""
    paths = [f.path for f in context.files]
    try:
        base = str(Path(paths[0]).parent) if len(paths) == 1 else os.path.commonpath(paths)
    except ValueError:
        return {f.path.replace(os.sep, "/"): f for f in context.files}  # files on several drives share nothing
    return {os.path.relpath(f.path, base).replace(os.sep, "/"): f for f in context.files}


def page(context: Context, source: str, offset: int = 0) -> Page:
    """A page of one file, from character ``offset``; ``source`` is a shown path, or its unambiguous end."""
    files = shown_paths(context)
    names = [n for n in files if n == source] or [n for n in files if n.endswith("/" + source) or n.endswith(source)]
    if len(names) != 1:
        raise ContextError(
            f"source: {source!r} names {len(names)} files of {context.name!r}; "
            f"files: {', '.join(list(names or files)[:20])}."
        )
    text = files[names[0]].content
    end = min(len(text), offset + PAGE_CHARS)
    return Page(text[offset:end], offset, end if end < len(text) else None, len(text))


def segments(text: str) -> list[tuple[int, str]]:
    """Pieces of about 1,200 characters at line ends with two lines of overlap: first line (from 1) and text."""
    lines = text.split("\n")
    found: list[tuple[int, str]] = []
    start = 0
    while start < len(lines):
        end, size = start, 0
        while end < len(lines) and (end == start or size + len(lines[end]) + 1 <= SEGMENT_CHARS):
            size += len(lines[end]) + 1
            end += 1
        if piece := "\n".join(lines[start:end]).strip():
            found.append((start + 1, piece))
        if end >= len(lines):
            break
        start = max(start + 1, end - OVERLAP_LINES)
    return found


def chunks(files: Sequence[ContextFile], ratio: float = 4.0) -> list[tuple[ContextFile, ...]]:
    """Files in order, in groups of at most about 30,000 tokens; a larger file stands alone."""
    limit = int(CHUNK_TOKENS * ratio)
    groups: list[list[ContextFile]] = []
    size = 0
    for file in files:
        if not groups or size + len(file.content) > limit:
            groups.append([])
            size = 0
        groups[-1].append(file)
        size += len(file.content)
    return [tuple(group) for group in groups]
