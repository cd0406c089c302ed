"""Commands about what the model is told: compaction and attached contexts (PROTOCOL.md "Commands")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from chatls_core.contexts import Context, ContextError
from chatls_core.contexts.model import DEFAULT_PRIORITY
from chatls_core.llm.events import ModelError
from chatls_core.prompt.attached_contexts import attach, attachments, detach
from chatls_core.prompt.compaction import CompactionError
from chatls_core.prompt.system import MODES
from chatls_core.tools.base import Mode
from chatls_core.tools.paths import path_of
from chatls_core.turn.compacting import told
from chatls_core.turn.exchange import ChatRequest
from chatls_core.turn.live import LiveSession
from chatls_core.turn.standing import AttachedCost, attached_costs, context_warnings, counted, standing
from chatls_server.lsp.commands_session import existing, in_thread, meant
from chatls_server.lsp.errors import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RpcError
from chatls_server.lsp.protocol import commands as args
from chatls_server.lsp.protocol.base import Nothing
from chatls_server.lsp.protocol.commands import CommandResult
from chatls_server.lsp.registry import command
from chatls_server.lsp.results import to_json

if TYPE_CHECKING:
    from chatls_core.turn.agent import Agent
    from chatls_server.lsp.server import ChatServer

T = TypeVar("T")


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


async def _contexts(work: Callable[[], T]) -> T:
    """Run work on the stored contexts in a thread; what the user can mend names the argument."""
    try:
        return await in_thread(work)
    except ContextError as error:
        raise RpcError(INVALID_PARAMS, str(error)) from error


def _name(a: args.ContextArgs) -> str:
    if not (a.name or "").strip():
        raise RpcError(INVALID_PARAMS, "name: which context?")
    return str(a.name)


def _paths(server: ChatServer, paths: list[str]) -> list[Path]:
    """Paths or URIs; relative ones start in the first workspace folder."""
    found = []
    for given in paths:
        path = path_of(given) if given.startswith("file:") else Path(given).expanduser()
        if path is None or (not path.is_absolute() and not server.roots):
            raise RpcError(INVALID_PARAMS, f"paths: {given!r} is no path")
        found.append(path if path.is_absolute() else server.roots[0] / path)
    return found


def _shown(context: Context) -> dict[str, Any]:
    return {
        "name": context.name,
        "description": context.description,
        "mode": context.mode,
        "watch": context.watch,
        "paths": list(context.source_paths),
        "files": len(context.files),
        "bytes": context.size,
        "skipped": list(context.skipped),
        "updated": context.updated_at.isoformat(),
        "warnings": context_warnings(context),
    }


def _size(context: Context) -> str:
    count = len(context.files)
    return f"{count} {'file' if count == 1 else 'files'}, {context.size:,} bytes"


def _told(context: Context, verb: str) -> CommandResult:
    lines = [f"Context **{context.name}** {verb}: {_size(context)}, {context.mode}."]
    lines += [f"- {warning}" for warning in context_warnings(context)]
    lines += [f"- left out: {reason}" for reason in context.skipped[:10]]
    return CommandResult(markdown="\n".join(lines), data=_shown(context))


@command("chatls.context.create", args.ContextArgs)
async def context_create(server: ChatServer, a: args.ContextArgs) -> CommandResult:
    """Gather files under a name."""
    contexts = (await server.agent()).services.curation.contexts
    name, paths = _name(a), _paths(server, a.paths or [])
    made = await _contexts(lambda: contexts.create(name, paths, mode=a.mode or "full", watch=bool(a.watch)))
    return _told(made, "created")


@command("chatls.context.update", args.ContextArgs)
async def context_update(server: ChatServer, a: args.ContextArgs) -> CommandResult:
    """Gather a context anew; conversations take it in at their next rebuild."""
    contexts = (await server.agent()).services.curation.contexts
    name, paths = _name(a), _paths(server, a.paths) if a.paths else None
    return _told(await _contexts(lambda: contexts.update(name, paths, mode=a.mode, watch=a.watch)), "updated")


@command("chatls.context.list", Nothing)
async def context_list(server: ChatServer, _: Nothing) -> CommandResult:
    """All contexts."""
    contexts = (await server.agent()).services.curation.contexts
    found = await _contexts(contexts.all)
    lines = [f"- **{c.name}** ({c.mode}): {_size(c)}" for c in found]
    text = "\n".join(lines) if lines else "There is no context yet."
    return CommandResult(markdown=text, data={"contexts": [_shown(c) for c in found]})


@command("chatls.context.delete", args.ContextArgs)
async def context_delete(server: ChatServer, a: args.ContextArgs) -> CommandResult:
    """Delete a context; its files stay where they are."""
    contexts = (await server.agent()).services.curation.contexts
    name = _name(a)
    gone = await _contexts(lambda: contexts.delete(name))
    return CommandResult(markdown=f"Context **{gone.name}** was deleted.", data={"name": gone.name})


async def _session(server: ChatServer, session_id: str | None) -> tuple[Agent, LiveSession]:
    agent = await server.agent()
    return agent, await meant(agent, session_id)


@command("chatls.context.attach", args.ContextArgs)
async def context_attach(server: ChatServer, a: args.ContextArgs) -> CommandResult:
    """Attach a context to a conversation from its next turn on, or fold an attached one; answers with what that costs
    per turn."""
    agent, live = await _session(server, a.session_id)
    name = _name(a)
    if a.fold and not agent.services.settings.prompt.knowledge:
        why = "nothing could read it then: chatls.prompt.knowledge is off"
        raise RpcError(INVALID_PARAMS, f"fold: {name!r} cannot be folded, {why}")
    context = await _contexts(lambda: agent.services.curation.contexts.get(name))
    before = {each.name: each.priority for each in attachments(live.conversation)}
    priority = before.get(context.name, DEFAULT_PRIORITY)
    attach(live.conversation, context.name, priority, fold=bool(a.fold))
    await agent.keep(live)
    if context.mode != "full" or a.fold:
        agent.read_ahead(context)
    costs = await _costs(agent, live)
    mine = next(cost for cost in costs if cost.name == context.name)
    lines = [f"Attached **{mine.name}**. {_price(mine)}", *(f"- {warning}" for warning in mine.warnings)]
    return CommandResult(markdown="\n".join(lines), data=to_json(mine))


@command("chatls.context.detach", args.ContextArgs)
async def context_detach(server: ChatServer, a: args.ContextArgs) -> CommandResult:
    """Detach a context from a conversation from its next turn on."""
    agent, live = await _session(server, a.session_id)
    name = _name(a)
    if not detach(live.conversation, name):
        raise RpcError(INVALID_PARAMS, f"name: {name!r} is not attached")
    await agent.keep(live)
    left = [attachment.name for attachment in attachments(live.conversation)]
    rest = f"Still attached: {', '.join(left)}." if left else "Nothing is attached now."
    return CommandResult(markdown=f"Detached **{name}**. {rest}", data={"attached": left})


@command("chatls.context.attached", args.ContextStatusArgs)
async def context_attached(server: ChatServer, a: args.ContextStatusArgs) -> CommandResult:
    """What is attached to a conversation, with its tokens, estimated and counted, and its cost per turn."""
    agent, live = await _session(server, a.session_id)
    costs = await _costs(agent, live)
    if a.count and costs:
        costs = await counted(agent.services, live.conversation, agent.model_of(live), costs)
    lines = [f"- **{cost.name}** {_price(cost)}" for cost in costs]
    total = sum(cost.tokens for cost in costs)
    text = "\n".join([*lines, f"In all ≈{total:,} tokens per turn."]) if lines else "Nothing is attached."
    return CommandResult(markdown=text, data={"attached": to_json(costs), "tokens": total})


async def _costs(agent: Agent, live: LiveSession) -> tuple[AttachedCost, ...]:
    try:
        model = agent.model_of(live)
    except ModelError as error:
        raise RpcError(INVALID_REQUEST, f"{error} {error.hint}".strip()) from error
    return await _contexts(lambda: attached_costs(agent.services, live.conversation, model))


def _price(cost: AttachedCost) -> str:
    exact = "" if cost.counted is None else f", {cost.counted:,} as the provider counts them"
    size = f"≈{cost.tokens:,} tokens per turn{exact}"
    rest = f"; folded, {_why(cost)}: {_reached(cost)}" if cost.folded else ""
    if cost.told_tokens:
        rest += f"; ≈{cost.told_tokens:,} tokens of its passages stand in the history"
    if cost.cold_usd is None or cost.cached_usd is None:
        return f"{size}; the price is unknown{rest}."
    return f"{size}; ${cost.cold_usd:.4f} cold, ${cost.cached_usd:.4f} cached{rest}."


def _why(cost: AttachedCost) -> str:
    if cost.small:
        return "as this model's window is too small for it"
    return "as you wish" if cost.fold else "as it is too large to stand in the prompt whole"


def _reached(cost: AttachedCost) -> str:
    ways = ["the model reads it by its tool"] if cost.readable else []
    ways += ["passages ride with the questions they answer"] if cost.rides else []
    return " and ".join(ways) if ways else "the model sees nothing more of it"


@command("chatls.context.status", args.ContextStatusArgs)
async def context_status(server: ChatServer, a: args.ContextStatusArgs) -> CommandResult:
    """How full the window is and with what: sections, history, what is folded, the learned size of a token."""
    agent, live = await _session(server, a.session_id)
    try:
        model = agent.model_of(live)
    except ModelError as error:
        raise RpcError(INVALID_REQUEST, f"{error} {error.hint}".strip()) from error
    found = await standing(agent.services, live.conversation, model)
    last = live.conversation.system_key.partition(":")[0]
    mode: Mode = next((each for each in MODES if each == last), "chat")
    shown = await agent.preview(ChatRequest("", live.conversation.id, mode=mode), server.host, count=a.count)
    tools = sum(section.tokens for section in shown.sections if section.name == "tools")
    found = replace(found, tool_tokens=tools, counted=shown.counted, not_counted=shown.not_counted)
    return CommandResult(markdown=found.markdown, data=to_json(found))
