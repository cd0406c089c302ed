"""The vendors' wire formats, written down once: a reply in, the bytes the real service would send out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.fakes.replies import ErrorReply, Reply, Tokens

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Frame:
    """Some bytes of a streamed body; ``delta`` says that these carry visible output."""

    data: bytes
    delta: bool = False


def _sse(payload: Any, event: str = "") -> bytes:
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {payload if isinstance(payload, str) else json.dumps(payload)}\n\n".encode()


def _cut(text: str, size: int) -> Iterator[str]:
    yield from (text[i : i + size] for i in range(0, len(text), max(1, size)))


def _halves(text: str) -> tuple[str, ...]:
    middle = len(text) // 2
    return tuple(part for part in (text[:middle], text[middle:]) if part)


# --- Anthropic Messages ---------------------------------------------------------------------------------------------

_ANTHROPIC_STOP = {"end": "end_turn", "tool_use": "tool_use", "max_tokens": "max_tokens", "refused": "refusal"}


def _anthropic_usage(tokens: Tokens | None, output: int | None = None) -> dict[str, Any]:
    tokens = tokens or Tokens(0, 0)
    return {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output if output is None else output,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation_input_tokens": tokens.cache_write,
    }


def _anthropic_blocks(reply: Reply) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.reasoning:
        blocks.append({"type": "thinking", "thinking": reply.reasoning, "signature": reply.signature})
    if reply.full_text:
        blocks.append({"type": "text", "text": reply.full_text})
    for call in reply.tool_calls:
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})
    return blocks


def anthropic_whole(reply: Reply, request: Json) -> dict[str, Any]:
    """The body of an unstreamed Messages answer."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request.get("model", ""),
        "content": _anthropic_blocks(reply),
        "stop_reason": _ANTHROPIC_STOP[reply.stop_reason],
        "stop_sequence": None,
        "usage": _anthropic_usage(reply.usage),
    }


def anthropic_stream(reply: Reply, request: Json) -> Iterator[Frame]:
    """The events of a streamed Messages answer."""

    def event(name: str, visible: bool = False, /, **fields: Any) -> Frame:
        return Frame(_sse({"type": name, **fields}, name), visible)

    start = {**anthropic_whole(reply, request), "content": [], "stop_reason": None}
    start["usage"] = _anthropic_usage(reply.usage, 1)
    yield event("message_start", message=start)
    if reply.noise:
        yield event("ping")
        yield event("something_new", detail={"a": 1})
    index = 0
    if reply.summary:
        yield event("content_block_start", index=index, content_block={"type": "compaction", "content": None})
        told = {"type": "compaction_delta", "content": reply.summary, "encrypted_content": "sealed"}
        yield event("content_block_delta", index=index, delta=told)
        yield event("content_block_stop", index=index)
        index += 1
    if reply.reasoning:
        block = {"type": "thinking", "thinking": "", "signature": ""}
        yield event("content_block_start", index=index, content_block=block)
        for part in _halves(reply.reasoning):
            yield event("content_block_delta", True, index=index, delta={"type": "thinking_delta", "thinking": part})
        signature = {"type": "signature_delta", "signature": reply.signature}
        yield event("content_block_delta", index=index, delta=signature)
        yield event("content_block_stop", index=index)
        index += 1
    if reply.pieces:
        yield event("content_block_start", index=index, content_block={"type": "text", "text": ""})
        for part in reply.pieces:
            if reply.noise:
                yield event("ping")
            yield event("content_block_delta", True, index=index, delta={"type": "text_delta", "text": part})
        yield event("content_block_stop", index=index)
        index += 1
    for call in reply.tool_calls:
        opening: dict[str, Any] = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        yield event("content_block_start", index=index, content_block=opening)
        yield event("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": ""})
        for part in _cut(call.text, call.split):
            delta = {"type": "input_json_delta", "partial_json": part}
            yield event("content_block_delta", True, index=index, delta=delta)
        yield event("content_block_stop", index=index)
        index += 1
    if reply.unfinished:
        return
    ending = {"stop_reason": _ANTHROPIC_STOP[reply.stop_reason], "stop_sequence": None}
    more: dict[str, Any] = {}
    if reply.cleared or reply.summary:
        edit = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": reply.cleared, "cleared_input_tokens": 30000}
        more = {"context_management": {"applied_edits": [edit] if reply.cleared else []}}
    usage = _anthropic_usage(reply.usage)
    if reply.summary:
        one = {"type": "compaction", "input_tokens": 1000, "output_tokens": 50}
        usage["iterations"] = [{**one, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 10_000}]
    yield event("message_delta", delta=ending, usage=usage, **more)
    yield event("message_stop")


