"""Google's Gemini API over HTTP."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any
from urllib.parse import quote

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
from chatls_core.llm.history import Turn, call_arguments, normalise, whole_characters
from chatls_core.llm.messages import (
    ImagePart,
    ModelRequest,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.providers.gemini_cache import REFUSALS, ExplicitCaches
from chatls_core.llm.providers.http import HttpService
from chatls_core.llm.wire import new_call_id

log = logging.getLogger(__name__)

Json = dict[str, Any]

_REFUSALS = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE"})
_BROKEN = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "OTHER"})
_BUDGETS = {"none": 0, "low": 1024, "medium": 4096, "high": 16_384, "max": 24_576}
_LEVELS = {"none": "low", "low": "low", "medium": "medium", "high": "high", "max": "high"}
_NO_SIGNATURE = "skip_thought_signature_validator"
"""Google's documented stand-in for a call that another model made: Gemini 3 refuses calls without a signature."""


class GeminiBackend:
    """The generateContent wire."""

    def __init__(self, endpoint: Endpoint, clock: Callable[[], float] = time.monotonic) -> None:
        self._endpoint = endpoint
        self._http = HttpService(endpoint, {"x-goog-api-key": endpoint.key.reveal()})
        self._caches = ExplicitCaches(self._http, clock)

    async def load(self) -> None:
        """Load what the first request needs; see :class:`Backend`."""
        await self._http.load()

    async def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """Ask once; see :class:`Backend`. A cache that Google does not take costs one more try, nothing else."""
        body = build(request, model, info, self._endpoint.provider)
        short = self._caches.shortened(body, model, request) if request.explicit_cache else None
        started = False
        try:
            async with aclosing(self._asked(short or body, request, model)) as events:
                async for event in events:
                    started = True
                    yield event
            return
        except ModelError as error:
            if short is None or started or error.status not in REFUSALS:
                raise
            log.info("Google refused a cache: %s", error)
            self._caches.refused(short["cachedContent"])
        async with aclosing(self._asked(body, request, model)) as events:
            async for event in events:
                yield event

    async def _asked(self, body: Json, request: ModelRequest, model: str) -> AsyncGenerator[ModelEvent, None]:
        reader = _Reader(self._endpoint, model)
        path = f"/models/{_in_path(model)}:streamGenerateContent?alt=sse"
        async with aclosing(self._http.lines(path, body)) as lines:
            async for line in lines:
                if line.startswith(b"data:"):
                    for event in reader.read(line[5:]):
                        yield event
        for event in reader.finish():
            if isinstance(event, UsageReport) and request.explicit_cache:
                event = UsageReport(self._caches.charged(event.usage, request))
            yield event

    async def count_tokens(self, request: ModelRequest, model: str, info: ModelInfo) -> int | None:
        """Input tokens by the ``countTokens`` endpoint."""
        name = _in_path(model)
        body = {"model": f"models/{name}", **build(request, model, info, self._endpoint.provider)}
        answer = await self._http.json("POST", f"/models/{name}:countTokens", {"generateContentRequest": body})
        return int(answer["totalTokens"]) if isinstance(answer, dict) and "totalTokens" in answer else None

    async def list_models(self) -> Sequence[Listed]:
        """The models that can chat."""
        answer = await self._http.json("GET", "/models?pageSize=1000")
        return [
            Listed(
                str(item["name"]).removeprefix("models/"),
                str(item.get("displayName", "")),
                window=item.get("inputTokenLimit"),
                max_output=item.get("outputTokenLimit"),
            )
            for item in answer.get("models", [])
            if "generateContent" in item.get("supportedGenerationMethods", ["generateContent"])
        ]

    async def aclose(self) -> None:
        """Delete what is cached and drop all connections."""
        await self._caches.aclose()
        await self._http.aclose()


# --- request --------------------------------------------------------------------------------------------------------


def _in_path(model: str) -> str:
    return quote(model.removeprefix("models/"), safe="")


def _version(model: str) -> tuple[int, int]:
    found = re.search(r"gemini-(\d+)(?:\.(\d+))?", model.lower())
    return (int(found.group(1)), int(found.group(2) or 0)) if found else (0, 0)


def build(request: ModelRequest, model: str, info: ModelInfo, provider: str) -> Json:
    """The body of a generateContent request. Same request, same bytes; a longer history only appends."""
    body: Json = {"contents": []}
    system = [{"text": whole_characters(part)} for part in request.system if part.strip()]
    if system:
        body["systemInstruction"] = {"parts": system}
    for turn in normalise(request.messages, provider):
        parts = _model(turn, model) if turn.role == "assistant" else _user(turn)
        if parts:
            body["contents"].append({"role": "model" if turn.role == "assistant" else "user", "parts": parts})
    if body["contents"] and body["contents"][0]["role"] != "user":
        body["contents"].insert(0, {"role": "user", "parts": [{"text": "(The conversation continues.)"}]})
    if request.tools:
        body["tools"] = [
            {
                "functionDeclarations": [
                    {"name": t.name, "description": t.description, "parametersJsonSchema": dict(t.input_schema)}
                    for t in request.tools
                ]
            }
        ]
    config: Json = {}
    if request.max_output_tokens:
        config["maxOutputTokens"] = request.max_output_tokens
    if request.temperature is not None:
        config["temperature"] = request.temperature
    if request.json_schema is not None:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = dict(request.json_schema)
    if info.reasoning:
        config["thinkingConfig"] = _thinking(request.effort, model)
    if config:
        body["generationConfig"] = config
    return body


