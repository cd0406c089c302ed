"""Retries, cool-downs and the fallback chain: somebody always answers, and nobody answers twice (spec/agent.md §8.5).

A failure is tried again only while nothing of the answer was seen. When one candidate gives up, the next one takes
over, and says so with an :class:`Answering` event. A stream that breaks off after visible output raises: it is
reported as cut, never repeated and never passed off as whole.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Protocol

from chatls_core.llm.backend import Backend
from chatls_core.llm.errors import VendorError, cut_off, is_retryable
from chatls_core.llm.events import Answering, ModelError, ModelEvent, Stopped, Usage, UsageReport
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import ModelInfo

log = logging.getLogger(__name__)

_BLAMES = frozenset({"auth", "rate_limit", "overloaded", "timeout", "network", "server", "model_not_found", "internal"})
"""Failures that say something about the provider; the others are about the request."""

LONGEST_WAIT = 8.0
"""Seconds one request may spend waiting between attempts; a service that asks for more has failed for now."""

_FALLBACK_ATTEMPTS = 2
_FALLBACK_WAIT = 5.0
"""Attempts per candidate, and seconds it may be waited for, when another one is ready to answer."""

_SILENCES = 2
"""Attempts at a service that stays silent: each one costs the user a whole time limit."""


class Sleep(Protocol):
    """Waits; a test passes its own."""

    async def __call__(self, seconds: float, /) -> None: ...


@dataclass(frozen=True)
class RetryRules:
    """Times in seconds. ``attempts`` counts the first one too."""

    attempts: int = 5
    initial: float = 1.0
    longest: float = LONGEST_WAIT


@dataclass
class CoolDowns:
    """How long each provider rests after failures: ``base * 2**(failures-1)``, at most ``longest`` seconds.

    A refused key rests for the longest time at once. A success forgets everything.
    """

    base: float = 30.0
    longest: float = 300.0
    clock: Callable[[], float] = time.monotonic
    _failures: dict[str, int] = field(default_factory=dict)
    _until: dict[str, float] = field(default_factory=dict)
    _why: dict[str, str] = field(default_factory=dict)

    def failed(self, provider: str, error: ModelError) -> None:
        """Count one failed request of a provider (not every attempt)."""
        if error.kind not in _BLAMES:
            return
        failures = self._failures[provider] = self._failures.get(provider, 0) + 1
        # The exponent is capped: 2**1100 is no float.
        rest = self.longest if error.kind == "auth" else min(self.longest, self.base * 2.0 ** min(failures - 1, 60))
        self._until[provider] = self.clock() + max(rest, min(error.retry_after or 0.0, self.longest))
        self._why[provider] = str(error)

    def succeeded(self, provider: str) -> None:
        """Forget a provider's failures."""
        for table in (self._failures, self._until, self._why):
            table.pop(provider, None)

    def remaining(self, provider: str) -> float:
        """Seconds a provider still rests, 0 when it is awake."""
        return max(0.0, self._until.get(provider, 0.0) - self.clock())

    def why(self, provider: str) -> str:
        """What the last failure was."""
        return self._why.get(provider, "")

    def clear(self) -> None:
        """Wake everyone: keys or addresses have changed."""
        for table in (self._failures, self._until, self._why):
            table.clear()


async def _at_once() -> None:
    return None


@dataclass(frozen=True)
class Candidate:
    """One provider and model that may answer.

    ``backend`` raises ``ModelError`` where none can be had. ``ready`` is awaited before ``info`` or ``price`` are
    used, so that their data is loaded off the event loop. ``prepare`` puts the user's settings for this provider into
    a request, ``price`` adds the cost to its usage.
    """

    provider: str
    model: str
    backend: Callable[[], Backend]
    info: Callable[[], ModelInfo]
    ready: Callable[[], Awaitable[None]] = _at_once
    prepare: Callable[[ModelRequest], ModelRequest] = lambda request: request
    price: Callable[[Usage, ModelRequest], Usage] = lambda usage, request: usage


