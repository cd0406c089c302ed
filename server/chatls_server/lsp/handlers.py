"""Which module answers which custom message. Modules are imported at the first use, so that starting stays fast.

``initialize`` announces every command listed here; a test holds this table against the modules.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from typing import TYPE_CHECKING, Any

from chatls_server.lsp.protocol.base import parse
from chatls_server.lsp.registry import Endpoint, Registry

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

CHAT = "chatls/chat"
HOOKS = "chatls_server.lsp.watching"

MODULES: dict[str, tuple[str, ...]] = {
    "chat": ("chat.send",),
    "completing": ("chat.complete",),
    "commands_memory": (
        "memory.remember",
        "memory.recall",
        "memory.forget",
        "memory.undo",
        "memory.profile",
        "memory.facts",
        "memory.edit",
        "memory.pin",
        "memory.sensitive",
        "memory.why",
        "memory.timeline",
        "memory.topics",
        "memory.projects",
        "memory.stats",
        "memory.longterm",
        "memory.list",
        "memory.map",
        "memory.daily",
        "memory.digests",
        "memory.load",
        "memory.neighbors",
        "memory.graph",
        "memory.compact",
        "memory.export",
        "memory.import",
    ),
    "commands_learning": ("memory.pending", "memory.accept", "memory.reject"),
    "commands_session": (
        "session.new",
        "session.list",
        "session.save",
        "session.load",
        "session.fork",
        "session.rename",
        "session.delete",
        "session.undelete",
        "session.search",
        "session.rewind",
        "session.events",
    ),
    "commands_prompt": (
        "session.compact",
        "context.create",
        "context.update",
        "context.list",
        "context.delete",
        "context.attach",
        "context.detach",
        "context.attached",
        "context.status",
    ),
    "commands_skills": ("skill.list", "skill.pin", "skill.unpin"),
    "commands_personas": ("persona.list", "persona.attach", "persona.detach"),
    "commands_mcp": ("mcp.list", "mcp.restart", "mcp.start", "mcp.stop"),
    "commands_sign_in": ("provider.signIn", "provider.signOut"),
    "commands_workspace": (
        "instructions.show",
        "instructions.reload",
        "prompt.show",
        "provider.list",
        "provider.switch",
        "cost.show",
        "config.show",
        "policy.show",
        "policy.set",
        "edits.undo",
        "doctor.show",
    ),
}


def declare(registry: Registry) -> None:
    """Announce every handler of :data:`MODULES`; its module takes its place at the first call."""
    registry.requests.setdefault(CHAT, Endpoint(CHAT, None, _first_call(registry, CHAT, "chat"), declared=True))
    for module, names in MODULES.items():
        for short in names:
            name = f"chatls.{short}"
            handler = _first_call(registry, name, module)
            registry.commands.setdefault(name, Endpoint(name, None, handler, declared=True))


def _first_call(registry: Registry, name: str, module: str) -> Any:
    async def call(server: ChatServer, params: Any) -> object:
        await asyncio.to_thread(importlib.import_module, f"chatls_server.lsp.{module}")
        endpoint = registry.requests[name] if name in registry.requests else registry.commands[name]
        return await endpoint.handler(server, parse(endpoint.model, params, name) if endpoint.model else params)

    return call


async def load_hooks() -> None:
    """Import the module whose hooks the server calls, in a thread at the first time."""
    if HOOKS not in sys.modules:
        await asyncio.to_thread(importlib.import_module, HOOKS)
