"""The memory commands of the palette (PROTOCOL.md "Commands"); every one runs off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from chatls_core.memory import Memory, Source, TransferError
from chatls_core.memory.refusals import told
from chatls_core.prompt.turn_context import is_told, tell_later
from chatls_core.store import StoreReadOnlyError
from chatls_core.text.amounts import amount
from chatls_core.text.asked_dates import end_of, start_of
from chatls_core.text.literal import literal
from chatls_server.lsp.errors import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from chatls_server.lsp.protocol import commands as args
from chatls_server.lsp.protocol.base import Nothing
from chatls_server.lsp.protocol.commands import CommandResult
from chatls_server.lsp.registry import command
from chatls_server.lsp.results import result, to_json

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

T = TypeVar("T")
USER = Source("user")


async def ask(server: ChatServer, work: Callable[[Memory], T]) -> T:
    """Run ``work`` on the memory in a thread; its failures become one sentence for the user."""
    memory = (await server.agent()).services.memory
    try:
        return await asyncio.to_thread(work, memory)
    except KeyError as error:
        gone = "It may have been changed or forgotten elsewhere."
        raise RpcError(INVALID_PARAMS, f"Nothing is remembered under the id {error.args[0]}. {gone}") from error
    except ValueError as error:
        raise RpcError(INVALID_PARAMS, str(error)) from error
    except TransferError as error:
        raise RpcError(INVALID_PARAMS, str(error)) from error
    except (StoreReadOnlyError, OSError) as error:
        raise refused(error) from error


def refused(error: StoreReadOnlyError | OSError) -> RpcError:
    """A write that did not happen, in words for the user."""
    return RpcError(INTERNAL_ERROR, told(error))


async def answer(server: ChatServer, work: Callable[[Memory], Any]) -> CommandResult:
    """What ``work`` gives, as a command's result."""
    return await warned(server, result(await ask(server, work)))


async def warned(server: ChatServer, found: CommandResult) -> CommandResult:
    """A result that says which file cannot be opened, lest what it holds be taken for forgotten."""
    problems = (await server.agent()).services.memory.stores.unopened
    if not problems or problems[0] in found.markdown:
        return found
    rest = amount(len(problems) - 1, "more file", "more files")
    more = f" The same goes for {rest}; Memory Statistics names them." if problems[1:] else ""
    return CommandResult(markdown=f"{found.markdown}\n\n> ⚠ {problems[0]}{more}", data=found.data)


def date(text: str | None, name: str) -> datetime | None:
    """A date of the wire. Raises −32602 naming the field."""
    return _date(text, name, start_of)


def until(text: str | None, name: str) -> datetime | None:
    """A date of the wire that counts whole. Raises −32602 naming the field."""
    return _date(text, name, end_of)


def _date(text: str | None, name: str, read: Callable[[str], datetime]) -> datetime | None:
    if not text:
        return None
    try:
        return read(text)
    except ValueError as error:
        raise RpcError(INVALID_PARAMS, f"{name}: {text!r} is no date such as 2026-03-31 or yesterday") from error


def project(server: ChatServer) -> Path | None:
    """The first opened folder: what "this project" means."""
    return server.roots[0] if server.roots else None


@command("chatls.memory.remember", args.RememberArgs)
async def remember(server: ChatServer, a: args.RememberArgs) -> CommandResult:
    """Keep one fact."""
    if not a.content.strip():
        raise RpcError(INVALID_PARAMS, "content: give a sentence to remember, such as We deploy on Thursdays")
    scope = a.scope or str(project(server) or "")
    done = await ask(server, lambda m: m.remember(a.content, a.category or "", scope=scope, source=USER))
    data = to_json(done)
    if not done.superseded:
        data.pop("superseded", None)
    return result(done, data)


