"""A provider for ChatLS in another package: it repeats the user's last words."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from chatls_core.llm.backend import Listed
from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.events import ModelEvent, Stopped, TextDelta, Usage, UsageReport
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.registry import ProviderSpec


class EchoBackend:
    """One attempt at answering. Retries, fallback, prices and cancellation are done around it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint  # base_url, key, time limits: where a real provider would open its client

    async def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """Yield text, reasoning and calls as they come, then usage and ``Stopped``; raise ``ModelError`` on failure."""
        said = request.messages[-1].text if request.messages else ""
        for word in said.split():
            yield TextDelta(word + " ")
        yield UsageReport(Usage(len(said) // 4, len(said) // 4, model=model, provider=self._endpoint.provider))
        yield Stopped("end")

    async def count_tokens(self, request: ModelRequest, model: str, info: ModelInfo) -> int | None:
        """``None``: the service has no exact count."""
        return None

    async def list_models(self) -> Sequence[Listed]:
        """What the model picker shows."""
        return [Listed("parrot", "Parrot", window=4096)]

    async def aclose(self) -> None:
        """Drop all connections."""


ECHO = ProviderSpec(
    name="echo",
    title="Echo",
    connect=EchoBackend,
    base_url="https://echo.invalid",
    default_model="parrot",
    key_env=("ECHO_API_KEY",),
    model_env=("ECHO_MODEL",),
    window=4096,
    tools=False,
)
