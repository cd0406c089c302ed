"""Commands about what the model is told: compaction, attached contexts, skills (PROTOCOL.md "Commands")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatls_core.llm.events import ModelError
from chatls_core.prompt.compaction import CompactionError
from chatls_core.turn.compacting import told
from chatls_server.lsp.commands_session import existing
from chatls_server.lsp.errors import INTERNAL_ERROR, INVALID_REQUEST, RpcError
from chatls_server.lsp.protocol import commands as args
from chatls_server.lsp.protocol.commands import CommandResult
from chatls_server.lsp.registry import command
from chatls_server.lsp.results import to_json

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer


@command("chatls.session.compact", args.SessionCompactArgs)
async def compact(server: ChatServer, a: args.SessionCompactArgs) -> CommandResult:
    """Shorten a conversation to a summary of its older part; an instruction says what to keep in particular."""
    agent = await server.agent()
    live = await existing(agent, a.session_id)
    try:
        done = await agent.compact(live, a.instruction or "")
    except (CompactionError, ModelError) as error:
        raise RpcError(INVALID_REQUEST, str(error)) from error
    except OSError as error:
        raise RpcError(INTERNAL_ERROR, f"The archive cannot be written, so nothing was cut: {error}") from error
    text = told(done)
    return CommandResult(markdown=text[0].upper() + text[1:], data=to_json(done))
