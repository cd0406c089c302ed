"""A plain LSP client over stdio, for black-box tests: it starts the server and keeps buffers as an editor does.

Nothing here comes from the server or from pygls, so a fault of theirs cannot hide itself.

    async with LspClient(home=tmp_path / "home", root=workspace) as client:
        client.open(path)
        answer = await client.request("chatls/chat", {"text": "hi"})
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote, unquote

Handler = Callable[[Any], Any | Awaitable[Any]]

PLAIN: dict[str, Any] = {}
"""Capabilities of a client that declares nothing."""

EDITOR: dict[str, Any] = {
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "workspaceFolders": True,
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
            "changeAnnotationSupport": {"groupsOnLabel": True},
        },
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
    },
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "general": {"positionEncodings": ["utf-16"]},
}
"""Capabilities of a full editor without any of ours."""

RICH: dict[str, Any] = {
    **EDITOR,
    "experimental": {"chatls": {"approve": {}, "ask": {}, "save": {}, "diagnostics": {}}},
}
"""Capabilities of our own extension."""


class ResponseError(Exception):
    """The server answered with an error."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Any = error.get("data")


def uri_of(path: Path | str) -> str:
    """A file's URI."""
    return "file://" + quote(str(path))


def path_of(uri: str) -> Path:
    """A file URI's path."""
    return Path(unquote(uri.removeprefix("file://")))


class Buffer:
    """One open document of the client."""

    def __init__(self, uri: str, text: str, language_id: str) -> None:
        self.uri = uri
        self.text = text
        self.language_id = language_id
        self.version = 1

    def offset(self, position: Mapping[str, int]) -> int:
        """UTF-16 position to offset, strictly: a position outside the text fails the test."""
        lines = split_lines(self.text)
        line = lines[position["line"]] if position["line"] < len(lines) else None
        if line is None:
            raise AssertionError(f"line {position['line']} does not exist in {self.uri}")
        content = line.rstrip("\r\n")
        units = column = 0
        while units < position["character"] and column < len(content):
            units += 2 if content[column] > "\uffff" else 1
            column += 1
        if units != position["character"]:
            raise AssertionError(f"position {position} does not exist in {self.uri}")
        return sum(map(len, lines[: position["line"]])) + column


def split_lines(text: str) -> list[str]:
    """Lines with their ends, as LSP counts them."""
    lines, start, index = [], 0, 0
    while index < len(text):
        if text[index] in "\r\n":
            index += 2 if text.startswith("\r\n", index) else 1
            lines.append(text[start:index])
            start = index
        else:
            index += 1
    lines.append(text[start:])
    return lines


