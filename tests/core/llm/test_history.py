"""Any history becomes one that vendors accept, and a longer history only appends."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.llm.history import NOT_RUN, Turn, normalise, parse_arguments, safe_id, whole_characters
from chatls_core.llm.messages import (
    Message,
    ModelRequest,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
)
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.providers import anthropic, gemini, ollama, openai_chat, openai_responses
from chatls_core.llm.quirks import Quirks

INFO = ModelInfo(window=100_000, max_output=8_000, reasoning=True)
ids = st.sampled_from(["a", "b", "call_1", "weird id/é", "x" * 60])
texts = st.sampled_from(["", "  ", "hi", "ü 👩‍💻", "\ud83d"])
reasonings = st.builds(
    ReasoningPart, texts, st.sampled_from(["acme", "other"]), st.sampled_from([None, {"type": "thinking", "n": 1}])
)
calls = st.builds(ToolCallPart, ids, st.just("f"), st.just({"k": 1}), st.just('{"k": 1}'), st.sampled_from(["", "bad"]))
results = st.builds(ToolResultPart, ids, st.just("f"), texts, st.booleans())
said = st.builds(TextPart, texts)
messages = st.one_of(
    st.builds(Message, st.just("user"), st.lists(said | results, max_size=4).map(tuple)),
    st.builds(Message, st.just("assistant"), st.lists(said | reasonings | calls, max_size=4).map(tuple)),
)
histories = st.lists(messages, max_size=8)


def calls_of(turn: Turn) -> list[str]:
    return [p.id for p in turn.parts if isinstance(p, ToolCallPart)]


@settings(max_examples=80, deadline=None)
@given(histories)
def test_the_normal_form_is_what_vendors_accept(history: list[Message]) -> None:
    turns = normalise(history, "acme")
    assert all(a.role != b.role for a, b in pairwise(turns))
    assert all(turn.blocks for turn in turns)
    every = [i for turn in turns for i in calls_of(turn)]
    assert len(every) == len(set(every))
    for at, turn in enumerate(turns):
        answered = [p.call_id for p in turn.parts if isinstance(p, ToolResultPart)]
        asked = calls_of(turns[at - 1]) if at else []
        assert answered == (asked if turn.role == "user" else [])
        kinds = [isinstance(p, ToolResultPart) for p in turn.parts]
        assert kinds == sorted(kinds, reverse=True), "results come first"
        if turn.role == "assistant" and asked == []:
            assert all(p.provider == "acme" and p.opaque for p in turn.parts if isinstance(p, ReasoningPart))
        if calls_of(turn):
            assert at + 1 < len(turns), "calls are always answered"


BUILDERS: dict[str, Any] = {
    "anthropic": lambda r: anthropic.build(r, "claude-sonnet-5-5", INFO, "acme")["messages"],
    "chat": lambda r: openai_chat.build(r, "m", INFO, "acme", Quirks())["messages"],
    "responses": lambda r: openai_responses.build(r, "gpt-6-sol", "acme", Quirks())["input"],
    "gemini": lambda r: gemini.build(r, "gemini-3.8-flash", INFO, "acme")["contents"],
    "ollama": lambda r: ollama.build(r, "m", INFO, "acme")["messages"],
}


@pytest.mark.parametrize("dialect", BUILDERS)
@settings(max_examples=20, deadline=None)
@given(histories, histories)
def test_a_longer_history_only_appends(dialect: str, past: list[Message], future: list[Message]) -> None:
    """After an answer, the bytes sent before are a prefix of the bytes sent next: the vendor's cache stays valid."""
    build = BUILDERS[dialect]
    past = [Message("user", (TextPart("start"),)), *past, Message("user", (TextPart("question"),))]
    answer = Message("assistant", (TextPart("answer"),))
    before = build(ModelRequest(tuple(past), system=("s",)))
    after = build(ModelRequest((*past, answer, *future), system=("s",)))
    assert json.dumps(after[: len(before)]) == json.dumps(before)
    json.dumps(after, ensure_ascii=False).encode()  # lone surrogates would fail here


def test_a_missing_result_is_said_to_be_not_run() -> None:
    called = Message("assistant", (ToolCallPart("a", "f", {}),))
    turns = normalise([called, Message("user", (TextPart("go on"),))], "acme")
    first = turns[1].parts[0]
    assert isinstance(first, ToolResultPart)
    assert (first.text, first.is_error) == (NOT_RUN, True)


def test_repeated_ids_of_a_vendor_stay_paired() -> None:
    def step(text: str) -> list[Message]:
        return [
            Message("assistant", (ToolCallPart("call_1", "f", {}),)),
            Message("user", (ToolResultPart("call_1", "f", text),), "tool_result"),
        ]

    turns = normalise(step("one") + step("two"), "acme")
    found = [(p.call_id, p.text) for t in turns for p in t.parts if isinstance(p, ToolResultPart)]
    assert found == [("call_1", "one"), ("call_1_2", "two")]