class ChainModel:
    """The model the rest of the core talks to: one preferred candidate and those that stand in for it."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        *,
        rules: RetryRules,
        cooldowns: CoolDowns,
        sleep: Sleep = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        if not candidates:
            raise ValueError("a chain needs a candidate")
        self._candidates = tuple(candidates)
        self._rules = rules
        self._cooldowns = cooldowns
        self._sleep = sleep
        self._jitter = jitter

    @property
    def provider(self) -> str:
        """The preferred provider."""
        return self._candidates[0].provider

    @property
    def model(self) -> str:
        """The preferred model."""
        return self._candidates[0].model

    @property
    def info(self) -> ModelInfo:
        """Facts about the preferred model."""
        return self._candidates[0].info()

    def __repr__(self) -> str:
        return f"ChainModel({', '.join(f'{c.provider}/{c.model}' for c in self._candidates)})"

    async def load(self) -> None:
        """Load what asking the preferred provider needs; see :class:`chatls_core.llm.model.Model`."""
        first = self._candidates[0]
        await first.ready()
        try:
            await first.backend().load()
        except Exception as raised:
            raise _typed(raised, first) from raised

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Input tokens by the preferred provider's own count; see :class:`chatls_core.llm.model.Model`."""
        first = self._candidates[0]
        await first.ready()
        asked = first.prepare(request)
        try:
            return await first.backend().count_tokens(asked, request.model or first.model, first.info())
        except Exception as raised:
            raise _typed(raised, first) from raised

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask; see :class:`chatls_core.llm.model.Model`."""
        order, because = self._order()
        first_error: ModelError | None = None
        failed: list[Candidate] = []
        for position, candidate in enumerate(order):
            others = order[position + 1 :]
            asked = request
            if request.model and candidate is not self._candidates[0]:
                asked = replace(request, model="")
            try:
                async with aclosing(self._answer(candidate, asked, because, bool(others))) as events:
                    async for event in events:
                        yield event
                return
            except _Failed as failure:
                error = failure.error
                first_error = first_error or error
                failed.append(candidate)
                if not failure.visible and _moves_on(error, candidate, others):
                    because = f"{candidate.provider}: {error}"
                    log.warning("the next provider is asked, since %s failed (%s)", because, error.kind)
                    continue
                if failure.visible or error.kind not in _BLAMES:
                    raise error from error.__cause__  # about this request, whoever is asked
                break
        assert first_error is not None
        raise _with_others(first_error, failed[1:])

    def _order(self) -> tuple[list[Candidate], str]:
        """Who is asked in turn, and why not the preferred one first: those at rest come last, soonest awake first."""
        awake = [c for c in self._candidates if not self._cooldowns.remaining(c.provider)]
        resting = [c for c in self._candidates if c not in awake]
        resting.sort(key=lambda c: self._cooldowns.remaining(c.provider))
        order = awake + resting
        preferred = self._candidates[0]
        if order[0] is preferred:
            return order, ""
        return order, f"{preferred.provider}: {self._cooldowns.why(preferred.provider)}"

    async def _answer(
        self, candidate: Candidate, request: ModelRequest, because: str, replaceable: bool
    ) -> AsyncGenerator[ModelEvent, None]:
        """One candidate's answer with its retries. Raises :class:`_Failed`."""
        attempts, longest = self._rules.attempts, self._rules.longest
        if replaceable:
            attempts, longest = min(attempts, _FALLBACK_ATTEMPTS), min(longest, _FALLBACK_WAIT)
        waited = 0.0
        attempt = 0
        model = request.model or candidate.model
        request = candidate.prepare(request)
        yield Answering(candidate.provider, model, because)
        await candidate.ready()
        while True:
            attempt += 1
            visible = False
            try:
                finished = False
                async with aclosing(candidate.backend().stream(request, model, candidate.info())) as events:
                    async for event in events:
                        if isinstance(event, UsageReport):
                            yield UsageReport(candidate.price(event.usage, request))
                            continue
                        finished = isinstance(event, Stopped)
                        visible = visible or not finished
                        if finished:
                            self._cooldowns.succeeded(candidate.provider)
                        yield event
                if not finished:
                    raise cut_off(candidate.provider)
                return
            except Exception as raised:
                error = _typed(raised, candidate)
                wait = self._wait(error, attempt)
                most = min(attempts, _SILENCES) if error.kind == "timeout" else attempts
                if visible or attempt >= most or not is_retryable(error) or waited + wait > longest:
                    self._cooldowns.failed(candidate.provider, error)
                    raise _Failed(error, visible) from raised
                log.info("%s: %s; attempt %d in %.1f s", candidate.provider, error, attempt + 1, wait)
                waited += wait
                await self._sleep(wait)

    def _wait(self, error: ModelError, attempt: int) -> float:
        """Seconds before the next attempt: what the service asks for, else doubling with jitter."""
        backoff = self._rules.initial * 2.0 ** (attempt - 1) * (0.5 + self._jitter() / 2)
        return max(error.retry_after, 0.0) if error.retry_after is not None else backoff


class _Failed(Exception):
    """A candidate gave up; ``visible`` says that part of its answer was already shown."""

    def __init__(self, error: ModelError, visible: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.visible = visible


def _typed(error: Exception, candidate: Candidate) -> ModelError:
    """The error as one of ours: a backend, of another package perhaps, may raise anything."""
    if isinstance(error, ModelError):
        return error
    log.error("%s failed unexpectedly", candidate.provider, exc_info=error)
    text = f"{candidate.provider} failed unexpectedly ({type(error).__name__})."
    return VendorError("internal", text, hint="The log has the details.", provider=candidate.provider)


def _with_others(error: ModelError, others: Sequence[Candidate]) -> ModelError:
    """The preferred provider's error, with a word about those that stood in and failed too."""
    if not others:
        return error
    names = ", ".join(candidate.provider for candidate in others)
    told = VendorError(
        error.kind,
        f"{error} Nor could {names} answer.",
        hint=error.hint,
        provider=error.provider,
        retry_after=error.retry_after,
        status=error.status,
    )
    told.__cause__ = error
    return told


def _moves_on(error: ModelError, candidate: Candidate, others: Sequence[Candidate]) -> bool:
    """Whether the next candidate should be asked after this failure."""
    if not others:
        return False
    if error.kind == "context_overflow":
        window = candidate.info().window
        return any(other.info().window > window for other in others)
    return error.kind in _BLAMES or error.kind == "no_provider"
