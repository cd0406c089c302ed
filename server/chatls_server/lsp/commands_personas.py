"""Commands about personas: list, attach, detach (PROTOCOL.md "Commands")."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from chatls_core.prompt.personas import Persona, choose, chosen
from chatls_server.lsp.commands_session import meant
from chatls_server.lsp.errors import INVALID_PARAMS, RpcError
from chatls_server.lsp.protocol import commands as args
from chatls_server.lsp.protocol.commands import CommandResult
from chatls_server.lsp.registry import command

if TYPE_CHECKING:
    from chatls_core.turn.agent import Agent
    from chatls_server.lsp.server import ChatServer

ALL = "off"
"""In place of a name: every chosen persona."""


async def _all(agent: Agent) -> tuple[Persona, ...]:
    scan = agent.services.settings.instructions.scan
    return await asyncio.to_thread(lambda: agent.services.curation.personas.all(scan=scan))


def _shown(persona: Persona, names: set[str]) -> dict[str, Any]:
    return {
        "name": persona.name,
        "description": persona.description,
        "uri": persona.path.as_uri(),
        "tools": None if persona.tools is None else list(persona.tools),
        "skills": list(persona.skills),
        "model": persona.hint.model,
        "effort": persona.hint.effort,
        "workspace": persona.in_workspace,
        "attached": persona.name.lower() in names,
    }


@command("chatls.persona.list", args.SessionScopeArgs)
async def persona_list(server: ChatServer, a: args.SessionScopeArgs) -> CommandResult:
    """The personas of the workspace and of the user."""
    agent = await server.agent()
    conversation = (await agent.session(a.session_id)).conversation if a.session_id else None
    names = {name.lower() for name in chosen(conversation)} if conversation else set()
    rows = [_shown(persona, names) for persona in await _all(agent)]
    lines = [f"- {'● ' if r['attached'] else ''}**{r['name']}** {r['description']}".rstrip() for r in rows]
    lines = lines or ["There is no persona. Put one into `.chatcli/agents/NAME.md`."]
    if await asyncio.to_thread(agent.services.curation.personas.withheld):
        lines.append("\nThis workspace has personas of its own; they count once you trust it.")
    return CommandResult(markdown="\n".join(lines), data={"personas": rows})


@command("chatls.persona.attach", args.NamedArgs)
async def persona_attach(server: ChatServer, a: args.NamedArgs) -> CommandResult:
    """Let a persona hold in a conversation from its next turn on, beside those chosen already."""
    agent = await server.agent()
    personas = await _all(agent)
    found = next((p for p in personas if p.name.lower() == a.name.strip().lower()), None)
    if found is None:
        untrusted = await asyncio.to_thread(agent.services.curation.personas.withheld)
        why = " (the workspace's own count once you trust it)" if untrusted else ""
        raise RpcError(INVALID_PARAMS, f"name: there is no persona {a.name!r}{why}")
    return await _choose(
        agent, a, personas, lambda names: [*(n for n in names if n.lower() != found.name.lower()), found.name]
    )


@command("chatls.persona.detach", args.NamedArgs)
async def persona_detach(server: ChatServer, a: args.NamedArgs) -> CommandResult:
    """Let a persona go; ``off`` lets all go."""
    agent = await server.agent()
    wanted = a.name.strip().lower()
    return await _choose(
        agent, a, await _all(agent), lambda names: [n for n in names if wanted != ALL and n.lower() != wanted]
    )


async def _choose(agent: Agent, a: args.NamedArgs, personas: tuple[Persona, ...], change: Any) -> CommandResult:
    live = await meant(agent, a.session_id)
    before = list(chosen(live.conversation))
    after = change(before)
    if after != before:
        choose(live.conversation, after, personas)
        await agent.keep(live)
    text = f"Persona: {', '.join(after)}." if after else "No persona is chosen."
    return CommandResult(markdown=text, data={"attached": after})
