"""Keeps memory small and tidy, by the times on disk rather than by how long a process runs (spec/memory.md §11).

Every duty may be cut at any instant and begun again, and one process at a time does them.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from chatls_core import config
from chatls_core.llm.events import ModelError, Usage
from chatls_core.llm.model import Model
from chatls_core.memory import notes
from chatls_core.memory.worker import consolidation, digests
from chatls_core.memory.worker.asking import ask
from chatls_core.memory.worker.grounding import borne_out_by
from chatls_core.memory.worker.locking import only_one
from chatls_core.memory.worker.parsing import UnreadableReplyError
from chatls_core.memory.worker.state import DigestMark, LearningState, open_state
from chatls_core.store import Clock, StoreReadOnlyError
from chatls_core.text.amounts import amount

if TYPE_CHECKING:
    from chatls_core.memory.alive import Alive
    from chatls_core.memory.memory import Memory
    from chatls_core.memory.worker.digests import Period

logger = logging.getLogger(__name__)

COMPACTION_EVERY = timedelta(hours=24)
CROWDED_EVERY = timedelta(hours=6)
"""How often a store near its cap is compacted."""

CROWDED = 0.8
NOTES_EVERY = timedelta(hours=24)
DIGESTS_EVERY = timedelta(hours=12)
ABSENCE = timedelta(days=60)
CLOCK_SLACK = timedelta(hours=1)
COMPACTION_SECONDS, DIGEST_SECONDS = 120.0, 60.0
DIGESTS_PER_RUN = 12


@dataclass(frozen=True, slots=True)
class Housekept:
    """What a run did. ``by`` says how facts were compacted: by the model, by score, or not at all.

    ``problem`` is a sentence when it could not be done, or not to the end.
    """

    by: Literal["", "model", "score"] = ""
    merged: int = 0
    archived: int = 0
    notes_removed: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    usage: Usage = field(default_factory=lambda: Usage(cost_usd=0.0))
    problem: str = ""

    def __bool__(self) -> bool:
        return bool(self.by or self.notes_removed or self.digests)

    @property
    def markdown(self) -> str:
        """One sentence for each duty that changed something."""
        how = {"model": " as the model proposed", "score": " by score alone"}.get(self.by, "")
        told = [
            f"Merged {self.merged} and archived {amount(self.archived, 'fact')}"
            f"{how if self.merged or self.archived else ''}; "
            f"removed {amount(len(self.notes_removed), 'daily note')}."
        ]
        if self.digests:
            told.append(f"Summed up {', '.join(self.digests)}.")
        return " ".join(filter(None, (self.problem, *told)))


def is_due(last: datetime | None, now: datetime, every: timedelta) -> bool:
    """Whether a duty is due; a last time in the future (a clock set back) does not put it off."""
    return last is None or now - last >= every or last - now > CLOCK_SLACK


class Housekeeper:
    """Compaction, clean-up and digests of one memory folder."""

    def __init__(
        self,
        memory: Memory,
        *,
        clock: Clock,
        settings: Callable[[], config.Memory],
        model: Callable[[], Model],
    ) -> None:
        self._memory = memory
        self._stores = memory.stores
        self._clock = clock
        self._settings = settings
        self._model = model
        self._state = open_state(memory.stores)
        self._usage = Usage(cost_usd=0.0)
        self._all_due = False

    async def housekeep(self, *, now: bool = False) -> Housekept:
        """Do what is due, or everything (``now``). A disk that refuses is logged, and the duty stays due."""
        self._all_due = now
        if not self._settings().enabled:
            return Housekept(problem="Memory is switched off.")
        if not await asyncio.to_thread(self._anything_due):
            return Housekept()
        with only_one(self._memory.folder / "pending" / ".housekeeping.lock") as mine:
            if not mine:
                return Housekept(problem="Another window is tidying memory.")
            self._usage = Usage(cost_usd=0.0)
            try:
                by, merged, archived = await self._compact()
                removed = await asyncio.to_thread(self._clean_notes)
                made = await self._digest()
            except (OSError, StoreReadOnlyError) as error:
                logger.warning("Housekeeping stopped and is tried again: %s", error)
                return Housekept(usage=self._usage, problem=f"Memory could not be tidied to the end: {error}.")
            return Housekept(by, merged, archived, tuple(removed), tuple(made), self._usage)

    def _anything_due(self) -> bool:
        return self._compaction_due() or any(
            self._duty_due(name, every) for name, every in (("notes", NOTES_EVERY), ("digests", DIGESTS_EVERY))
        )

    def _duty_due(self, name: str, every: timedelta) -> bool:
        return self._all_due or is_due(self._state.read().housekept.get(name), self._clock(), every)

    def _done(self, name: str) -> None:
        now = self._clock()
        self._state.update(lambda s: (s.model_copy(update={"housekept": {**s.housekept, name: now}}), None))

    # Facts

    def _crowded(self) -> bool:
        return len(self._memory.snapshot().alive.facts) >= CROWDED * self._settings().max_facts

    def _compaction_due(self) -> bool:
        every = CROWDED_EVERY if self._crowded() else COMPACTION_EVERY
        return self._all_due or is_due(self._stores.compactor.read().last_compaction, self._clock(), every)

    async def _compact(self) -> tuple[Literal["", "model", "score"], int, int]:
        if not await asyncio.to_thread(self._compaction_due):
            return "", 0, 0
        by: Literal["", "model", "score"] = ""
        merged, archived = 0, 0
        alive = self._memory.snapshot().alive
        if len(alive.facts) >= consolidation.FEWEST:
            by = "score"
            if self._fingerprint(alive) != self._state.read().compacted:
                plan = await self._plan(alive)
                if plan is not None:
                    by = "model"
                    gone = await asyncio.to_thread(self._memory.consolidate, plan.merged, plan.gone, plan.replaced)
                    merged, archived = len(plan.merged) if gone else 0, len(gone)
            faded = consolidation.weak(self._memory.snapshot().alive, self._clock(), crowded=self._crowded())
            if faded and not self._was_away():
                archived += len(await asyncio.to_thread(self._memory.consolidate, (), faded))
        await asyncio.to_thread(self._compacted, by == "model")
        return by, merged, archived

    def _was_away(self) -> bool:
        """Whether the last pass is so long ago that nothing faded by disuse: a long absence, or a clock that jumped.

        The next pass, a day later, goes on as usual.
        """
        last = self._stores.compactor.read().last_compaction
        return last is not None and abs(self._clock() - last) > ABSENCE

    async def _plan(self, alive: Alive) -> consolidation.Plan | None:
        """What the model would merge and drop; ``None`` when it cannot be asked or believed."""
        listed: Sequence[object] = ()
        try:
            model = self._model()
            facts = consolidation.listing(alive, min(64_000, model.info.window))
            listed = facts
            now = self._clock()
            reply = await ask(model, lambda _: consolidation.request(facts, alive, now), seconds=COMPACTION_SECONDS)
            self._usage += reply.usage
            return consolidation.plan(reply.text, facts, alive)
        except (ModelError, UnreadableReplyError) as error:
            logger.info("%d facts are compacted by score alone: %s", len(listed), error)
            return None

    def _compacted(self, by_model: bool) -> None:
        self._memory.write_longterm()
        if by_model:
            mark = self._fingerprint(self._memory.snapshot().alive)
            self._state.update(lambda s: (s.model_copy(update={"compacted": mark}), None))
        now = self._clock()
        self._stores.compactor.update(lambda s: (s.model_copy(update={"last_compaction": now}), None))

    @staticmethod
    def _fingerprint(alive: Alive) -> str:
        return hashlib.sha256(" ".join(sorted(alive.facts)).encode()).hexdigest()[:16]

    # Notes and digests

    def _clean_notes(self) -> list[str]:
        if not self._duty_due("notes", NOTES_EVERY):
            return []
        limit = self._clock().astimezone().date() - timedelta(days=self._settings().retention_days)
        removed = notes.clean_up(self._stores, limit)
        self._stores.sweep(self._clock() - NOTES_EVERY)
        self._done("notes")
        return removed

    async def _digest(self) -> list[str]:
        if not await asyncio.to_thread(self._duty_due, "digests", DIGESTS_EVERY):
            return []
        episodes = tuple(self._memory.snapshot().episodes.values())
        today = self._clock().astimezone().date()
        marks = self._state.read().digests
        found = await asyncio.to_thread(lambda: list(digests.due(self._stores, episodes, marks, today)))
        made: list[str] = []
        model_answers = True
        for one in found:
            period, mark = one.period, one.mark
            state = digests.fingerprint(one.episodes)
            if mark is None:
                new = DigestMark(fingerprint=state, by_model=True)
            elif len(made) >= DIGESTS_PER_RUN:
                return made  # the rest stays due
            else:
                material = await asyncio.to_thread(digests.source, self._stores, period, one.episodes)
                text = await self._summary(period, material) if model_answers else ""
                model_answers = bool(text)
                await asyncio.to_thread(digests.write, self._stores, period, text or digests.fallback(material))
                new = DigestMark(fingerprint=state, by_model=bool(text), tries=mark.tries + 1)
                made.append(period.name)
            await asyncio.to_thread(self._mark_digest, period.name, new)
        await asyncio.to_thread(digests.drop_old_weeks, self._stores)
        await asyncio.to_thread(self._done, "digests")
        return made

    async def _summary(self, period: Period, material: str) -> str:
        """A model's digest, empty when it cannot be had."""
        try:
            model = self._model()
            reply = await ask(model, lambda _: digests.request(period, material), seconds=DIGEST_SECONDS)
        except ModelError as error:
            logger.info("The digest %s is made without a model: %s", period.name, error)
            return ""
        self._usage += reply.usage
        text = digests.bullets_of(reply.text, period.bullets)
        if not model.info.native_tools:  # a small model: what it invents must not become the past
            told = borne_out_by(material)
            text = "\n".join(line for line in text.splitlines() if told(line))
        return text

    def _mark_digest(self, name: str, mark: DigestMark) -> None:
        def change(state: LearningState) -> tuple[LearningState, None]:
            return state.model_copy(update={"digests": {**state.digests, name: mark}}), None

        self._state.update(change)
