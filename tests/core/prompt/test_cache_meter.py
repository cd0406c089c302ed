"""What the prompt's shape is worth, by the fake vendors' own count: most of it is read from their caches."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chatls_core.prompt.attached_contexts import attach
from chatls_core.turn.costs import CostLine
from tests.core.prompt.test_skills import write
from tests.core.turn.conftest import Desk
from tests.fakes.cache_meter import CacheMeter, claude_rows, cost_share, metered, share_read
from tests.fakes.model_server import Call, Reply

INJECTED = 37_823
"""Characters (spec/chatcli-docs-curation.txt)."""


@pytest.fixture
def counted(desk: Desk) -> Desk:
    desk.models.meter = CacheMeter(lambda: desk.clock.now.timestamp())
    desk.models.default = lambda _: Reply(text="Because of the proxy, mostly. " * 20)
    return desk


async def stock(desk: Desk, session: str = "s") -> None:
    """Instructions, a context and two skills that match each time."""
    (desk.host.root / "AGENTS.md").write_text("Prefer small functions.\n" * 500)
    (desk.host.root / "docs.md").write_text("The service answers within a second.\n" * 400)
    for name in ("port", "service"):
        write(desk.host.root / ".chatcli/skills", name, f"triggers: {name}", f"Look the {name} up.\n" * 280)
    desk.agent.services.curation.contexts.create("docs", [desk.host.root / "docs.md"])
    attach((await desk.agent.session(session)).conversation, "docs")


def read_share(lines: tuple[CostLine, ...]) -> float:
    read = sum(line.cache_read_tokens for line in lines)
    return read / sum(line.input_tokens + line.cache_read_tokens + line.cache_write_tokens for line in lines)


async def test_a_chat_reads_92_percent_of_its_input_and_pays_a_quarter(counted: Desk) -> None:
    await stock(counted)
    for n in range(10):
        counted.clock.now += timedelta(seconds=60)
        await counted.ask(f"On which port does service {n} listen, and why?")
    bodies = [claude_rows(r.json) for r in counted.models.requests]
    charges = metered(bodies)
    assert sum(len(text) for text, _ in bodies[0]) > INJECTED
    assert share_read(charges) >= 0.92
    assert cost_share(charges) <= 0.25
    # What the user is shown agrees with the vendor: nothing was lost on the way.
    assert read_share((await counted.agent.costs("s")).lines) > 0.8
    live = await counted.agent.session("s")
    assert live.conversation.state["cache"].get("causes", {}) == {}  # type: ignore[attr-defined]  # a JSON object


async def test_a_coder_run_reads_95_percent(counted: Desk) -> None:
    (counted.host.root / "AGENTS.md").write_text("Prefer small functions.\n" * 100)
    for n in range(40):
        (counted.host.root / f"f{n}.py").write_text("".join(f"value_{n}_{r} = {r}\n" for r in range(150)))
        counted.models.script(Reply(text="Next.", tool_calls=(Call("read_file", {"path": f"f{n}.py"}),)))
    await counted.ask("Read every file.", mode="coder")
    charges = metered([claude_rows(r.json) for r in counted.models.requests])
    assert len(charges) == 41
    assert share_read(charges) >= 0.95
    assert cost_share(charges) <= 0.25


@pytest.mark.parametrize(
    ("provider", "variables", "model"),
    [
        ("openai", {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "/v1"}, "gpt-6-sol"),
        ("google", {"GEMINI_API_KEY": "k", "GEMINI_BASE_URL": ""}, "gemini-3.8-flash"),
    ],
)
async def test_services_that_cache_by_themselves_find_the_beginning_again(
    counted: Desk, provider: str, variables: dict[str, str], model: str
) -> None:
    at = {k: counted.models.url + v if k.endswith("URL") else v for k, v in variables.items()}
    counted.agent = counted.make_agent(at, provider=provider, model=model)
    await stock(counted)
    for n in range(6):
        await counted.ask(f"On which port does service {n} listen?")
    lines = (await counted.agent.costs("s")).lines
    assert [line.model for line in lines] == [f"{provider}:{model}"]
    assert read_share(lines) > 0.75


async def test_a_pause_beyond_the_lifetime_costs_the_prefix_once_and_an_hour_is_asked_for(counted: Desk) -> None:
    await stock(counted)
    for pause in (10, 10, 900, 10, 900, 10):
        counted.clock.now += timedelta(seconds=pause)
        await counted.ask("Which port does the service have?")
    lifetimes: list[Any] = [r.json["system"][-1]["cache_control"].get("ttl", "5m") for r in counted.models.requests]
    assert lifetimes == ["5m", "5m", "5m", "1h", "1h", "1h"]
    live = await counted.agent.session("s")
    causes = live.conversation.state["cache"]["causes"]  # type: ignore[index]  # a JSON object
    assert causes == {"unobserved:expired": 1, "ttl_promotion": 1}


def test_the_meter_refuses_what_the_vendor_refuses(tmp_path: Path) -> None:
    meter = CacheMeter()
    marked = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
    with pytest.raises(Exception, match="maximum of 4"):
        meter.usage("anthropic", "m", {"system": [marked] * 5, "messages": []})
    hour = {**marked, "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    with pytest.raises(Exception, match="must not come after"):
        meter.usage("anthropic", "m", {"system": [marked, hour], "messages": []})
