"""One run of the benchmark: search, read, judge, keep, report."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from chatls_core.evaluation import answering, longmemeval
from chatls_core.evaluation.longmemeval import Case
from chatls_core.evaluation.report import Outcome, Report
from chatls_core.evaluation.retrieval import SEARCHES, Ranked, Through, figures
from chatls_core.llm.events import ModelError, Usage
from chatls_core.llm.model import Model
from chatls_core.memory.worker.asking import ask
from chatls_core.store import JsonLines

_HOPELESS = frozenset({"auth", "no_provider", "model_not_found", "budget"})
"""Failures that every further question would meet as well."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run. Without ``reader`` and ``judge`` only retrieval is measured.

    ``pool`` fills haystacks up to so many sessions, ``reader_tokens`` is room for what was found, ``output`` keeps
    answers with what they cost, and an answer kept there is not asked for again while the settings are the same and the
    search finds the same.
    """

    file: Path
    limit: int | None = None
    seed: int = 0
    pool: int = 0
    through: Through = "passages"
    reader: Model | None = None
    judge: Model | None = None
    reader_tokens: int = 8000
    parallel: int = 4
    output: Path | None = None


async def run(plan: Plan, told: Callable[[int, int], None] = lambda done, total: None) -> Report:
    """Run the benchmark; ``told`` hears how many questions are done.

    Raises :class:`longmemeval.BenchmarkError`, and :class:`ModelError` where every question would fail the same way.
    """
    return await _Run(plan, told).run()


class _Run:
    def __init__(self, plan: Plan, told: Callable[[int, int], None]) -> None:
        self.plan = plan
        self.told = told
        self.usage: dict[str, Usage] = {}
        self.kept = JsonLines(plan.output) if plan.output else None
        self.known: dict[str, Mapping[str, Any]] = {}
        self.done = 0
        self.searching = asyncio.Lock()

    async def run(self) -> Report:
        plan = self.plan
        cases, every = await asyncio.to_thread(self._read)
        if self.kept is not None:
            page = await asyncio.to_thread(self.kept.read)
            self.known = {str(r.get("question_id")): r for r in page.records if r.get("run") == self._settings}
        room = asyncio.Semaphore(plan.parallel)
        outcomes: dict[str, Outcome] = {}

        async def one(case: Case) -> None:
            async with room:
                outcomes[case.id] = await self._case(case, every)
                self.done += 1
                self.told(self.done, len(cases))

        try:
            async with asyncio.TaskGroup() as tasks:
                for case in cases:
                    tasks.create_task(one(case))
        except ExceptionGroup as group:
            raise group.exceptions[0] from group
        return Report(
            plan.file.name,
            await asyncio.to_thread(longmemeval.sha256, plan.file),
            plan.seed,
            plan.through,
            bool(plan.pool),
            _name(plan.reader),
            _name(plan.judge),
            [outcomes[case.id] for case in cases],
            self.usage,
        )

    @property
    def _settings(self) -> dict[str, Any]:
        """What an answer depends on; kept beside it."""
        plan = self.plan
        return {
            "file": plan.file.name,
            "seed": plan.seed,
            "pool": plan.pool,
            "through": plan.through,
            "reader": _name(plan.reader),
            "judge": _name(plan.judge),
            "reader_tokens": plan.reader_tokens,
        }

    def _read(self) -> tuple[list[Case], Sequence[Case]]:
        every = list(longmemeval.read(self.plan.file))
        if not every:
            raise longmemeval.BenchmarkError(f"{self.plan.file.name} holds no question.")
        return longmemeval.sample(every, self.plan.limit, self.plan.seed), every

    def _search(self, case: Case, every: Sequence[Case]) -> tuple[Case, Ranked, float]:
        if self.plan.pool:
            case = longmemeval.pooled(case, every, self.plan.pool, self.plan.seed)
        start = time.perf_counter()
        found = SEARCHES[self.plan.through](case)
        return case, found, (time.perf_counter() - start) * 1e3

    async def _case(self, case: Case, every: Sequence[Case]) -> Outcome:
        async with self.searching:  # one at a time, so that the time it takes is its own
            case, found, milliseconds = await asyncio.to_thread(self._search, case, every)
        outcome = Outcome(case.id, case.type, case.abstention, len(case.sessions), figures(case, found), milliseconds)
        if self.plan.reader is None or self.plan.judge is None:
            return outcome
        shown = answering.passages(case, found.turns, self.plan.reader_tokens * answering.CHARS_PER_TOKEN)
        mark = hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        row = self.known.get(case.id)
        if row is not None and row.get("shown") == mark:
            for name, usage in row.get("usage", {}).items():
                self._spent(name, Usage(**usage))
            return replace(outcome, hypothesis=str(row["hypothesis"]), right=bool(row.get("right")), kept=True)
        spent: dict[str, Usage] = {}
        try:
            hypothesis = await self._ask(self.plan.reader, lambda m: answering.reader_request(case, shown, m), spent)
            outcome = replace(outcome, hypothesis=hypothesis)
            said = await self._ask(self.plan.judge, lambda m: answering.judge_request(case, hypothesis, m), spent)
        except ModelError as error:
            if error.kind in _HOPELESS:
                raise
            return replace(outcome, failure=str(error))
        right = answering.verdict(said)
        if right is None:
            return replace(outcome, failure=f"the judge said neither yes nor no: {said[:80]!r}")
        await self._keep(case, hypothesis, right, mark, spent)
        return replace(outcome, right=right)

    async def _ask(self, model: Model, build: Callable[[Model], Any], spent: dict[str, Usage]) -> str:
        reply = await ask(model, build)
        name = f"{reply.usage.provider or model.provider}:{reply.usage.model or model.model}"
        spent[name] = spent[name] + reply.usage if name in spent else reply.usage
        self._spent(name, reply.usage)
        return reply.text.strip()

    def _spent(self, name: str, usage: Usage) -> None:
        self.usage[name] = self.usage[name] + usage if name in self.usage else usage

    async def _keep(self, case: Case, hypothesis: str, right: bool, shown: str, spent: Mapping[str, Usage]) -> None:
        """Keep an answer with what it depends on and what it cost."""
        if self.kept is None:
            return
        row = {
            "question_id": case.id,
            "hypothesis": hypothesis,
            "right": right,
            "question_type": case.type,
            "run": self._settings,
            "shown": shown,
            "usage": {name: asdict(usage) for name, usage in spent.items()},
        }
        await asyncio.to_thread(self.kept.append, [row])


def _name(model: Model | None) -> str:
    return f"{model.provider}:{model.model}" if model is not None else ""
