"""What the rest of the core sees of a model: facts about it, and one way to ask it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from chatls_core.llm.events import ModelEvent
from chatls_core.llm.messages import ModelRequest


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens; ``None`` where the vendor has no such price."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Facts about a model. ``window`` and ``max_output`` are tokens.

    ``known`` is False when the catalogue has never heard of the model, so that ``window`` is the provider's stated
    default; ``prices`` is ``None`` when nobody knows them. ``tools`` says whether tools may be offered; without
    ``native_tools`` they go through an enforced answer shape (``emulation.py``).
    """

    window: int
    max_output: int | None = None
    tools: bool = True
    native_tools: bool = True
    images: bool = False
    reasoning: bool = False
    prices: Prices | None = None
    known: bool = False


class Model(Protocol):
    """A model that can be asked. Fallback, retries and cool-downs happen inside."""

    @property
    def provider(self) -> str:
        """Our name of the provider, e.g. ``anthropic``."""

    @property
    def model(self) -> str:
        """The vendor's name of the model."""

    @property
    def info(self) -> ModelInfo:
        """Facts about the model."""

    async def load(self) -> None:
        """Load what the first request needs, so that it need not wait. Raises :class:`ModelError`."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Ask; the first event is :class:`Answering`, the last one :class:`Stopped`.

        Raises :class:`ModelError`. A stream that breaks off after visible output raises, it never passes for whole.
        Cancelling the task, or closing the iterator, closes the HTTP connection at once.
        """

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Input tokens of a request as the vendor counts them, ``None`` where it offers no such count. Sends the
        request's text to the vendor. Raises :class:`ModelError` where it cannot say now."""
