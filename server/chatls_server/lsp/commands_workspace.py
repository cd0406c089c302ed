"""Commands about the workspace and the product: instructions, prompt, providers, cost, policy, undo, doctor."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from chatls_core.config import setting_fields
from chatls_core.llm.events import ModelError
from chatls_core.tools.paths import path_of
from chatls_core.turn.doctor import diagnose
from chatls_server import __version__
from chatls_server.lsp.chat import core_request
from chatls_server.lsp.commands_session import existing
from chatls_server.lsp.errors import INVALID_PARAMS, RpcError
from chatls_server.lsp.protocol import chat as wire
from chatls_server.lsp.protocol import commands as args
from chatls_server.lsp.protocol.base import Nothing
from chatls_server.lsp.protocol.commands import CommandResult
from chatls_server.lsp.registry import command
from chatls_server.lsp.results import model_facts, to_json
from chatls_server.lsp.watching import announce

if TYPE_CHECKING:
    from chatls_core.turn.preview import PromptPreview
    from chatls_server.lsp.server import ChatServer


@command("chatls.instructions.show", args.OptionalUriArgs)
async def instructions_show(server: ChatServer, a: args.OptionalUriArgs) -> CommandResult:
    """Which files, imports and rules apply to a document, in order."""
    instructions = (await server.agent()).services.instructions
    path = path_of(a.uri) if a.uri else None
    announce(server, await asyncio.to_thread(instructions.refresh))
    report = await asyncio.to_thread(instructions.show, path)
    server.eyes.watch.follow_soon()
    return CommandResult(markdown=report.markdown, data=report.data())


@command("chatls.instructions.reload", Nothing)
async def instructions_reload(server: ChatServer, _: Nothing) -> CommandResult:
    """Read every instruction file again."""
    instructions = (await server.agent()).services.instructions
    changes = await asyncio.to_thread(instructions.refresh)
    announce(server, changes)
    paths = [*changes.added, *changes.changed, *changes.removed]
    text = "\n".join(f"- {path}" for path in paths) or "Nothing changed."
    return CommandResult(
        markdown=text,
        data={"changed": [p.as_uri() for p in paths], "files": changes.files, "rules": changes.rules},
    )


@command("chatls.prompt.show", args.PromptShowArgs)
async def prompt_show(server: ChatServer, a: args.PromptShowArgs) -> CommandResult:
    """The exact prompt of the next request; nothing is sent and nothing changes."""
    agent = await server.agent()
    params = wire.ChatParams(text=a.text or "", session_id=a.session_id, mode=a.mode, active_document=a.active_document)
    preview = await agent.preview(await core_request(server, params), server.host, count=a.count)
    total = f"≈{preview.tokens:,} tokens"
    if preview.counted is not None:
        total += f"; {preview.counted:,} as {preview.provider} counts them"
    elif preview.not_counted:
        total += f" (estimated: {preview.not_counted})"
    return await asyncio.to_thread(_shown_prompt, preview, total)


def _shown_prompt(preview: PromptPreview, total: str) -> CommandResult:
    """The whole prompt as text and as JSON."""
    parts = [total]
    parts += [f"### {s.name} ({s.tokens} tokens{', cached' if s.cached else ''})\n\n{s.text}" for s in preview.sections]
    parts += [f"### {m.role}\n\n{m.text}" for m in preview.messages]
    return CommandResult(markdown="\n\n---\n\n".join(parts), data=to_json(preview))


@command("chatls.provider.list", Nothing)
async def provider_list(server: ChatServer, _: Nothing) -> CommandResult:
    """Who could answer, with which models, and why others cannot."""
    models = (await server.agent()).services.models
    await models.refresh()
    await models.refresh_listings()
    providers = models.list()
    lines = [
        f"- {'✓' if p.available else '✗'} **{p.title}** (`{p.name}`) {p.model} — {p.reason}"
        + (f" — {model_facts(p.models[0].info)}" if p.available and p.models else "")
        for p in providers
    ]
    return CommandResult(markdown="\n".join(lines), data={"providers": to_json(providers)})


@command("chatls.provider.switch", args.ProviderSwitchArgs)
async def provider_switch(server: ChatServer, a: args.ProviderSwitchArgs) -> CommandResult:
    """Choose who answers, for one session or from now on."""
    agent = await server.agent()
    try:
        model = agent.services.models.select(a.provider, a.model or "")
    except ModelError as error:
        raise RpcError(INVALID_PARAMS, f"provider: {error} {error.hint}") from error
    choice = {"provider": model.provider, "model": a.model or model.model}
    if a.session_id:
        live = await agent.session(a.session_id)
        live.conversation.state.update(choice)
        await agent.keep(live)
    else:
        agent.prefer(model.provider, a.model or "")
    await server.run_hooks("on_model")
    facts = model_facts(model.info)
    return CommandResult(markdown=f"**{model.provider}** answers with {model.model} ({facts}).", data=choice)


@command("chatls.cost.show", args.SessionScopeArgs)
async def cost_show(server: ChatServer, a: args.SessionScopeArgs) -> CommandResult:
    """Tokens and money of a session, or of the day; budgets, and the cache's lifetime beside it."""
    agent = await server.agent()
    found = await agent.costs((await existing(agent, a.session_id)).conversation.id if a.session_id else None)
    return CommandResult(markdown=found.markdown, data=to_json(found))


