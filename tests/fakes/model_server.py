"""A loopback HTTP server that speaks the model vendors' wire formats, records every request and answers by script.

    async with ModelServer() as server:
        server.script(Reply(text="Hello"), ErrorReply(429, retry_after=1), Reply(tool_calls=(Call("f", {...}),)))
        ... talk to server.url with a real SDK ...
        assert server.requests[0].json["model"] == "..."

Base URLs: ``server.url`` for Anthropic, Gemini and Ollama, ``server.url + "/v1"`` for OpenAI-compatible services. A
request that finds no scripted reply is answered with ``Echo: <last user text>``.

As a process, for tests in other languages: ``python -m tests.fakes.model_server --port 0`` prints one line
``{"url": ...}`` and takes ``POST /_script {"replies": [...]}``, ``GET /_requests``, ``POST /_release {"count": n}``,
``POST /_reset`` and ``GET /_health``. It ends when its standard input closes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

from tests.fakes.cache_meter import CacheMeter, RefusedError
from tests.fakes.replies import AnyReply, Call, DropReply, ErrorReply, RawReply, Reply, Tokens, reply_from_json
from tests.fakes.wires import DIALECTS, Dialect, Frame, dialect_of

__all__ = ["Call", "DropReply", "ErrorReply", "ModelServer", "RawReply", "RecordedRequest", "Reply", "Tokens"]

_DEFAULT_MODELS = ("claude-sonnet-5-5", "gpt-6-sol", "llama3.2:latest")
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(p["text"] for p in parts if isinstance(p, Mapping) and isinstance(p.get("text"), str))


@dataclass
class RecordedRequest:
    """One request as it came in. Times are ``time.monotonic()`` seconds."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    time: float
    dialect: str = ""
    closed_at: float | None = None
    """When the client dropped the connection before the answer was complete."""
    answered_at: float | None = None
    """When the last byte of the answer was sent."""
    sent_deltas: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    answered: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    progressed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    @property
    def json(self) -> Any:
        """The body as JSON; ``None`` when it is empty."""
        return json.loads(self.body) if self.body else None

    @property
    def model(self) -> str:
        """The model asked for."""
        if "/models/" in self.path:
            return self.path.rpartition("/models/")[2].rpartition(":")[0]
        return str((self.json or {}).get("model", ""))

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages (or input items, or contents) of the conversation, system messages included."""
        body = self.json or {}
        found = body.get("messages", body.get("input", body.get("contents", [])))
        return [{"role": "user", "content": found}] if isinstance(found, str) else found

    @property
    def system_text(self) -> str:
        """The whole system text."""
        body = self.json or {}
        for name in ("system", "instructions"):
            if body.get(name):
                return _text_of(body[name])
        if body.get("systemInstruction"):
            return _text_of(body["systemInstruction"].get("parts"))
        return "\n".join(_text_of(m.get("content")) for m in self.messages if m.get("role") in ("system", "developer"))

    @property
    def last_user_text(self) -> str:
        """The text of the last user message that has any."""
        for message in reversed(self.messages):
            if message.get("role") == "user" and (text := _text_of(message.get("content", message.get("parts")))):
                return text
        return ""

    @property
    def tool_names(self) -> list[str]:
        """Names of the offered tools."""
        names = []
        for tool in (self.json or {}).get("tools") or []:
            for one in tool.get("functionDeclarations", [tool.get("function", tool)]):
                names.append(one.get("name", ""))
        return names

    def as_json(self) -> dict[str, Any]:
        """What ``GET /_requests`` shows."""
        return {
            "method": self.method,
            "path": self.path,
            "headers": self.headers,
            "json": self.json,
            "time": self.time,
            "dialect": self.dialect,
            "closedAt": self.closed_at,
            "answeredAt": self.answered_at,
            "sentDeltas": self.sent_deltas,
        }


class _ClientGone(Exception):
    """The client closed the connection."""


class _Connection:
    """One TCP connection: reads requests, notices at once when the client goes away while an answer is written."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._early = b""
        self.gone = asyncio.Event()

    async def read_request(self) -> RecordedRequest | None:
        try:
            head = self._early + await self._reader.readuntil(b"\r\n\r\n")
            self._early = b""
            first, *lines = head.decode("latin-1").split("\r\n")
            method, path, _ = first.split(" ", 2)
            headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines) if k}
            if "chunked" in headers.get("transfer-encoding", ""):
                body = await self._read_chunks()
            else:
                body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError, ValueError):
            return None
        return RecordedRequest(method, path.partition("?")[0], headers, body, time.monotonic())

    async def _read_chunks(self) -> bytes:
        body = b""
        while size := int((await self._reader.readline()).split(b";")[0], 16):
            body += await self._reader.readexactly(size)
            await self._reader.readline()
        await self._reader.readline()
        return body

    async def watch(self, request: RecordedRequest) -> None:
        """Wait for the end of the client's side; the first byte of a next request is kept for it."""
        try:
            early = await self._reader.read(1)
        except ConnectionError:
            early = b""
        if early:
            self._early = early
            return
        request.closed_at = time.monotonic()
        self.gone.set()
        request.closed.set()

    async def write(self, data: bytes) -> None:
        if self.gone.is_set():
            raise _ClientGone
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError as error:
            raise _ClientGone from error

    async def wait(self, event: Callable[[], Any]) -> None:
        """Wait for something, or raise as soon as the client is gone."""
        waiting = asyncio.ensure_future(event())
        gone = asyncio.ensure_future(self.gone.wait())
        try:
            await asyncio.wait({waiting, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                raise _ClientGone
        finally:
            waiting.cancel()
            gone.cancel()

    def abort(self) -> None:
        """Drop the connection with a reset."""
        self._writer.transport.abort()

    def close(self) -> None:
        self._writer.close()


class ModelServer:
    """The server. Use as an async context manager; every answer is scripted with :meth:`script`."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, models: tuple[str, ...] = _DEFAULT_MODELS) -> None:
        self._host = host
        self._port = port
        self.models = models
        self.requests: list[RecordedRequest] = []
        """Model requests in the order they came (listings and token counts are in ``other_requests``)."""
        self.other_requests: list[RecordedRequest] = []
        self.default: Callable[[RecordedRequest], AnyReply] = lambda r: Reply(text=f"Echo: {r.last_user_text}")
        """Answers what no script answers."""
        self.embed: Callable[[str], Sequence[float]] | None = None
        """Turns a text into its vector; without it there is no embedding service."""
        self.embedding_gate: asyncio.Event | None = None
        """Where set, embeddings wait for it."""
        self.caches: dict[str, Any] = {}
        """Gemini's explicit caches: name -> what was asked to be kept. Deleting from it lets one lapse."""
        self.cache_error: int = 0
        """Where set, the status that every request about a cache is answered with."""
        self.meter: CacheMeter | None = None
        """Where set, answers report what the vendor's prompt cache would have read and written."""
        self.control = False
        self._replies: list[AnyReply] = []
        self._permits = asyncio.Semaphore(0)
        self._changed = asyncio.Condition()
        self._holding = 0
        self._server: asyncio.Server | None = None
        self._connections: set[_Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Listen; ``url`` is known afterwards."""
        self._server = await asyncio.start_server(self._serve, self._host, self._port, limit=1 << 26)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://{self._host}:{port}"

    async def aclose(self) -> None:
        """Stop listening and drop every connection."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections):
            connection.abort()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def script(self, *replies: AnyReply) -> None:
        """Answer the next requests with these, in order; each is used once."""
        self._replies.extend(replies)

    def clear(self) -> None:
        """Forget scripted replies and recorded requests."""
        self._replies.clear()
        self.requests.clear()
        self.other_requests.clear()

    @property
    def pending(self) -> int:
        """Scripted replies not used yet."""
        return len(self._replies)

    def release(self, count: int = 1) -> None:
        """Let ``count`` held deltas (or held starts) go."""
        for _ in range(count):
            self._permits.release()

    async def wait_requests(self, count: int) -> None:
        """Wait until ``count`` model requests have come."""
        await self._wait(lambda: len(self.requests) >= count)

    async def wait_other_requests(self, count: int) -> None:
        """Wait until ``count`` other requests have come."""
        await self._wait(lambda: len(self.other_requests) >= count)

    async def wait_held(self) -> None:
        """Wait until an answer stands at a held delta."""
        await self._wait(lambda: self._holding > 0)

    async def _wait(self, condition: Callable[[], bool]) -> None:
        async with self._changed:
            await self._changed.wait_for(condition)

    async def _announce(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _hold(self, connection: _Connection) -> None:
        self._holding += 1
        try:
            await self._announce()
            await connection.wait(self._permits.acquire)
        finally:
            self._holding -= 1

    def _take(self, request: RecordedRequest) -> AnyReply:
        text = request.body.decode("utf-8", "replace")
        for index, reply in enumerate(self._replies):
            if not reply.match or reply.match in text:
                return self._replies.pop(index)
        return self.default(request)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connection = _Connection(reader, writer)
        self._tasks.add(task)
        self._connections.add(connection)
        try:
            while request := await connection.read_request():
                watcher = asyncio.ensure_future(connection.watch(request))
                try:
                    keep = await self._answer(connection, request)
                    if not connection.gone.is_set():
                        request.answered_at = time.monotonic()
                        request.answered.set()
                except _ClientGone:
                    if not request.closed.is_set():
                        request.closed_at = time.monotonic()
                        request.closed.set()
                    return
                finally:
                    watcher.cancel()
                    await asyncio.gather(watcher, return_exceptions=True)
                if not keep:
                    return
        except asyncio.CancelledError:
            return
        finally:
            self._tasks.discard(task)
            self._connections.discard(connection)
            connection.close()

    async def _answer(self, connection: _Connection, request: RecordedRequest) -> bool:
        """Answer one request; False when the connection must end."""
        if self.control and request.path.startswith("/_"):
            return await self._control(connection, request)
        if self.embed is not None and request.path.endswith(("/embeddings", "/api/embed")):
            return await self._embeddings(connection, request, self.embed)
        dialect = dialect_of(request.path) if request.method == "POST" else None
        if dialect is None:
            self.other_requests.append(request)
            status, body = self._side(request)
            await self._announce()
            return await _send_json(connection, status, body)
        cached = (request.json or {}).get("cachedContent")
        if cached is not None and cached not in self.caches:
            self.other_requests.append(request)
            error = ErrorReply(403, "CachedContent not found (or permission denied)")
            return await _send_json(connection, 403, dialect.error(error))
        request.dialect = dialect.name
        self.requests.append(request)
        await self._announce()
        reply = self._take(request)
        if isinstance(reply, DropReply):
            connection.abort()
            return False
        if isinstance(reply, ErrorReply):
            if reply.hold_start:
                await self._hold(connection)
            headers = dict(reply.headers)
            if reply.retry_after is not None:
                headers["Retry-After"] = str(reply.retry_after)
            body = reply.body if reply.body is not None else json.dumps(dialect.error(reply))
            return await _send(connection, reply.status, body.encode(), reply.content_type, headers)
        if isinstance(reply, RawReply):
            return await self._raw(connection, reply)
        if self.meter is not None:
            output = reply.usage.output if reply.usage is not None else 0
            try:
                usage = self.meter.usage(dialect.name, request.model, request.json, output)
            except RefusedError as refused:
                return await _send_json(connection, 400, dialect.error(ErrorReply(400, str(refused))))
            reply = replace(reply, usage=usage)
        if reply.hold_start:
            await self._hold(connection)
        wants_stream = request.path.endswith(":streamGenerateContent") or (request.json or {}).get(
            "stream", dialect.name == "ollama"
        )
        if not wants_stream:
            return await _send_json(connection, 200, dialect.whole(reply, request.json))
        return await self._stream(connection, request, dialect, reply)

    async def _embeddings(
        self, connection: _Connection, request: RecordedRequest, embed: Callable[[str], Sequence[float]]
    ) -> bool:
        """OpenAI's embeddings, last first as its documentation allows, or Ollama's."""
        self.other_requests.append(request)
        await self._announce()
        if self.embedding_gate is not None:
            await connection.wait(self.embedding_gate.wait)
        vectors = [list(embed(text)) for text in (request.json or {})["input"]]
        if request.path.endswith("/api/embed"):
            return await _send_json(connection, 200, {"model": "m", "embeddings": vectors})
        rows = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return await _send_json(connection, 200, {"object": "list", "data": rows[::-1], "model": "m", "usage": usage})

    async def _raw(self, connection: _Connection, reply: RawReply) -> bool:
        await _send_head(connection, reply.status, reply.content_type, reply.headers)
        for chunk in _chunks(reply.body.encode(), reply.chunk_bytes):
            await _send_chunk(connection, chunk)
        if reply.cut:
            connection.abort()
            return False
        await connection.write(b"0\r\n\r\n")
        return True

    async def _stream(self, connection: _Connection, request: RecordedRequest, dialect: Dialect, reply: Reply) -> bool:
        await _send_head(connection, 200, dialect.content_type, {})
        for frame in _with_break(dialect, reply, request.json):
            if frame is None:
                connection.abort()
                return False
            if frame.delta and (reply.gated or request.sent_deltas in reply.hold):
                await self._hold(connection)
            if frame.delta and reply.stall_after == request.sent_deltas:
                await connection.wait(asyncio.Event().wait)
            for chunk in _chunks(frame.data, reply.chunk_bytes):
                await _send_chunk(connection, chunk)
            if frame.delta:
                request.sent_deltas += 1
                request.progressed.set()
        await connection.write(b"0\r\n\r\n")
        return True

    def _side(self, request: RecordedRequest) -> tuple[int, Any]:
        path = request.path
        if path.endswith(("/count_tokens", "/input_tokens", "/count-tokens:rawPredict")):
            return 200, {"object": "response.input_tokens", "input_tokens": max(1, len(request.body) // 4)}
        if path.endswith(":countTokens"):
            return 200, {"totalTokens": max(1, len(request.body) // 4)}
        if "/cachedContents" in path:
            return self._cache(request)
        if path.endswith("/api/tags"):
            return 200, {"models": [{"name": m, "model": m, "details": {"family": "llama"}} for m in self.models]}
        if path.endswith("/api/version"):
            return 200, {"version": "0.12.0"}
        if path.endswith("/api/show"):
            return 200, {"model_info": {"llama.context_length": 8192}, "capabilities": ["completion", "tools"]}
        if path.endswith("/copilot_internal/v2/token"):
            # GitHub's exchange of a long-lived token for a short-lived one, which is the same here.
            token = request.headers.get("authorization", "").removeprefix("token ")
            return 200, {"token": token, "expires_at": time.time() + 1800}
        if path.endswith("/models"):
            if "x-goog-api-key" in request.headers:
                return 200, {"models": [{"name": f"models/{m}", "inputTokenLimit": 1000000} for m in self.models]}
            data = [{"id": m, "type": "model", "object": "model", "display_name": m} for m in self.models]
            return 200, {"object": "list", "data": data, "has_more": False, "first_id": None, "last_id": None}
        if path in ("/", "/health"):
            return 200, {"status": "ok"}
        return 404, {"error": {"message": f"no such endpoint: {path}", "type": "not_found", "code": "unknown_url"}}

    def _cache(self, request: RecordedRequest) -> tuple[int, Any]:
        name = request.path.lstrip("/")
        if self.cache_error:
            return self.cache_error, {"error": {"code": self.cache_error, "message": "no caches today"}}
        if request.method == "POST":
            name = f"cachedContents/c{len(self.other_requests)}"
            self.caches[name] = request.json
        elif name not in self.caches:
            return 404, {"error": {"code": 404, "message": "no such cache"}}
        elif request.method == "DELETE":
            del self.caches[name]
            return 200, {}
        return 200, {"name": name, "usageMetadata": {"totalTokenCount": 5000}}

    async def _control(self, connection: _Connection, request: RecordedRequest) -> bool:
        body = request.json or {}
        if request.path == "/_requests":
            shown = {"requests": [r.as_json() for r in self.requests], "pending": self.pending, "held": self._holding}
            return await _send_json(connection, 200, shown)
        if request.path == "/_script":
            try:
                self.script(*(reply_from_json(r) for r in body["replies"]))
            except (KeyError, TypeError) as error:
                return await _send_json(connection, 400, {"error": str(error)})
        elif request.path == "/_release":
            self.release(int(body.get("count", 1)))
        elif request.path == "/_reset":
            self.clear()
        elif request.path != "/_health":
            return await _send_json(connection, 404, {"error": "no such control endpoint"})
        return await _send_json(connection, 200, {"ok": True})


def _with_break(dialect: Dialect, reply: Reply, request: Mapping[str, Any]) -> Iterator[Frame | None]:
    """The frames of an answer, up to the scripted failure; ``None`` stands for a dropped connection."""
    sent = 0
    for frame in dialect.stream(reply, request):
        if frame.delta or reply.cut_after == 0 or reply.error_after == 0:
            if reply.cut_after == sent:
                yield None
                return
            if reply.error_after == sent:
                yield Frame(dialect.breaks(reply))
                return
        yield frame
        sent += frame.delta
    if reply.cut_after is not None:
        yield None
    elif reply.error_after is not None:
        yield Frame(dialect.breaks(reply))


def _chunks(data: bytes, size: int | None) -> Iterator[bytes]:
    if size is None:
        yield data
        return
    yield from (data[i : i + size] for i in range(0, len(data), size))


async def _send_chunk(connection: _Connection, data: bytes) -> None:
    await connection.write(b"%x\r\n%b\r\n" % (len(data), data))
    # A turn of the loop between chunks keeps the kernel from always joining them into one read at the client.
    await asyncio.sleep(0)


async def _send_head(connection: _Connection, status: int, content_type: str, headers: Mapping[str, str]) -> None:
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}", f"Content-Type: {content_type}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += ["Transfer-Encoding: chunked", "", ""]
    await connection.write("\r\n".join(lines).encode("latin-1"))


async def _send(
    connection: _Connection, status: int, body: bytes, content_type: str, headers: Mapping[str, str]
) -> bool:
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}", f"Content-Type: {content_type}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(body)}", "", ""]
    await connection.write("\r\n".join(lines).encode("latin-1") + body)
    return True


async def _send_json(connection: _Connection, status: int, body: Any) -> bool:
    return await _send(connection, status, json.dumps(body).encode(), "application/json", {})


async def _main(port: int) -> None:
    server = ModelServer(port=port)
    server.control = True
    async with server:
        print(json.dumps({"url": server.url, "dialects": sorted(DIALECTS)}), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A scripted model server on loopback.")
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(_main(parser.parse_args().port))
