"""The session commands: list, load, fork, rename, delete, search, rewind, replay (PROTOCOL.md "Commands")."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from chatls_core.llm.messages import ImagePart, Message, TextPart, ToolCallPart
from chatls_core.sessions import Conversation, SessionError
from chatls_core.text.amounts import amount
from chatls_core.text.days import local_day
from chatls_core.text.literal import literal
from chatls_core.turn.live import LiveSession
from chatls_core.turn.saving import save
from chatls_server.lsp.commands_memory import date, until
from chatls_server.lsp.errors import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RpcError
from chatls_server.lsp.protocol import commands as args
from chatls_server.lsp.protocol.commands import CommandResult
from chatls_server.lsp.registry import command
from chatls_server.lsp.results import to_json

if TYPE_CHECKING:
    from chatls_core.turn.agent import Agent
    from chatls_server.lsp.server import ChatServer

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Run store work in a thread; its failures become one sentence for the user."""
    try:
        return await asyncio.to_thread(work)
    except SessionError as error:
        raise RpcError(INVALID_PARAMS, str(error)) from error
    except OSError as error:
        raise RpcError(INTERNAL_ERROR, f"The session could not be read or written: {error}") from error


async def existing(agent: Agent, session_id: str | None, name: str | None = None) -> LiveSession:
    """The live session of an id or name that exists. Raises −32602 when there is none."""
    wanted = session_id or name or ""
    if agent.is_live(wanted) or await in_thread(lambda: agent.services.sessions.get(wanted)) is not None:
        return await agent.session(wanted)
    raise RpcError(INVALID_PARAMS, f"sessionId: there is no session {wanted!r}")


async def meant(agent: Agent, session_id: str | None) -> LiveSession:
    """The session a command is about, made where it is new. Raises −32602 when none is named."""
    if not session_id:
        raise RpcError(INVALID_PARAMS, "sessionId: which conversation?")
    return await agent.session(session_id)


async def _rename(agent: Agent, live: LiveSession, name: str) -> None:
    renamed = await in_thread(lambda: agent.services.sessions.rename(live.conversation.id, name))
    live.conversation.name, live.conversation.named = renamed.name, True


def summary(conversation: Conversation) -> dict[str, Any]:
    """A session as a list shows it."""
    return {
        "sessionId": conversation.id,
        "name": conversation.name,
        "title": conversation.title,
        "created": conversation.created.isoformat() if conversation.dated else None,
        "updated": conversation.updated.isoformat() if conversation.dated else None,
        "messages": len(conversation.messages),
    }


def messages_for_display(messages: list[Message]) -> list[dict[str, Any]]:
    """What a panel draws of a history: the user's and the model's words, calls by name; no context of ours."""
    shown: list[dict[str, Any]] = []
    for message in messages:
        if message.kind not in ("text", "summary"):
            continue
        shown.append(
            {
                "id": message.id,
                "turnId": message.turn_id,
                "role": message.role,
                "text": "".join(p.text for p in message.parts if isinstance(p, TextPart)),
                "time": message.time.isoformat() if message.time else None,
                "cut": message.cut,
                "images": sum(isinstance(p, ImagePart) for p in message.parts),
                "tools": [p.name for p in message.parts if isinstance(p, ToolCallPart)],
            }
        )
    return shown


@command("chatls.session.new", args.SessionNewArgs)
async def new(server: ChatServer, a: args.SessionNewArgs) -> CommandResult:
    """Begin a conversation."""
    agent = await server.agent()
    conversation = await in_thread(lambda: agent.services.sessions.create(name=a.name or ""))
    agent.adopt(conversation)
    return CommandResult(markdown=f"New session **{conversation.name}**.", data=summary(conversation))


