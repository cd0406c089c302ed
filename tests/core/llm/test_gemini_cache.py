"""Explicit caches at Google: made for what is sent again, extended while used, never in the way (§1.5)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.events import ModelEvent, TextDelta, Usage, UsageReport
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.providers.gemini import GeminiBackend
from chatls_core.llm.providers.gemini_cache import TASK_NAME
from chatls_core.llm.secret import Secret
from tests.core.llm.rig import BY_PROVIDER, READ_FILE, ask, models_for
from tests.fakes.model_server import ErrorReply, ModelServer, Reply, Tokens

MODEL = "gemini-3.8-flash"
LONG = ("Prefer small functions. " * 800,)
ON = {"prompt": {"cacheExplicit": True}}


class Google:
    """A connection and a clock the test moves."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self.now = 0.0
        endpoint = Endpoint("google", server.url, Secret("k"))
        self.backend = GeminiBackend(endpoint, lambda: self.now)

    async def ask(self, text: str = "Hello?", *, key: str = "c1", **more: Any) -> list[ModelEvent]:
        fields = {"system": LONG, "tools": (READ_FILE,), "explicit_cache": True, **more}
        request = ask(text, cache_key=key, **fields)
        return [event async for event in self.backend.stream(request, MODEL, ModelInfo(1_000_000))]

    async def warm(self) -> None:
        """Two requests with one beginning, and the cache made of it."""
        await self.ask()
        await self.ask()
        await self.server.wait_other_requests(1)
        await self.idle()

    async def idle(self) -> None:
        """Until what runs beside the answers is done."""
        await settled()

    def bodies(self) -> list[dict[str, Any]]:
        return [r.json for r in self.server.requests]

    def others(self) -> list[tuple[str, str]]:
        return [(r.method, r.path) for r in self.server.other_requests]


@pytest.fixture
async def google(server: ModelServer) -> AsyncIterator[Google]:
    made = Google(server)
    yield made
    await made.backend.aclose()


async def settled() -> None:
    await asyncio.gather(*(t for t in asyncio.all_tasks() if t.get_name() == TASK_NAME))


def usage_of(events: list[ModelEvent]) -> Usage:
    return next(e.usage for e in events if isinstance(e, UsageReport))


async def test_what_is_sent_twice_is_named_from_then_on(google: Google) -> None:
    await google.warm()
    whole = google.bodies()[1]
    google.server.script(Reply(text="Hi", usage=Tokens(20, 5, cache_read=5000)))
    events = await google.ask("And now?")
    body = google.bodies()[2]
    (name,) = google.server.caches
    assert body["cachedContent"] == name
    assert not {"systemInstruction", "tools"} & body.keys()
    kept = google.server.caches[name]
    assert (kept["systemInstruction"], kept["tools"]) == (whole["systemInstruction"], whole["tools"])
    assert (kept["model"], kept["ttl"]) == (f"models/{MODEL}", "300s")
    assert usage_of(events).cache_read_tokens == 5000


async def test_making_a_cache_is_paid_for_once(google: Google) -> None:
    await google.warm()
    usage = usage_of(await google.ask())
    assert (usage.aside_tokens, usage.cache_token_hours) == (5000, pytest.approx(5000 / 12))
    again = usage_of(await google.ask())
    assert (again.aside_tokens, again.cache_token_hours) == (0, 0)
    assert "cachedContent" in google.bodies()[-1]


async def test_a_used_cache_is_extended_when_half_its_life_is_over_and_a_lapsed_one_is_not_named(
    google: Google,
) -> None:
    await google.warm()
    google.now = 100.0
    await google.ask()
    assert google.others()[1:] == []
    google.now = 200.0
    await google.ask()
    await google.server.wait_other_requests(2)
    await google.idle()
    (name,) = google.server.caches
    assert google.others()[1] == ("PATCH", f"/{name}")
    google.now = 480.0
    usage = usage_of(await google.ask())
    assert google.bodies()[-1]["cachedContent"] == name
    assert (usage.aside_tokens, usage.cache_token_hours) == (0, pytest.approx(5000 * 200 / 3600))
    await google.idle()
    google.now = 2000.0
    await google.ask()
    assert "cachedContent" not in google.bodies()[-1]


