"""Ollama's own chat API over HTTP: the one that lets us set the context length."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from chatls_core.llm.backend import Listed
from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.errors import VendorError, cut_off, http_error
from chatls_core.llm.events import (
    ModelError,
    ModelEvent,
    ModelStop,
    ReasoningDelta,
    ReasoningDone,
    Stopped,
    TextDelta,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStarted,
    Usage,
    UsageReport,
)
from chatls_core.llm.history import Turn, call_arguments, normalise, result_text, whole_characters
from chatls_core.llm.messages import (
    ImagePart,
    ModelRequest,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.providers.http import HttpService
from chatls_core.llm.wire import new_call_id

Json = dict[str, Any]

LONGEST_WINDOW = 16_384
"""Context asked for where the user sets none: a model's whole window can need more memory than the machine has."""

_SHOWN = 30
"""Models whose details are asked for in one listing."""


class OllamaBackend:
    """The ``/api/chat`` wire."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        key = endpoint.key.reveal()
        self._http = HttpService(endpoint, {"Authorization": f"Bearer {key}"} if key else {})

    async def load(self) -> None:
        """Load what the first request needs; see :class:`Backend`."""
        await self._http.load()

    async def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """Ask once; see :class:`Backend`."""
        reader = _Reader(self._endpoint, model)
        body = build(request, model, info, self._endpoint.provider)
        async with aclosing(self._http.lines("/api/chat", body)) as lines:
            async for line in lines:
                if line.strip():
                    for event in reader.read(line):
                        yield event
        if not reader.stopped:
            raise cut_off(self._endpoint.provider)

    async def count_tokens(self, request: ModelRequest, model: str, info: ModelInfo) -> int | None:
        """``None``: not offered."""
        return None

    async def list_models(self) -> Sequence[Listed]:
        """The installed models with their windows and abilities."""
        answer = await self._http.json("GET", "/api/tags")
        names = [str(item.get("model") or item.get("name")) for item in answer.get("models", [])]
        details = await asyncio.gather(*(self._details(name) for name in names[:_SHOWN]))
        return [*details, *(Listed(name) for name in names[_SHOWN:])]

    async def _details(self, name: str) -> Listed:
        try:
            shown = await self._http.json("POST", "/api/show", {"model": name})
        except ModelError:
            return Listed(name)  # one broken model must not hide the others
        facts = shown.get("model_info") or {}
        window = next((v for k, v in facts.items() if k.endswith(".context_length") and isinstance(v, int)), None)
        able = shown.get("capabilities")
        return Listed(
            name,
            window=min(window, LONGEST_WINDOW) if window else None,
            tools="tools" in able if isinstance(able, list) else None,
            images="vision" in able if isinstance(able, list) else None,
            reasoning="thinking" in able if isinstance(able, list) else None,
        )

    async def aclose(self) -> None:
        """Drop all connections."""
        await self._http.aclose()


# --- request --------------------------------------------------------------------------------------------------------


def build(request: ModelRequest, model: str, info: ModelInfo, provider: str) -> Json:
    """The body of a chat request.

    ``num_ctx`` is always sent: Ollama's default is small, and it silently cuts the start of what is longer.
    """
    messages: list[Json] = []
    system = "\n\n".join(whole_characters(part) for part in request.system if part.strip())
    if system:
        messages.append({"role": "system", "content": system})
    for turn in normalise(request.messages, provider):
        messages += _assistant(turn) if turn.role == "assistant" else _user(turn)
    options: Json = {"num_ctx": info.window}
    if request.max_output_tokens:
        options["num_predict"] = request.max_output_tokens
    if request.temperature is not None:
        options["temperature"] = request.temperature
    body: Json = {"model": model, "messages": messages, "stream": True, "options": options}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": t.name, "description": t.description, "parameters": dict(t.input_schema)},
            }
            for t in request.tools
        ]
    if request.json_schema is not None:
        body["format"] = dict(request.json_schema)
    if info.reasoning and request.effort:
        # gpt-oss takes a level, the others a switch.
        level = {"max": "high"}.get(request.effort, request.effort)
        body["think"] = level if "gpt-oss" in model and level != "none" else request.effort != "none"
    return body


def _assistant(turn: Turn) -> list[Json]:
    text = "".join(whole_characters(p.text) for p in turn.parts if isinstance(p, TextPart))
    calls = [p for p in turn.parts if isinstance(p, ToolCallPart)]
    message: Json = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [{"function": {"name": c.name, "arguments": dict(call_arguments(c))}} for c in calls]
    return [message] if text or calls else []


def _user(turn: Turn) -> list[Json]:
    messages: list[Json] = []
    images: list[str] = []
    texts: list[str] = []
    for part in turn.parts:
        if isinstance(part, ToolResultPart):
            content = whole_characters(result_text(part))
            messages.append({"role": "tool", "tool_name": part.name, "content": content})
            images += [image.data for image in part.images]
        elif isinstance(part, TextPart):
            texts.append(whole_characters(part.text))
        elif isinstance(part, ImagePart):
            images.append(part.data)
    if texts or images:
        message: Json = {"role": "user", "content": "\n\n".join(texts)}
        if images:
            message["images"] = images
        messages.append(message)
    return messages


# --- answer ---------------------------------------------------------------------------------------------------------


class _Reader:
    """Turns lines into our events. Calls come whole and without ids."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model
        self._thought: list[str] = []
        self._called = False
        self.stopped = False

    def read(self, line: bytes) -> list[ModelEvent]:
        """Our events for one line."""
        who = self._endpoint.provider
        try:
            item = json.loads(line)
        except ValueError as error:
            raise VendorError("server", f"{who} sent a broken line.", provider=who) from error
        if "error" in item:
            raise http_error(self._endpoint, 0, {}, item)
        message = item.get("message") or {}
        events: list[ModelEvent] = []
        if thought := message.get("thinking"):
            self._thought.append(thought)
            events.append(ReasoningDelta(thought))
        if text := message.get("content"):
            events += [*self._reasoning_done(), TextDelta(text)]
        for call in message.get("tool_calls") or []:
            events += [*self._reasoning_done(), *self._call(call.get("function") or {})]
        if item.get("done"):
            events += self._finish(item)
        return events

    def _call(self, function: Mapping[str, Any]) -> list[ModelEvent]:
        self._called = True
        call_id, name, arguments = new_call_id(), str(function.get("name", "")), function.get("arguments")
        if not isinstance(arguments, dict):
            arguments = {}
        raw = json.dumps(arguments)
        done = ToolCallPart(call_id, name, arguments, raw)
        return [ToolCallStarted(call_id, name), ToolCallDelta(call_id, raw), ToolCallDone(done)]

    def _reasoning_done(self) -> list[ModelEvent]:
        text = "".join(self._thought)
        self._thought = []
        return [ReasoningDone(ReasoningPart(text, self._endpoint.provider))] if text else []

    def _finish(self, item: Mapping[str, Any]) -> list[ModelEvent]:
        self.stopped = True
        reason = str(item.get("done_reason") or "")
        stop: ModelStop = "max_tokens" if reason == "length" else "tool_use" if self._called else "end"
        usage = Usage(
            input_tokens=item.get("prompt_eval_count") or 0,
            output_tokens=item.get("eval_count") or 0,
            model=self._model,
            provider=self._endpoint.provider,
        )
        return [*self._reasoning_done(), UsageReport(usage), Stopped(stop, reason)]