@command("chatls.memory.recall", args.RecallArgs)
async def recall(server: ChatServer, a: args.RecallArgs) -> CommandResult:
    """What is known about something, with reasons and sources."""
    as_of, where = until(a.as_of, "asOf"), project(server)
    if a.typing:
        return await answer(server, lambda m: m.find(a.query, limit=a.limit or 10, project=where))
    await (await server.agent()).services.meaning.prepare(a.query, guess=False)
    found = await ask(server, lambda m: m.recall(a.query, as_of=as_of, limit=a.limit or 10, project=where))
    if as_of is not None:  # what rides along is what holds now
        return await warned(server, CommandResult(markdown=found.markdown, data={**to_json(found), "autoRecall": []}))
    unasked = await ask(server, lambda m: m.auto_recall(a.query, project=where))
    rides = "\n".join(f"- {literal(i.text)}" for i in unasked.items)
    text = f"{found.markdown}\n\n### Rides along with such a message unasked\n\n{rides}" if rides else found.markdown
    data = {**to_json(found), "autoRecall": list(unasked.ids)}
    return await warned(server, CommandResult(markdown=text, data=data))


@command("chatls.memory.forget", args.ForgetArgs)
async def forget(server: ChatServer, a: args.ForgetArgs) -> CommandResult:
    """Forget by text or ids, or show what would go."""
    if not (a.match or "").strip() and not a.ids:
        raise RpcError(INVALID_PARAMS, "match: give a text, or ids, of what to forget")
    return await answer(server, lambda m: m.forget(a.match or "", a.ids or (), dry_run=a.dry_run))


@command("chatls.memory.undo", args.UndoTokenArgs)
async def undo(server: ChatServer, a: args.UndoTokenArgs) -> CommandResult:
    """Take back what returned the token."""
    if not a.undo_token.strip():
        raise RpcError(INVALID_PARAMS, "undoToken: give the token that was shown with what is to be undone")
    return await answer(server, lambda m: m.undo(a.undo_token))


@command("chatls.memory.profile", args.ProfileArgs)
async def profile(server: ChatServer, a: args.ProfileArgs) -> CommandResult:
    """Show the profile, or set fields of it."""
    view = await ask(server, lambda m: m.profile(a.set, source=USER))
    return await warned(server, result(view, {**{f.key: f.value for f in view.fields}, **to_json(view)}))


@command("chatls.memory.facts", args.FactsArgs)
async def facts(server: ChatServer, a: args.FactsArgs) -> CommandResult:
    """List facts, best first."""
    return await answer(server, lambda m: m.facts(a.category or "", limit=a.limit or 50, offset=a.offset))


@command("chatls.memory.edit", args.MemoryEditArgs)
async def edit(server: ChatServer, a: args.MemoryEditArgs) -> CommandResult:
    """Change an item's text or category, or one field of it."""
    return await answer(server, lambda m: m.edit(a.id, a.content, a.category or "", field=a.field or "", source=USER))


@command("chatls.memory.pin", args.MemoryPinArgs)
async def pin(server: ChatServer, a: args.MemoryPinArgs) -> CommandResult:
    """Pin or unpin an item."""
    return await answer(server, lambda m: m.pin(a.id, a.pinned))


@command("chatls.memory.sensitive", args.MemorySensitiveArgs)
async def sensitive(server: ChatServer, a: args.MemorySensitiveArgs) -> CommandResult:
    """Mark an item as sensitive."""
    return await answer(server, lambda m: m.sensitive(a.id, a.sensitive))


@command("chatls.memory.why", args.FactIdArgs)
async def why(server: ChatServer, a: args.FactIdArgs) -> CommandResult:
    """Where an item came from."""
    return await answer(server, lambda m: m.about(a.id))


@command("chatls.memory.timeline", args.TimelineArgs)
async def timeline(server: ChatServer, a: args.TimelineArgs) -> CommandResult:
    """Episodes in a window of time."""
    as_of = until(a.as_of, "asOf")
    return await answer(
        server,
        lambda m: m.timeline(
            a.query or "",
            start=a.from_ or "",
            end=a.to or "",
            project=a.project or "",
            limit=a.limit or 50,
            as_of=as_of,
        ),
    )


@command("chatls.memory.topics", Nothing)
async def topics(server: ChatServer, _: Nothing) -> CommandResult:
    """Topics, most alive first."""
    return await answer(server, lambda m: m.topics())


