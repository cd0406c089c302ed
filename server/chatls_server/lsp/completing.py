"""`chatls.chat.complete`: what fits at the cursor of the chat box, for ``@`` (files, folders) and ``/`` (commands)."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import re
import time
from collections.abc import Callable
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
KEPT_SECONDS = 3.0
_WORD = re.compile(r"(?:^|\s)([@/])(\S*)$")
_PERSONA = re.compile(r"/persona\s+(.*)$", re.I)

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
    elif (persona := _PERSONA.match(before)) is not None:
        items = await asyncio.to_thread(_personas, (await server.agent()).services, persona.group(1))
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


def _personas(services: Services, typed: str) -> list[dict[str, str]]:
    """Personas whose name begins with the typed letters, and the way to none."""
    found = services.curation.personas.all(scan=services.settings.instructions.scan)
    rows = [(p.name, p.description or "persona") for p in found]
    return [
        {"label": name, "insert": f"/persona {name}", "detail": detail, "kind": "persona"}
        for name, detail in [*rows, ("off", "no persona")]
        if name.lower().startswith(typed.lower())
    ][:MAX_ITEMS]


def _called(roots: tuple[Path, ...], services: Services) -> dict[str, str]:
    """Templates and skills the user may call, with what they are for."""
    skills = services.curation.skills.all(roots, scan=services.settings.instructions.scan)
    found = {command_word(s): s.description or s.argument_hint or "skill" for s in skills if s.invocable}
    for template in templates(roots, services.home, Path.home()):
        found[template.name] = template.description or template.argument_hint or "template"
    return found


class FileNames:
    """The names of a workspace's files, kept for a few seconds: a list is asked for at every keystroke."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._kept: dict[Path, tuple[float, list[tuple[str, str, str]]]] = {}

    def of(self, root: Path) -> list[tuple[str, str, str]]:
        """Relative path, the same in lower case, and the lower-case name of each file; blocks."""
        known = self._kept.get(root)
        if known is not None and self._monotonic() < known[0]:
            return known[1]
        began = self._monotonic()
        base = root.resolve()
        names = []
        for path in itertools.islice(walk(root), MAX_SCANNED):
            relative = path.relative_to(base).as_posix()
            names.append((relative, relative.lower(), path.name.lower()))
        # A listing that took long is kept longer, so that typing never costs more than a tenth of the time.
        self._kept[root] = (self._monotonic() + max(KEPT_SECONDS, 10 * (self._monotonic() - began)), names)
        return names


_NAMES = FileNames()


def _files(roots: tuple[Path, ...], typed: str) -> list[dict[str, str]]:
    """Files whose path holds the typed letters in order; names that begin so come first."""
    wanted = typed.lower()
    scored: list[tuple[int, int, str, Path]] = []
    for root in roots:
        prefix = "" if len(roots) == 1 else f"{root.name}/"
        for relative, lower, name in _NAMES.of(root):
            rank = _rank(wanted, prefix.lower() + lower, name)
            if rank is not None:
                scored.append((rank, len(relative), prefix + relative, root / relative))
    best = heapq.nsmallest(MAX_ITEMS, scored, key=lambda row: row[:3])
    return [
        {"label": shown, "insert": f"@{shown} ", "detail": path.name, "kind": "file", "uri": path.as_uri()}
        for _, _, shown, path in best
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
