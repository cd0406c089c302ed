"""Budgets hold across restarts and servers; what was spent is told (spec/agent.md §1.12)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chatls_core.events import Notice
from chatls_core.llm.events import ModelError
from chatls_core.turn.exchange import ChatRequest
from chatls_core.turn.standing import standing
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import ErrorReply, Reply, Tokens

DEAR = Tokens(1_000_000, 10)
"""A million fresh tokens: dollars, whatever the model."""


async def say(desk: Desk, session: str = "s") -> list[str]:
    desk.models.script(Reply(text="Yes.", usage=DEAR))
    _, events = await desk.ask("and now?", session)
    return [e.text for e in events if isinstance(e, Notice) and e.level == "warning"]


async def test_a_conversation_stops_at_its_budget_and_says_what_to_do(desk: Desk) -> None:
    desk.agent = desk.make_agent(budget={"sessionUsd": 0.5, "hardStop": True})
    await say(desk)
    asked = len(desk.models.requests)
    with pytest.raises(ModelError) as refused:
        await desk.ask("again?")
    assert refused.value.kind == "budget"
    assert "chatls.budget.sessionUsd" in refused.value.hint
    assert len(desk.models.requests) == asked
    await say(desk, "another")


async def test_the_refusal_holds_after_a_restart_and_after_a_rewind(desk: Desk) -> None:
    desk.agent = desk.make_agent(budget={"sessionUsd": 0.5, "hardStop": True})
    desk.models.script(Reply(text="Cheap.", usage=Tokens(10, 1)))
    await desk.ask("hello?")
    await say(desk)
    live = await desk.agent.session("s")
    checkpoints = desk.agent.services.checkpoints
    checkpoints.rewind(live.conversation, checkpoints.list(live.conversation)[0].id)
    with pytest.raises(ModelError, match="budget"):
        await desk.ask("again?")
    await desk.agent.close()
    desk.agent = desk.make_agent(budget={"sessionUsd": 0.5, "hardStop": True})
    with pytest.raises(ModelError, match="budget"):
        await desk.ask("again?")


async def test_the_days_budget_counts_every_conversation_on_every_server(desk: Desk) -> None:
    settings = {"budget": {"dailyUsd": 1.0, "hardStop": True}}
    desk.agent = desk.make_agent(**settings)
    other = desk.make_agent(**settings)
    await say(desk)
    turn = await other.submit(ChatRequest("more?", "elsewhere"), desk.host)
    with pytest.raises(ModelError, match="today's budget"):
        await turn.outcome
    assert (await other.costs()).today_usd > 1.0
    desk.clock.now += timedelta(days=1)
    turn = await other.submit(ChatRequest("a new day", "elsewhere"), desk.host)
    await turn.outcome


async def test_two_servers_that_spend_at_once_lose_no_cent(desk: Desk) -> None:
    agents = [desk.make_agent() for _ in range(3)]
    for n in range(4):
        desk.models.script(*[Reply(text="Yes.", usage=DEAR)] * 3)
        turns = [await a.submit(ChatRequest(f"question {n}", f"s{i}"), desk.host) for i, a in enumerate(agents)]
        for turn in turns:
            await turn.outcome
    lines = (await agents[0].costs()).lines
    assert [(line.lane, line.requests, line.input_tokens) for line in lines] == [("turn", 12, 12_000_000)]


async def test_without_a_stop_each_threshold_warns_once(desk: Desk) -> None:
    first = await desk.agent.costs()
    assert first.total_usd == 0
    await say(desk)
    price = (await desk.agent.costs("s")).total_usd
    desk.agent = desk.make_agent(budget={"sessionUsd": price * 2.2})
    told = [await say(desk) for _ in range(4)]
    assert [len(t) for t in told] == [0, 1, 1, 0]
    assert "this conversation's budget" in told[1][0]
    assert "answers go on" in told[2][0]


async def test_a_summary_has_a_line_of_its_own(desk: Desk) -> None:
    for _ in range(6):
        await say(desk)
    desk.models.script(Reply(text="## Files Read\nNone.", match="Write the summary now", usage=DEAR))
    live = await desk.agent.session("s")
    await desk.agent.compact(live)
    found = await desk.agent.costs("s")
    assert [line.lane for line in found.lines] == ["summary", "turn"]
    assert "today" in found.markdown
    assert found.cache is not None


async def test_a_failed_request_costs_nothing_and_a_price_nobody_knows_is_said(desk: Desk) -> None:
    desk.models.script(ErrorReply(400, "bad"))
    with pytest.raises(ModelError):
        await desk.ask("one")
    assert (await desk.agent.costs("s")).lines == ()
    desk.agent = desk.make_agent(model="someone-else-9", budget={"sessionUsd": 1})
    await say(desk)
    found = await desk.agent.costs("s")
    assert found.lines[0].cost_usd is None
    assert found.unknown == ("anthropic:someone-else-9",)
    assert any("without a known price" in text for text in await say(desk))


async def test_a_damaged_book_is_kept_aside_and_counting_goes_on(desk: Desk) -> None:
    await say(desk)
    days = desk.home / "chatls" / "costs" / "days"
    (book,) = days.glob("*.json")
    book.write_text("{")
    await say(desk)
    assert len(list(days.glob("*.corrupt"))) == 1
    assert (await desk.agent.costs()).total_usd > 0


async def test_a_summary_is_counted_although_its_turn_failed(desk: Desk) -> None:
    desk.agent = desk.make_agent(contextWindow=12_000)
    for _ in range(4):
        desk.models.script(Reply(text="because of the proxy, " * 400, usage=Tokens(1000, 5)))
        await desk.ask("why?")
    desk.models.script(
        Reply(text="## Files Read\nNone.", match="Write the summary now", usage=Tokens(100, 5, cache_read=9000)),
        ErrorReply(400, "bad"),
    )
    with pytest.raises(ModelError):
        await desk.ask("why? " * 200)
    live = await desk.agent.session("s")
    found = await standing(desk.agent.services, live.conversation, desk.agent.model_of(live))
    lines = (await desk.agent.costs("s")).lines
    assert [line.lane for line in lines] == ["summary", "turn"]
    read = sum(line.cache_read_tokens for line in lines)
    assert read == 9000
    assert found.cache_hit_share == round(read / (read + sum(line.input_tokens for line in lines)), 4)