class LspClient:
    """See the module. ``environment`` is added to a clean one in which no provider is configured."""

    def __init__(
        self,
        *,
        home: Path,
        root: Path | None = None,
        roots: Sequence[Path] = (),
        capabilities: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        options: Any = None,
        settings: Mapping[str, Any] | None = None,
        arguments: Sequence[str] = ("-m", "chatls_server.cli", "serve"),
        initialize: bool = True,
        process_id: int | None = None,
    ) -> None:
        self.home = home
        self.roots = tuple(roots) or ((root,) if root is not None else ())
        self.capabilities = RICH if capabilities is None else capabilities
        self.options = options
        self.settings: dict[str, Any] = dict(settings or {})
        self.buffers: dict[str, Buffer] = {}
        self.handlers: dict[str, Handler] = {
            "workspace/configuration": lambda params: [dict(self.settings) for _ in params["items"]],
            "workspace/applyEdit": self.apply_edit,
            "window/workDoneProgress/create": lambda _params: None,
            "client/registerCapability": lambda _params: None,
            "chatls/save": self.save_documents,
        }
        self.after_answer: Callable[[], object] | None = None
        """Done once, right behind the next answer this editor gives."""
        self.received: list[dict[str, Any]] = []
        self.requests_received: list[dict[str, Any]] = []
        self.stderr = ""
        self._arguments = arguments
        self._environment = dict(environment or {})
        self._initialize = initialize
        self._process_id = process_id
        self._ids = itertools.count(1)
        self._answers: dict[int | str, asyncio.Future[dict[str, Any]]] = {}
        self._news = asyncio.Condition()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.initialize_result: dict[str, Any] = {}
        self.process: asyncio.subprocess.Process

    # --- life ------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> LspClient:
        await self.start()
        if self._initialize:
            await self.initialize()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start the server's process."""
        keep = ("PATH", "LANG", "SYSTEMROOT", "TEMP", "TMP", "PYTHONPATH", "VIRTUAL_ENV", "COVERAGE_PROCESS_START")
        environment = {name: os.environ[name] for name in keep if name in os.environ}
        environment |= {"HOME": str(self.home), "CHATLS_HOME": str(self.home / ".chatcli")}
        environment |= self._environment
        self.home.mkdir(parents=True, exist_ok=True)
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            *self._arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
            limit=1 << 30,
        )
        self._start(self._read())
        self._start(self._read_errors())

    async def initialize(self) -> dict[str, Any]:
        """Do the handshake; returns the server's answer."""
        params: dict[str, Any] = {
            "processId": self._process_id if self._process_id is not None else os.getpid(),
            "clientInfo": {"name": "test client", "version": "1"},
            "rootUri": uri_of(self.roots[0]) if self.roots else None,
            "workspaceFolders": [{"uri": uri_of(root), "name": root.name} for root in self.roots] or None,
            "capabilities": self.capabilities,
        }
        if self.options is not None:
            params["initializationOptions"] = self.options
        self.initialize_result = await self.request("initialize", params)
        self.notify("initialized", {})
        return self.initialize_result

    async def stop(self) -> None:
        """End the server politely, or at once when it does not listen."""
        if self.process.returncode is None:
            try:
                await self.request("shutdown", None, seconds=5)
                self.notify("exit", None)
                await asyncio.wait_for(self.process.wait(), 5)
            except (TimeoutError, ResponseError, ConnectionError, AssertionError):
                if self.process.returncode is None:
                    self.process.kill()
                await self.process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def wait_exit(self, seconds: float = 5) -> int:
        """The exit code once the process has ended."""
        return await asyncio.wait_for(self.process.wait(), seconds)

    # --- messages --------------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Any = None, *, seconds: float = 30) -> Any:
        """Send a request and wait for its result; raises :class:`ResponseError`."""
        return await self.result(self.send_request(method, params), seconds=seconds)

    def send_request(self, method: str, params: Any = None) -> int:
        """Send a request; returns its id for :meth:`result` and :meth:`cancel`."""
        message_id = next(self._ids)
        self._answers[message_id] = asyncio.get_running_loop().create_future()
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": message_id, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return message_id

    async def result(self, message_id: int | str, *, seconds: float = 30) -> Any:
        """The result of a request that was sent; raises :class:`ResponseError`."""
        answer = await asyncio.wait_for(self._answers[message_id], seconds)
        if "error" in answer:
            raise ResponseError(answer["error"])
        return answer.get("result")

    def cancel(self, message_id: int | str) -> None:
        """Send ``$/cancelRequest``."""
        self.notify("$/cancelRequest", {"id": message_id})

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    async def command(self, name: str, arguments: Mapping[str, Any] | None = None, *, seconds: float = 30) -> Any:
        """Run a command of ``workspace/executeCommand``."""
        return await self.request(
            "workspace/executeCommand", {"command": name, "arguments": [dict(arguments or {})]}, seconds=seconds
        )

    def send(self, message: Any) -> None:
        """Send any JSON value as a frame."""
        self.send_bytes(json.dumps(message).encode())

    def send_bytes(self, body: bytes, header: bytes | None = None) -> None:
        """Send a frame with a body of your own."""
        assert self.process.stdin is not None
        self.process.stdin.write((header or b"Content-Length: %d\r\n\r\n" % len(body)) + body)

    async def wait_for(
        self, wanted: str | Callable[[dict[str, Any]], bool], *, seconds: float = 10, since: int = 0
    ) -> dict[str, Any]:
        """The first message (from index ``since`` of :attr:`received`) of that method, or that ``wanted`` accepts."""
        match = (lambda m: m.get("method") == wanted) if isinstance(wanted, str) else wanted
        looked_at = since
        found: list[dict[str, Any]] = []

        def look() -> bool:
            nonlocal looked_at
            found.extend(message for message in self.received[looked_at:] if match(message))
            looked_at = len(self.received)
            return bool(found)

        async with self._news:
            try:
                await asyncio.wait_for(self._news.wait_for(look), seconds)
            except TimeoutError:
                seen = [message.get("method", "answer") for message in self.received]
                raise AssertionError(f"{wanted} did not come; received {seen}; stderr: {self.stderr[-2000:]}") from None
        return found[0]

    def notifications(self, method: str) -> list[Any]:
        """The parameters of every notification of that method so far."""
        return [m.get("params") for m in self.received if m.get("method") == method and "id" not in m]

    def progress(self, token: int | str) -> list[Any]:
        """The values of ``$/progress`` for a token so far."""
        return [params["value"] for params in self.notifications("$/progress") if params["token"] == token]

    # --- documents, as an editor keeps them ------------------------------------------------------------------------

    def open(self, path: Path | str, text: str | None = None, *, language_id: str = "plaintext") -> Buffer:
        """Open a file, or any URI with a text of its own."""
        uri = path if isinstance(path, str) else uri_of(path)
        if text is None:
            text = path_of(uri).read_bytes().decode()
        buffer = self.buffers[uri] = Buffer(uri, text, language_id)
        item = {"uri": uri, "languageId": language_id, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return buffer

    def type(
        self, buffer: Buffer, text: str, *, line: int, character: int, end: Mapping[str, int] | None = None
    ) -> None:
        """Replace a range, or insert where ``end`` is left out, as a person would."""
        start = {"line": line, "character": character}
        self._change(buffer, [{"range": {"start": start, "end": dict(end or start)}, "newText": text}])

    def save(self, buffer: Buffer) -> None:
        """Write the buffer to disk and say so."""
        path_of(buffer.uri).write_bytes(buffer.text.encode())
        self.notify("textDocument/didSave", {"textDocument": {"uri": buffer.uri}})

    def close(self, buffer: Buffer) -> None:
        """Close the document."""
        del self.buffers[buffer.uri]
        self.notify("textDocument/didClose", {"textDocument": {"uri": buffer.uri}})

    def save_documents(self, params: Any) -> list[dict[str, Any]]:
        """Answer ``chatls/save``: write what is open."""
        results = []
        for uri in params["uris"]:
            buffer = self.buffers.get(uri)
            if buffer is not None:
                self.save(buffer)
            results.append({"uri": uri, "saved": True, "version": buffer.version if buffer else None})
        return results

    def apply_edit(self, params: Any) -> dict[str, Any]:
        """Answer ``workspace/applyEdit`` as VS Code does: versions are checked first, closed files are opened."""
        edit = params["edit"]
        changes = edit.get("documentChanges") or [
            {"textDocument": {"uri": uri, "version": None}, "edits": edits}
            for uri, edits in edit.get("changes", {}).items()
        ]
        for change in changes:
            if "textDocument" in change:
                identifier = change["textDocument"]
                buffer = self.buffers.get(identifier["uri"])
                version = identifier.get("version")
                if version is not None and (buffer is None or buffer.version != version):
                    return {"applied": False}
        for change in changes:
            failure = self._apply_one(change)
            if failure:
                return {"applied": False, "failureReason": failure}
        return {"applied": True}

    def _apply_one(self, change: Any) -> str:
        match change.get("kind"):
            case "create":
                path = path_of(change["uri"])
                if path.exists():
                    return f"{path} exists"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            case "delete":
                path = path_of(change["uri"])
                if not path.exists():
                    return f"{path} does not exist"
                path.unlink()
                if change["uri"] in self.buffers:
                    self.close(self.buffers[change["uri"]])
            case "rename":
                source, target = path_of(change["oldUri"]), path_of(change["newUri"])
                if target.exists() or not source.exists():
                    return f"{source} cannot become {target}"
                target.parent.mkdir(parents=True, exist_ok=True)
                source.rename(target)
                if change["oldUri"] in self.buffers:
                    buffer = self.buffers[change["oldUri"]]
                    self.close(buffer)
                    self.open(change["newUri"], buffer.text, language_id=buffer.language_id)
            case None:
                uri = change["textDocument"]["uri"]
                if uri not in self.buffers:
                    if not path_of(uri).exists():
                        return f"{uri} does not exist"
                    self.open(uri)
                if change["edits"]:
                    self._change(self.buffers[uri], change["edits"])
        return ""

    def _change(self, buffer: Buffer, edits: Sequence[Mapping[str, Any]]) -> None:
        """Apply edits that all speak of the same text, and tell the server bottom-up."""
        spans = sorted(
            (
                (buffer.offset(e["range"]["start"]), buffer.offset(e["range"]["end"]), index, e)
                for index, e in enumerate(edits)
            ),
            key=lambda span: span[:3],
            reverse=True,
        )
        content = []
        for start, end, _, edit in spans:
            buffer.text = buffer.text[:start] + edit["newText"] + buffer.text[end:]
            content.append({"range": edit["range"], "text": edit["newText"]})
        buffer.version += 1
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": buffer.uri, "version": buffer.version}, "contentChanges": content},
        )

    # --- reading ---------------------------------------------------------------------------------------------------

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)

    async def _read(self) -> None:
        assert self.process.stdout is not None
        stream = self.process.stdout
        while header := await stream.readline():
            name, _, value = header.partition(b":")
            if name.lower() != b"content-length":
                raise AssertionError(f"no frame on standard output: {header!r}")
            while (await stream.readline()).strip():
                pass
            message = json.loads(await stream.readexactly(int(value)))
            await self._take(message)
        for future in self._answers.values():
            if not future.done():
                future.set_exception(ConnectionError(f"the server ended; stderr: {self.stderr[-4000:]}"))
                future.exception()

    async def _take(self, message: dict[str, Any]) -> None:
        if "method" in message and "id" in message:
            self.requests_received.append(message)
            self._start(self._answer(message))
        elif "method" not in message and message.get("id") in self._answers:
            future = self._answers[message["id"]]
            if not future.done():
                future.set_result(message)
        async with self._news:
            self.received.append(message)
            self._news.notify_all()

    async def _answer(self, message: dict[str, Any]) -> None:
        handler = self.handlers.get(message["method"])
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if handler is None:
            answer["error"] = {"code": -32601, "message": f"{message['method']} is not supported by this client"}
        else:
            try:
                result = handler(message.get("params"))
                answer["result"] = await result if asyncio.isfuture(result) or asyncio.iscoroutine(result) else result
            except ResponseError as error:
                answer["error"] = {"code": error.code, "message": error.message}
        self.send(answer)
        follow_up, self.after_answer = self.after_answer, None
        if follow_up is not None:
            follow_up()

    async def _read_errors(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self.stderr += line.decode(errors="replace")
