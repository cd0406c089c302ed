"""One attempt at one provider: what a provider module implements (docs/providers.md)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from chatls_core.llm.events import ModelEvent
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import ModelInfo


@dataclass(frozen=True, slots=True)
class Listed:
    """A model a service lists. ``window`` and ``max_output`` are tokens, ``None`` where it does not say."""

    name: str
    title: str = ""
    window: int | None = None
    max_output: int | None = None
    tools: bool | None = None
    images: bool | None = None
    reasoning: bool | None = None


class Backend(Protocol):
    """A connection to one provider. Backends neither retry nor price; they translate."""

    async def load(self) -> None:
        """Load what the first request needs, the vendor's SDK above all. Asks nothing of the service. Raises
        ``ModelError``."""

    def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """Ask once. Yields everything but :class:`Answering`, ends with :class:`Stopped`, raises ``ModelError``."""

    async def count_tokens(self, request: ModelRequest, model: str, info: ModelInfo) -> int | None:
        """Input tokens of the request, ``None`` where the service has no such count."""

    async def list_models(self) -> Sequence[Listed]:
        """The models of the account. Raises ``ModelError``."""

    async def aclose(self) -> None:
        """Drop all connections."""