@command("chatls.session.list", args.SessionListArgs)
async def list_sessions(server: ChatServer, a: args.SessionListArgs) -> CommandResult:
    """Saved conversations, the most recent first."""
    agent = await server.agent()
    page = await in_thread(lambda: agent.services.sessions.list(limit=a.limit or 50, offset=a.offset))
    sessions = [{**to_json(s), "sessionId": s.id} for s in page.sessions]
    lines = [
        f"- **{literal(s.title or s.name)}** — `{s.name}`, {amount(s.messages, 'message')}"
        + (f", {local_day(s.updated)}" if s.updated else "")
        for s in page.sessions
    ]
    text = "\n".join(lines) if lines else "No conversation is saved yet."
    if (rest := page.total - a.offset - len(page.sessions)) > 0:
        text += f"\n\n{amount(rest, 'older one')}; `/search` with some words finds any of them."
    return CommandResult(markdown=text, data={"sessions": sessions, "total": page.total})


@command("chatls.session.save", args.SessionNameArgs)
async def save_session(server: ChatServer, a: args.SessionNameArgs) -> CommandResult:
    """Save a conversation, under a name when one is given."""
    agent = await server.agent()
    live = await existing(agent, a.session_id)
    if not live.conversation.messages:
        raise RpcError(INVALID_PARAMS, "sessionId: the session holds no message yet, so there is nothing to save")
    await in_thread(lambda: agent.services.sessions.save(live.conversation, explicit=True))
    if a.name:
        await _rename(agent, live, a.name)
    return CommandResult(markdown=f"Saved as **{live.conversation.name}**.", data=summary(live.conversation))


@command("chatls.session.load", args.SessionLoadArgs)
async def load(server: ChatServer, a: args.SessionLoadArgs) -> CommandResult:
    """Open a saved conversation."""
    agent = await server.agent()
    live = await existing(agent, a.session_id, a.name)
    data = {**summary(live.conversation), "history": messages_for_display(live.conversation.messages)}
    words = "\n\n".join(f"**{m['role']}**: {m['text']}" for m in data["history"])
    return CommandResult(markdown=words or "The session is empty.", data=data)


@command("chatls.session.fork", args.SessionForkArgs)
async def fork(server: ChatServer, a: args.SessionForkArgs) -> CommandResult:
    """Copy a conversation under a new name."""
    agent = await server.agent()
    live = await existing(agent, a.session_id)
    await save(agent.services, live)
    copy = await in_thread(lambda: agent.services.sessions.fork(live.conversation.id, name=a.name or ""))
    agent.adopt(copy)
    return CommandResult(markdown=f"Forked as **{copy.name}**.", data=summary(copy))


@command("chatls.session.rename", args.SessionNameArgs)
async def rename(server: ChatServer, a: args.SessionNameArgs) -> CommandResult:
    """Give a conversation a name."""
    agent = await server.agent()
    if not a.name:
        raise RpcError(INVALID_PARAMS, "name: a session needs a name")
    live = await existing(agent, a.session_id)
    await in_thread(lambda: agent.services.sessions.save(live.conversation, explicit=True))
    await _rename(agent, live, a.name)
    return CommandResult(markdown=f"Renamed to **{live.conversation.name}**.", data=summary(live.conversation))


@command("chatls.session.delete", args.SessionArgs)
async def delete(server: ChatServer, a: args.SessionArgs) -> CommandResult:
    """Delete a conversation; it can be brought back."""
    agent = await server.agent()
    live = await existing(agent, a.session_id)
    if live.running is not None:
        raise RpcError(INVALID_REQUEST, "The session is answering; stop it first.")
    deleted = await in_thread(lambda: agent.services.sessions.delete(live.conversation.id))
    agent.release(live)
    text = f"Deleted **{live.conversation.name}**."
    return CommandResult(markdown=text, data={**to_json(deleted), "undoToken": deleted.token})