def _thinking(effort: str, model: str) -> Json:
    thinking: Json = {"includeThoughts": effort != "none"}
    if not effort:
        return thinking
    if _version(model) >= (3, 0):
        thinking["thinkingLevel"] = _LEVELS[effort]
    else:
        # 2.5 Pro cannot be told not to think; 128 tokens is its least.
        least = 128 if "pro" in model.lower() else 0
        thinking["thinkingBudget"] = max(least, _BUDGETS[effort])
    return thinking


def _model(turn: Turn, model: str) -> list[Json]:
    signatures: dict[str, str] = {}
    for part in turn.parts:
        if isinstance(part, ReasoningPart) and part.opaque and "callId" in part.opaque:
            signatures[str(part.opaque["callId"])] = str(part.opaque.get("thoughtSignature", ""))
    parts: list[Json] = []
    first_call = True
    for part in turn.parts:
        if isinstance(part, TextPart):
            parts.append({"text": whole_characters(part.text)})
        elif isinstance(part, ToolCallPart):
            made: Json = {"functionCall": {"name": part.name, "args": dict(call_arguments(part))}}
            if signature := signatures.get(part.id):
                made["thoughtSignature"] = signature
            elif first_call and _version(model) >= (3, 0):
                made["thoughtSignature"] = _NO_SIGNATURE
            first_call = False
            parts.append(made)
    return parts


def _user(turn: Turn) -> list[Json]:
    parts: list[Json] = []
    images: list[ImagePart] = []
    for part in turn.parts:
        if isinstance(part, ToolResultPart):
            word = "error" if part.is_error else "output"
            response = {word: whole_characters(part.text)}
            parts.append({"functionResponse": {"name": part.name, "response": response}})
            images += part.images
    parts += [_image(image) for image in images]
    for part in turn.parts:
        if isinstance(part, TextPart):
            parts.append({"text": whole_characters(part.text)})
        elif isinstance(part, ImagePart):
            parts.append(_image(part))
    return parts


def _image(image: ImagePart) -> Json:
    return {"inlineData": {"mimeType": image.media_type, "data": image.data}}


# --- answer ---------------------------------------------------------------------------------------------------------


class _Reader:
    """Turns chunks into our events. Calls come whole."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._usage = Usage(model=model, provider=endpoint.provider)
        self._thought: list[str] = []
        self._stop = ""
        self._called = False

    def read(self, data: bytes) -> list[ModelEvent]:
        """Our events for one chunk."""
        try:
            chunk = json.loads(data)
        except ValueError as error:
            raise VendorError(
                "server", f"{self._endpoint.provider} sent a broken event.", provider=self._endpoint.provider
            ) from error
        if "error" in chunk:
            raise http_error(self._endpoint, 0, {}, chunk)
        if found := chunk.get("usageMetadata"):
            self._usage = _usage(found, self._usage)
        if (chunk.get("promptFeedback") or {}).get("blockReason"):
            self._stop = "SAFETY"
        events: list[ModelEvent] = []
        for candidate in chunk.get("candidates") or []:
            for part in (candidate.get("content") or {}).get("parts") or []:
                events += self._part(part)
            self._stop = candidate.get("finishReason") or self._stop
        return events

    def _part(self, part: Mapping[str, Any]) -> list[ModelEvent]:
        if call := part.get("functionCall"):
            return [*self._reasoning_done(), *self._call(call, part.get("thoughtSignature") or "")]
        text = part.get("text") or ""
        if not text:
            return []
        if part.get("thought"):
            self._thought.append(text)
            return [ReasoningDelta(text)]
        return [*self._reasoning_done(), TextDelta(text)]

    def _call(self, call: Mapping[str, Any], signature: str) -> list[ModelEvent]:
        self._called = True
        call_id = new_call_id()  # the vendor's own ids are optional and repeat
        name, arguments = str(call.get("name", "")), call.get("args") or {}
        raw = json.dumps(arguments)
        events: list[ModelEvent] = []
        if signature:
            opaque = {"thoughtSignature": signature, "callId": call_id}
            events.append(ReasoningDone(ReasoningPart("", self._endpoint.provider, opaque)))
        done = ToolCallPart(call_id, name, arguments, raw)
        return [*events, ToolCallStarted(call_id, name), ToolCallDelta(call_id, raw), ToolCallDone(done)]

    def _reasoning_done(self) -> list[ModelEvent]:
        text = "".join(self._thought)
        self._thought = []
        return [ReasoningDone(ReasoningPart(text, self._endpoint.provider))] if text else []

    def finish(self) -> list[ModelEvent]:
        """The closing events. Raises when the stream ended without a finish reason."""
        if not self._stop:
            raise cut_off(self._endpoint.provider)
        who = self._endpoint.provider
        if self._stop in _BROKEN:
            raise VendorError("server", f"{who} could not finish its answer ({self._stop}).", provider=who)
        stop: ModelStop = "tool_use" if self._called else "end"
        if self._stop == "MAX_TOKENS":
            stop = "max_tokens"
        elif self._stop in _REFUSALS:
            stop = "refused"
        return [*self._reasoning_done(), UsageReport(self._usage), Stopped(stop, self._stop)]


def _usage(found: Mapping[str, Any], before: Usage) -> Usage:
    read = found.get("cachedContentTokenCount") or 0
    thought = found.get("thoughtsTokenCount") or 0
    return Usage(
        input_tokens=max(0, (found.get("promptTokenCount") or 0) + (found.get("toolUsePromptTokenCount") or 0) - read),
        output_tokens=(found.get("candidatesTokenCount") or 0) + thought,
        reasoning_tokens=thought,
        cache_read_tokens=read,
        model=before.model,
        provider=before.provider,
    )
