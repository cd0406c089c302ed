"""Learns in the background from what was said, and loses nothing (spec/memory.md §10)."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from chatls_core import config
from chatls_core.llm.events import ModelError, Usage
from chatls_core.llm.messages import Message
from chatls_core.llm.model import Model
from chatls_core.memory.worker.applying import Tally, store
from chatls_core.memory.worker.asking import Reply, ask_any
from chatls_core.memory.worker.grounding import only_said
from chatls_core.memory.worker.known import Known
from chatls_core.memory.worker.locking import only_one
from chatls_core.memory.worker.parsing import UnreadableReplyError, parse_reply
from chatls_core.memory.worker.queue import Answer, Batch, PendingQueue
from chatls_core.memory.worker.request import build
from chatls_core.memory.worker.results import LearnResult, Run
from chatls_core.memory.worker.review import PendingView, ReviewStore, Settled, shown
from chatls_core.memory.worker.reviewing import accept, reject
from chatls_core.memory.worker.segment import Segment, said_since
from chatls_core.memory.worker.state import marked, open_state, with_run
from chatls_core.store import Clock, StoreReadOnlyError

if TYPE_CHECKING:
    from chatls_core.memory.memory import Memory

logger = logging.getLogger(__name__)

MINIMUM = 4
"""Fewest new messages that are worth a request."""

COOLDOWN = 120.0
BREAKER_FAILURES = 3
BREAKER_REST = 300.0
"""Seconds between runs, and of rest after three failures in a row; counted by a clock that cannot jump."""

LONGEST_REST = 6 * 3600.0
"""Seconds between tries of one batch that fails for a reason of its own."""

NOTICE_FAILURES = 2
BATCHES_PER_RUN = 3

T = TypeVar("T")
ModelFactory = Callable[[], Model]

_ABOUT_THE_SEGMENT = frozenset(("refused", "context_overflow"))
"""Failures another try of the same request would meet again: they count as answers that make no sense."""


async def _finished(work: Callable[[], T]) -> T:
    """Do ``work`` in a thread. A cancellation waits for its end, so that no lock is let go while it writes."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