async def test_an_hour_is_kept_where_an_hour_is_asked_for(google: Google) -> None:
    for _ in range(2):
        await google.ask(cache_ttl="1h")
    await google.server.wait_other_requests(1)
    assert next(iter(google.server.caches.values()))["ttl"] == "3600s"


async def test_a_changed_beginning_deletes_the_old_cache_unless_another_conversation_uses_it(google: Google) -> None:
    await google.warm()
    await google.ask(key="c2")
    await google.ask(system=("Now shorter. " * 2000,))
    await google.idle()
    assert len(google.server.caches) == 1
    await google.ask(key="c2", system=("Now shorter. " * 2000,))
    await google.server.wait_other_requests(2)
    assert google.others()[1][0] == "DELETE"


async def test_closing_deletes_what_is_kept(google: Google) -> None:
    await google.warm()
    await google.backend.aclose()
    assert google.server.caches == {}


@pytest.mark.parametrize(
    ("fields", "why"),
    [({"system": ("Short.",)}, "too small"), ({"explicit_cache": False}, "not asked for")],
)
async def test_no_cache_is_made_of_what_is(google: Google, fields: dict[str, Any], why: str) -> None:
    for _ in range(3):
        await google.ask(**fields)
    await google.idle()
    assert google.others() == [], why


async def test_a_service_that_cannot_is_left_in_peace_and_nobody_notices(google: Google) -> None:
    google.server.cache_error = 429
    await google.warm()
    for _ in range(3):
        events = await google.ask("Still there?")
        assert any(isinstance(e, TextDelta) for e in events)
    await google.idle()
    assert len(google.others()) == 1
    assert all("cachedContent" not in body for body in google.bodies())
    google.server.cache_error = 0
    google.now = 601.0
    await google.ask()
    await google.server.wait_other_requests(2)
    await google.idle()
    await google.ask()
    assert "cachedContent" in google.bodies()[-1]


async def test_a_cache_that_is_gone_costs_one_more_try_and_nothing_else(google: Google) -> None:
    await google.warm()
    google.server.caches.clear()
    events = await google.ask("Are you there?")
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Echo: Are you there?"
    assert "systemInstruction" in google.bodies()[-1]


async def test_another_refusal_is_the_users_to_see(google: Google) -> None:
    await google.warm()
    google.server.script(ErrorReply(429, "slow down"))
    with pytest.raises(Exception, match="slow down"):
        await google.ask()
    assert "cachedContent" in google.bodies()[-1]


async def test_the_setting_arms_it_for_conversations_and_its_cost_is_counted(server: ModelServer) -> None:
    models = models_for(BY_PROVIDER["google"], server, **ON)
    model = models.select("google", MODEL)
    costs = []

    async def send(request: ModelRequest) -> None:
        events = [event async for event in model.stream(request)]
        costs.append(next(e.usage.cost_usd or 0.0 for e in events if isinstance(e, UsageReport)))

    server.default = lambda _: Reply(text="Hi", usage=Tokens(20, 5))
    for _ in range(3):
        await send(ask("Hello?", system=LONG))
    for _ in range(2):
        await send(ask("Hello?", system=LONG, cache_key="c"))
    await server.wait_other_requests(1)
    await settled()
    await send(ask("Hello?", system=LONG, cache_key="c"))
    await models.aclose()
    assert [r.path for r in server.other_requests if r.method == "POST"] == ["/cachedContents"]
    input_price = (model.info.prices and model.info.prices.input) or 0.0
    assert input_price > 0
    assert costs[-1] - costs[0] == pytest.approx((5000 * input_price + 5000 / 12) / 1_000_000)