@command("chatls.session.undelete", args.UndoTokenArgs)
async def undelete(server: ChatServer, a: args.UndoTokenArgs) -> CommandResult:
    """Bring a deleted conversation back."""
    agent = await server.agent()
    back = await in_thread(lambda: agent.services.sessions.undelete(a.undo_token))
    return CommandResult(markdown=f"**{back.name}** is back.", data={**to_json(back), "sessionId": back.id})


@command("chatls.session.search", args.SessionSearchArgs)
async def search(server: ChatServer, a: args.SessionSearchArgs) -> CommandResult:
    """Find earlier conversations by what was said."""
    agent = await server.agent()
    as_of = until(a.as_of, "asOf")
    found = await in_thread(
        lambda: agent.services.sessions.search(
            a.query, date_from=date(a.from_, "from"), date_to=until(a.to, "to"), as_of=as_of, limit=a.limit or 10
        )
    )
    return CommandResult(markdown=found.markdown, data=to_json(found))


@command("chatls.session.rewind", args.SessionRewindArgs)
async def rewind(server: ChatServer, a: args.SessionRewindArgs) -> CommandResult:
    """List checkpoints, or go back to one; the files a later turn touched are put back as well."""
    agent = await server.agent()
    live = await existing(agent, a.session_id)
    checkpoints = agent.services.checkpoints
    if a.checkpoint_id is None:
        points = await in_thread(lambda: checkpoints.list(live.conversation))
        rows: list[dict[str, Any]] = [
            {"id": c.id, "time": c.time.isoformat(), "label": c.label, "messages": len(c.messages)} for c in points
        ]
        text = "\n".join(f"- {c.time.astimezone():%Y-%m-%d %H:%M} — {literal(c.label)}" for c in points)
        return CommandResult(markdown=text or "No checkpoints yet.", data={"checkpoints": rows})
    if live.running is not None:
        raise RpcError(INVALID_REQUEST, "The session is answering; stop it first.")
    checkpoint_id = a.checkpoint_id
    kept = {m.turn_id for m in live.conversation.messages}
    point = await in_thread(lambda: checkpoints.rewind(live.conversation, checkpoint_id))
    dropped = kept - {m.turn_id for m in live.conversation.messages}
    undone = await agent.undo_edits(server.host, [t for t in dropped if t])
    live.files.read.clear()
    await save(agent.services, live)
    data = {
        **summary(live.conversation),
        "checkpointId": point.id,
        "history": messages_for_display(live.conversation.messages),
        "files": to_json(undone.files) if undone else [],
        "undoToken": undone.undo_token if undone else None,
    }
    return CommandResult(markdown=f"Back at “{literal(point.label)}”.", data=data)


@command("chatls.session.events", args.SessionEventsArgs)
async def events(server: ChatServer, a: args.SessionEventsArgs) -> CommandResult:
    """What a reloaded window missed (PROTOCOL.md "Chat")."""
    agent = await server.agent()
    if not agent.is_live(a.session_id):
        known = await in_thread(lambda: agent.services.sessions.get(a.session_id))
        journalled = await in_thread(lambda: agent.services.journal.read(a.session_id))
        if known is not None or journalled:
            await agent.session(a.session_id)  # marks turns a dead server left open as interrupted
    found: list[dict[str, Any]] = await in_thread(
        lambda: agent.services.journal.read(a.session_id, turn_id=a.turn_id or "", after_seq=a.after_seq)
    )
    turn_id = a.turn_id or (str(found[-1].get("turnId", "")) if found else "")
    shown = [e for e in found if e.get("turnId") == turn_id]
    status = "running"
    if not shown:
        status = "unknown"
    for event in shown:
        if event.get("kind") == "ended":
            interrupted = (event.get("error") or {}).get("kind") == "interrupted"
            status = "interrupted" if interrupted else str(event.get("status"))
    text = "".join(str(e.get("delta", "")) for e in shown if e.get("kind") == "text")
    return CommandResult(
        markdown=text or "Nothing was missed.", data={"events": shown, "turnId": turn_id, "status": status}
    )
