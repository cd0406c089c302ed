"""Tools for models without tools, over Ollama's wire with a model that says it has none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatls_core.config import Settings
from chatls_core.llm.events import TextDelta
from chatls_core.llm.messages import Message, ModelRequest, TextPart, ToolCallPart, ToolResultPart
from chatls_core.llm.model import Model
from chatls_core.llm.models import Models
from tests.core.llm.rig import BY_PROVIDER, READ_FILE, ask, collect, environment, models_for, no_wait
from tests.fakes.model_server import ModelServer, Reply


@pytest.fixture
def model(server: ModelServer, tmp_path: Path) -> Model:
    (tmp_path / "models.toml").write_text('[models."plain"]\ntools = false\n')
    variables = environment(BY_PROVIDER["ollama"], server.url) | {"CHATLS_HOME": str(tmp_path)}
    return Models(Settings(), variables, sleep=no_wait).select("ollama", "plain")


async def test_an_answer_streams_as_text(model: Model, server: ModelServer) -> None:
    text = 'Say "hi" \\ to 👩‍💻 and\nmore é'
    raw = json.dumps({"answer": text})
    server.script(Reply(deltas=tuple(raw)))
    outcome = await collect(model, ask(tools=(READ_FILE,)))
    assert outcome.text == text
    assert outcome.stop == "end"
    assert len([e for e in outcome.events if isinstance(e, TextDelta)]) > 10
    sent = server.requests[0].json
    assert "tools" not in sent
    assert "Reads a file." in sent["messages"][0]["content"]
    assert {"const": "read_file"} in [form["properties"].get("tool") for form in sent["format"]["anyOf"]]


async def test_a_call_comes_as_a_call(model: Model, server: ModelServer) -> None:
    server.script(Reply(deltas=tuple('{"tool": "read_file", "args": {"path": "a.py"}}')))
    outcome = await collect(model, ask(tools=(READ_FILE,)))
    assert outcome.text == ""
    assert [(c.name, c.arguments) for c in outcome.calls] == [("read_file", {"path": "a.py"})]
    assert outcome.stop == "tool_use"


async def test_text_out_of_shape_is_still_text(model: Model, server: ModelServer) -> None:
    server.script(Reply(text="I would rather chat."))
    outcome = await collect(model, ask(tools=(READ_FILE,)))
    assert (outcome.text, outcome.stop) == ("I would rather chat.", "end")


@pytest.mark.parametrize(
    "raw",
    [
        'I look.\n<tool_call name="@coder" args=\'{"cmd":"read","args":{"file":"a.py"}}\' />',
        "I look.\n[tool: read_file {path: a.py}]",
        'I look.\n```json\n{"name": "read_file", "arguments": {"path": "a.py"}}\n```',
    ],
)
async def test_a_call_in_the_text_protocol_is_a_call_and_its_tags_are_not_shown(
    model: Model, server: ModelServer, raw: str
) -> None:
    server.script(Reply(deltas=tuple(raw)))
    outcome = await collect(model, ask(tools=(READ_FILE,)))
    assert outcome.text.strip() == "I look."
    assert [(c.name, c.arguments) for c in outcome.calls] == [("read_file", {"path": "a.py"})]
    assert outcome.stop == "tool_use"


async def test_prose_streams_and_calls_of_a_cut_answer_are_not_run(model: Model, server: ModelServer) -> None:
    raw = "A long answer, word by word. <tool_call name='read_file' args='a"
    server.script(Reply(deltas=tuple(raw), stop="max_tokens"))
    outcome = await collect(model, ask(tools=(READ_FILE,)))
    assert outcome.text.startswith("A long answer, word by word. ")
    assert len([e for e in outcome.events if isinstance(e, TextDelta)]) > 10
    assert (outcome.calls, outcome.stop) == ([], "max_tokens")


async def test_an_unknown_tool_is_told_not_dropped(model: Model, server: ModelServer) -> None:
    server.script(Reply(text='{"tool": "teleport", "args": {"to": "x"}}'))
    outcome = await collect(model, ask(tools=(READ_FILE,)))
    assert [(c.name, c.arguments) for c in outcome.calls] == [("teleport", {"to": "x"})]


async def test_half_a_call_is_neither_text_nor_call(model: Model, server: ModelServer) -> None:
    server.script(Reply(text='{"tool": "read_file", "args": {"pa', stop="max_tokens"))
    outcome = await collect(model, ask(tools=(READ_FILE,)))
    assert (outcome.text, outcome.calls, outcome.stop) == ("", [], "max_tokens")


async def test_without_tools_nothing_is_emulated(model: Model, server: ModelServer) -> None:
    server.script(Reply(text='{"answer": "raw"}'))
    assert (await collect(model, ask())).text == '{"answer": "raw"}'
    assert "format" not in server.requests[0].json


async def test_earlier_calls_are_told_in_words(model: Model, server: ModelServer) -> None:
    history = (
        Message("user", (TextPart("read"),)),
        Message("assistant", (ToolCallPart("1", "read_file", {"path": "x"}),)),
        Message("user", (ToolResultPart("1", "read_file", "inside x"),), "tool_result"),
    )
    await collect(model, ModelRequest(history))
    roles = [(m["role"], m["content"]) for m in server.requests[0].json["messages"]]
    assert roles[1] == ("assistant", '{"tool": "read_file", "args": {"path": "x"}}')
    assert roles[2] == ("user", "Result of read_file:\ninside x")


async def test_a_tag_of_a_model_with_tools_is_a_call_only_where_it_stands_alone(server: ModelServer) -> None:
    model = models_for(BY_PROVIDER["ollama"], server).select("ollama", "able")
    inner = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>'
    server.script(Reply(deltas=tuple(f"I look.\n\n{inner}\n")))
    outcome = await collect(model, ask(tools=(READ_FILE,)))
    assert outcome.text.strip() == "I look."
    assert [(c.name, c.arguments) for c in outcome.calls] == [("read_file", {"path": "a.py"})]
    assert outcome.stop == "tool_use"
    for text in (
        f"Servers write:\n```\n{inner}\n```\nDone <t",
        f"Say {inner} to read",
        "a <tool or\n <too",
        inner[:30],
    ):
        server.script(Reply(deltas=tuple(text)))
        outcome = await collect(model, ask(tools=(READ_FILE,)))
        assert (outcome.text, outcome.calls, outcome.stop) == (text, [], "end")


async def test_models_with_tools_keep_their_own(server: ModelServer) -> None:
    await collect(models_for(BY_PROVIDER["ollama"], server).select("ollama", "able"), ask(tools=(READ_FILE,)))
    assert server.requests[0].tool_names == ["read_file"]
