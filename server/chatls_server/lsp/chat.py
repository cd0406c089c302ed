"""`chatls/chat`: one request is a view on a turn (PROTOCOL.md "Chat")."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatls_core.events import Ended, payload, usage_payload
from chatls_core.host import HostError, Range
from chatls_core.llm.events import Usage
from chatls_core.llm.messages import ImagePart
from chatls_core.prompt.allowed_tools import AllowedTools
from chatls_core.prompt.attachments import Mention
from chatls_core.prompt.skills_templates import NOT_RUN, expand, templates
from chatls_core.turn.exchange import ChatRequest, ChatResult, QueueFullError, TurnFailedError
from chatls_core.turn.live import Listener, NumberedEvent, Turn
from chatls_server.lsp import slash
from chatls_server.lsp.errors import CHAT_FAILED, QUEUE_FULL, SERVER_CANCELLED, RpcError
from chatls_server.lsp.protocol import chat as wire
from chatls_server.lsp.protocol.base import parse
from chatls_server.lsp.protocol.commands import ChatSendArgs, CommandResult
from chatls_server.lsp.registry import command, request

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer


_ABOUT_THE_SESSION = frozenset(
    f"chatls.{name}"
    for name in (
        *("cost.show", "prompt.show", "session.compact", "skill.list", "memory.load"),
        *("persona.list", "persona.attach", "persona.detach"),
        *("context.attach", "context.detach", "context.attached", "context.status"),
    )
)
"""Commands that mean the open conversation when they are typed into its chat box."""


@request("chatls/chat", wire.ChatParams)
async def chat(server: ChatServer, params: wire.ChatParams) -> dict[str, Any]:
    """The request of clients with a panel of their own."""
    return await answer(server, params)


async def answer(server: ChatServer, params: wire.ChatParams) -> dict[str, Any]:
    """Start, queue or steer a turn, stream its events, answer with its result."""
    asked = slash.parse(params.text, params.session_id or "")
    if asked is not None and asked.command:
        return await _run_command(server, params, asked)
    if asked is not None:
        params = params.model_copy(update={"text": asked.text, "mode": asked.mode})
    agent = await server.agent()
    params, asked_for = await _expanded(server, params, agent.services.home)
    core = replace(await core_request(server, params), **asked_for)
    try:
        turn = await agent.submit(core, server.host)
    except QueueFullError as error:
        raise RpcError(QUEUE_FULL, str(error)) from error
    steered = core.steer and turn.request is not core
    token = params.partial_result_token
    end_stream = turn.listen(_stream(server, turn, token)) if token is not None else None
    try:
        async with server.work_done(params.work_done_token, "ChatLS", turn.cancel):
            result = await asyncio.shield(turn.outcome)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if turn.outcome.cancelled() and (task is None or not task.cancelling()):
            raise RpcError(SERVER_CANCELLED, "The turn was stopped.") from None
        if not steered:
            turn.cancel()
            await asyncio.wait([turn.outcome], timeout=1)
        raise
    except TurnFailedError as error:
        hint = "Try again; if it happens again, the log has the details."
        raise RpcError(CHAT_FAILED, str(error), {"kind": "internal", "hint": hint}) from error
    finally:
        if end_stream is not None:
            end_stream()
    return result_payload(result)


@command("chatls.chat.send", ChatSendArgs)
async def send(server: ChatServer, args: ChatSendArgs) -> CommandResult:
    """Chat for clients without custom requests."""
    params = wire.ChatParams(
        text=args.text,
        mode=args.mode,
        session_id=args.session_id,
        mentions=args.mentions,
        active_document=args.active_document,
        model=args.model,
    )
    result = await answer(server, params)
    return CommandResult(markdown=str(result["text"]), data=result)


async def _expanded(server: ChatServer, params: wire.ChatParams, home: Path) -> tuple[wire.ChatParams, dict[str, Any]]:
    """A text that calls a template becomes the template's text, others stay; and what of the request the template sets:
    commands, effort, allowed tools."""
    word = slash.called(params.text)
    if word is None:
        return params, {}
    found = await asyncio.to_thread(templates, server.roots, home, Path.home())
    for template in found:
        if template.name == word[0]:
            expanded = expand(template, word[1])
            update: dict[str, Any] = {"text": expanded.text}
            if params.steer and expanded.commands:
                update["text"] += f"\n\n{NOT_RUN}"
            if template.mode and params.mode is None:
                update["mode"] = template.mode
            if template.hint.model and not params.model:
                update["model"] = template.hint.model
            asked_for: dict[str, Any] = {
                "commands": () if params.steer else expanded.commands,
                "effort": template.hint.effort,
            }
            if template.allowed_tools is not None:
                asked_for["allowed"] = AllowedTools(f"/{template.name}", template.allowed_tools)
            return params.model_copy(update=update), asked_for
    return params, {}


async def _run_command(server: ChatServer, params: wire.ChatParams, asked: slash.Slash) -> dict[str, Any]:
    """A command typed into the chat box: its Markdown is the answer; no model is asked, history is as it was."""
    agent = await server.agent()
    session = await agent.session(params.session_id)
    endpoint = server.registry.commands[asked.command]
    arguments = {**(asked.arguments or {})}
    if asked.command in _ABOUT_THE_SESSION:
        arguments["sessionId"] = session.conversation.id
    checked = parse(endpoint.model, arguments, asked.command) if endpoint.model is not None else arguments
    done = await endpoint.handler(server, checked)
    text = done.markdown if isinstance(done, CommandResult) else ""
    turn_id = agent.services.new_id()
    if params.partial_result_token is not None:
        event = {"turnId": turn_id, "seq": 1, "kind": "text", "delta": text}
        server.progress(params.partial_result_token, event)
    return result_payload(ChatResult(session.conversation.id, turn_id, text, "end", Usage()))


def _stream(server: ChatServer, turn: Turn, token: int | str) -> Listener:
    def tell(numbered: NumberedEvent) -> None:
        if not isinstance(numbered.event, Ended):
            server.progress(token, {"turnId": turn.id, "seq": numbered.seq, **payload(numbered.event)})

    return tell


def result_payload(result: ChatResult) -> dict[str, Any]:
    """The wire form of a turn's result."""
    return {
        "sessionId": result.session_id,
        "turnId": result.turn_id,
        "text": result.text,
        "stopReason": result.stop_reason,
        "usage": usage_payload(result.usage),
        "edits": [
            {"uri": e.uri, "applied": e.applied, "reason": e.reason}
            if e.reason
            else {"uri": e.uri, "applied": e.applied}
            for e in result.edits
        ],
    }


async def core_request(server: ChatServer, params: wire.ChatParams) -> ChatRequest:
    """The request as the core takes it: ranges in code-point columns of the buffer the user sees."""
    mentions = [Mention(m.uri, await _range(server, m.uri, m.range)) for m in params.mentions]
    active = params.active_document
    if active is not None and active.selection is not None and active.selection.start != active.selection.end:
        mentions.append(Mention(active.uri, await _range(server, active.uri, active.selection), selection=True))
    return ChatRequest(
        text=params.text,
        session_id=params.session_id,
        mode=params.mode or "chat",
        mentions=tuple(mentions),
        images=tuple(ImagePart(i.data, i.media_type) for i in params.images),
        active_uri=active.uri if active is not None else "",
        model=params.model or "",
        steer=params.steer,
    )


async def _range(server: ChatServer, uri: str, range_: wire.Range | None) -> Range | None:
    if range_ is None:
        return None
    try:
        document = await server.host.read(uri)
    except HostError:
        return None  # the turn itself reports that the document cannot be read
    return server.core_range(document.text, range_)
