"""What was said in turns reaches the worker, whatever ends the process."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path

from chatls_core.llm.messages import Message, ToolResultPart
from chatls_core.turn.agent import Agent
from chatls_core.turn.exchange import ChatRequest
from chatls_core.turn.learning import BackgroundLearning
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import ErrorReply, Reply

STAND_IN = {"fallback": {"providers": ["openai"]}}
LEARNED = (
    "## DAILY\n- a walk\n## LONGTERM\n- [personal] The user's dog is called Rex\n"
    "## EPISODES\n- Walked Rex :: happy :: park"
)


def learning_requests(desk: Desk) -> list[str]:
    bodies = [r.body.decode() for r in desk.models.requests]
    return [b for b in bodies if "EXISTING MEMORY" in b]


def queued(home: Path) -> list[str]:
    files = sorted((home / "memory" / "pending").glob("seg-*.json"))
    return [m["content"] for f in files for m in json.loads(f.read_text())["messages"]]


async def talk(desk: Desk, *texts: str) -> None:
    for text in texts:
        desk.models.script(Reply(text=f"I see: {text}"))
        await desk.ask(text)


async def test_ordinary_turns_ask_nothing_in_the_background(desk: Desk) -> None:
    await talk(desk, "my dog is called Rex", "we walked in the park", "and home again")
    await desk.agent.close()
    assert not learning_requests(desk)


async def test_the_tail_is_queued_when_the_agent_ends_and_learned_by_the_next_one(desk: Desk) -> None:
    await talk(desk, "my dog is called Rex", "we walked in the park")
    await desk.agent.close()
    assert queued(desk.home) == [
        "my dog is called Rex",
        "I see: my dog is called Rex",
        "we walked in the park",
        "I see: we walked in the park",
    ]
    agent = desk.make_agent()
    await agent.ready()
    desk.models.script(Reply(text=LEARNED))
    result = await agent.learning.worker.run_once(drain=True)
    assert result.notice == "remembered 1 fact, 1 episode"
    assert [f.content for f in agent.services.memory.facts().facts] == ["The user's dog is called Rex"]
    assert not queued(desk.home)


async def test_house_is_kept_at_each_start_though_no_process_lasts(desk: Desk) -> None:
    """memory.md §18.1 row 22: whoever works an hour a day has no old notes lying about."""
    services = desk.agent.services
    services.memory.note("long ago", time=desk.clock.now - timedelta(days=40))
    waits: list[float] = []
    waiting_again = asyncio.Event()

    async def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) > 1:
            waiting_again.set()
            await asyncio.Event().wait()

    learning = BackgroundLearning(services, {}, lambda: ("", ""), wait=wait)
    learning.start()
    await waiting_again.wait()
    await learning.close()
    assert sum(waits[:1]) < 60
    assert not list((desk.home / "memory").glob("20*/*.md"))


async def test_the_cost_says_what_learning_brought_and_how_often_it_was_used(desk: Desk) -> None:
    assert "Learning" not in (await desk.agent.costs()).markdown
    await talk(desk, "my dog is called Rex", "we walked in the park")
    await desk.agent.close()
    agent = desk.make_agent()
    await agent.ready()
    desk.models.script(Reply(text=LEARNED))
    await agent.learning.worker.run_once(drain=True)
    memory = agent.services.memory
    memory.evidence([memory.facts().facts[0].id], "Your dog Rex may like a longer walk.")
    told = (await agent.costs()).markdown
    assert "Learning so far: 2 items in 1 runs for $" in told and " an item (" in told
    assert "1 learned facts are held; they were used in answers or confirmed 1 times." in told
    await agent.close()


async def test_a_continued_conversation_is_not_learned_twice(desk: Desk) -> None:
    await talk(desk, "my dog is called Rex", "we walked in the park")
    await desk.agent.close()
    desk.agent = desk.make_agent()
    await desk.agent.ready()
    desk.models.script(Reply(text="NOTHING_NEW"))
    await desk.agent.learning.worker.run_once(drain=True)
    await talk(desk, "something else")
    await desk.agent.close()
    assert queued(desk.home) == ["something else", "I see: something else"]


async def test_a_fork_does_not_bring_its_past_again(desk: Desk) -> None:
    await talk(desk, "my dog is called Rex")
    sessions = desk.agent.services.sessions
    fork = sessions.fork("s", name="other")
    desk.models.script(Reply(text="Fine."))
    await desk.ask("a new path", session=fork.id)
    await desk.agent.close()
    assert queued(desk.home).count("my dog is called Rex") == 1
    assert "a new path" in queued(desk.home)


async def test_a_conversation_that_swallowed_outside_content_stays_marked(desk: Desk) -> None:
    await talk(desk, "before")
    live = await desk.agent.session("s")
    result = ToolResultPart("c1", "mcp_wiki_read", "The user loves spam.")
    live.conversation.messages.append(Message("user", (result,), kind="tool_result", id="t1", time=desk.clock.now))
    await talk(desk, "after")
    live.conversation.messages[:] = [m for m in live.conversation.messages if m.id != "t1"]
    await talk(desk, "later")
    await desk.agent.close()
    files = sorted((desk.home / "memory" / "pending").glob("seg-*.json"))
    assert [json.loads(f.read_text())["external"] for f in files] == [False, True, True]
    assert "The user loves spam." not in queued(desk.home)


async def test_what_is_said_while_memory_is_off_is_not_learned_later(desk: Desk) -> None:
    off = desk.make_agent(memory={"enabled": False})
    turn = await off.submit(ChatRequest("my secret hobby", "s"), desk.host)
    await turn.outcome
    await off.close()
    await talk(desk, "hello again")
    await desk.agent.close()
    assert queued(desk.home) == ["hello again", "I see: hello again"]


async def test_a_failing_provider_holds_up_neither_answers_nor_the_end(desk: Desk) -> None:
    await talk(desk, "my dog is called Rex", "we walked in the park")
    await desk.agent.close()
    agent: Agent = desk.make_agent()
    await agent.ready()
    desk.models.script(ErrorReply(500))
    result = await agent.learning.worker.run_once(drain=True)
    assert result.error and len(queued(desk.home)) == 4
    await agent.close()


async def test_the_small_model_learns_where_one_is_named(desk: Desk) -> None:
    await talk(desk, "my dog is called Rex", "we walked in the park")
    await desk.agent.close()
    environment = {
        "ANTHROPIC_API_KEY": "test-key",
        "ANTHROPIC_BASE_URL": desk.models.url,
        "CHATCLI_COMPACT_MODEL": "claude-haiku-small",
        "HOME": str(desk.home.parent),
    }
    agent = Agent(desk.home, desk.agent.services.settings, environment, clock=desk.clock)
    await agent.ready()
    desk.models.script(Reply(text=LEARNED))
    await agent.learning.worker.run_once(drain=True)
    assert desk.models.requests[-1].json["model"] == "claude-haiku-small"
    await agent.close()


async def test_another_provider_learns_where_the_first_fails(desk: Desk) -> None:
    await talk(desk, "my dog is called Rex", "we walked in the park")
    await desk.agent.close()
    agent = desk.make_agent(variables={"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{desk.models.url}/v1"}, **STAND_IN)
    await agent.ready()
    desk.models.script(ErrorReply(529, "overloaded"), Reply(text=LEARNED))
    result = await agent.learning.worker.run_once(drain=True)
    assert result.notice == "remembered 1 fact, 1 episode"
    assert [r.dialect for r in desk.models.requests[-2:]] == ["anthropic", "openai"]
