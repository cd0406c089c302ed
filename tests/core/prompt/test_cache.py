"""The cached prefix: how long it is asked for, and what is said when it is lost (spec/agent.md §1.6, §1.7)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from chatls_core.events import Notice
from chatls_core.llm.cache_life import carries_hour
from chatls_core.prompt.attached_contexts import REBUILD_KEY, attach
from chatls_core.prompt.skills_matching import PINNED_KEY
from chatls_core.turn.standing import Standing, standing
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, Reply, Tokens

WRITTEN = Tokens(10, 5, cache_write=6000)
READ = Tokens(10, 5, cache_read=6000, cache_write=200)


def lifetime(desk: Desk) -> str:
    """What the markers of the latest request ask for."""
    system = desk.models.requests[-1].json["system"]
    return str(system[-1]["cache_control"].get("ttl", "5m"))


async def say(desk: Desk, usage: Tokens, pause: float = 20, **more: Any) -> list[str]:
    """One turn after a pause in seconds; gives the warnings."""
    desk.clock.now += timedelta(seconds=pause)
    desk.models.script(Reply(text="Yes.", usage=usage))
    _, events = await desk.ask("and now?", **more)
    return [e.text for e in events if isinstance(e, Notice) and e.level == "warning"]


async def stands(desk: Desk) -> Standing:
    live = await desk.agent.session("s")
    return await standing(desk.agent.services, live.conversation, desk.agent.model_of(live))


async def test_a_chat_starts_with_five_minutes_and_gets_an_hour_after_a_pause_that_lost_the_prefix(desk: Desk) -> None:
    await say(desk, WRITTEN)
    assert lifetime(desk) == "5m"
    await say(desk, WRITTEN, pause=600)
    assert lifetime(desk) == "5m"
    assert (await stands(desk)).cache.lifetime == "1h"
    await say(desk, WRITTEN)
    assert lifetime(desk) == "1h"
    assert "extended-cache-ttl" in desk.models.requests[-1].headers.get("anthropic-beta", "")
    found = (await stands(desk)).cache
    assert dict(found.causes) == {"unobserved:expired": 1, "ttl_promotion": 1}
    assert [loss.kind for loss in found.losses] == ["expired", "rebuild"]
    assert "lapsed" in found.markdown


async def test_the_first_write_and_short_pauses_promote_nothing(desk: Desk) -> None:
    await say(desk, WRITTEN)
    for _ in range(5):
        await say(desk, READ)
    assert lifetime(desk) == "5m"
    found = (await stands(desk)).cache
    assert (found.lifetime, found.causes, found.warm) == ("5m", (), True)
    desk.clock.now += timedelta(minutes=20)
    assert not (await stands(desk)).cache.warm


async def test_a_pause_longer_than_an_hour_promotes_nothing(desk: Desk) -> None:
    await say(desk, WRITTEN)
    await say(desk, WRITTEN, pause=4000)
    assert (await stands(desk)).cache.lifetime == "5m"


@pytest.mark.parametrize(("setting", "asked"), [("5m", "5m"), ("1h", "1h")])
async def test_the_users_choice_is_never_changed(desk: Desk, setting: str, asked: str) -> None:
    desk.agent = desk.make_agent(prompt={"cacheTtl": setting})
    await say(desk, WRITTEN)
    await say(desk, WRITTEN, pause=600)
    await say(desk, WRITTEN, pause=600)
    assert lifetime(desk) == asked
    assert "cacheTtl" in (await stands(desk)).cache.why


async def test_a_run_with_tools_starts_with_an_hour_and_the_first_mode_decides(desk: Desk) -> None:
    await say(desk, WRITTEN, mode="coder")
    assert lifetime(desk) == "1h"
    await say(desk, WRITTEN, mode="chat")
    assert lifetime(desk) == "1h"


async def test_a_promotion_outlives_a_restart_and_happens_once(desk: Desk) -> None:
    await say(desk, WRITTEN)
    await say(desk, WRITTEN, pause=600)
    await desk.agent.close()
    desk.agent = desk.make_agent()
    await say(desk, WRITTEN)
    assert lifetime(desk) == "1h"
    await say(desk, WRITTEN, pause=5000)
    causes = dict((await stands(desk)).cache.causes)
    assert causes["ttl_promotion"] == 1


async def test_the_section_that_moved_is_named(desk: Desk) -> None:
    skill = desk.host.root / ".claude/skills/deploy/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: deploy\n---\nTag first.\n")
    await say(desk, WRITTEN)
    live = await desk.agent.session("s")
    live.conversation.state.update({PINNED_KEY: ["deploy"], REBUILD_KEY: True})
    await say(desk, WRITTEN)
    loss = (await stands(desk)).cache.losses[-1]
    assert loss.kind == "rebuild"
    assert loss.cause.startswith("system:")
    assert "skill deploy" in loss.section


async def test_a_changed_tool_set_and_another_model_are_named(desk: Desk) -> None:
    await say(desk, WRITTEN)
    desk.host.root.joinpath("docs.md").write_text("hello\n")
    desk.agent.services.curation.contexts.create("docs", [desk.host.root / "docs.md"])
    attach((await desk.agent.session("s")).conversation, "docs")
    await say(desk, WRITTEN)
    assert (await stands(desk)).cache.losses[-1].section == "the tools"
    await say(desk, WRITTEN, model="claude-haiku-4-5")
    assert (await stands(desk)).cache.losses[-1].cause == "model"


async def test_a_cache_that_fails_again_and_again_is_told_once(desk: Desk) -> None:
    told = [await say(desk, WRITTEN) for _ in range(6)]
    assert [len(t) for t in told] == [0, 0, 0, 1, 0, 0]
    assert "3 times in a row" in told[3][0]
    assert dict((await stands(desk)).cache.causes) == {"unobserved:miss": 5}


async def test_a_prefix_that_lapsed_is_built_afresh_with_what_changed_since(desk: Desk) -> None:
    file = desk.host.root / "AGENTS.md"
    file.write_text("Use tabs.\n")
    await say(desk, WRITTEN)
    file.write_text("Use four spaces.\n")
    await say(desk, READ, pause=200)
    assert "Use tabs." in desk.models.requests[-1].system_text
    await say(desk, WRITTEN, pause=1000)
    assert "Use four spaces." in desk.models.requests[-1].system_text


async def test_growth_of_a_run_is_no_loss(desk: Desk) -> None:
    (desk.host.root / "a.py").write_text("x = 1\n" * 50)
    desk.models.script(
        Reply(tool_calls=(Call("read_file", {"path": "a.py"}),), usage=WRITTEN),
        Reply(text="done", usage=Tokens(10, 5, cache_read=6000, cache_write=9000)),
    )
    await desk.ask("look", mode="coder")
    assert (await stands(desk)).cache.causes == ()


@pytest.mark.parametrize(
    ("provider", "model", "hour"),
    [
        ("anthropic", "claude-sonnet-5", True),
        ("bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", True),
        ("bedrock", "anthropic.claude-opus-4-1-20250805-v1:0", False),
        ("bedrock", "anthropic.claude-3-7-sonnet-20250219-v1:0", False),
        ("openai", "gpt-5.5", False),
        ("google", "gemini-3-pro", False),
    ],
)
def test_who_can_carry_an_hour(provider: str, model: str, hour: bool) -> None:
    assert carries_hour(provider, model) is hour
