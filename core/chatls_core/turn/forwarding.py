"""The external memory service's place among the turns: it gets what was said, now or when it is there again."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from chatls_core.store import StoreReadOnlyError

if TYPE_CHECKING:
    from chatls_core.sessions import Conversation
    from chatls_core.turn.services import Services

log = logging.getLogger(__name__)

TICK = 60.0
"""Seconds between tries while something waits."""

CLOSING = 0.3
"""Seconds a message that is on its way has at the end; one that is cut off is sent again under the same name."""


class Forwarding:
    """Sends in the background. Runs on the event loop."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def start(self) -> None:
        """Send what an earlier process left. Later calls, and calls without a service, do nothing."""
        if self._task is None and not self._closed and self._services.external.provider is not None:
            self._wake.set()
            self._task = asyncio.create_task(self._run(), name="memory service")

    async def said(self, conversation: Conversation, turn_id: str) -> None:
        """Queue what a turn added, on the disk, and have it sent; never raises, never waits for the service."""
        external = self._services.external
        if external.provider is None:
            return
        messages = tuple(conversation.messages)
        origin = str(conversation.state.get("forkedFrom", ""))
        try:
            await asyncio.to_thread(external.take_in, conversation.id, messages, turn_id=turn_id, origin=origin)
        except (OSError, StoreReadOnlyError) as error:
            # The next turn offers the same messages again.
            log.error("What was said in %s could not be queued for the memory service: %s", conversation.id, error)
            return
        self.start()
        self._wake.set()

    async def _run(self) -> None:
        waiting = 0
        while not self._closed:
            try:
                await asyncio.wait_for(self._wake.wait(), TICK if waiting else None)
            except TimeoutError:
                pass
            self._wake.clear()
            if self._closed:
                return
            await self._services.mcp.ready()
            waiting = await self._services.external.send()

    async def close(self) -> None:
        """Stop; what the service does not have yet is on the disk already."""
        self._closed = True
        self._wake.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=CLOSING)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