def anthropic_error(error: ErrorReply) -> dict[str, Any]:
    """The body of a Messages error."""
    names = {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    kind = error.code or names.get(error.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": error.message}, "request_id": "req_1"}


# --- OpenAI chat completions ----------------------------------------------------------------------------------------

_OPENAI_STOP = {"end": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refused": "content_filter"}


def _openai_usage(tokens: Tokens | None) -> dict[str, Any] | None:
    if tokens is None:
        return None
    prompt = tokens.input + tokens.cache_read + tokens.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": tokens.output,
        "total_tokens": prompt + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }


def chat_whole(reply: Reply, request: Json) -> dict[str, Any]:
    """The body of an unstreamed chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.full_text or None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.text}}
            for c in reply.tool_calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": _OPENAI_STOP[reply.stop_reason]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": request.get("model", ""),
        "choices": [choice],
        "usage": _openai_usage(reply.usage),
    }


def chat_stream(reply: Reply, request: Json) -> Iterator[Frame]:
    """The chunks of a streamed chat completion."""

    def chunk(delta: Json, finish: str | None = None, visible: bool = False) -> Frame:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return Frame(_sse({**base, "choices": [choice]}), visible)

    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": request.get("model", "")}
    yield chunk({"role": "assistant", "content": ""})
    if reply.noise:
        yield Frame(b": keep-alive\n\n")
        yield Frame(_sse({**base, "choices": [], "x_new_field": {"a": 1}}))
    for part in _halves(reply.reasoning):
        yield chunk({"reasoning_content": part}, visible=True)
    for part in reply.pieces:
        if reply.noise:
            yield Frame(b": ping\r\n\r\n")
        yield chunk({"content": part}, visible=True)
    for index, call in enumerate(reply.tool_calls):
        start = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        yield chunk({"tool_calls": [start]})
        for part in _cut(call.text, call.split):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]}, visible=True)
    if reply.unfinished:
        return
    yield chunk({}, _OPENAI_STOP[reply.stop_reason])
    if reply.usage and (request.get("stream_options") or {}).get("include_usage"):
        yield Frame(_sse({**base, "choices": [], "usage": _openai_usage(reply.usage)}))
    yield Frame(_sse("[DONE]"))


def openai_error(error: ErrorReply) -> dict[str, Any]:
    """The body of an OpenAI error."""
    names = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
    code = error.code or names.get(error.status)
    kind = "server_error" if error.status >= 500 else "invalid_request_error"
    return {"error": {"message": error.message, "type": kind, "param": None, "code": code}}


# --- OpenAI responses -----------------------------------------------------------------------------------------------


def _responses_output(reply: Reply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        items.append({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": reply.signature})
    if reply.full_text:
        content = [{"type": "output_text", "text": reply.full_text, "annotations": []}]
        items.append({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content})
    for call in reply.tool_calls:
        items.append(
            {
                "type": "function_call",
                "id": f"fc_{call.id}",
                "call_id": call.id,
                "name": call.name,
                "arguments": call.text,
                "status": "completed",
            }
        )
    return items


def _responses_usage(tokens: Tokens | None) -> dict[str, Any] | None:
    if tokens is None:
        return None
    prompt = tokens.input + tokens.cache_read + tokens.cache_write
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": prompt + tokens.output,
    }


def responses_whole(reply: Reply, request: Json) -> dict[str, Any]:
    """The body of an unstreamed response."""
    cut = reply.stop_reason in ("max_tokens", "refused")
    reason = {"max_tokens": "max_output_tokens", "refused": "content_filter"}.get(reply.stop_reason)
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": request.get("model", ""),
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": reason} if cut else None,
        "output": _responses_output(reply),
        "usage": _responses_usage(reply.usage),
        "error": None,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def responses_stream(reply: Reply, request: Json) -> Iterator[Frame]:
    """The events of a streamed response."""
    sequence = 0

    def event(name: str, visible: bool = False, /, **fields: Any) -> Frame:
        nonlocal sequence
        sequence += 1
        return Frame(_sse({"type": name, "sequence_number": sequence, **fields}, name), visible)

    whole = responses_whole(reply, request)
    opening = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield event("response.created", response=opening)
    yield event("response.in_progress", response=opening)
    if reply.noise:
        yield Frame(b": keep-alive\n\n")
        yield event("response.something_new", detail={"a": 1})
    for index, item in enumerate(whole["output"]):
        at = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "reasoning":
            yield event("response.output_item.added", output_index=index, item={**item, "summary": []})
            for part in _halves(reply.reasoning):
                yield event("response.reasoning_summary_text.delta", True, **at, summary_index=0, delta=part)
        elif item["type"] == "message":
            opened = {**item, "content": [], "status": "in_progress"}
            yield event("response.output_item.added", output_index=index, item=opened)
            for part in reply.pieces:
                yield event("response.output_text.delta", True, **at, content_index=0, delta=part, logprobs=[])
        else:
            opened = {**item, "arguments": "", "status": "in_progress"}
            yield event("response.output_item.added", output_index=index, item=opened)
            split = next(c.split for c in reply.tool_calls if c.id == item["call_id"])
            for part in _cut(item["arguments"], split):
                yield event("response.function_call_arguments.delta", True, **at, delta=part)
            yield event("response.function_call_arguments.done", **at, arguments=item["arguments"], name=item["name"])
        yield event("response.output_item.done", output_index=index, item=item)
    if reply.unfinished:
        return
    yield event("response.incomplete" if whole["status"] == "incomplete" else "response.completed", response=whole)


# --- Gemini ---------------------------------------------------------------------------------------------------------

_GEMINI_STOP = {"end": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS", "refused": "SAFETY"}


def _gemini_usage(tokens: Tokens | None) -> dict[str, Any]:
    tokens = tokens or Tokens(0, 0)
    prompt = tokens.input + tokens.cache_read + tokens.cache_write
    return {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": tokens.cache_read,
        "candidatesTokenCount": tokens.output - tokens.reasoning,
        "thoughtsTokenCount": tokens.reasoning,
        "totalTokenCount": prompt + tokens.output,
    }


def _gemini_calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {"functionCall": {"name": c.name, "args": json.loads(c.text)}, "thoughtSignature": reply.signature}
        for c in reply.tool_calls
    ]


def gemini_whole(reply: Reply, request: Json) -> dict[str, Any]:
    """The body of an unstreamed generateContent answer."""
    parts: list[dict[str, Any]] = []
    if reply.reasoning:
        parts.append({"text": reply.reasoning, "thought": True})
    if reply.full_text:
        parts.append({"text": reply.full_text})
    candidate = {
        "index": 0,
        "content": {"role": "model", "parts": parts + _gemini_calls(reply)},
        "finishReason": _GEMINI_STOP[reply.stop_reason],
    }
    return {"candidates": [candidate], "usageMetadata": _gemini_usage(reply.usage), "modelVersion": "gemini"}


def gemini_stream(reply: Reply, request: Json) -> Iterator[Frame]:
    """The chunks of a streamed generateContent answer."""

    def chunk(part: Json, finish: str = "", visible: bool = True) -> Frame:
        candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": [part]}}
        if finish:
            candidate["finishReason"] = finish
        body = {"candidates": [candidate], "usageMetadata": _gemini_usage(reply.usage)}
        return Frame(_sse(body), visible)

    if reply.noise:
        yield Frame(_sse({"usageMetadata": _gemini_usage(reply.usage), "somethingNew": {"a": 1}}))
    for part in _halves(reply.reasoning):
        yield chunk({"text": part, "thought": True})
    for part in reply.pieces:
        yield chunk({"text": part})
    for call in _gemini_calls(reply):
        yield chunk(call)
    if reply.unfinished:
        return
    yield chunk({"text": ""}, _GEMINI_STOP[reply.stop_reason], visible=False)


def gemini_error(error: ErrorReply) -> dict[str, Any]:
    """The body of a Google API error."""
    names = {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        429: "RESOURCE_EXHAUSTED",
        503: "UNAVAILABLE",
    }
    status = error.code or names.get(error.status, "INTERNAL")
    return {"error": {"code": error.status, "message": error.message, "status": status}}


# --- Ollama ---------------------------------------------------------------------------------------------------------


def _ollama_line(request: Json, message: Json, **fields: Any) -> dict[str, Any]:
    return {"model": request.get("model", ""), "created_at": "2026-01-01T00:00:00Z", "message": message, **fields}


def _ollama_end(reply: Reply) -> dict[str, Any]:
    tokens = reply.usage or Tokens(0, 0)
    return {
        "done": True,
        "done_reason": "length" if reply.stop_reason == "max_tokens" else "stop",
        "prompt_eval_count": tokens.input + tokens.cache_read,
        "eval_count": tokens.output,
    }


def _ollama_calls(reply: Reply) -> list[dict[str, Any]]:
    return [{"function": {"name": c.name, "arguments": json.loads(c.text)}} for c in reply.tool_calls]


def ollama_whole(reply: Reply, request: Json) -> dict[str, Any]:
    """The body of an unstreamed chat answer."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.full_text}
    if reply.reasoning:
        message["thinking"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = _ollama_calls(reply)
    return _ollama_line(request, message, **_ollama_end(reply))


def ollama_stream(reply: Reply, request: Json) -> Iterator[Frame]:
    """The lines of a streamed chat answer."""

    def line(message: Json, visible: bool = True, **fields: Any) -> Frame:
        body = _ollama_line(request, {"role": "assistant", "content": "", **message}, **fields)
        return Frame(json.dumps(body).encode() + b"\n", visible)

    if reply.noise:
        yield line({}, visible=False, done=False, something_new={"a": 1})
    for part in _halves(reply.reasoning):
        yield line({"thinking": part}, done=False)
    for part in reply.pieces:
        yield line({"content": part}, done=False)
    for call in _ollama_calls(reply):
        yield line({"tool_calls": [call]}, done=False)
    if reply.unfinished:
        return
    yield line({}, visible=False, **_ollama_end(reply))


def ollama_error(error: ErrorReply) -> dict[str, Any]:
    """The body of an Ollama error."""
    return {"error": error.message}


# --- The table ------------------------------------------------------------------------------------------------------


def _anthropic_break(reply: Reply) -> bytes:
    body = {"type": "error", "error": {"type": reply.error_type, "message": "Overloaded"}}
    return _sse(body, "error")


def _openai_break(reply: Reply) -> bytes:
    return _sse({"error": {"message": "The server had an error", "type": "server_error", "code": reply.error_type}})


def _responses_break(reply: Reply) -> bytes:
    error = {"type": "error", "code": reply.error_type, "message": "The server had an error", "sequence_number": 99}
    return _sse(error, "error")


def _gemini_break(reply: Reply) -> bytes:
    return _sse({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}})


def _ollama_break(reply: Reply) -> bytes:
    return json.dumps({"error": "an error was encountered while running the model"}).encode() + b"\n"


@dataclass(frozen=True)
class Dialect:
    """One vendor's way of answering."""

    name: str
    stream: Callable[[Reply, Json], Iterator[Frame]]
    whole: Callable[[Reply, Json], dict[str, Any]]
    error: Callable[[ErrorReply], dict[str, Any]]
    breaks: Callable[[Reply], bytes]
    content_type: str = "text/event-stream"


DIALECTS = {
    "anthropic": Dialect("anthropic", anthropic_stream, anthropic_whole, anthropic_error, _anthropic_break),
    "openai": Dialect("openai", chat_stream, chat_whole, openai_error, _openai_break),
    "responses": Dialect("responses", responses_stream, responses_whole, openai_error, _responses_break),
    "gemini": Dialect("gemini", gemini_stream, gemini_whole, gemini_error, _gemini_break),
    "ollama": Dialect("ollama", ollama_stream, ollama_whole, ollama_error, _ollama_break, "application/x-ndjson"),
}


def dialect_of(path: str) -> Dialect | None:
    """The dialect a request path belongs to; ``None`` when it asks for no answer."""
    if path.endswith(("/messages", ":streamRawPredict", ":rawPredict")) and "/count-tokens:" not in path:
        return DIALECTS["anthropic"]
    if path.endswith("/chat/completions") or path.endswith("/chatcompletion_v2"):
        return DIALECTS["openai"]
    if path.endswith("/responses"):
        return DIALECTS["responses"]
    if path.endswith((":streamGenerateContent", ":generateContent")):
        return DIALECTS["gemini"]
    if path.endswith("/api/chat"):
        return DIALECTS["ollama"]
    return None
