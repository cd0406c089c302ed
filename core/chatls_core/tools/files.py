"""Tools that look at files: read_file, list_dir, find_files. They see unsaved buffers through the host."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from chatls_core.host import Document, HostError, HostErrorKind, Location, Position, Range
from chatls_core.text import cut
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolOutcome
from chatls_core.tools.paths import display, ignored, path_filter, path_of, walk

MAX_LINES = 2000
MAX_LINE_CHARS = 2000


async def read_document(context: ToolContext, path: str) -> Document:
    """The document at a model's path as the user sees it; what goes wrong is told to the model."""
    uri = context.resolve(path)
    try:
        document = await context.host.read(uri)
    except HostError as error:
        raise ToolError(str(error)) from error
    context.files.read[document.uri] = document.text
    context.files.touch(document.path)
    return document


def split_lines(text: str) -> list[str]:
    """Lines without their endings, split where LSP splits: ``\\n``, ``\\r\\n`` and ``\\r`` only."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" and len(lines) > 1 else lines


def numbered(lines: list[str], first: int) -> str:
    """Lines with their one-based numbers, as the model is shown them."""
    width = max(4, len(str(first + len(lines) - 1)))
    return "\n".join(f"{n:>{width}}\t{cut.by_chars(line, MAX_LINE_CHARS)}" for n, line in enumerate(lines, first))


class ReadFileArguments(ToolArguments):
    path: str = Field(description="File path, relative to the workspace folder or absolute inside it.")
    start_line: int | None = Field(None, ge=1, description="First line to read, from 1.")
    end_line: int | None = Field(None, ge=1, description="Last line to read, inclusive.")


class ReadFile(Tool[ReadFileArguments]):
    name = "read_file"
    description = (
        "Read a text file, with line numbers (not part of the text). Unsaved changes in the editor are included. "
        f"At most {MAX_LINES} lines per call; give start_line and end_line for more."
    )
    kind = "read"
    arguments = ReadFileArguments
    read_only = True
    aliases: ClassVar[dict[str, str]] = {
        "file": "path",
        "file_path": "path",
        "filename": "path",
        "start": "start_line",
        "end": "end_line",
    }

    def label(self, arguments: ReadFileArguments) -> str:
        lines = f" {arguments.start_line}–{arguments.end_line or ''}" if arguments.start_line else ""
        return f"read {arguments.path}{lines}"

    def locations(self, arguments: ReadFileArguments, context: ToolContext) -> tuple[Location, ...]:
        first = (arguments.start_line or 1) - 1
        place = Range(Position(first, 0), Position(arguments.end_line or first, 0)) if arguments.start_line else None
        return (Location(context.resolve(arguments.path), place),)

    async def run(self, arguments: ReadFileArguments, context: ToolContext) -> ToolOutcome:
        try:
            document = await read_document(context, arguments.path)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, HostError) and cause.kind is HostErrorKind.TOO_LARGE:
                return await self._from_large(arguments, context)
            raise
        lines = split_lines(document.text)
        if not document.text:
            return ToolOutcome(f"{arguments.path} is empty.", "empty")
        first = arguments.start_line or 1
        if first > len(lines):
            raise ToolError(f"{arguments.path} has {len(lines)} lines; start_line {first} is past its end.")
        last = min(arguments.end_line or len(lines), len(lines), first + MAX_LINES - 1)
        if last < first:
            raise ToolError(f"end_line {arguments.end_line} is before start_line {first}.")
        body = numbered(lines[first - 1 : last], first)
        head = f"{arguments.path} ({len(lines)} lines{', unsaved changes' if document.dirty else ''})"
        rest = (
            f"\n[lines {last + 1}–{len(lines)} not shown: read_file with start_line={last + 1}]"
            if last < len(lines) and (arguments.end_line is None or last < arguments.end_line)
            else ""
        )
        return ToolOutcome(f"{head}\n{body}{rest}", f"{last - first + 1} lines", self.locations(arguments, context))

    async def _from_large(self, arguments: ReadFileArguments, context: ToolContext) -> ToolOutcome:
        """A range of a file nobody reads whole: no more of it is read than up to the range's end."""
        first = arguments.start_line or 1
        last = min(arguments.end_line or first + MAX_LINES - 1, first + MAX_LINES - 1)
        if last < first:
            raise ToolError(f"end_line {arguments.end_line} is before start_line {first}.")
        try:
            lines = list(await context.host.read_lines(context.resolve(arguments.path), first, last))
        except HostError as error:
            raise ToolError(str(error)) from error
        if not lines:
            raise ToolError(f"{arguments.path} ends before line {first}.")
        stop = first + len(lines) - 1
        head = f"{arguments.path} (a large file; lines {first}–{stop})"
        more = f"\n[more: read_file with start_line={stop + 1}]" if stop == last else ""
        return ToolOutcome(f"{head}\n{numbered(lines, first)}{more}", f"{len(lines)} lines")


