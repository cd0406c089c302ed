"""Tools for models that have none of their own: an answer of an enforced JSON shape (spec/agent.md §12 row 18).

The model is told the tools in words and must answer either ``{"answer": "…"}`` or ``{"tool": "name", "args": {…}}``;
the service enforces the shape. Small models keep to it far better than to any text protocol. An answer that is not of
the shape (the service could not enforce it) is read as text with calls in it (``text_protocol``).
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import replace
from typing import Any

from chatls_core.llm.backend import Backend, Listed
from chatls_core.llm.events import ModelEvent, Stopped, TextDelta
from chatls_core.llm.history import call_arguments, result_text, whole_characters
from chatls_core.llm.messages import (
    ModelRequest,
    Part,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
)
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.text_protocol import Reading, WrittenCall, read_calls
from chatls_core.llm.text_protocol.gate import TextGate
from chatls_core.llm.written_calls import call_events

_HIGH_HALF = re.compile(r"\\u[dD][89abAB]")
_ANSWER = re.compile(r'\s*\{\s*"answer"\s*:\s*"')


class EmulatedTools:
    """A backend that gives tools to a model without them. Requests without tools pass through."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner

    async def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """Ask once; see :class:`Backend`."""
        reader = _ShapeReader(frozenset(t.name for t in request.tools)) if request.tools else None
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

    async def load(self) -> None:
        """Load what the inner service needs."""
        await self._inner.load()

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

    def __init__(self, offered: Collection[str]) -> None:
        self._offered = offered
        self._prose: TextGate | None = None
        self._raw = ""
        self._answering = False
        self._ended = False
        self.called = False

    def feed(self, text: str) -> list[ModelEvent]:
        """Take more of the JSON; what may be shown of it."""
        if self._ended:
            return []
        if self._prose is not None:
            return _text(self._prose.feed(text))
        self._raw += text
        if not self._answering and self._raw.strip() and not self._raw.lstrip().startswith("{"):
            self._prose = TextGate(self._offered, tags_only=False)
            return _text(self._prose.feed(self._raw))
        if not self._answering:
            found = _ANSWER.match(self._raw)
            if not found:
                return []
            self._answering = True
            self._raw = self._raw[found.end() :]
        shown, self._raw, self._ended = _decode(self._raw)
        return _text(shown)

    def finish(self, *, cut: bool) -> list[ModelEvent]:
        """What remains: a call, or text of a model that did not keep to the shape."""
        if self._answering:
            return []
        if self._prose is not None:
            return self._said(self._prose.finish(cut=cut))
        raw = self._raw.strip()
        if cut and raw.startswith("{"):
            return []  # half a call is neither text nor a call
        reading = read_calls(raw, self._offered)
        return self._said(reading if reading.calls else _unknown(raw) or Reading(self._raw if raw else "", ()))

    def _said(self, reading: Reading) -> list[ModelEvent]:
        self.called = bool(reading.calls)
        return [*_text(reading.text), *call_events(reading.calls)]


def _unknown(raw: str) -> Reading | None:
    """A call of the shape that names no tool there is: the model is told so."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("tool"), str):
        return None
    return Reading("", (WrittenCall(value["tool"], json.dumps(value.get("args") or {})),))


def _text(shown: str) -> list[ModelEvent]:
    return [TextDelta(shown)] if shown else []


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
