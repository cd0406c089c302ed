"""Claude's service may clear and summarise; off, nothing of it is sent (spec/agent.md §1.5)."""

from __future__ import annotations

from typing import Any

import pytest

from chatls_core.llm.events import ContextCleared, ModelEvent, ReasoningDone, TextDelta, UsageReport
from chatls_core.llm.messages import Message, ModelRequest, TextPart, ToolDefinition
from tests.core.llm.rig import BY_PROVIDER, PROVIDERS, READ_FILE, ask, models_for
from tests.fakes.model_server import ErrorReply, ModelServer, Reply, Tokens

WIRE = BY_PROVIDER["anthropic"]
RECALL = ToolDefinition("recall_archive", "Recalls.", {"type": "object", "properties": {}})


async def send(server: ModelServer, request: ModelRequest, models: Any = None) -> list[ModelEvent]:
    model = (models or models_for(WIRE, server)).select("anthropic")
    return [event async for event in model.stream(request)]


async def test_off_not_a_byte_differs(server: ModelServer) -> None:
    for engine in ("builtin", "provider"):
        await send(server, ask(tools=(READ_FILE,), context_engine=engine))
    off, on = server.requests
    assert "context_management" not in off.json
    assert "anthropic-beta" not in off.headers
    assert {k: v for k, v in on.json.items() if k != "context_management"} == off.json


async def test_what_is_asked_for(server: ModelServer) -> None:
    await send(server, ask(tools=(READ_FILE, RECALL), context_engine="provider-compact", effort="high", cache_ttl="1h"))
    request = server.requests[0]
    assert request.json["context_management"] == {
        "edits": [
            {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 3}},
            {
                "type": "clear_tool_uses_20250919",
                "trigger": {"type": "input_tokens", "value": 100_000},
                "keep": {"type": "tool_uses", "value": 5},
                "clear_at_least": {"type": "input_tokens", "value": 20_000},
                "exclude_tools": ["recall_archive"],
            },
            {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 150_000}},
        ]
    }
    assert set(request.headers["anthropic-beta"].split(",")) == {
        "extended-cache-ttl-2025-04-11",
        "context-management-2025-06-27",
        "compact-2026-01-12",
    }


async def test_thoughts_are_not_cleared_where_none_are_thought(server: ModelServer) -> None:
    await send(server, ask(tools=(READ_FILE,), context_engine="provider", effort="none"))
    (edit,) = server.requests[0].json["context_management"]["edits"]
    assert edit["type"] == "clear_tool_uses_20250919"


async def test_what_was_cleared_is_told(server: ModelServer) -> None:
    server.script(Reply(text="Hi", cleared=3))
    events = await send(server, ask(tools=(READ_FILE,), context_engine="provider"))
    assert ContextCleared(3) in events


async def test_a_summary_goes_back_as_it_came_and_is_paid_for(server: ModelServer) -> None:
    server.script(Reply(text="Hi", summary="We read files.", usage=Tokens(100, 7)))
    models = models_for(WIRE, server)
    events = await send(server, ask(context_engine="provider-compact"), models)
    assert ContextCleared(0, summarised=True) in events
    (usage,) = [e.usage for e in events if isinstance(e, UsageReport)]
    assert (usage.prompt_tokens, usage.aside_tokens, usage.output_tokens) == (100, 2000, 57)
    (block,) = [e.part for e in events if isinstance(e, ReasoningDone)]
    said = Message("assistant", (block, TextPart("Hi")))
    first, then = ask().messages[0], ask("And?").messages[0]
    await send(server, ModelRequest((first, said, then), context_engine="provider-compact"), models)
    content = server.requests[-1].json["messages"][1]["content"]
    assert content[0] == {"type": "compaction", "content": "We read files.", "encrypted_content": "sealed"}


async def test_a_service_that_does_not_know_it_is_asked_without_from_then_on(server: ModelServer) -> None:
    models = models_for(WIRE, server)
    server.script(ErrorReply(400, "context_management: Extra inputs are not permitted"))
    for _ in range(2):
        events = await send(server, ask(context_engine="provider"), models)
        assert any(isinstance(e, TextDelta) for e in events)
    assert ["context_management" in r.json for r in server.requests] == [True, False, False]


@pytest.mark.parametrize("wire", PROVIDERS, ids=lambda w: w.provider)
async def test_no_other_service_hears_of_it(wire: Any, server: ModelServer) -> None:
    if wire is WIRE:
        return
    model = models_for(wire, server).select(wire.provider, wire.model)
    _ = [event async for event in model.stream(ask(tools=(READ_FILE,), context_engine="provider-compact"))]
    assert b"context_management" not in server.requests[-1].body
