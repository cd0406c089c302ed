"""What was learned and waits for the user's yes (PROTOCOL.md "Commands")."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from chatls_core.store import StoreReadOnlyError
from chatls_server.lsp.commands_memory import refused
from chatls_server.lsp.errors import INVALID_PARAMS, RpcError
from chatls_server.lsp.protocol import commands as args
from chatls_server.lsp.protocol.base import Nothing
from chatls_server.lsp.protocol.commands import CommandResult
from chatls_server.lsp.registry import command
from chatls_server.lsp.results import result

if TYPE_CHECKING:
    from chatls_core.memory.worker import Learner
    from chatls_server.lsp.server import ChatServer

T = TypeVar("T")


async def ask(server: ChatServer, work: Callable[[Learner], T]) -> T:
    """Run ``work`` on the worker in a thread; a disk that refuses becomes one sentence for the user."""
    worker = (await server.agent()).learning.worker
    try:
        return await asyncio.to_thread(work, worker)
    except (StoreReadOnlyError, OSError) as error:
        raise refused(error) from error


@command("chatls.memory.pending", Nothing)
async def pending(server: ChatServer, _: Nothing) -> CommandResult:
    """What waits for acceptance."""
    return result(await ask(server, lambda w: w.pending()))


@command("chatls.memory.accept", args.IdsArgs)
async def accept(server: ChatServer, a: args.IdsArgs) -> CommandResult:
    """Remember items that wait; the id ``all`` means every one."""
    return result(await ask(server, lambda w: w.accept(_meant(w, a.ids))))


@command("chatls.memory.reject", args.IdsArgs)
async def reject(server: ChatServer, a: args.IdsArgs) -> CommandResult:
    """Drop items that wait; the id ``all`` means every one."""
    return result(await ask(server, lambda w: w.reject(_meant(w, a.ids))))


def _meant(worker: Learner, ids: Sequence[str]) -> Sequence[str]:
    if not ids:
        raise RpcError(INVALID_PARAMS, "ids: name what is meant by the ids that /memory pending shows, or all")
    return [i.id for i in worker.pending().items] if list(ids) == ["all"] else ids
