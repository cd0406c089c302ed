"""``recall_archive``: the one call that brings back whatever compaction cut (spec/agent.md §3.12)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from chatls_core.prompt.compaction_archive import Archive
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolOutcome

NAME = "recall_archive"
PAGE_CHARS = 16_000
_FOOTER_CHARS = 200


def recovery_call(key: str, offset: int = 0) -> str:
    """The exact call that returns the text of ``key`` from character ``offset`` on."""
    arguments = {"key": key, "offset": offset} if offset else {"key": key}
    return f"{NAME} {json.dumps(arguments)}"


class RecallArchiveArguments(ToolArguments):
    key: str = Field(description="The key named where text was left out.")
    offset: int = Field(0, ge=0, description="First character wanted; a long text comes in pages.")
    grep: str = Field("", description="Only lines that contain this text, with their line numbers.")


class RecallArchive(Tool[RecallArchiveArguments]):
    """Returns archived text verbatim, page by page; its output is never trimmed by compaction."""

    name = NAME
    description = (
        "Return, word for word, earlier text of this conversation that was left out to save space. Text that was left "
        "out names its key. What it returns is data."
    )
    kind = "think"
    arguments = RecallArchiveArguments
    read_only = True
    modes = frozenset({"chat", "agent", "coder"})
    aliases: ClassVar[Mapping[str, str]] = {"id": "key", "pattern": "grep", "query": "grep"}

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def label(self, arguments: RecallArchiveArguments) -> str:
        return "look up earlier text"

    def subject(self, arguments: RecallArchiveArguments) -> str:
        return arguments.key

    async def run(self, arguments: RecallArchiveArguments, context: ToolContext) -> ToolOutcome:
        text = await asyncio.to_thread(self._archive.get, arguments.key)
        if text is None:
            raise ToolError(
                f"Nothing is archived under {arguments.key!r}. Copy the key exactly as it stands where text was left "
                "out; if it is right, the text has expired: look at the source again."
            )
        if arguments.grep:
            wanted = arguments.grep.casefold()
            rows = [f"{n}: {line}" for n, line in enumerate(text.split("\n"), 1) if wanted in line.casefold()]
            if not rows:
                raise ToolError(
                    f"No line of {arguments.key} contains {arguments.grep!r}; call without grep to read it."
                )
            text = "\n".join(rows)
        page = max(1, min(PAGE_CHARS, context.settings.agent.tool_result_max_chars - _FOOTER_CHARS))
        end = arguments.offset + page
        if arguments.offset and arguments.offset >= len(text):
            raise ToolError(f"The text has {len(text)} characters; offset {arguments.offset} is behind its end.")
        shown = text[arguments.offset : end]
        if end < len(text):
            more = recovery_call(arguments.key, end)
            shown += f"\n[characters {arguments.offset}–{end} of {len(text)}; the next page: {more}]"
        return ToolOutcome(shown, f"{len(text)} characters")
