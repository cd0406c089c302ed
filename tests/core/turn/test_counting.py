"""A provider's own token count helps where it is to be had, and is never waited for (spec/agent.md §1.4)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from chatls_core.llm.events import ModelError
from chatls_core.llm.messages import Message, ModelRequest, TextPart
from chatls_core.text.tokens import TokenRatio
from chatls_core.turn import counting
from tests.core.prompt.helpers import StubModel

REQUEST = ModelRequest((Message("user", (TextPart("word " * 400),)),), ("system",))


@dataclass
class Counting(StubModel):
    """Counts as ``how`` says."""

    how: Callable[[], Awaitable[int | None]] = lambda: asyncio.sleep(0, 1000)
    asked: list[ModelRequest] = field(default_factory=list)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        self.asked.append(request)
        return await self.how()


class Clock:
    now = datetime(2026, 3, 2, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def fails() -> Awaitable[int | None]:
    raise ModelError("network", "no route")


async def never() -> int | None:
    await asyncio.Event().wait()
    return None


async def test_a_count_is_kept_and_teaches_the_ratio() -> None:
    ratio, model = TokenRatio(), Counting()
    counts = counting.TokenCounts(ratio, Clock())
    assert (await counts.count(model, REQUEST)).tokens == 1000
    assert (await counts.count(model, REQUEST)).tokens == 1000
    assert len(model.asked) == 1
    assert ratio.ratio("stub", "stub") < 4


async def test_a_failure_is_stated_and_the_provider_rests() -> None:
    clock = Clock()
    counts = counting.TokenCounts(TokenRatio(), clock)
    model = Counting(how=fails)
    for _ in range(3):
        found = await counts.count(model, REQUEST)
        assert found.tokens is None
        assert "no route" in found.reason
    assert len(model.asked) == 1
    clock.now += timedelta(minutes=2)
    await counts.count(model, REQUEST)
    assert len(model.asked) == 2


async def test_no_endpoint_and_no_answer_are_told_apart() -> None:
    counts = counting.TokenCounts(TokenRatio(), Clock())
    none = await counts.count(Counting(how=lambda: asyncio.sleep(0, None)), REQUEST)
    assert "offers no count" in none.reason
    late = counting.TokenCounts(TokenRatio(), Clock(), longest=0.01)
    found = await late.count(Counting(how=never), REQUEST)
    assert "within" in found.reason