class Learner:
    """The worker of one process. :meth:`offer` and the review are thread-safe; the rest runs on the event loop.

    ``model`` chooses who answers, ``fallbacks`` who answers instead when that fails. ``monotonic`` counts seconds and
    never jumps; times that are written come from ``clock``.
    """

    def __init__(
        self,
        memory: Memory,
        folder: Path,
        *,
        clock: Clock,
        settings: Callable[[], config.Memory],
        model: ModelFactory,
        fallbacks: Callable[[], Sequence[ModelFactory]] = tuple,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``folder`` is the queue, shared with ChatCLI: the data folder's ``memory/pending``."""
        self._memory = memory
        self._clock = clock
        self._settings = settings
        self._model = model
        self._fallbacks = fallbacks
        self._monotonic = monotonic
        self._queue = PendingQueue(folder, memory.stores)
        self._state = open_state(memory.stores)
        self._review = ReviewStore(memory.stores)
        self._known = Known(memory)
        self._guard = threading.Lock()
        self._running = False
        self._last_run = monotonic()
        self._rest_until = self._last_run
        self._failures = 0
        self._failed: Counter[str] = Counter()
        self._not_before: dict[str, float] = {}
        self._told_failing = False
        self.spent = Usage(cost_usd=0.0)
        """What learning cost since this process began."""

    # Taking in

    def fresh(
        self, messages: Sequence[Message], session: str, *, origin: str = "", turn_id: str = ""
    ) -> Sequence[Message]:
        """Messages of a conversation that were not offered yet.

        ``origin`` is the conversation this one was forked from. Where no mark is left to count from, as in a
        conversation older than the worker, they are those from ``turn_id`` on.
        """
        sessions = self._state.read().sessions
        marks = [mark.message for name in (session, origin) if name and (mark := sessions.get(name)) is not None]
        return said_since(messages, marks, turn_id)

    def offer(self, segment: Segment, *, last: str = "") -> int:
        """Queue what was said; returns how many messages are new. On return they are on the disk.

        ``last`` is the id of the conversation's last message that was looked at (default: the segment's last).
        Offering messages again changes nothing. Raises :class:`OSError` and
        :class:`~chatls_core.store.StoreReadOnlyError`.
        """
        last = last or (segment.lines[-1].id if segment.lines else "")
        if not last:
            return 0
        with self._guard, self._queue.lock():
            now = self._clock()
            mark = self._state.read().sessions.get(segment.session)
            ids = [line.id for line in segment.lines]
            lines = segment.lines
            if mark is not None and mark.message in ids:
                lines = lines[ids.index(mark.message) + 1 :]
            if lines:
                known = self._queue.message_ids(segment.session)
                lines = tuple(line for line in lines if line.id not in known)
            if lines:
                self._queue.add(replace(segment, lines=lines), now, follows=mark.message if mark else "")
            if mark is None or mark.message != last:
                self._state.update(lambda s: (marked(s, segment.session, last, now), None))
        return len(lines)

    def pass_over(self, session: str, last: str) -> None:
        """Mark a conversation as read without learning from it: what is said while memory is off stays unlearned."""
        self._state.update(lambda s: (marked(s, session, last, self._clock()), None))

    # Learning

    async def run_once(self, *, drain: bool = False) -> LearnResult:
        """Learn from what waits. ``drain``: what is left over is due at once, whatever the cool-down says."""
        if not self._settings().enabled:
            return LearnResult("off")
        now = self._monotonic()
        if self._running:
            return LearnResult("busy")
        if now < self._rest_until or (not drain and now - self._last_run < COOLDOWN):
            return LearnResult("resting")
        self._running = True
        try:
            if not await _finished(self._has_work):
                return LearnResult("nothing")
            with only_one(self._queue.folder / ".run.lock") as mine:
                if not mine:
                    return LearnResult("busy")
                run = Run(Tally(), Usage(cost_usd=0.0))
                try:
                    await self._learn(run)
                except (OSError, StoreReadOnlyError) as error:
                    logger.warning("What was learned could not be stored; it is kept: %s", error)
                    run.error, run.outage = f"memory cannot be written ({error})", True
                finally:
                    self._last_run = self._monotonic()
                    await _finished(lambda: self._book(run))
                return self._result(run)
        finally:
            self._running = False

    def _book(self, run: Run) -> None:
        """Add what the run brought and cost to the balance; a disk that refuses loses only that."""
        items = run.tally.kinds.total() - run.tally.kinds["note"] + run.tally.waiting
        if not (items or run.usage.prompt_tokens):
            return
        try:
            self._state.update(lambda s: (with_run(s, items, run.usage), None))
        except (OSError, StoreReadOnlyError) as error:
            logger.warning("The balance of learning could not be written: %s", error)

    def _has_work(self) -> bool:
        return bool(self._queue.kept_answers()) or bool(self._due())

    def _due(self) -> list[Batch]:
        """What to ask about, in order."""
        now = self._clock()
        due = [b for b in self._queue.batches() if b.ready(now, MINIMUM) and self._may_try(b)]
        return sorted(due, key=lambda b: (b.unreadable, self._failed[b.name]))  # what fails must not block the rest

    def _may_try(self, batch: Batch) -> bool:
        return self._monotonic() >= self._not_before.get(batch.name, float("-inf"))

    async def _learn(self, run: Run) -> None:
        """Store answers left over from a cut run, then ask about what waits, the oldest first."""
        for path, answer in await _finished(self._queue.kept_answers):
            try:
                await _finished(functools.partial(self._finish, run, path, answer, again=True))
            except (OSError, StoreReadOnlyError):
                raise
            except Exception:  # one odd answer must not end learning for good
                logger.exception("The answer %s could not be stored and is set aside", path.name)
                self._queue.set_aside(path)
        for batch in (await _finished(self._due))[:BATCHES_PER_RUN]:
            if run.outage:
                break
            await self._ask_about(run, batch)

    async def _ask_about(self, run: Run, batch: Batch) -> None:
        # Another process may have taken the files between listing them and the lock.
        if not all(self._memory.stores.fs.signature(w.path) for w in batch.waiting):
            return
        segment = batch.segment
        longest = self._settings().max_size
        known = await _finished(lambda: self._known.parts(longest))

        def fitted(limit: int) -> tuple[str, str]:
            return known if limit >= longest else self._known.parts(limit)

        try:
            reply = await ask_any(
                (self._model, *self._fallbacks()), lambda m: build(segment, fitted, m.info, longest=longest)
            )
            run.usage += reply.usage
            self.spent += reply.usage
            parse_reply(reply.text, cut=reply.cut)
        except ModelError as error:
            run.error = str(error)
            run.outage = error.kind not in (*_ABOUT_THE_SEGMENT, "bad_request")
            unreadable = error.kind in _ABOUT_THE_SEGMENT
            await _finished(lambda: self._failed_about(run, batch, unreadable=unreadable))
        except UnreadableReplyError as error:
            run.error = str(error)
            await _finished(lambda: self._failed_about(run, batch, unreadable=True))
        else:
            await _finished(lambda: self._keep(run, batch, reply))

    def _failed_about(self, run: Run, batch: Batch, *, unreadable: bool) -> None:
        self._failed[batch.name] += 1
        if not run.outage:  # asking the same again costs money and may never succeed
            rest = min(BREAKER_REST * 2 ** (self._failed[batch.name] - 1), LONGEST_REST)
            self._not_before[batch.name] = self._monotonic() + rest
        dropped = self._queue.drop_aged(batch, self._clock())
        if not dropped and unreadable:
            dropped = self._queue.failed_to_parse(batch)
        if dropped:
            run.dropped += len(batch.segment.lines)

    def _keep(self, run: Run, batch: Batch, reply: Reply) -> None:
        path, answer = self._queue.keep_answer(batch, reply, self._clock())
        self._finish(run, path, answer, again=False)

    def _finish(self, run: Run, path: Path, answer: Answer, *, again: bool) -> None:
        """Store an answer and forget its messages, in an order that may be cut anywhere."""
        segment = answer.segment.segment
        try:
            learned = parse_reply(answer.reply, cut=answer.cut)
        except UnreadableReplyError as error:
            logger.warning("A kept answer does not parse and is set aside: %s", error)
            self._queue.set_aside(path)
            return
        with self._guard, self._queue.lock():
            # The mark may be missing if the process that queued the messages died before writing it. It goes first:
            # once the answer is gone, nothing else tells that these messages were learned from.
            self._ensure_mark(answer)
            self._queue.remove(answer.files)
        ask = self._settings().review == "ask"
        with self._memory.together():
            learned = only_said(learned, segment) if answer.held else learned
            run.tally += store(self._memory, self._review, learned, segment, ask=ask, again=again, now=self._clock())
        self._queue.remove_answer(path)
        run.messages += len(segment.lines)

    def _ensure_mark(self, answer: Answer) -> None:
        segment = answer.segment.segment
        if not (segment.session and segment.lines):
            return
        last = segment.lines[-1].id
        mark = self._state.read().sessions.get(segment.session)
        earlier = {*answer.follows, *(line.id for line in segment.lines)} - {last}
        if mark is None or mark.message in earlier:
            self._state.update(lambda s: (marked(s, segment.session, last, self._clock()), None))

    def _result(self, run: Run) -> LearnResult:
        notice = run.tally.sentence
        if run.error and not run.messages:
            self._failures += 1
            if self._failures >= BREAKER_FAILURES:
                self._rest_until = self._monotonic() + BREAKER_REST
            if self._failures >= NOTICE_FAILURES and not self._told_failing:
                self._told_failing = True
                failing = (
                    f"Learning in the background fails ({self._failures} times in a row: {run.error}). "
                    "Nothing is lost: what was said is queued and tried again."
                )
                notice = f"{failing} ({notice})" if notice else failing
        elif run.messages:
            if self._told_failing:
                notice = f"Learning in the background works again. {notice}".rstrip()
            self._failures, self._told_failing = 0, False
        kinds = run.tally.kinds
        return LearnResult(
            messages=run.messages,
            dropped=run.dropped,
            facts=kinds["fact"],
            episodes=kinds["episode"],
            profile=kinds["profile"],
            topics=kinds["topic"],
            projects=kinds["project"],
            waiting=run.tally.waiting,
            usage=run.usage,
            notice=notice,
            error=run.error,
            failing=self._told_failing,
        )

    # Review

    def pending(self) -> PendingView:
        """What waits for the user's yes."""
        return PendingView(tuple(map(shown, self._review.items())))

    def accept(self, ids: Sequence[str]) -> Settled:
        """Remember waiting items. One that is refused stays out and is logged. Raises :class:`OSError`."""
        return accept(self._memory, self._review, ids, self._clock())

    def reject(self, ids: Sequence[str]) -> Settled:
        """Drop waiting items; the same are not proposed again for three months. Raises :class:`OSError`."""
        return reject(self._memory, self._review, ids, self._clock())

    @property
    def waiting_messages(self) -> int:
        """Messages in the queue."""
        return sum(len(b.segment.lines) for b in self._queue.batches())
