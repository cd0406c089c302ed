"""Tools for models that have none of their own: an answer of an enforced JSON shape (spec/agent.md §12 row 18).

The model is told the tools in words and must answer either ``{"answer": "…"}`` or ``{"tool": "name", "args": {…}}``;
the service enforces the shape. Small models keep to it far better than to any text protocol.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

from chatls_core.llm.backend import Backend, Listed
from chatls_core.llm.events import (
    ModelEvent,
    Stopped,
    TextDelta,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStarted,
)
from chatls_core.llm.history import call_arguments, parse_arguments, result_text, whole_characters
from chatls_core.llm.messages import (
    ModelRequest,
    Part,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
)
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.wire import new_call_id

_HIGH_HALF = re.compile(r"\\u[dD][89abAB]")
_ANSWER = re.compile(r'\s*\{\s*"answer"\s*:\s*"')


class EmulatedTools:
    """A backend that gives tools to a model without them. Requests without tools pass through."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner

    async def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """Ask once; see :class:`Backend`."""
        reader = _ShapeReader() if request.tools else None
        stream = self._inner.stream(_in_words(request), model, info)
        try:
            async for event in stream:
                if reader is not None and isinstance(event, TextDelta):
                    for told in reader.feed(event.text):
                        yield told
                elif reader is not None and isinstance(event, Stopped):
                    for told in reader.finish(cut=event.reason == "max_tokens"):
                        yield told
                    called = reader.called and event.reason == "end"
                    yield Stopped("tool_use", event.raw) if called else event
                else:
                    yield event
        finally:
            await stream.aclose()

    async def count_tokens(self, request: ModelRequest, model: str, info: ModelInfo) -> int | None:
        """The inner service's count of what is really sent."""
        return await self._inner.count_tokens(_in_words(request), model, info)

    async def list_models(self) -> Sequence[Listed]:
        """The inner service's models."""
        return await self._inner.list_models()

    async def aclose(self) -> None:
        """Drop all connections."""
        await self._inner.aclose()


def _in_words(request: ModelRequest) -> ModelRequest:
    """The request without anything a model without tools could not read."""
    messages = tuple(
        replace(message, parts=tuple(_part_in_words(part) for part in message.parts)) for message in request.messages
    )
    if not request.tools:
        return replace(request, messages=messages)
    return replace(
        request,
        messages=messages,
        system=(*request.system, _manual(request.tools)),
        tools=(),
        json_schema=_shape(request.tools),
    )


def _part_in_words(part: Part) -> Part:
    if isinstance(part, ToolCallPart):
        return TextPart(json.dumps({"tool": part.name, "args": dict(call_arguments(part))}))
    if isinstance(part, ToolResultPart):
        return TextPart(f"Result of {part.name}:\n{result_text(part)}")
    return part


def _manual(tools: Sequence[ToolDefinition]) -> str:
    lines = [
        'You can use tools. Answer with one JSON object: {"tool": name, "args": {...}} to use a tool, '
        'or {"answer": text} to answer the user. After a tool was used you are told its result.',
        "Tools:",
    ]
    for tool in tools:
        lines.append(f"- {tool.name}: {tool.description}\n  args: {json.dumps(dict(tool.input_schema))}")
    return "\n".join(lines)


def _shape(tools: Sequence[ToolDefinition]) -> dict[str, Any]:
    def form(**properties: Any) -> dict[str, Any]:
        return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}

    calls = [form(tool={"const": t.name}, args=dict(t.input_schema)) for t in tools]
    return {"anyOf": [form(answer={"type": "string"}), *calls]}


class _ShapeReader:
    """Reads the enforced shape while it is written: an answer streams, a call comes whole."""

    def __init__(self) -> None:
        self._raw = ""
        self._answering = False
        self._ended = False
        self.called = False

    def feed(self, text: str) -> list[ModelEvent]:
        """Take more of the JSON; what may be shown of it."""
        if self._ended:
            return []
        self._raw += text
        if not self._answering:
            found = _ANSWER.match(self._raw)
            if not found:
                return []
            self._answering = True
            self._raw = self._raw[found.end() :]
        shown, self._raw, self._ended = _decode(self._raw)
        return [TextDelta(shown)] if shown else []

    def finish(self, *, cut: bool) -> list[ModelEvent]:
        """What remains: a call, or text of a model that did not keep to the shape."""
        if self._answering:
            return []
        raw = self._raw.strip()
        try:
            value = json.loads(raw)
        except ValueError:
            value = None
        if isinstance(value, dict) and isinstance(value.get("tool"), str):
            self.called = True
            call_id, arguments = new_call_id(), json.dumps(value.get("args") or {})
            call = parse_arguments(call_id, value["tool"], arguments)
            return [ToolCallStarted(call_id, call.name), ToolCallDelta(call_id, arguments), ToolCallDone(call)]
        if cut and raw.startswith("{"):
            return []  # half a call is neither text nor a call
        return [TextDelta(self._raw)] if raw else []


def _decode(raw: str) -> tuple[str, str, bool]:
    """Text of the beginning of a JSON string's inside, what is left of it, and whether its closing quote came.

    An escape that is not whole yet is left, as is the first half of a character written as two escapes.
    """
    end = 0
    while end < len(raw) and raw[end] != '"':
        length = 1
        if raw[end] == "\\":
            length = 6 if raw[end + 1 : end + 2] == "u" else 2
            if _HIGH_HALF.match(raw, end):
                length = 12
        if end + length > len(raw):
            break
        end += length
    ended = end < len(raw) and raw[end] == '"'
    try:
        text = str(json.loads(f'"{raw[:end]}"', strict=False))
    except ValueError:
        text = raw[:end]
    return whole_characters(text), raw[end:], ended
