"""OpenAI itself: the Responses API for models that reason, chat completions for the others."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from chatls_core.llm.backend import Listed
from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.events import ModelEvent
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.providers.openai_chat import OpenAIChatBackend
from chatls_core.llm.providers.openai_models import prefers_responses
from chatls_core.llm.providers.openai_responses import OpenAIResponsesBackend
from chatls_core.llm.quirks import Quirks


class OpenAIBackend:
    """Chooses the wire per model."""

    def __init__(self, endpoint: Endpoint, quirks: Quirks) -> None:
        self._chat = OpenAIChatBackend(endpoint, quirks)
        self._responses = OpenAIResponsesBackend(endpoint, quirks)

    async def load(self) -> None:
        """Load the SDK, which both wires share; see :class:`Backend`."""
        await self._chat.load()

    def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """Ask once; see :class:`Backend`."""
        wire = self._responses if prefers_responses(model) else self._chat
        return wire.stream(request, model, info)

    async def count_tokens(self, request: ModelRequest, model: str, info: ModelInfo) -> int | None:
        """Input tokens where the model is asked by the Responses wire; the other wire has no count (``None``)."""
        wire = self._responses if prefers_responses(model) else self._chat
        return await wire.count_tokens(request, model, info)

    async def list_models(self) -> Sequence[Listed]:
        """The account's models."""
        return await self._chat.list_models()

    async def aclose(self) -> None:
        """Drop all connections."""
        await self._chat.aclose()
        await self._responses.aclose()
