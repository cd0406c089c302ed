"""Work-done progress: whatever takes longer than a second says so (PROTOCOL.md, last table)."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from chatls_server.lsp.errors import ClientError

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

logger = logging.getLogger(__name__)

_CREATE_SECONDS = 5.0


class WorkDone:
    """Progress bars of one client."""

    def __init__(self, server: ChatServer) -> None:
        self._server = server
        self._cancels: dict[int | str, Callable[[], object]] = {}
        self._numbers = itertools.count(1)

    @contextlib.asynccontextmanager
    async def progress(
        self, token: int | str | None, title: str, cancel: Callable[[], object] | None = None
    ) -> AsyncIterator[Callable[[str], None]]:
        """Show progress while the block runs; the value is a function that changes its message.

        ``token`` is the request's ``workDoneToken``; without one the server asks the client for a progress bar of its
        own, where the client has them, and only once the block has run for a second. ``cancel`` is called when the
        user presses the bar's button.
        """
        bar = _Bar(self._server, title, cancellable=cancel is not None)
        creation: asyncio.Task[Any] | None = None
        if token is not None:
            bar.begin(token)
        elif self._server.features.work_done_progress:
            token = f"chatls/progress/{next(self._numbers)}"
            creation = self._server.protocol.in_background(self._create(token, bar), "work-done progress")
        if token is not None and cancel is not None:
            self._cancels[token] = cancel
        try:
            yield bar.report
        finally:
            if creation is not None:
                creation.cancel()
            if token is not None:
                self._cancels.pop(token, None)
            bar.end()

    def cancelled(self, params: Any) -> None:
        """``window/workDoneProgress/cancel``."""
        token = params.get("token") if isinstance(params, dict) else None
        cancel = self._cancels.get(token) if isinstance(token, int | str) else None
        if cancel is not None:
            cancel()

    async def _create(self, token: int | str, bar: _Bar) -> None:
        await asyncio.sleep(1.0)
        try:
            await self._server.ask_client(
                types.WINDOW_WORK_DONE_PROGRESS_CREATE, {"token": token}, timeout_seconds=_CREATE_SECONDS
            )
        except (ClientError, TimeoutError) as error:
            logger.info("The editor shows no progress: %s", error)
            return
        bar.begin(token)


class _Bar:
    def __init__(self, server: ChatServer, title: str, *, cancellable: bool) -> None:
        self._server = server
        self._title = title
        self._cancellable = cancellable
        self._token: int | str | None = None
        self._message = ""

    def begin(self, token: int | str) -> None:
        self._token = token
        value: dict[str, object] = {"kind": "begin", "title": self._title, "cancellable": self._cancellable}
        if self._message:
            value["message"] = self._message
        self._server.progress(token, value)

    def report(self, message: str) -> None:
        self._message = message
        if self._token is not None:
            self._server.progress(self._token, {"kind": "report", "message": message})

    def end(self) -> None:
        if self._token is not None:
            self._server.progress(self._token, {"kind": "end"})
            self._token = None
