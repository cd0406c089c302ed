"""Commands about skills: list, pin, unpin (PROTOCOL.md "Commands")."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from chatls_core.prompt.attached_contexts import REBUILD_KEY
from chatls_core.prompt.skills import Skill
from chatls_core.prompt.skills_matching import PINNED_KEY, command_word, pinned
from chatls_server.lsp.commands_session import meant
from chatls_server.lsp.errors import INVALID_PARAMS, RpcError
from chatls_server.lsp.protocol import commands as args
from chatls_server.lsp.protocol.commands import CommandResult
from chatls_server.lsp.registry import command

if TYPE_CHECKING:
    from chatls_core.turn.agent import Agent
    from chatls_server.lsp.server import ChatServer


async def _all(server: ChatServer, agent: Agent) -> tuple[Skill, ...]:
    scan = agent.services.settings.instructions.scan
    return await asyncio.to_thread(lambda: agent.services.curation.skills.all(server.roots, scan=scan))


def _shown(skill: Skill, names: set[str]) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "uri": skill.path.as_uri(),
        "command": f"/{command_word(skill)}" if skill.invocable else None,
        "automatic": skill.automatic,
        "triggers": list(skill.triggers),
        "paths": list(skill.paths),
        "version": skill.version,
        "pinned": skill.name.lower() in names,
    }


@command("chatls.skill.list", args.SessionScopeArgs)
async def skill_list(server: ChatServer, a: args.SessionScopeArgs) -> CommandResult:
    """The skills of the workspace and of the user."""
    agent = await server.agent()
    conversation = (await agent.session(a.session_id)).conversation if a.session_id else None
    names = {name.lower() for name in pinned(conversation)} if conversation else set()
    rows = [_shown(skill, names) for skill in await _all(server, agent)]
    lines = [f"- {'📌 ' if r['pinned'] else ''}**{r['name']}** {r['description']}".rstrip() for r in rows]
    text = "\n".join(lines) if lines else "There is no skill. Put one into `.chatcli/skills/NAME/SKILL.md`."
    return CommandResult(markdown=text, data={"skills": rows})


@command("chatls.skill.pin", args.NamedArgs)
async def skill_pin(server: ChatServer, a: args.NamedArgs) -> CommandResult:
    """Keep a skill in a conversation's system text from its next turn on."""
    agent = await server.agent()
    found = [s.name for s in await _all(server, agent) if s.name.lower() == a.name.strip().lower()]
    if not found:
        raise RpcError(INVALID_PARAMS, f"name: there is no skill {a.name!r}")
    return await _set(agent, a, lambda names: [*(n for n in names if n.lower() != found[0].lower()), found[0]])


@command("chatls.skill.unpin", args.NamedArgs)
async def skill_unpin(server: ChatServer, a: args.NamedArgs) -> CommandResult:
    """Let a skill go from a conversation's system text."""
    wanted = a.name.strip().lower()
    return await _set(await server.agent(), a, lambda names: [n for n in names if n.lower() != wanted])


async def _set(agent: Agent, a: args.NamedArgs, change: Any) -> CommandResult:
    live = await meant(agent, a.session_id)
    before = list(pinned(live.conversation))
    after = change(before)
    if after != before:
        live.conversation.state[PINNED_KEY] = after
        live.conversation.state[REBUILD_KEY] = True
        await agent.keep(live)
    text = f"Pinned: {', '.join(after)}." if after else "No skill is pinned."
    return CommandResult(markdown=text, data={"pinned": after})
