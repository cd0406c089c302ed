"""The embedded model: a child process of ours, started on first use, asked over loopback."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import secrets
import sys
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

from chatls_core.llm.backend import Listed
from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.errors import VendorError
from chatls_core.llm.events import ModelEvent
from chatls_core.llm.local_setup import parse_address
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.providers.openai_chat import OpenAIChatBackend
from chatls_core.llm.quirks import Quirks
from chatls_core.llm.secret import Secret

log = logging.getLogger(__name__)

START_SECONDS = 120.0
"""A large GGUF on a slow disk takes its time to load."""

_LONGEST_ANSWER = 512
"""Tokens asked for where nobody says: small models like to ramble."""

_QUIRKS = Quirks(extra={"top_p": 0.9})


class LocalServer:
    """The child process. ``command`` is what a test replaces."""

    def __init__(self, model: Path, window: int, command: Sequence[str] = ()) -> None:
        self._model = model
        self._window = window
        self._command = command or (sys.executable, "-m", "chatls_core.llm.local_server")
        self._process: asyncio.subprocess.Process | None = None
        self._log: asyncio.Task[None] | None = None
        self._tail: deque[str] = deque(maxlen=20)
        self._starting = asyncio.Lock()
        self._url = ""
        self.key = secrets.token_urlsafe(24)

    async def url(self) -> str:
        """The server's address; starts the process when it is not running. Raises :class:`VendorError`."""
        async with self._starting:
            if self._process is not None and self._process.returncode is None and self._url:
                return self._url
            await self._stop()
            try:
                async with asyncio.timeout(START_SECONDS):
                    self._url = await self._start()
            except BaseException:
                await self._stop()
                raise
            return self._url

    async def _start(self) -> str:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C in a terminal is for us, not for it
            )
        except OSError as error:
            raise _failed(f"its process could not be started ({error.strerror})") from error
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._log = asyncio.create_task(self._read_log(process.stderr))
        order = {"model": str(self._model), "window": self._window, "key": self.key}
        try:
            process.stdin.write(json.dumps(order).encode() + b"\n")
            await process.stdin.drain()
            answer = json.loads(await process.stdout.readline() or b"{}")
        except (ConnectionError, ValueError) as error:
            raise _failed("its process did not answer") from error
        if "url" not in answer:
            log.warning("the local model did not start:\n%s", "\n".join(self._tail))
            raise _failed(str(answer.get("error") or "its process ended"))
        log.info("the local model listens at %s", answer["url"])
        return str(answer["url"])

    async def _read_log(self, stream: asyncio.StreamReader) -> None:
        while line := await stream.readline():
            text = line.decode("utf-8", "replace").rstrip()
            self._tail.append(text)
            log.debug("local model: %s", text)

    async def _stop(self) -> None:
        process, self._process, self._url = self._process, None, ""
        if process is not None and process.returncode is None:
            assert process.stdin is not None
            process.stdin.close()  # it ends with its standard input
            try:
                async with asyncio.timeout(1.0):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
        if self._log is not None:
            self._log.cancel()
            await asyncio.gather(self._log, return_exceptions=True)
            self._log = None

    async def aclose(self) -> None:
        """End the process."""
        async with self._starting:
            await self._stop()


def _failed(why: str) -> VendorError:
    return VendorError(
        "server",
        f"The local model could not be started: {why}.",
        hint="Run: chatls doctor. A key for a provider, or Ollama, gives better answers.",
        provider="local",
        retryable=False,
    )


class LocalBackend:
    """Speaks the chat-completions wire to the child process."""

    def __init__(self, endpoint: Endpoint, command: Sequence[str] = ()) -> None:
        self._endpoint = endpoint
        self._server = LocalServer(*parse_address(endpoint.base_url), command)
        self._chat: OpenAIChatBackend | None = None
        self._chat_url = ""

    async def _connected(self) -> OpenAIChatBackend:
        # The SDK's import and the model's loading take seconds each: side by side.
        url, _ = await asyncio.gather(self._server.url(), asyncio.to_thread(importlib.import_module, "openai"))
        if self._chat is None or url != self._chat_url:
            if self._chat is not None:
                await self._chat.aclose()
            endpoint = replace(self._endpoint, base_url=f"{url}/v1", key=Secret(self._server.key))
            self._chat, self._chat_url = OpenAIChatBackend(endpoint, _QUIRKS), url
        return self._chat

    async def load(self) -> None:
        """Start the child process, which loads the model; see :class:`Backend`."""
        await self._connected()

    async def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """Ask once; see :class:`Backend`."""
        chat = await self._connected()
        request = replace(
            request,
            tools=(),
            max_output_tokens=min(request.max_output_tokens or _LONGEST_ANSWER, info.window // 2),
            temperature=0.2 if request.temperature is None else request.temperature,
            effort="",
        )
        stream = chat.stream(request, model, info)
        try:
            async for event in stream:
                yield event
        finally:
            await stream.aclose()

    async def count_tokens(self, request: ModelRequest, model: str, info: ModelInfo) -> int | None:
        """``None``: not offered."""
        return None

    async def list_models(self) -> Sequence[Listed]:
        """The one model."""
        return ()

    async def aclose(self) -> None:
        """Drop connections and end the process."""
        if self._chat is not None:
            await self._chat.aclose()
        await self._server.aclose()
