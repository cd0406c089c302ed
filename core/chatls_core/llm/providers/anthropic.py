"""Anthropic's Messages API through the official SDK (spec/agent.md §1.5, §8.3).

Cache markers: the last tool, the end of the system text, and the last block of each message in
``request.breakpoints``; never more than four in all.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chatls_core.llm.backend import Listed
from chatls_core.llm.cache_life import carries_hour
from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.errors import cut_off, http_error
from chatls_core.llm.events import (
    ModelEnds,
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
from chatls_core.llm.history import Block, call_arguments, normalise, whole_characters
from chatls_core.llm.messages import (
    ImagePart,
    ModelRequest,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.providers import anthropic_context
from chatls_core.llm.providers.sdk import sdk_error
from chatls_core.llm.wire import CallCollector, CharacterJoiner, closing, within

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncAnthropicBedrockMantle, AsyncAnthropicVertex

    AnyClient = AsyncAnthropic | AsyncAnthropicBedrockMantle | AsyncAnthropicVertex

log = logging.getLogger(__name__)

Json = dict[str, Any]

_HOUR_BETA = "extended-cache-ttl-2025-04-11"
_MAX_MARKERS = 4
_CLOUDS = ("bedrock", "vertex")
_DEFAULT_MAX_TOKENS = 32_000
"""Asked for where nobody says: enough for a long file, small enough to leave the window to the prompt."""

_THINKING_TOKENS = {"low": 2048, "medium": 4096, "high": 16_384, "max": 31_999}
_STOPS: Mapping[str, ModelStop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refused",
}


def thinking_style(model: str) -> str:
    """How a Claude model is told to think: ``adaptive``, ``budget`` (a number of tokens) or ``""`` (it cannot)."""
    found = re.search(r"claude-(?:([a-z]+)-)?(\d+)(?:[-.](\d{1,2})(?!\d))?", model.lower())
    if not found:
        return ""
    version = (int(found.group(2)), int(found.group(3) or 0))
    if version >= (4, 6):
        return "adaptive"
    return "budget" if version >= (3, 7) else ""


def _last_day(model: str) -> str:
    """Until when the vendor offers a model, in the words of its SDK; empty where no end is announced."""
    from anthropic.resources.messages import messages

    # No public part of the SDK, so a later version may be without.
    return str(getattr(messages, "DEPRECATED_MODELS", {}).get(model, ""))


class AnthropicBackend:
    """The Messages wire. ``make_client`` builds the SDK's client (Bedrock and Vertex have clients of their own)."""

    def __init__(self, endpoint: Endpoint, make_client: Callable[[Endpoint], AnyClient] | None = None) -> None:
        self._endpoint = endpoint
        self._make_client = make_client or _client
        self._client: AnyClient | None = None
        self._edits_refused = False
        self._ends_told: set[str] = set()
        self._opening = asyncio.Lock()

    async def _connected(self) -> AnyClient:
        async with self._opening:
            if self._client is None:
                # Importing the SDK takes about a second: not on the event loop.
                self._client = await asyncio.to_thread(self._make_client, self._endpoint)
            return self._client

    async def load(self) -> None:
        """Load what the first request needs; see :class:`Backend`."""
        await self._connected()

    async def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """Ask once; see :class:`Backend`. Where the service does not edit contexts, it is asked again without."""
        if self._edits_refused or self._endpoint.provider in _CLOUDS:
            request = replace(request, context_engine="builtin")
        try:
            async with aclosing(self._asked(request, model, info)) as events:
                async for event in events:
                    yield event
            return
        except ModelError as error:
            if request.context_engine == "builtin" or error.status != 400 or "context_management" not in str(error):
                raise
            log.info("%s does not edit contexts: %s", self._endpoint.provider, error)
            self._edits_refused = True
        async with aclosing(self._asked(replace(request, context_engine="builtin"), model, info)) as events:
            async for event in events:
                yield event

    async def _asked(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """The answer; before its end, once for each model, that the vendor has announced the end of the model."""
        async with aclosing(self._answer(request, model, info)) as events:
            async for event in events:
                if isinstance(event, Stopped) and (day := _last_day(model)) and model not in self._ends_told:
                    self._ends_told.add(model)
                    yield ModelEnds(model, day)
                yield event

    async def _answer(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        client = await self._connected()
        body = build(request, model, info, self._endpoint.provider)
        options: Json = {}
        features = (*((_HOUR_BETA,) if request.cache_ttl == "1h" else ()), *anthropic_context.betas(request))
        if features:
            options["extra_headers"] = {"anthropic-beta": ",".join(features)}
        # The temperature only older models take, and what is in beta: the SDK's signature has neither.
        beside = {name: body.pop(name) for name in ("temperature", "context_management") if name in body}
        if beside:
            options["extra_body"] = beside
        reader = _Reader(self._endpoint, model)
        started = False
        try:
            raw = await within(
                self._endpoint.first_timeout,
                lambda: client.messages.create(**body, stream=True, **options),
            )
            async with closing(raw):
                kind = raw.response.headers.get("content-type", "")
                if "event-stream" not in kind:
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
            for event in reader.partial_usage():
                yield event
            raise sdk_error(self._endpoint, error, started=started) from error
        if not reader.stopped:
            for event in reader.partial_usage():
                yield event
            raise cut_off(self._endpoint.provider)

    async def count_tokens(self, request: ModelRequest, model: str, info: ModelInfo) -> int | None:
        """Input tokens by the ``count_tokens`` endpoint."""
        client = await self._connected()
        body = build(request, model, info, self._endpoint.provider)
        kept = {k: v for k, v in body.items() if k in ("model", "messages", "system", "tools", "thinking")}
        try:
            return int((await client.messages.count_tokens(**kept)).input_tokens)
        except Exception as error:
            raise sdk_error(self._endpoint, error, started=False) from error

    async def list_models(self) -> Sequence[Listed]:
        """The account's models."""
        client = await self._connected()
        if not hasattr(client, "models"):
            return ()  # the clouds' endpoints have no listing
        try:
            found = [item async for item in client.models.list(limit=100)]
        except Exception as error:
            raise sdk_error(self._endpoint, error, started=False) from error
        return [
            Listed(
                item.id,
                getattr(item, "display_name", "") or "",
                window=getattr(item, "max_input_tokens", None),
                max_output=getattr(item, "max_tokens", None),
            )
            for item in found
        ]

    async def aclose(self) -> None:
        """Drop all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def _client(endpoint: Endpoint) -> AsyncAnthropic:
    import httpx2
    from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

    headers = dict(endpoint.default_headers)
    if endpoint.key and not endpoint.base_url.startswith("https://api.anthropic.com"):
        # The SDK sends a bearer token; gateways often know only the wire's older header.
        headers["X-Api-Key"] = endpoint.key.reveal()
    client = AsyncAnthropic(
        api_key=endpoint.key.reveal() or "none",
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=httpx2.Timeout(endpoint.idle_timeout, connect=endpoint.connect_timeout, read=endpoint.idle_timeout),
        default_headers=headers,
        http_client=DefaultAsyncHttpxClient(**endpoint.client_options()),
    )
    # Touched here because the first access imports the resource's module.
    _ = client.messages
    return client


# --- request --------------------------------------------------------------------------------------------------------


def build(request: ModelRequest, model: str, info: ModelInfo, provider: str) -> Json:
    """The body of a Messages request. Same request, same bytes; a longer history only appends."""
    # A request made for the first choice may reach one that stands in for it.
    hour = request.cache_ttl == "1h" and (provider not in _CLOUDS or carries_hour(provider, model))
    marker: Json = {"type": "ephemeral", "ttl": "1h"} if hour else {"type": "ephemeral"}
    limit = request.max_output_tokens or min(info.max_output or _DEFAULT_MAX_TOKENS, _DEFAULT_MAX_TOKENS)
    body: Json = {"model": model, "max_tokens": limit}
    _add_thinking(body, request, model)
    management = anthropic_context.edits(request, thinks="thinking" in body)
    if management is not None:
        body["context_management"] = management
    system: list[Json] = [{"type": "text", "text": whole_characters(part)} for part in request.system if part.strip()]
    budget = _MAX_MARKERS
    if request.tools:
        body["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": dict(t.input_schema)} for t in request.tools
        ]
        body["tools"][-1]["cache_control"] = marker
        budget -= 1
    if system:
        system[-1] = {**system[-1], "cache_control": marker}
        body["system"] = system
        budget -= 1
    # A later marker covers a longer prefix, so the earliest ones give way.
    breakpoints = sorted(set(request.breakpoints))[-min(budget, 2) :]
    messages: list[Json] = []
    for turn in normalise(request.messages, provider, breakpoints):
        content = [block for part in turn.blocks if (block := _block(part, marker)) is not None]
        if content:
            messages.append({"role": turn.role, "content": content})
    if not messages or messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": [{"type": "text", "text": "(The conversation continues.)"}]})
    body["messages"] = messages
    return body


def _add_thinking(body: Json, request: ModelRequest, model: str) -> None:
    style = thinking_style(model)
    effort = request.effort
    thinks = False
    if style == "adaptive" and effort not in ("", "none"):
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
        body["output_config"] = {"effort": effort}
        thinks = True
    elif style == "budget" and effort in _THINKING_TOKENS:
        budget = min(_THINKING_TOKENS[effort], body["max_tokens"] - 1024)
        if budget >= 1024:  # the vendor's least
            body["thinking"] = {"type": "enabled", "budget_tokens": budget}
            thinks = True
    if request.temperature is not None and not thinks and style != "adaptive":
        body["temperature"] = request.temperature


def _block(block: Block, marker: Json) -> Json | None:
    part = block.part
    made: Json
    match part:
        case TextPart():
            made = {"type": "text", "text": whole_characters(part.text)}
        case ImagePart():
            made = _image(part)
        case ReasoningPart():
            return dict(part.opaque) if part.opaque else None
        case ToolCallPart():
            made = {"type": "tool_use", "id": part.id, "name": part.name, "input": dict(call_arguments(part))}
        case ToolResultPart():
            made = {"type": "tool_result", "tool_use_id": part.call_id, "content": _result_content(part)}
            if part.is_error:
                made["is_error"] = True
    if block.marked:
        made["cache_control"] = marker
    return made


def _result_content(part: ToolResultPart) -> str | list[Json]:
    text = whole_characters(part.text) or ("(error without text)" if part.is_error else "(no output)")
    if not part.images:
        return text
    return [{"type": "text", "text": text}, *(_image(image) for image in part.images)]


def _image(image: ImagePart) -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.data}}


# --- answer ---------------------------------------------------------------------------------------------------------


class _Reader:
    """Turns stream events into ours."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._calls = CallCollector()
        self._joiner = CharacterJoiner()
        self._thinking: dict[int, Json] = {}
        self._usage = Usage(model=model, provider=endpoint.provider)
        self._stop = ""
        self._seen_usage = False
        self._summarised = False
        self._iterations: Any = None
        self._edits: Any = None
        self.stopped = False

    def read(self, item: Any) -> list[ModelEvent]:
        """Our events for one of the vendor's; unknown ones give none."""
        match item.type:
            case "message_start":
                self._count(getattr(item.message, "usage", None))
            case "content_block_start":
                return self._begin(item.index, item.content_block)
            case "content_block_delta":
                return self._delta(item.index, item.delta)
            case "content_block_stop":
                return self._end(item.index)
            case "message_delta":
                self._stop = getattr(item.delta, "stop_reason", None) or self._stop
                self._edits = getattr(item, "context_management", None)
                self._count(getattr(item, "usage", None))
            case "message_stop":
                return self._finish()
        return []

    def _begin(self, index: int, block: Any) -> list[ModelEvent]:
        if block.type == anthropic_context.SUMMARY_BLOCK:
            self._summarised = True
        if block.type in ("thinking", "redacted_thinking", anthropic_context.SUMMARY_BLOCK):
            self._thinking[index] = block.model_dump(exclude_none=True)
            return [ReasoningDelta(block.thinking)] if getattr(block, "thinking", "") else []
        if block.type == "tool_use":
            return [*self._calls.add(index, block.id, block.name)]
        if block.type == "text" and block.text:
            return [TextDelta(block.text)]
        return []

    def _delta(self, index: int, delta: Any) -> list[ModelEvent]:
        match delta.type:
            case "text_delta":
                text = self._joiner.feed(delta.text)
                return [TextDelta(text)] if text else []
            case "thinking_delta":
                block = self._thinking.setdefault(index, {"type": "thinking", "thinking": ""})
                block["thinking"] = block.get("thinking", "") + delta.thinking
                return [ReasoningDelta(delta.thinking)] if delta.thinking else []
            case "compaction_delta":
                told = {name: getattr(delta, name, None) for name in ("content", "encrypted_content")}
                block = self._thinking.setdefault(index, {"type": anthropic_context.SUMMARY_BLOCK})
                block.update({name: value for name, value in told.items() if value is not None})
            case "signature_delta":
                block = self._thinking.setdefault(index, {"type": "thinking", "thinking": ""})
                block["signature"] = block.get("signature", "") + delta.signature
            case "input_json_delta":
                return [*self._calls.add(index, arguments=delta.partial_json)]
        return []

    def _end(self, index: int) -> list[ModelEvent]:
        if index in self._thinking:
            return [self._reasoning(self._thinking.pop(index))]
        return [*self._calls.finish(index)]

    def _reasoning(self, block: Json) -> ReasoningDone:
        # Without its signature a thinking block is refused when it is sent back.
        whole = block if block.get("signature") or block["type"] != "thinking" else None
        return ReasoningDone(ReasoningPart(block.get("thinking", ""), self._endpoint.provider, whole))

    def _count(self, usage: Any) -> None:
        if usage is None:
            return
        self._seen_usage = True

        def read(name: str, before: int) -> int:
            value = getattr(usage, name, None)
            return before if value is None else int(value)

        details = getattr(usage, "output_tokens_details", None)
        self._iterations = getattr(usage, "iterations", None) or self._iterations
        self._usage = replace(
            self._usage,
            input_tokens=read("input_tokens", self._usage.input_tokens),
            output_tokens=read("output_tokens", self._usage.output_tokens),
            cache_read_tokens=read("cache_read_input_tokens", self._usage.cache_read_tokens),
            cache_write_tokens=read("cache_creation_input_tokens", self._usage.cache_write_tokens),
            reasoning_tokens=int(getattr(details, "thinking_tokens", None) or self._usage.reasoning_tokens),
        )

    def partial_usage(self) -> list[ModelEvent]:
        """What a broken stream cost so far."""
        return [UsageReport(self._spent())] if self._seen_usage else []

    def _spent(self) -> Usage:
        """What the answer cost, with the summaries that its own counts leave out."""
        read, written = anthropic_context.summary_cost(self._iterations)
        return replace(self._usage, output_tokens=self._usage.output_tokens + written, aside_tokens=read)

    def _finish(self) -> list[ModelEvent]:
        self.stopped = True
        cleared = anthropic_context.applied(self._edits, summarised=self._summarised)
        return [
            *self._calls.finish_all(),
            *cleared,
            UsageReport(self._spent()),
            Stopped(_STOPS.get(self._stop, "end"), self._stop),
        ]

    def whole(self, body: bytes) -> list[ModelEvent]:
        """Our events for an answer that a gateway sent in one piece."""
        import json

        from anthropic.types import Message as WholeMessage

        try:
            message = WholeMessage.model_validate(json.loads(body))
        except ValueError:
            raise http_error(self._endpoint, 0, {}, body) from None
        events: list[ModelEvent] = []
        self._count(message.usage)
        for index, block in enumerate(message.content):
            if block.type == "tool_use":
                events += self._calls.add(index, block.id, block.name, json.dumps(block.input))
            else:
                events += self._begin(index, block)
            events += self._end(index)
        self._stop = message.stop_reason or ""
        self._edits = getattr(message, "context_management", None)
        return [*events, *self._finish()]