def test_anthropic_markers_are_four_at_most_and_never_on_empty_text() -> None:
    history = [Message("user", (TextPart(f"q{i}"), TextPart(" "))) for i in range(6)]
    tools = (ToolDefinition("a", "", {"type": "object"}), ToolDefinition("b", "", {"type": "object"}))
    request = ModelRequest(tuple(history), ("one", "", "two"), tools, breakpoints=(0, 1, 2, 3, 5))
    body = anthropic.build(request, "claude-sonnet-5-5", INFO, "acme")
    assert json.dumps(body).count("cache_control") == 4
    assert "cache_control" in body["tools"][-1]
    assert [b.get("cache_control") for b in body["system"]] == [None, {"type": "ephemeral"}]
    assert [b["text"] for b in body["messages"][0]["content"] if "cache_control" in b] == ["q3", "q5"]


def test_anthropic_markers_live_an_hour_when_asked() -> None:
    request = ModelRequest((Message("user", (TextPart("q"),)),), ("s",), breakpoints=(0,), cache_ttl="1h")
    body = anthropic.build(request, "claude-sonnet-5-5", INFO, "acme")
    assert body["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert body["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


@pytest.mark.parametrize(
    ("model", "effort", "expected"),
    [
        ("claude-sonnet-5-5", "high", {"type": "adaptive", "display": "summarized"}),
        ("claude-opus-4-6-20260101", "low", {"type": "adaptive", "display": "summarized"}),
        ("claude-sonnet-4-5-20250929", "medium", {"type": "enabled", "budget_tokens": 4096}),
        ("claude-3-7-sonnet-20250219", "low", {"type": "enabled", "budget_tokens": 2048}),
        ("claude-3-5-sonnet-20241022", "high", None),
        ("claude-sonnet-4-20250514", "high", {"type": "enabled", "budget_tokens": 6976}),
        ("claude-sonnet-5-5", "none", None),
        ("claude-sonnet-5-5", "", None),
        ("some-other-model", "high", None),
    ],
)
def test_anthropic_thinking(model: str, effort: Any, expected: dict[str, Any] | None) -> None:
    request = ModelRequest((Message("user", (TextPart("q"),)),), effort=effort, temperature=0.5, max_output_tokens=8000)
    body = anthropic.build(request, model, INFO, "acme")
    assert body.get("thinking") == expected
    assert "temperature" not in body or expected is None


def test_openai_gets_its_own_parameters_only_itself() -> None:
    request = ModelRequest(
        (Message("user", (TextPart("q"),)),), ("s",), cache_key="k", max_output_tokens=99, effort="max", temperature=0.5
    )
    real = Quirks(output_limit="max_completion_tokens", cache_key=True, effort={"max": "xhigh"})
    body = openai_chat.build(request, "gpt-6-sol", INFO, "openai", real)
    assert body["prompt_cache_key"] == "k"
    assert body["max_completion_tokens"] == 99
    assert body["reasoning_effort"] == "xhigh"
    assert "temperature" not in body
    assert body["messages"][0]["content"][0]["prompt_cache_breakpoint"] == {"mode": "explicit"}
    other = openai_chat.build(request, "llama", INFO, "openai", Quirks())
    assert "prompt_cache_key" not in other
    assert other["messages"][0]["content"] == "s"
    assert other["max_tokens"] == 99
    assert other["temperature"] == 0.5


@pytest.mark.parametrize(
    ("raw", "arguments", "fails"),
    [
        ("", {}, False),
        ("  ", {}, False),
        ("{}", {}, False),
        ('{"a": 1}', {"a": 1}, False),
        ('"{\\"a\\": 1}"', {"a": 1}, False),
        ("[]", {}, True),
        ('{"a":', {}, True),
        ("null", {}, True),
        ("[" * 100_000, {}, True),
        ('{"a": Infinity}', {}, True),
    ],
)
def test_parsing_arguments(raw: str, arguments: dict[str, Any], fails: bool) -> None:
    call = parse_arguments("id", "f", raw)
    assert call.arguments == arguments
    assert bool(call.error) == fails


@given(st.text(st.characters(), max_size=80))
def test_safe_ids_are_accepted_everywhere_and_stable(raw: str) -> None:
    made = safe_id(raw)
    assert 0 < len(made) <= 40
    assert all(c.isascii() and (c.isalnum() or c in "_-") for c in made)
    assert safe_id(made) == made


def test_split_characters_are_joined() -> None:
    assert whole_characters("\ud83d\ude00!") == "😀!"
    whole_characters("\ud83d").encode()
