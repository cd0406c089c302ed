"""How the agent is used, counted turn by turn: hours, modes, commands, errors that recur (spec/memory.md §6.3)."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING

from chatls_core.llm.messages import Message, ToolCallPart, ToolResultPart
from chatls_core.memory.refusals import Complaints
from chatls_core.store import StoreReadOnlyError
from chatls_core.tools.exec import RunCommand
from chatls_core.tools.shell_words import UnreadableCommandError, commands

if TYPE_CHECKING:
    from chatls_core.sessions import Conversation
    from chatls_core.turn.live import Turn
    from chatls_core.turn.services import Services

log = logging.getLogger(__name__)

_FAILED = re.compile(r"^\[exit code (?!0\])-?\d+\]", re.MULTILINE)
_ERROR = re.compile(r"\b(?:\w*error|\w*exception|fatal|failed|failure|panic(?:ked)?|not found|denied)\b", re.IGNORECASE)
_SUBCOMMAND = re.compile(r"[a-z][a-z-]+")
_WITH_SUBCOMMANDS = frozenset({"apt", "brew", "bun", "cargo", "composer", "conda", "docker", "dotnet", "flutter", "gh",
                               "git", "go", "gradle", "helm", "kubectl", "make", "mix", "mvn", "npm", "nx", "pdm",
                               "pip", "pnpm", "podman", "poetry", "rails", "rustup", "svn", "systemctl", "terraform",
                               "uv", "yarn"})  # fmt: skip
"""Programs whose first argument says what they do; other arguments may be private and are never kept."""
_NO_HABITS = frozenset({".", "cd", "echo", "exit", "export", "false", "printf", "pwd", "set", "source", "true"})


def names_of(line: str) -> Iterator[str]:
    """The commands of a shell line by name: ``npm test``, ``git push``, ``pytest``; none of an unreadable line."""
    try:
        found = commands(line)
    except UnreadableCommandError:
        return
    for command in found:
        if not command.words or command.words[0] in _NO_HABITS:
            continue
        name = PurePath(command.words[0]).name
        second = command.words[1] if len(command.words) > 1 else ""
        yield f"{name} {second}" if name in _WITH_SUBCOMMANDS and _SUBCOMMAND.fullmatch(second) else name


def error_in(output: str) -> str:
    """The first line of a failed command's output that names an error; empty without one, and when it succeeded."""
    if not _FAILED.search(output):
        return ""
    return next((line.strip() for line in output.splitlines() if _ERROR.search(line)), "")


def _used(messages: Sequence[Message], turn_id: str) -> tuple[list[str], list[str]]:
    """The commands of a turn by name, and the errors they met."""
    parts = [part for m in messages if m.turn_id == turn_id for part in m.parts]
    lines = {
        p.id: str(p.arguments.get("command", ""))
        for p in parts
        if isinstance(p, ToolCallPart) and p.name == RunCommand.name
    }
    ran = [p for p in parts if isinstance(p, ToolResultPart) and p.call_id in lines and not p.is_error]
    names = [name for p in ran for name in names_of(lines[p.call_id])]
    return names, [error for p in ran if (error := error_in(p.text))]


class Habits:
    """Counts for one agent; a session lasts from its first turn to the agent's end. Runs on the event loop."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._began: datetime | None = None
        self._counting = Complaints(log, "Use could not be counted")

    async def count(self, turn: Turn, conversation: Conversation) -> None:
        """Count a turn that ends. Never raises: a number that is missing must not cost an answer."""
        if not self._services.settings.memory.enabled:
            return
        started, now = self._began is None, self._services.clock()
        self._began = self._began or now
        messages = tuple(conversation.messages)

        def record() -> None:
            commands_used, errors = _used(messages, turn.id)
            self._services.memory.record_use(
                messages=1,
                feature=turn.request.mode,
                hour=now.astimezone().hour,
                started=started,
                commands=commands_used,
                errors=errors,
            )

        try:
            await asyncio.to_thread(record)
        except (OSError, StoreReadOnlyError) as error:
            self._counting.told(error)
        else:
            self._counting.over()

    def close(self) -> None:
        """Count how long the session was; call it from a thread."""
        if self._began is None or not self._services.settings.memory.enabled:
            return
        seconds = (self._services.clock() - self._began).total_seconds()
        try:
            self._services.memory.record_use(session_seconds=max(0.0, seconds))
        except (OSError, StoreReadOnlyError) as error:
            self._counting.told(error)
