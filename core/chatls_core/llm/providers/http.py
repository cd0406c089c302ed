"""Services without an SDK of ours: JSON over HTTP, streamed as lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.errors import http_error, transport_error
from chatls_core.llm.events import ModelError
from chatls_core.llm.wire import within

if TYPE_CHECKING:
    import httpx

Json = dict[str, Any]


class HttpService:
    """One HTTP client for an endpoint. Every method raises :class:`ModelError`."""

    def __init__(self, endpoint: Endpoint, headers: Mapping[str, str]) -> None:
        self._endpoint = endpoint
        self._headers = {**headers, **endpoint.default_headers}
        self._client: httpx.AsyncClient | None = None
        self._opening = asyncio.Lock()

    async def _connected(self) -> httpx.AsyncClient:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._open)
            return self._client

    def _open(self) -> httpx.AsyncClient:
        import httpx

        timeout = httpx.Timeout(self._endpoint.idle_timeout, connect=self._endpoint.connect_timeout)
        return httpx.AsyncClient(headers=self._headers, timeout=timeout, **self._endpoint.client_options())

    async def load(self) -> None:
        """Load the HTTP library and open the client; nothing is sent."""
        await self._connected()

    async def lines(self, path: str, body: Json) -> AsyncGenerator[bytes, None]:
        """The lines of a streamed answer, split at ``\\n`` only: JSON may hold every other line separator.

        The first byte may take ``first_timeout`` seconds, each later one ``idle_timeout``.
        """
        client = await self._connected()
        endpoint = self._endpoint
        started = False
        try:
            request = client.build_request(
                "POST",
                endpoint.base_url + path,
                content=json.dumps(body).encode(),
                headers={"Content-Type": "application/json"},
                timeout=self._timeout(),
            )
            response = await within(endpoint.first_timeout, lambda: client.send(request, stream=True))
            try:
                if response.status_code != 200:
                    raise await self._refusal(response)
                async with aclosing(_lines(response)) as lines:
                    while True:
                        limit = endpoint.idle_timeout if started else endpoint.first_timeout
                        line = await within(limit, lambda: anext(lines, None))
                        if line is None:
                            return
                        started = True
                        yield line
            finally:
                await response.aclose()
        except ModelError:
            raise
        except Exception as error:
            raise transport_error(endpoint, error, started=started) from error

    def _timeout(self) -> Any:
        import httpx

        longest = max(self._endpoint.first_timeout, self._endpoint.idle_timeout)
        return httpx.Timeout(longest, connect=self._endpoint.connect_timeout)

    async def _refusal(self, response: httpx.Response) -> ModelError:
        await response.aread()
        body: Any = response.text
        try:
            body = response.json()
        except ValueError:
            pass
        return http_error(self._endpoint, response.status_code, response.headers, body)

    async def json(self, method: str, path: str, body: Json | None = None) -> Any:
        """The JSON answer to a request."""
        client = await self._connected()
        try:
            response = await client.request(method, self._endpoint.base_url + path, json=body)
            if response.status_code != 200:
                raise await self._refusal(response)
            return response.json()
        except ModelError:
            raise
        except Exception as error:
            raise transport_error(self._endpoint, error, started=False) from error

    async def aclose(self) -> None:
        """Drop all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


async def _lines(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    buffer = bytearray()
    async for chunk in response.aiter_bytes():
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            buffer += chunk[start:end]
            start = end + 1
            yield bytes(buffer).rstrip(b"\r")
            buffer.clear()
        buffer += chunk[start:]
    if buffer:
        yield bytes(buffer)
