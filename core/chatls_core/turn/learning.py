"""The worker's place among the turns: it gets what was said and is woken (spec/memory.md §10.1)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from chatls_core.llm.events import ModelError, Usage
from chatls_core.llm.messages import ToolResultPart
from chatls_core.memory.refusals import Complaints
from chatls_core.store import StoreReadOnlyError
from chatls_core.turn.spending import LEARNING

if TYPE_CHECKING:
    from chatls_core.llm.messages import Message
    from chatls_core.llm.model import Model
    from chatls_core.memory.worker import Housekept, Learner, LearnResult, ModelFactory
    from chatls_core.sessions import Conversation
    from chatls_core.turn.services import Services

log = logging.getLogger(__name__)

FIRST_TICK = 30.0
"""Seconds after the start before anything is asked in the background: the first turn has the machine to itself."""

TICK = 180.0
_OUTSIDE = ("mcp", "web", "fetch", "http", "browser")
"""Beginnings of the names of tools whose results come from outside."""

Waiting = Callable[[float], Awaitable[None]]


class BackgroundLearning:
    """Learning for one agent. Everything but the construction runs on the event loop.

    ``preferred`` is the user's choice of provider and model. ``on_result`` is told what each run did.
    """

    def __init__(
        self,
        services: Services,
        environment: Mapping[str, str],
        preferred: Callable[[], tuple[str, str]],
        *,
        wait: Waiting = asyncio.sleep,
    ) -> None:
        self._services = services
        self._environment = environment
        self._preferred = preferred
        self._wait = wait
        self._task: asyncio.Task[None] | None = None
        self._runs: set[asyncio.Task[None]] = set()
        self._worker: Learner | None = None
        self._making = threading.Lock()
        self._closed = False
        self.on_result: list[Callable[[LearnResult], None]] = []
        self.last_notice = ""
        self.failing = False
        self._queueing = Complaints(log, "What was said could not be queued for learning")
        self._learning = Complaints(log, "Learning failed, and what was said stays queued")
        self._house = Complaints(log, "Housekeeping failed and is tried again")

    @property
    def worker(self) -> Learner:
        """The worker, made at its first use, in whatever thread that is."""
        with self._making:
            if self._worker is None:
                from chatls_core.memory.worker import Learner

                self._worker = Learner(
                    self._services.memory,
                    self._services.home / "memory" / "pending",
                    clock=self._services.clock,
                    settings=lambda: self._services.settings.memory,
                    model=self._model,
                    fallbacks=self._fallbacks,
                )
            return self._worker

    def _model(self) -> Model:
        """The small model of ``CHATCLI_COMPACT_MODEL``, else the one the user talks to."""
        small = self._environment.get("CHATCLI_COMPACT_MODEL", "").strip()
        if small:
            try:
                return self._services.models.select("", small)
            except ModelError as error:
                log.warning("CHATCLI_COMPACT_MODEL cannot be used: %s", error)
        return self._services.models.select(*self._preferred())

    def _fallbacks(self) -> Sequence[ModelFactory]:
        """Providers of ``CHATCLI_MEMORY_FALLBACK_PROVIDERS``; the general ones are part of every model's chain."""
        named = self._environment.get("CHATCLI_MEMORY_FALLBACK_PROVIDERS", "").replace(";", ",").split(",")

        def chosen(name: str) -> ModelFactory:
            return lambda: self._services.models.select(name)

        return tuple(chosen(name.strip()) for name in named if name.strip())

    def start(self) -> None:
        """Begin to tick: drain what an earlier process left, learn, keep house. Later calls do nothing."""
        if self._task is None and not self._closed:
            self._task = asyncio.create_task(self._tick(), name="learning")

    async def said(self, conversation: Conversation, turn_id: str, workspace: str) -> None:
        """Queue what a turn added and wake the worker; never raises, never waits for a model."""
        self.start()
        try:
            await asyncio.to_thread(
                self._offer,
                conversation.id,
                tuple(conversation.messages),
                str(conversation.state.get("forkedFrom", "")),
                turn_id,
                workspace,
                self._is_external(conversation),
            )
        # The next turn offers the same messages again: nothing is lost, and the answer must not be held up.
        except (OSError, StoreReadOnlyError) as error:
            self.last_notice, self.failing = self._queueing.told(error), True
            return
        except Exception:
            log.exception("What was said in %s could not be queued for learning", conversation.id)
            return
        self._queueing.over()
        if not self._closed:
            run = asyncio.create_task(self._run(drain=False), name="learn")
            self._runs.add(run)
            run.add_done_callback(self._runs.discard)

    def _is_external(self, conversation: Conversation) -> bool:
        """Whether the conversation ever swallowed content from outside; it stays marked when that is compacted away."""
        external = bool(conversation.state.get("external")) or any(
            isinstance(p, ToolResultPart) and p.name.lower().startswith(_OUTSIDE)
            for m in conversation.messages
            for p in m.parts
        )
        if external:
            conversation.state["external"] = True
        return external

    def _offer(
        self, session: str, said: Sequence[Message], origin: str, turn_id: str, workspace: str, external: bool
    ) -> None:
        from chatls_core.memory.worker import Segment

        if not said:
            return
        if not self._services.settings.memory.enabled:
            self.worker.pass_over(session, said[-1].id)
            return
        fresh = self.worker.fresh(said, session, origin=origin, turn_id=turn_id)
        now = self._services.clock()
        segment = Segment.of(fresh, session=session, workspace=workspace, external=external, now=now)
        self.worker.offer(segment, last=said[-1].id)

    def status(self) -> dict[str, object]:
        """``{"extraction": {notice, failing}}`` for ``chatls/status``; empty while there is nothing to tell."""
        return {"extraction": {"notice": self.last_notice, "failing": self.failing}} if self.last_notice else {}

    async def _tick(self) -> None:
        await self._wait(FIRST_TICK)
        await self._run(drain=True)
        while True:
            await self._keep_house()
            await self._wait(TICK)
            await self._run(drain=False)

    async def _run(self, *, drain: bool) -> None:
        from chatls_core.turn.budget import day_is_spent

        if await day_is_spent(self._services):
            log.info("The day's budget is spent; what was said stays queued")
            return
        worker = self.worker
        before = worker.spent
        try:
            result = await worker.run_once(drain=drain)
        except (OSError, StoreReadOnlyError) as error:
            self.last_notice, self.failing = self._learning.told(error), True
            return
        except Exception:
            log.exception("Learning failed; what was said stays queued")
            return
        finally:
            await self._spent(worker.spent, before)
        self._learning.over()
        if result.error:
            log.info("Learning: %s", result.error)
        if result.notice:
            self.last_notice = result.notice
        if not result.skipped:
            self.failing = result.failing
            for listener in self.on_result:
                listener(result)

    async def _keep_house(self) -> None:
        try:
            done = await self._housekeep(now=False)
        except (OSError, StoreReadOnlyError) as error:
            self._house.told(error)
            return
        except Exception:
            log.exception("Housekeeping failed and is tried again")
            return
        self._house.over()
        if done:
            log.info("Housekeeping: %s", done)

    async def tidy(self) -> Housekept:
        """Keep house because the user asked, whatever is due: compaction, note clean-up, digests."""
        return await self._housekeep(now=True)

    async def _housekeep(self, *, now: bool) -> Housekept:
        from chatls_core.memory.worker import Housekeeper

        keeper = Housekeeper(
            self._services.memory,
            clock=self._services.clock,
            settings=lambda: self._services.settings.memory,
            model=self._model,
        )
        done = await keeper.housekeep(now=now)
        await self._spent(done.usage, Usage(cost_usd=0.0))
        return done

    async def _spent(self, now: Usage, before: Usage) -> None:
        """Write down what background work cost since ``before``."""
        if (now.prompt_tokens, now.output_tokens) == (before.prompt_tokens, before.output_tokens):
            return
        spending = self._services.spending
        spending.add(now - before, LEARNING)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.to_thread(spending.flush)

    async def close(self) -> None:
        """Stop; what is not learned yet is in the queue already."""
        self._closed = True
        tasks = [t for t in (self._task, *self._runs) if t is not None]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
