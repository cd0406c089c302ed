"""A request's tokens as the provider counts them: for looking at a prompt, never on the way of a turn (§1.4)."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

from chatls_core.llm.events import ModelError
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import Model
from chatls_core.prompt.cache_prints import prints
from chatls_core.prompt.request import prompt_chars
from chatls_core.store import Clock
from chatls_core.text.tokens import TokenRatio

log = logging.getLogger(__name__)

LONGEST = 5.0

REST = timedelta(seconds=60)
"""After a failure a provider is not asked to count for so long: a view is drawn again and again."""

KEPT = 32


@dataclass(frozen=True, slots=True)
class TokenCount:
    """``tokens`` by the provider's own count; ``None`` with a ``reason`` where there is only the estimate."""

    tokens: int | None
    reason: str = ""


class TokenCounts:
    """Counts of this process, each request counted once. Every count is a sample for the learned ratio."""

    def __init__(self, ratio: TokenRatio, clock: Clock, *, longest: float = LONGEST) -> None:
        """``longest``: seconds a count may take."""
        self._longest = longest
        self._ratio = ratio
        self._clock = clock
        self._known: OrderedDict[str, TokenCount] = OrderedDict()
        self._resting: dict[str, tuple[datetime, str]] = {}

    async def count(self, model: Model, request: ModelRequest) -> TokenCount:
        """Ask the provider to count a request. Never raises but for a cancellation."""
        who = f"{model.provider}:{model.model}"
        until, why = self._resting.get(who, (None, ""))
        if until is not None and self._clock() < until:
            return TokenCount(None, why)
        marks = await asyncio.to_thread(prints, request)
        key = hashlib.blake2b("\n".join((who, *marks)).encode(), digest_size=16).hexdigest()
        if key not in self._known:
            try:
                async with asyncio.timeout(self._longest):
                    tokens = await model.count_tokens(request)
            except TimeoutError:
                return self._failed(who, f"{model.provider} did not count within {self._longest:g} s")
            except ModelError as error:
                return self._failed(who, f"{model.provider} could not count: {error}")
            if tokens is None:
                return TokenCount(None, f"{model.provider} offers no count for {model.model}")
            self._ratio.learn(model.provider, model.model, prompt_chars(request), tokens)
            self._known[key] = TokenCount(tokens)
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
        return self._known[key]

    def _failed(self, who: str, reason: str) -> TokenCount:
        log.info("no token count: %s", reason)
        self._resting[who] = (self._clock() + REST, reason)
        return TokenCount(None, reason)