class ListDirArguments(ToolArguments):
    path: str = Field(".", description="Folder, relative to the workspace folder.")
    depth: int = Field(1, ge=1, le=8, description="How many levels to show.")


class ListDir(Tool[ListDirArguments]):
    name = "list_dir"
    description = "List files and folders. Ignored and noise folders (.git, node_modules, …) are left out."
    kind = "read"
    arguments = ListDirArguments
    read_only = True
    aliases: ClassVar[dict[str, str]] = {"dir": "path", "directory": "path", "max_depth": "depth"}
    limit = 500

    def label(self, arguments: ListDirArguments) -> str:
        return f"list {arguments.path}"

    async def run(self, arguments: ListDirArguments, context: ToolContext) -> ToolOutcome:
        folder = path_of(context.resolve(arguments.path))
        if folder is None or not await asyncio.to_thread(folder.is_dir):
            raise ToolError(
                f"{arguments.path} is no folder. Use read_file for files, list_dir with '.' to look around."
            )
        entries = await asyncio.to_thread(lambda: list(self._entries(folder, arguments.depth)))
        shown = entries[: self.limit]
        more = f"\n[{len(entries) - len(shown)} more entries not shown]" if len(entries) > len(shown) else ""
        return ToolOutcome("\n".join(shown) + more if shown else "The folder is empty.", f"{len(entries)} entries")

    def _entries(self, folder: Path, depth: int, indent: str = "") -> Iterator[str]:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda e: (not e.is_dir(follow_symlinks=False), e.name))
        for entry in entries:
            if ignored(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield f"{indent}{entry.name}/"
                if depth > 1:
                    yield from self._entries(Path(entry.path), depth - 1, indent + "  ")
            else:
                yield f"{indent}{entry.name}"


class FindFilesArguments(ToolArguments):
    pattern: str = Field(description="Glob such as **/*.py or src/**/test_*.ts; a bare word matches file names.")
    path: str = Field(".", description="Folder to look in.")


class FindFiles(Tool[FindFilesArguments]):
    name = "find_files"
    description = "Find files by name with a glob. Respects .gitignore."
    kind = "search"
    arguments = FindFilesArguments
    read_only = True
    aliases: ClassVar[dict[str, str]] = {"glob": "pattern", "query": "pattern", "dir": "path"}
    limit = 300

    def label(self, arguments: FindFilesArguments) -> str:
        return f"find {arguments.pattern}"

    async def run(self, arguments: FindFilesArguments, context: ToolContext) -> ToolOutcome:
        folder = path_of(context.resolve(arguments.path))
        if folder is None or not await asyncio.to_thread(folder.is_dir):
            raise ToolError(f"{arguments.path} is no folder.")
        bare = not any(c in arguments.pattern for c in "*?[{/")
        matcher = path_filter(f"*{arguments.pattern}*" if bare else arguments.pattern)

        def find() -> list[str]:
            hits: list[str] = []
            for path in walk(folder):
                relative = path.relative_to(folder).as_posix()
                if matcher.matches(relative):
                    hits.append(display(path, context))
                    if len(hits) > self.limit:
                        break
            return hits

        hits = await asyncio.to_thread(find)
        if not hits:
            return ToolOutcome(f"0 files match {arguments.pattern}.", "0 files")
        more = f"\n[more than {self.limit} files match; narrow the pattern]" if len(hits) > self.limit else ""
        return ToolOutcome("\n".join(sorted(hits[: self.limit])) + more, f"{min(len(hits), self.limit)} files")
