"""The end of the process: hooks first, then every child, then us, within two seconds (DESIGN.md, "Lifetime")."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable

from chatls_server.lsp.children import kill_descendants

logger = logging.getLogger(__name__)

HOOK_SECONDS = 1.5
DEADLINE_SECONDS = 1.8


class Ending:
    """Ends the process once, whoever asks first: end of input, a dead editor, ``exit``, a signal.

    ``hooks`` run on the loop for at most 1.5 s; a thread of its own ends the process even when the loop is stuck.
    ``os._exit`` is used because interpreter shutdown would wait for busy threads.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        hooks: Callable[[], Awaitable[None]],
        flush: Callable[[float], object],
    ) -> None:
        self._loop = loop
        self._hooks = hooks
        self._flush = flush
        self._lock = threading.Lock()
        self._begun = False
        self._task: asyncio.Task[None] | None = None

    def begin(self, reason: str, code: int = 0) -> None:
        """Start ending; returns at once. Safe in every thread, later calls change nothing."""
        with self._lock:
            if self._begun:
                return
            self._begun = True
        logger.info("Ending: %s", reason)
        threading.Thread(target=self._deadline, args=(code,), name="chatls-deadline", daemon=True).start()
        try:
            self._loop.call_soon_threadsafe(self._start, code)
        except RuntimeError:
            self._die(code)

    def _start(self, code: int) -> None:
        self._task = self._loop.create_task(self._run(code))

    async def _run(self, code: int) -> None:
        try:
            await asyncio.wait_for(_awaited(self._hooks), HOOK_SECONDS)
        except TimeoutError:
            logger.warning("What was in flight did not finish within %s s", HOOK_SECONDS)
        except Exception:
            logger.exception("A hook failed at the end")
        self._die(code)

    def _deadline(self, code: int) -> None:
        time.sleep(DEADLINE_SECONDS)
        self._die(code)

    def _die(self, code: int) -> None:
        try:
            self._flush(0.1)
            kill_descendants()
        finally:
            os._exit(code)


async def _awaited(hooks: Callable[[], Awaitable[None]]) -> None:
    await hooks()
