"""What the server tells unasked: status, changed instructions, changed memory (PROTOCOL.md, last table)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chatls_server.lsp.registry import hook
from chatls_server.lsp.results import to_json

if TYPE_CHECKING:
    from chatls_core.instructions import InstructionChanges
    from chatls_core.memory import Memory, MemoryChange
    from chatls_core.memory.elsewhere import Elsewhere
    from chatls_core.turn.agent import Agent
    from chatls_server.lsp.server import ChatServer

log = logging.getLogger(__name__)


async def prepare(server: ChatServer, agent: Agent) -> None:
    """Once the agent is made: load what can be loaded ahead, follow memory and turns."""
    loop = asyncio.get_running_loop()

    def changed(change: MemoryChange) -> None:
        loop.call_soon_threadsafe(server.send_notification, "chatls/memoryChanged", to_json(change))

    agent.services.memory.subscribe(changed)
    server.elsewhere = await asyncio.to_thread(_watch_memory, agent.services.memory, changed)
    agent.services.instructions_changed = lambda changes: announce(server, changes)
    agent.on_state(lambda: state_changed(server, agent))
    await agent.ready()
    send_status(server, agent)


def _watch_memory(memory: Memory, told: Callable[[MemoryChange], None]) -> Elsewhere:
    """What other windows and programs write is told as well."""
    from chatls_core.memory.elsewhere import Elsewhere

    watch = Elsewhere(memory, told)
    watch.start()
    return watch


def state_changed(server: ChatServer, agent: Agent) -> None:
    """Tell the editor; what a turn loaded is watched once it is over, not while its first word is waited for."""
    status = agent.status()
    server.send_notification("chatls/status", status)
    if status["state"] != "answering":
        server.eyes.watch.follow_soon()


def send_status(server: ChatServer, agent: Agent) -> None:
    """`chatls/status` as it is now."""
    server.send_notification("chatls/status", agent.status())


@hook("ready")
async def ready(server: ChatServer) -> None:
    """Make the agent in the background: the first question must not wait for it."""
    await prepare(server, await server.agent())


@hook("configuration")
async def configuration(server: ChatServer) -> None:
    """New settings reach the agent."""
    if (agent := server.agent_if_made) is not None:
        await asyncio.to_thread(agent.configure, server.settings)
        send_status(server, agent)
        await agent.services.mcp.refresh()


@hook("secrets")
async def secrets(server: ChatServer) -> None:
    """A new key may change who answers."""
    if (agent := server.agent_if_made) is not None:
        send_status(server, agent)


@hook("workspace")
async def workspace(server: ChatServer) -> None:
    """Folders or trust changed."""
    if (agent := server.agent_if_made) is not None:
        await asyncio.to_thread(agent.set_workspace, server.roots, server.trusted)
        await agent.services.mcp.refresh()
        await instruction_files_changed(server, ())


@hook("instruction_files_changed")
async def instruction_files_changed(server: ChatServer, paths: Sequence[Path]) -> None:
    """Read what changed and tell the client; the next turn follows it in any case."""
    instructions = (await server.agent()).services.instructions
    changes = await asyncio.to_thread(instructions.refresh)
    announce(server, changes)


def announce(server: ChatServer, changes: InstructionChanges) -> None:
    """`chatls/instructionsChanged`, when there is something to say."""
    changed = [*changes.added, *changes.changed, *changes.removed]
    if changed:
        server.send_notification(
            "chatls/instructionsChanged",
            {"changed": [p.as_uri() for p in changed], "files": changes.files, "rules": changes.rules},
        )


@hook("exit")
async def ending(server: ChatServer) -> None:
    """Stop turns; what streamed is saved."""
    if (agent := server.agent_if_made) is not None:
        await agent.close()
    if server.elsewhere is not None:
        await asyncio.to_thread(server.elsewhere.stop)
