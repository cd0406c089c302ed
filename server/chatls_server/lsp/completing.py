"""`chatls.chat.complete`: what fits at the cursor of the chat box, for ``@`` (files, folders) and ``/`` (commands)."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING

from chatls_core.edits import units_to_column
from chatls_core.tools.paths import walk
from chatls_server.lsp import slash
from chatls_server.lsp.protocol.commands import ChatCompleteArgs, CommandResult
from chatls_server.lsp.registry import command

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

MAX_ITEMS = 50
MAX_SCANNED = 20_000
_WORD = re.compile(r"(?:^|\s)([@/])(\S*)$")

SLASH_COMMANDS = {
    "chat": "answer in chat mode",
    "agent": "work on the task with a plan",
    "coder": "change the code",
    **{name: known.detail for name, known in slash.COMMANDS.items()},
}


@command("chatls.chat.complete", ChatCompleteArgs)
async def complete(server: ChatServer, args: ChatCompleteArgs) -> CommandResult:
    """Items for the word before the cursor; none where neither ``@`` nor ``/`` begins it."""
    before = args.text[: units_to_column(args.text, args.offset, "utf-16")]
    match = _WORD.search(before)
    items: list[dict[str, str]] = []
    if match is not None and match.group(1) == "@":
        items = await asyncio.to_thread(_files, server.roots, match.group(2))
    elif match is not None and match.start(1) == 0:
        items = [
            {"label": f"/{name}", "insert": f"/{name} ", "detail": detail, "kind": "command"}
            for name, detail in SLASH_COMMANDS.items()
            if name.startswith(match.group(2).lower())
        ]
    text = "\n".join(f"- `{i['label']}` {i['detail']}" for i in items)
    return CommandResult(markdown=text or "Nothing fits.", data={"items": items})


def _files(roots: tuple[Path, ...], typed: str) -> list[dict[str, str]]:
    """Files whose path holds the typed letters in order; names that begin so come first."""
    wanted = typed.lower()
    scored: list[tuple[int, int, str, Path]] = []
    for root in roots:
        for count, path in enumerate(walk(root)):
            if count >= MAX_SCANNED:
                break
            relative = path.relative_to(root.resolve()).as_posix()
            shown = relative if len(roots) == 1 else f"{root.name}/{relative}"
            rank = _rank(wanted, shown.lower(), path.name.lower())
            if rank is not None:
                scored.append((rank, len(shown), shown, path))
    scored.sort(key=lambda row: row[:3])
    return [
        {"label": shown, "insert": f"@{shown} ", "detail": path.name, "kind": "file", "uri": path.as_uri()}
        for _, _, shown, path in scored[:MAX_ITEMS]
    ]


def _rank(wanted: str, shown: str, name: str) -> int | None:
    if name.startswith(wanted):
        return 0
    if wanted in name:
        return 1
    if wanted in shown:
        return 2
    letters = iter(shown)
    return 3 if all(letter in letters for letter in wanted) else None