@command("chatls.memory.projects", Nothing)
async def projects(server: ChatServer, _: Nothing) -> CommandResult:
    """Projects, most recently active first."""
    return await answer(server, lambda m: m.projects())


@command("chatls.memory.stats", Nothing)
async def stats(server: ChatServer, _: Nothing) -> CommandResult:
    """Sizes and habits."""
    return await answer(server, lambda m: m.stats())


@command("chatls.memory.longterm", Nothing)
async def longterm(server: ChatServer, _: Nothing) -> CommandResult:
    """Long-term memory as Markdown."""
    return await answer(server, lambda m: m.longterm())


@command("chatls.memory.list", Nothing)
async def list_files(server: ChatServer, _: Nothing) -> CommandResult:
    """The files of memory."""
    return await answer(server, lambda m: m.list())


@command("chatls.memory.map", Nothing)
async def memory_map(server: ChatServer, _: Nothing) -> CommandResult:
    """The memory index."""
    return await answer(server, lambda m: m.map())


@command("chatls.memory.daily", args.DailyArgs)
async def daily(server: ChatServer, a: args.DailyArgs) -> CommandResult:
    """The notes of a day."""
    return await answer(server, lambda m: m.daily(a.date or ""))


@command("chatls.memory.digests", args.DigestsArgs)
async def digests(server: ChatServer, a: args.DigestsArgs) -> CommandResult:
    """What was done in past weeks and months."""
    return await answer(server, lambda m: m.digests(a.name or ""))


@command("chatls.memory.load", args.MemoryLoadArgs)
async def load(server: ChatServer, a: args.MemoryLoadArgs) -> CommandResult:
    """Bring long-term memory and a day's note into a conversation; its next request carries them."""
    view = await ask(server, lambda m: m.load(a.date))
    agent = await server.agent()
    live = await agent.session(a.session_id)
    if is_told(live.conversation, view.text):
        return CommandResult(markdown="The conversation knows all of this already.", data=to_json(view))
    tell_later(live.conversation, view.text)
    await agent.keep(live)
    return result(view)


@command("chatls.memory.neighbors", args.NeighborsArgs)
async def neighbors(server: ChatServer, a: args.NeighborsArgs) -> CommandResult:
    """What is linked to a subject."""
    if not a.query.strip():
        raise RpcError(INVALID_PARAMS, "query: name a subject, such as a project, a topic or a fact's words")
    return await answer(server, lambda m: m.neighbors(a.query))


@command("chatls.memory.graph", args.GraphArgs)
async def graph(server: ChatServer, a: args.GraphArgs) -> CommandResult:
    """The knowledge graph with a picture."""
    return await answer(server, lambda m: m.graph(a.subject or ""))


@command("chatls.memory.compact", Nothing)
async def compact(server: ChatServer, _: Nothing) -> CommandResult:
    """Merge what says the same, archive what has faded, remove old notes, sum up weeks and months: all of it now."""
    try:
        return result(await (await server.agent()).learning.tidy())
    except (StoreReadOnlyError, OSError) as error:
        raise refused(error) from error


@command("chatls.memory.export", args.OptionalPathArgs)
async def export(server: ChatServer, a: args.OptionalPathArgs) -> CommandResult:
    """Write all memory to a JSONL file."""
    name = f"memory-{datetime.now():%Y%m%d-%H%M%S}.jsonl"
    path = _named(server, a.path) if (a.path or "").strip() else server.home / "exports" / name
    return await answer(server, lambda m: m.export(path))


@command("chatls.memory.import", args.PathArgs)
async def import_(server: ChatServer, a: args.PathArgs) -> CommandResult:
    """Merge a JSONL file into memory."""
    if not a.path.strip():
        raise RpcError(INVALID_PARAMS, "path: name the file to import")
    path = _named(server, a.path)
    return await answer(server, lambda m: m.import_(path))


def _named(server: ChatServer, name: str | None) -> Path:
    """The file a user means: a relative one is in the first opened folder."""
    return (project(server) or Path.home()) / Path((name or "").strip()).expanduser()
