"""OpenAI's chat-completions wire through the official SDK, for OpenAI and everyone who speaks it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from chatls_core.llm.cache_life import retains_for_a_day
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
    Usage,
    UsageReport,
)
from chatls_core.llm.history import Turn, call_arguments, images_of, normalise, result_text, whole_characters
from chatls_core.llm.messages import (
    ImagePart,
    ModelRequest,
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
from chatls_core.llm.wire import CallCollector, CharacterJoiner, ThinkTagSplitter, closing, paced, within

Json = dict[str, Any]

_STOPS: Mapping[str, ModelStop] = {
    "stop": "end",
    "eos": "end",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refused",
    "sensitive": "refused",
}


class OpenAIChatBackend(OpenAISdkBackend):
    """The chat-completions wire."""

    async def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """Ask once; see :class:`Backend`."""
        client = await self._connected()
        body = build(request, model, info, self._endpoint.provider, self._quirks)
        reader = _Reader(self._endpoint, model, self._quirks)
        started = False
        try:
            raw = await within(
                self._endpoint.first_timeout,
                lambda: client.post(
                    self._quirks.path, cast_to=_chunk_type(), body=body, stream=True, stream_cls=_stream_type()
                ),
            )
            async with closing(raw):
                kind = raw.response.headers.get("content-type", "")
                if "json" in kind or "html" in kind:
                    for event in reader.whole(await raw.response.aread()):
                        yield event
                    return
                async with aclosing(paced(raw, self._endpoint)) as items:
                    async for item in items:
                        started = True
                        for event in reader.read(item):
                            yield event
                for event in reader.finish():
                    yield event
        except ModelError:
            raise
        except Exception as error:
            for event in reader.partial_usage():
                yield event
            raise sdk_error(self._endpoint, error, started=started) from error


def _chunk_type() -> Any:
    from openai.types.chat import ChatCompletionChunk

    return ChatCompletionChunk


def _stream_type() -> Any:
    from openai import AsyncStream
    from openai.types.chat import ChatCompletionChunk

    return AsyncStream[ChatCompletionChunk]


# --- request --------------------------------------------------------------------------------------------------------


def build(request: ModelRequest, model: str, info: ModelInfo, provider: str, quirks: Quirks) -> Json:
    """The body of a chat-completions request. Same request, same bytes; a longer history only appends."""
    body: Json = {"model": model, "messages": [], "stream": True}
    marked = quirks.cache_markers and "claude" in model.lower()
    system = "\n\n".join(whole_characters(part) for part in request.system if part.strip())
    content: str | list[Json] = system
    if marked:
        content = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
    elif quirks.cache_key and takes_breakpoints(model):
        content = [{"type": "text", "text": system, "prompt_cache_breakpoint": BREAKPOINT}]
    if system:
        body["messages"].append({"role": "system", "content": content})
    breakpoints = sorted(set(request.breakpoints))[-2:] if marked else []
    for turn in normalise(request.messages, provider, breakpoints):
        body["messages"] += _assistant(turn, quirks) if turn.role == "assistant" else _user(turn)
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": t.name, "description": t.description, "parameters": dict(t.input_schema)},
            }
            for t in request.tools
        ]
    if quirks.usage_option:
        body["stream_options"] = {"include_usage": True}
    if request.cache_key and quirks.cache_key:
        body["prompt_cache_key"] = request.cache_key
        if request.cache_ttl == "1h" and retains_for_a_day(provider, model):
            body["prompt_cache_retention"] = "24h"
    if request.max_output_tokens:
        body[quirks.output_limit] = request.max_output_tokens
    if request.json_schema is not None:
        schema = {"name": "answer", "schema": dict(request.json_schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    _add_effort(body, request, model, quirks)
    body.update(quirks.extra)
    return body


def _add_effort(body: Json, request: ModelRequest, model: str, quirks: Quirks) -> None:
    if request.temperature is not None and not is_reasoning_model(model):
        body["temperature"] = request.temperature
    if not request.effort:
        return
    if quirks.thinking_switch:
        body["thinking"] = {"type": "disabled" if request.effort == "none" else "enabled"}
    elif (word := quirks.effort.get(request.effort)) and (is_reasoning_model(model) or not quirks.cache_key):
        body["reasoning_effort"] = word


def _assistant(turn: Turn, quirks: Quirks) -> list[Json]:
    text = "".join(whole_characters(p.text) for p in turn.parts if isinstance(p, TextPart))
    calls = [p for p in turn.parts if isinstance(p, ToolCallPart)]
    message: Json = {"role": "assistant", "content": text or None}
    if quirks.repeat_reasoning:
        kept = [
            p.opaque[quirks.repeat_reasoning]
            for p in turn.parts
            if isinstance(p, ReasoningPart) and p.opaque and quirks.repeat_reasoning in p.opaque
        ]
        if kept and isinstance(kept[0], str):
            message[quirks.repeat_reasoning] = "".join(str(k) for k in kept)
        elif kept:
            message[quirks.repeat_reasoning] = [d for k in kept if isinstance(k, list) for d in k]
    if calls:
        message["tool_calls"] = [
            {
                "id": c.id,
                "type": "function",
                "function": {
                    "name": c.name,
                    "arguments": c.raw if _is_object(c) else json.dumps(dict(call_arguments(c))),
                },
            }
            for c in calls
        ]
    return [message] if text or calls else []


def _is_object(call: ToolCallPart) -> bool:
    return not call.error and call.raw.lstrip().startswith("{")


def _user(turn: Turn) -> list[Json]:
    messages: list[Json] = []
    images: list[ImagePart] = []
    for part in turn.parts:
        if isinstance(part, ToolResultPart):
            content = whole_characters(result_text(part))
            messages.append({"role": "tool", "tool_call_id": part.call_id, "content": content})
            # This wire has no images in tool results: they follow in a message of the user's role.
            images += part.images
    rest = [b for b in turn.blocks if isinstance(b.part, (TextPart, ImagePart))]
    texts = [whole_characters(b.part.text) for b in rest if isinstance(b.part, TextPart)]
    marked = any(b.marked for b in rest)
    if not images and not images_of(b.part for b in rest) and not marked:
        return [*messages, {"role": "user", "content": "\n\n".join(texts)}] if texts else messages
    content_parts: list[Json] = [_image(image) for image in images]
    for block in rest:
        if isinstance(block.part, TextPart):
            content_parts.append({"type": "text", "text": whole_characters(block.part.text)})
        elif isinstance(block.part, ImagePart):
            content_parts.append(_image(block.part))
        if block.marked:
            content_parts[-1]["cache_control"] = {"type": "ephemeral"}
    return [*messages, {"role": "user", "content": content_parts}]


def _image(image: ImagePart) -> Json:
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{image.data}"}}


# --- answer ---------------------------------------------------------------------------------------------------------


class _Reader:
    """Turns chunks into our events. The end is known only from ``finish_reason``: a stream without it was cut."""

    def __init__(self, endpoint: Endpoint, model: str, quirks: Quirks) -> None:
        self._endpoint = endpoint
        self._quirks = quirks
        self._calls = CallCollector()
        self._joiner = CharacterJoiner()
        self._tags = ThinkTagSplitter()
        self._usage = Usage(model=model, provider=endpoint.provider)
        self._seen_usage = False
        self._reasoning: list[str] = []
        self._details: list[Any] = []
        self._stop = ""
        self._called = False

    def read(self, item: Any) -> list[ModelEvent]:
        """Our events for one chunk."""
        self._count(getattr(item, "usage", None))
        events: list[ModelEvent] = []
        for choice in getattr(item, "choices", None) or []:
            delta = choice.delta
            if delta is not None:
                events += self._delta(delta)
            if choice.finish_reason:
                self._stop = choice.finish_reason
                self._count((choice.model_extra or {}).get("usage"))  # Moonshot's place for it
        return events

    def _delta(self, delta: Any) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        extra = delta.model_extra or {}
        thought = extra.get("reasoning_content") or extra.get("reasoning") or ""
        if details := extra.get("reasoning_details"):
            self._details += details if isinstance(details, list) else [details]
        if isinstance(thought, str) and thought:
            self._reasoning.append(thought)
            events.append(ReasoningDelta(thought))
        if delta.content:
            for thought_too, piece in self._tags.feed(self._joiner.feed(delta.content)):
                events += self._piece(thought_too, piece)
        if delta.refusal:
            self._stop = "content_filter"
            events.append(TextDelta(delta.refusal))
        for call in delta.tool_calls or []:
            events += self._reasoning_done()
            self._called = True
            function = call.function
            name, arguments = (function.name or "", function.arguments or "") if function else ("", "")
            key = self._calls.key_for(getattr(call, "index", None) or 0, call.id or "")
            events += self._calls.add(key, call.id or "", name, arguments)
        return events

    def _piece(self, thought: bool, text: str) -> list[ModelEvent]:
        if thought:
            self._reasoning.append(text)
            return [ReasoningDelta(text)]
        return [*self._reasoning_done(), TextDelta(text)] if text else []

    def _reasoning_done(self) -> list[ModelEvent]:
        if not self._reasoning and not self._details:
            return []
        text = "".join(self._reasoning)
        opaque: Json | None = None
        if self._quirks.repeat_reasoning == "reasoning_details" and self._details:
            opaque = {"reasoning_details": self._details}
        elif self._quirks.repeat_reasoning == "reasoning_content":
            opaque = {"reasoning_content": text}
        self._reasoning, self._details = [], []
        return [ReasoningDone(ReasoningPart(text, self._endpoint.provider, opaque))]

    def _count(self, usage: Any) -> None:
        if usage is None:
            return
        if not isinstance(usage, dict):
            usage = usage.model_dump()
        if not usage.get("prompt_tokens") and not usage.get("completion_tokens"):
            return
        self._seen_usage = True
        details = usage.get("prompt_tokens_details") or {}
        read = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or usage.get("cached_tokens") or 0
        write = details.get("cache_write_tokens") or 0
        thought = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
        self._usage = replace(
            self._usage,
            input_tokens=max(0, (usage.get("prompt_tokens") or 0) - read - write),
            output_tokens=usage.get("completion_tokens") or 0,
            reasoning_tokens=thought,
            cache_read_tokens=read,
            cache_write_tokens=write,
        )

    def partial_usage(self) -> list[ModelEvent]:
        """What a broken stream cost so far."""
        return [UsageReport(self._usage)] if self._seen_usage else []

    def finish(self) -> list[ModelEvent]:
        """The closing events. Raises when the stream ended without a finish reason."""
        if not self._stop:
            raise cut_off(self._endpoint.provider)
        if self._stop == "error":
            who = self._endpoint.provider
            raise VendorError("server", f"{who} failed in the middle of the answer.", provider=who)
        rest = [event for thought, piece in self._tags.end() for event in self._piece(thought, piece)]
        stop = _STOPS.get(self._stop, "end")
        if self._called and stop == "end":
            stop = "tool_use"  # some services say "stop" after calls
        ended = [*rest, *self._reasoning_done(), *self._calls.finish_all()]
        return [*ended, UsageReport(self._usage), Stopped(stop, self._stop)]

    def whole(self, body: bytes) -> list[ModelEvent]:
        """Our events for an answer sent in one piece."""
        from openai.types.chat.chat_completion_chunk import ChatCompletionChunk

        try:
            answer = json.loads(body)
            choices = [{**c, "delta": c.get("message") or {}} for c in answer["choices"]]
            for choice in choices:
                for index, call in enumerate(choice["delta"].get("tool_calls") or []):
                    call["index"] = index
            chunk = ChatCompletionChunk.construct(**{**answer, "choices": choices})
        except (ValueError, KeyError, TypeError, AttributeError):
            raise http_error(self._endpoint, 0, {}, body) from None
        return [*self.read(chunk), *self.finish()]
