"""The search tool: ripgrep where present, else our own walk; unsaved buffers are searched instead of their files.

No match is an answer, not a failure, and the cap is global (spec/agent.md §12 row 8).
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from chatls_core.host import Document, HostError, Location, Position, Range
from chatls_core.text import cut
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolOutcome
from chatls_core.tools.files import split_lines
from chatls_core.tools.paths import display, path_filter, path_of, walk
from chatls_core.tools.secret_files import is_dotenv

MAX_MATCHES = 200
MAX_LINE = 300
MAX_FILE_BYTES = 4 << 20
REGEX_SECONDS = 2.0


class SearchArguments(ToolArguments):
    query: str = Field(min_length=1, description="Text to find, or a regular expression with regex=true.")
    path: str = Field(".", description="Folder or file to search in.")
    regex: bool = Field(False, description="Treat query as a regular expression.")
    case_sensitive: bool = Field(False, description="Match case.")
    glob: str = Field("", description="Only files matching this glob, e.g. *.py or src/**/*.ts.")


@dataclass(frozen=True, slots=True)
class Match:
    """One matching line; ``line`` counts from 1."""

    path: Path
    line: int
    text: str


class Search(Tool[SearchArguments]):
    name = "search"
    description = (
        "Search file contents. Literal and case-insensitive unless told otherwise; respects .gitignore and sees "
        f"unsaved changes. Answers path:line: text, at most {MAX_MATCHES} matches in all."
    )
    kind = "search"
    arguments = SearchArguments
    read_only = True
    aliases: ClassVar[dict[str, str]] = {"term": "query", "pattern": "query", "dir": "path", "include": "glob"}

    def label(self, arguments: SearchArguments) -> str:
        return f'search "{cut.by_chars(arguments.query, 60)}"'

    async def run(self, arguments: SearchArguments, context: ToolContext) -> ToolOutcome:
        target = path_of(context.resolve(arguments.path))
        if target is None or not await asyncio.to_thread(target.exists):
            raise ToolError(f"{arguments.path} does not exist. Use list_dir to look around.")
        buffers = {
            path: document
            for document in context.host.dirty_documents().values()
            if (path := document.path) is not None and (path == target or path.is_relative_to(target))
        }
        matcher = LineMatcher(arguments)
        found = [m for path, d in buffers.items() if matcher.takes(path, target) for m in matcher.in_text(path, d)]
        if shutil.which("rg"):
            on_disk = await self._ripgrep(arguments, target)
        else:
            on_disk = await asyncio.to_thread(lambda: list(self._walk(target, matcher, buffers)))
        matches = found + [m for m in on_disk if m.path not in buffers and _readable(m.path, context)]
        matches.sort(key=lambda m: (m.path.as_posix(), m.line))
        held = sorted({display(m.path, context) for m in matches if is_dotenv(m.path) and m.path != target})
        note = f"[{', '.join(held)} also match; they may hold keys, so read_file asks the user first]" if held else ""
        matches = [m for m in matches if not is_dotenv(m.path) or m.path == target]
        if not matches:
            none = f"0 matches for {arguments.query!r} in {arguments.path}."
            return ToolOutcome(f"{none}\n{note}".rstrip(), "0 matches")
        shown = matches[:MAX_MATCHES]
        lines = [f"{display(m.path, context)}:{m.line}: {cut.by_chars(m.text.strip(), MAX_LINE)}" for m in shown]
        if len(matches) > MAX_MATCHES:
            lines.append(f"[more than {MAX_MATCHES} matches; narrow the query, path or glob]")
        if note:
            lines.append(note)
        places = tuple(
            Location(m.path.as_uri(), Range(Position(m.line - 1, 0), Position(m.line - 1, 0))) for m in shown[:20]
        )
        count = f"{len(matches)}{'+' if len(matches) > MAX_MATCHES else ''}"
        return ToolOutcome("\n".join(lines), f"{count} match{'' if len(matches) == 1 else 'es'}", places)

    async def _ripgrep(self, arguments: SearchArguments, target: Path) -> list[Match]:
        command = ["rg", "--null", "--line-number", "--no-heading", "--with-filename", "--color=never", "--no-config"]
        command += ["--max-columns=2000", "--max-columns-preview", "--max-filesize=4M", "--hidden", "--sort=path"]
        command += ["--glob=!.git/"]
        if not arguments.regex:
            command.append("--fixed-strings")
        if not arguments.case_sensitive:
            command.append("--ignore-case")
        if arguments.glob:
            command.append(f"--glob={arguments.glob}")
        command += ["--regexp", arguments.query, "--", str(target)]
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None and process.stderr is not None
        matches: list[Match] = []
        try:
            while raw := await process.stdout.readline():
                path, separator, rest = raw.rstrip(b"\r\n").partition(b"\0")
                number, colon, text = rest.partition(b":")
                if separator and colon and number.isdigit():
                    matches.append(
                        Match(
                            Path(path.decode("utf-8", "surrogateescape")), int(number), text.decode("utf-8", "replace")
                        )
                    )
                if len(matches) > MAX_MATCHES:
                    break
            if len(matches) <= MAX_MATCHES and (error := (await process.stderr.read()).decode("utf-8", "replace")):
                await process.wait()
                if process.returncode == 2 and not matches:
                    raise ToolError(f"The search failed: {cut.by_chars(error.strip(), 500)}")
        except ValueError as error:
            raise ToolError("A matching line is too long to show; narrow the query or the glob.") from error
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        return matches

    def _walk(self, target: Path, matcher: LineMatcher, skip: Mapping[Path, Document]) -> Iterator[Match]:
        count = 0
        for path in [target] if target.is_file() else walk(target):
            if path in skip or not matcher.takes(path, target):
                continue
            try:
                if path.stat().st_size > MAX_FILE_BYTES:
                    continue
                data = path.read_bytes()
            except OSError:
                continue  # a file that vanished or may not be read has no match to show
            if b"\0" in data[:8192]:
                continue
            for match in matcher.in_lines(path, data.decode("utf-8", "replace")):
                yield match
                count += 1
                if count > MAX_MATCHES:
                    return


class LineMatcher:
    """Matches lines without ripgrep, in bounded time."""

    def __init__(self, arguments: SearchArguments) -> None:
        import regex

        flags = 0 if arguments.case_sensitive else regex.IGNORECASE
        source = arguments.query if arguments.regex else regex.escape(arguments.query, literal_spaces=True)
        try:
            self._regex = regex.compile(source, flags)
        except regex.error as error:
            raise ToolError(
                f"{arguments.query!r} is no valid regular expression ({error}); leave regex=false for plain text."
            ) from error
        self._filter = path_filter(arguments.glob) if arguments.glob else None

    def takes(self, path: Path, target: Path) -> bool:
        """Whether the glob admits ``path``."""
        relative = path.relative_to(target).as_posix() if path != target else path.name
        return self._filter is None or self._filter.matches(relative)

    def in_text(self, path: Path, document: Document) -> Iterator[Match]:
        """Matches in a buffer."""
        return self.in_lines(path, document.text)

    def in_lines(self, path: Path, text: str) -> Iterator[Match]:
        """Matches in a text."""
        for number, line in enumerate(split_lines(text), 1):
            try:
                hit = self._regex.search(line[:100_000], timeout=REGEX_SECONDS)
            except TimeoutError as error:
                raise ToolError("The regular expression takes too long; simplify it.") from error
            if hit:
                yield Match(path, number, line)


def _readable(path: Path, context: ToolContext) -> bool:
    try:
        context.host.resolve(str(path))
    except HostError:
        return False
    return True