@command("chatls.config.show", Nothing)
async def config_show(server: ChatServer, _: Nothing) -> CommandResult:
    """Every setting with its value and its environment variable."""
    rows: list[dict[str, Any]] = []
    for item in setting_fields():
        value: Any = server.settings
        for part in item.path:
            value = getattr(value, part)
        default = item.field.get_default(call_default_factory=True)
        rows.append(
            {"name": f"chatls.{item.name}", "value": _plain(value), "env": list(item.env), "changed": value != default}
        )
    lines = ["| setting | value | environment |", "| --- | --- | --- |"]
    lines += [f"| {r['name']}{' *' if r['changed'] else ''} | `{r['value']}` | {', '.join(r['env'])} |" for r in rows]
    return CommandResult(markdown="\n".join(lines), data={"settings": rows})


def _plain(value: object) -> Any:
    if isinstance(value, dict):
        return {k: v.model_dump(by_alias=True) if hasattr(v, "model_dump") else v for k, v in value.items()}
    return value


@command("chatls.policy.show", Nothing)
async def policy_show(server: ChatServer, _: Nothing) -> CommandResult:
    """The user's rules for tools."""
    policy = (await server.agent()).services.policy
    return _rules(await asyncio.to_thread(policy.rules))


@command("chatls.policy.set", args.PolicySetArgs)
async def policy_set(server: ChatServer, a: args.PolicySetArgs) -> CommandResult:
    """Add, change or remove a rule."""
    policy = (await server.agent()).services.policy
    try:
        return _rules(await asyncio.to_thread(policy.set_rule, a.pattern, a.action))
    except ValueError as error:
        raise RpcError(INVALID_PARAMS, f"pattern: {error}") from error


def _rules(rules: list[Any]) -> CommandResult:
    lines = [f"- {rule.action} `{rule.pattern}`" for rule in rules]
    data = {"rules": [{"pattern": rule.pattern, "action": rule.action} for rule in rules]}
    return CommandResult(markdown="\n".join(lines) or "No rules of your own.", data=data)


@command("chatls.edits.undo", args.EditsUndoArgs)
async def edits_undo(server: ChatServer, a: args.EditsUndoArgs) -> CommandResult:
    """Put back what a turn, or one call of it, changed in files."""
    agent = await server.agent()
    done = await agent.undo_edits(server.host, [a.turn_id], call_id=a.call_id)
    if not done.files:
        return CommandResult(markdown="That turn changed no file.", data={"files": []})
    lines = [f"- {f.uri}: {'put back' if f.restored else f'left alone, {f.reason}'}" for f in done.files]
    return CommandResult(markdown="\n".join(lines), data=to_json(done))


@command("chatls.doctor.show", Nothing)
async def doctor_show(server: ChatServer, _: Nothing) -> CommandResult:
    """What is configured, what is wrong, how to mend it."""
    agent = await server.agent()
    report = await diagnose(
        server.home,
        agent.services.models,
        __version__,
        roots=server.roots,
        trusted=server.trusted,
        warnings=[str(w) for w in server.opened.warnings],
        servers=agent.services.mcp,
        provider=agent.services.external.provider,
        memory=await asyncio.to_thread(agent.services.memory.stores.faults),
    )
    return CommandResult(markdown=report.markdown, data={"healthy": report.healthy, **to_json(report)})
