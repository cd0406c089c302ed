"""OpenAI's Responses API through the official SDK. Nothing is stored at the vendor: reasoning travels encrypted."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from typing import Any

from chatls_core.llm.cache_life import retains_for_a_day
from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.errors import cut_off, http_error
from chatls_core.llm.events import (
    ModelError,
    ModelEvent,
    ModelStop,
    ReasoningDelta,
    ReasoningDone,
    Stopped,
    TextDelta,
    Usage,
    UsageReport,
)
from chatls_core.llm.history import Turn, call_arguments, normalise, result_text, whole_characters
from chatls_core.llm.messages import (
    ImagePart,
    ModelRequest,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.providers.openai_models import BREAKPOINT, is_reasoning_model, takes_breakpoints
from chatls_core.llm.providers.openai_sdk import OpenAISdkBackend
from chatls_core.llm.providers.sdk import sdk_error
from chatls_core.llm.quirks import Quirks
from chatls_core.llm.wire import CallCollector, CharacterJoiner, closing, within

Json = dict[str, Any]

_STOPS: Mapping[str, ModelStop] = {"max_output_tokens": "max_tokens", "content_filter": "refused"}


class OpenAIResponsesBackend(OpenAISdkBackend):
    """The Responses wire."""

    async def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """Ask once; see :class:`Backend`."""
        client = await self._connected()
        body = build(request, model, self._endpoint.provider, self._quirks)
        reader = _Reader(self._endpoint, model)
        started = False
        try:
            raw = await within(self._endpoint.first_timeout, lambda: client.responses.create(**body, stream=True))
            async with closing(raw):
                kind = raw.response.headers.get("content-type", "")
                if "json" in kind or "html" in kind:
                    for event in reader.whole(await raw.response.aread()):
                        yield event
                    return
                async for item in raw:
                    started = True
                    for event in reader.read(item):
                        yield event
        except ModelError:
            raise
        except Exception as error:
            raise sdk_error(self._endpoint, error, started=started) from error
        if not reader.stopped:
            raise cut_off(self._endpoint.provider)

    async def count_tokens(self, request: ModelRequest, model: str, info: ModelInfo) -> int | None:
        """Input tokens by the ``responses/input_tokens`` endpoint."""
        client = await self._connected()
        body = build(request, model, self._endpoint.provider, self._quirks)
        kept = {k: v for k, v in body.items() if k in ("model", "input", "instructions", "tools", "reasoning", "text")}
        try:
            return int((await client.responses.input_tokens.count(**kept)).input_tokens)
        except Exception as error:
            raise sdk_error(self._endpoint, error, started=False) from error


# --- request --------------------------------------------------------------------------------------------------------


def build(request: ModelRequest, model: str, provider: str, quirks: Quirks) -> Json:
    """The body of a Responses request. Same request, same bytes; a longer history only appends."""
    items: list[Json] = []
    system = "\n\n".join(whole_characters(part) for part in request.system if part.strip())
    body: Json = {"model": model, "store": False}
    if system and quirks.cache_key and takes_breakpoints(model):
        # ``instructions`` cannot carry the breakpoint.
        content = [{"type": "input_text", "text": system, "prompt_cache_breakpoint": BREAKPOINT}]
        items.append({"type": "message", "role": "developer", "content": content})
    elif system:
        body["instructions"] = system
    for turn in normalise(request.messages, provider):
        items += _assistant(turn) if turn.role == "assistant" else _user(turn)
    body["input"] = items
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": t.name,
                "description": t.description,
                "parameters": dict(t.input_schema),
                "strict": False,
            }
            for t in request.tools
        ]
    if request.cache_key and quirks.cache_key:
        body["prompt_cache_key"] = request.cache_key
        if request.cache_ttl == "1h" and retains_for_a_day(provider, model):
            body["prompt_cache_retention"] = "24h"
    if request.max_output_tokens:
        body["max_output_tokens"] = request.max_output_tokens
    if request.json_schema is not None:
        form = {"type": "json_schema", "name": "answer", "schema": dict(request.json_schema), "strict": True}
        body["text"] = {"format": form}
    if is_reasoning_model(model):
        body["include"] = ["reasoning.encrypted_content"]
        body["reasoning"] = {"summary": "auto"}
        if effort := quirks.effort.get(request.effort):
            body["reasoning"]["effort"] = effort
    elif request.temperature is not None:
        body["temperature"] = request.temperature
    return body


def _assistant(turn: Turn) -> list[Json]:
    items: list[Json] = []
    parts = list(turn.parts)
    while parts and isinstance(parts[-1], ReasoningPart):
        parts.pop()  # a reasoning item without what it led to is refused
    for part in parts:
        if isinstance(part, ReasoningPart) and part.opaque:
            items.append(dict(part.opaque))
        elif isinstance(part, TextPart):
            content = [{"type": "output_text", "text": whole_characters(part.text)}]
            items.append({"type": "message", "role": "assistant", "content": content})
        elif isinstance(part, ToolCallPart):
            arguments = json.dumps(dict(call_arguments(part)))
            items.append({"type": "function_call", "call_id": part.id, "name": part.name, "arguments": arguments})
    return items


def _user(turn: Turn) -> list[Json]:
    items: list[Json] = []
    content: list[Json] = []
    for part in turn.parts:
        if isinstance(part, ToolResultPart):
            output: str | list[Json] = whole_characters(result_text(part))
            if part.images:
                output = [{"type": "input_text", "text": output}, *(_image(image) for image in part.images)]
            items.append({"type": "function_call_output", "call_id": part.call_id, "output": output})
        elif (made := _content(part)) is not None:
            content.append(made)
    if content:
        items.append({"type": "message", "role": "user", "content": content})
    return items


def _content(part: Part) -> Json | None:
    if isinstance(part, TextPart):
        return {"type": "input_text", "text": whole_characters(part.text)}
    return _image(part) if isinstance(part, ImagePart) else None


def _image(image: ImagePart) -> Json:
    url = f"data:{image.media_type};base64,{image.data}"
    return {"type": "input_image", "image_url": url, "detail": "auto"}


# --- answer ---------------------------------------------------------------------------------------------------------


class _Reader:
    """Turns stream events into ours."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model
        self._calls = CallCollector()
        self._joiner = CharacterJoiner()
        self._thought: dict[int, str] = {}
        self._called = False
        self._refused = False
        self.stopped = False

    def read(self, item: Any) -> list[ModelEvent]:
        """Our events for one of the vendor's; unknown ones give none."""
        match item.type:
            case "response.output_text.delta":
                text = self._joiner.feed(item.delta)
                return [TextDelta(text)] if text else []
            case "response.refusal.delta":
                self._refused = True
                return [TextDelta(item.delta)]
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                before = self._thought.get(item.output_index, "")
                self._thought[item.output_index] = before + item.delta
                return [ReasoningDelta(item.delta)]
            case "response.reasoning_summary_part.added" if self._thought.get(item.output_index):
                self._thought[item.output_index] += "\n\n"
                return [ReasoningDelta("\n\n")]
            case "response.output_item.added" if item.item.type == "function_call":
                self._called = True
                return [*self._calls.add(item.output_index, item.item.call_id, item.item.name)]
            case "response.function_call_arguments.delta":
                return [*self._calls.add(item.output_index, arguments=item.delta)]
            case "response.output_item.done":
                return self._done(item.output_index, item.item)
            case "response.completed" | "response.incomplete":
                return self._finish(item.response)
            case "response.failed" | "error":
                raise self._failure(item)
        return []

    def _done(self, index: int, item: Any) -> list[ModelEvent]:
        if item.type == "function_call":
            return [*self._calls.finish(index, item.arguments)]
        if item.type == "reasoning":
            text = self._thought.pop(index, "") or "\n\n".join(s.text for s in item.summary or [])
            whole = item.model_dump(exclude_none=True, exclude={"status", "content"})
            # Without its encrypted text the item means nothing to a vendor that stores nothing.
            opaque = whole if whole.get("encrypted_content") else None
            return [ReasoningDone(ReasoningPart(text, self._endpoint.provider, opaque))]
        return []

    def _failure(self, item: Any) -> ModelError:
        error = item.response.error if item.type == "response.failed" else item
        body = {"error": {"code": getattr(error, "code", None), "message": getattr(error, "message", None) or ""}}
        return http_error(self._endpoint, 0, {}, body)

    def _finish(self, response: Any) -> list[ModelEvent]:
        self.stopped = True
        reason = getattr(response.incomplete_details, "reason", None) or ""
        stop: ModelStop = "tool_use" if self._called else "end"
        if response.status == "incomplete":
            stop = _STOPS.get(reason, "max_tokens")
        elif self._refused:
            stop = "refused"
        usage = _usage(response.usage, Usage(model=self._model, provider=self._endpoint.provider))
        return [*self._calls.finish_all(), UsageReport(usage), Stopped(stop, reason or response.status or "")]

    def whole(self, body: bytes) -> list[ModelEvent]:
        """Our events for an answer sent in one piece."""
        from openai.types.responses import Response

        try:
            response = Response.model_validate(json.loads(body))
        except ValueError:
            raise http_error(self._endpoint, 0, {}, body) from None
        events: list[ModelEvent] = []
        for index, item in enumerate(response.output):
            if item.type == "message":
                events += [TextDelta(c.text) for c in item.content if c.type == "output_text"]
            elif item.type == "function_call":
                self._called = True
                events += self._calls.add(index, item.call_id, item.name, item.arguments)
            events += self._done(index, item)
        return [*events, *self._finish(response)]


def _usage(found: Any, into: Usage) -> Usage:
    if found is None:
        return into
    details = getattr(found, "input_tokens_details", None)
    read = getattr(details, "cached_tokens", None) or 0
    write = getattr(details, "cache_write_tokens", None) or 0
    return replace(
        into,
        input_tokens=max(0, (found.input_tokens or 0) - read - write),
        output_tokens=found.output_tokens or 0,
        reasoning_tokens=getattr(getattr(found, "output_tokens_details", None), "reasoning_tokens", None) or 0,
        cache_read_tokens=read,
        cache_write_tokens=write,
    )
