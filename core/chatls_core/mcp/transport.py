"""How a server is reached: a child process or a web address, as the SDK's transports, and what the child complains of.

The SDK is imported here and in :mod:`chatls_core.mcp.connection`, in a thread, when the first server starts.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from chatls_core.llm.endpoint import is_loopback
from chatls_core.mcp.model import ServerConfig
from chatls_core.text.redaction import without_secrets

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

KEPT_LINES = 40
MAX_LINE = 500


class Complaints:
    """The last lines a child wrote to standard error. Read by a thread of its own until the last writer is gone."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)

    @contextlib.contextmanager
    def stream(self) -> Any:
        """The file to give to the child as standard error."""
        reading, writing = os.pipe()
        threading.Thread(target=self._read, args=(reading,), name="mcp-stderr", daemon=True).start()
        with os.fdopen(writing, "w") as file:
            yield file

    def _read(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb") as file:
            for line in iter(lambda: file.readline(MAX_LINE), b""):
                if text := line.decode("utf-8", "replace").strip():
                    self._lines.append(text)

    @property
    def last(self) -> str:
        """The last line, empty when there is none."""
        return self._lines[-1] if self._lines else ""

    @property
    def lines(self) -> tuple[str, ...]:
        """What is kept, oldest first."""
        return tuple(self._lines)


@contextlib.asynccontextmanager
async def open_streams(
    config: ServerConfig, environment: Mapping[str, str], complaints: Complaints, on_end: Callable[[], None]
) -> AsyncIterator[TransportStreams]:
    """The pair of message streams of a server; ``on_end`` is called when it hangs up.

    A child gets the environment without secrets, plus what its own entry names. Raises :class:`OSError` when it
    cannot be started.
    """
    async with contextlib.AsyncExitStack() as stack:
        if config.transport == "stdio":
            errors = stack.enter_context(complaints.stream())
            reading, writing = await stack.enter_async_context(_child(config, environment, errors))
        else:
            reading, writing = await stack.enter_async_context(_service(config))
        yield _Watched(reading, on_end), writing


def _child(config: ServerConfig, environment: Mapping[str, str], errors: TextIO) -> Any:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    parameters = StdioServerParameters(
        command=config.command,
        args=list(config.args),
        env={**without_secrets(environment), **config.env},
        cwd=config.cwd,
        encoding_error_handler="replace",
    )
    return stdio_client(parameters, errlog=errors)


@contextlib.asynccontextmanager
async def _service(config: ServerConfig) -> AsyncIterator[Any]:
    import httpx2

    # A redirect must not carry the user's headers to another host; proxies are for what is not on this machine.
    options: dict[str, Any] = {"headers": dict(config.headers), "trust_env": not is_loopback(config.url)}
    if config.url.startswith("http://"):
        options["verify"] = False  # no TLS here: reading the certificate store would cost a tenth of a second
    if config.transport == "sse":
        from mcp.client.sse import sse_client

        def factory(headers: Any = None, timeout: Any = None, auth: Any = None) -> httpx2.AsyncClient:
            return httpx2.AsyncClient(**options, timeout=timeout, auth=auth)

        async with sse_client(config.url, httpx_client_factory=factory) as streams:
            yield streams
        return
    from mcp.client.streamable_http import streamable_http_client

    timeout = httpx2.Timeout(config.start_seconds, read=max(300.0, config.request_seconds))
    async with (
        httpx2.AsyncClient(**options, timeout=timeout) as client,
        streamable_http_client(config.url, http_client=client) as streams,
    ):
        yield streams


class _Watched:
    """A read stream that tells when it ends: the SDK's client does not say so until the next request."""

    def __init__(self, inner: Any, on_end: Callable[[], None]) -> None:
        self._inner = inner
        self._on_end = on_end

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        return await self._inner.receive()

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> _Watched:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._inner.__anext__()
        except StopAsyncIteration:
            self._on_end()
            raise

    async def __aenter__(self) -> _Watched:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *details: Any) -> Any:
        return await self._inner.__aexit__(*details)
