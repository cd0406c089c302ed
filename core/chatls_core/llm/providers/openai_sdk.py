"""OpenAI's official SDK: the client, and what both of its wires share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from chatls_core.llm.backend import Listed
from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.providers.sdk import sdk_error
from chatls_core.llm.quirks import Quirks

if TYPE_CHECKING:
    from openai import AsyncOpenAI


def open_client(endpoint: Endpoint) -> AsyncOpenAI:
    """The SDK's client for an endpoint; imports the SDK, so call it in a thread."""
    import httpx2
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    longest = max(endpoint.first_timeout, endpoint.idle_timeout)
    client = AsyncOpenAI(
        # The SDK insists on a key; servers on this machine ignore it.
        api_key=endpoint.key.reveal() or "none",
        # Empty, not None: for None the SDK would take the administrator's key from the environment.
        admin_api_key="",
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=httpx2.Timeout(longest, connect=endpoint.connect_timeout),
        default_headers=dict(endpoint.default_headers),
        http_client=DefaultAsyncHttpxClient(**endpoint.client_options()),
    )
    # The SDK takes these from the environment and would send them to whatever host this is.
    client.organization = client.project = None
    # Touched here because the first access imports the resources' modules.
    _ = client.chat.completions
    return client


class OpenAISdkBackend:
    """What both OpenAI wires share: the client, the listing, the way out."""

    def __init__(self, endpoint: Endpoint, quirks: Quirks) -> None:
        self._endpoint = endpoint
        self._quirks = quirks
        self._client: AsyncOpenAI | None = None
        self._opening = asyncio.Lock()

    async def _connected(self) -> AsyncOpenAI:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(open_client, self._endpoint)
            return self._client

    async def load(self) -> None:
        """Load what the first request needs; see :class:`Backend`."""
        await self._connected()

    async def count_tokens(self, request: ModelRequest, model: str, info: ModelInfo) -> int | None:
        """``None``: this wire has no token count."""
        return None

    async def list_models(self) -> Sequence[Listed]:
        """The account's models."""
        client = await self._connected()
        try:
            found = [item async for item in client.models.list()]
        except Exception as error:
            raise sdk_error(self._endpoint, error, started=False) from error
        return [_listed(item) for item in found]

    async def aclose(self) -> None:
        """Drop all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def _listed(item: Any) -> Listed:
    """A listing's row; services add fields of their own to OpenAI's four."""
    extra = item.model_extra or {}
    window = extra.get("context_length") or extra.get("max_context_length") or extra.get("context_window")
    top = extra.get("top_provider")
    output = extra.get("max_output_tokens") or (top.get("max_completion_tokens") if isinstance(top, dict) else None)
    parameters = extra.get("supported_parameters")
    modalities = (extra.get("architecture") or {}).get("input_modalities")
    return Listed(
        item.id,
        str(extra.get("name") or ""),
        window=window if isinstance(window, int) else None,
        max_output=output if isinstance(output, int) else None,
        tools="tools" in parameters if isinstance(parameters, list) else None,
        images="image" in modalities if isinstance(modalities, list) else None,
        reasoning="reasoning" in parameters if isinstance(parameters, list) else None,
    )
