"""`chatls.chat.complete`: what fits at the cursor of the chat box, for ``@`` (files, folders) and ``/`` (commands)."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING

from chatls_core.edits import units_to_column
from chatls_core.prompt.skills_matching import command_word
from chatls_core.prompt.skills_templates import templates
from chatls_core.tools.paths import walk
from chatls_server.lsp import slash
from chatls_server.lsp.protocol.commands import ChatCompleteArgs, CommandResult
from chatls_server.lsp.registry import command

if TYPE_CHECKING:
    from chatls_core.turn.services import Services
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
        agent = await server.agent()
        offered = {**await asyncio.to_thread(_called, server.roots, agent.services), **SLASH_COMMANDS}
        items = [
            {"label": f"/{name}", "insert": f"/{name} ", "detail": detail, "kind": "command"}
            for name, detail in sorted(offered.items(), key=lambda row: row[0] not in SLASH_COMMANDS)
            if name.startswith(match.group(2).lower())
        ][:MAX_ITEMS]
    text = "\n".join(f"- `{i['label']}` {i['detail']}" for i in items)
    return CommandResult(markdown=text or "Nothing fits.", data={"items": items})


def _called(roots: tuple[Path, ...], services: Services) -> dict[str, str]:
    """Templates and skills the user may call, with what they are for."""
    skills = services.curation.skills.all(roots, scan=services.settings.instructions.scan)
    found = {command_word(s): s.description or s.argument_hint or "skill" for s in skills if s.invocable}
    for template in templates(roots, services.home):
        found[template.name] = template.description or template.argument_hint or "template"
    return found


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
