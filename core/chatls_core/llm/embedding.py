"""Texts as vectors: OpenAI-compatible ``/embeddings``, Ollama, or a model file of one's own (spec/memory.md §8.4)."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.events import ErrorKind, ModelError

if TYPE_CHECKING:
    import httpx

DEFAULT_MODELS: Mapping[str, str] = {
    "openai": "text-embedding-3-small",
    "voyage": "voyage-3.5",
    "google": "gemini-embedding-001",
    "ollama": "nomic-embed-text",
}
VOYAGE_URL = "https://api.voyageai.com/v1"
BATCH = 64
"""Most texts of one request."""
MAX_CHARS = 8_000
"""Characters of a text that are read; embedding models take some 8,000 tokens at most."""

_KINDS: Mapping[int, ErrorKind] = {401: "auth", 403: "auth", 404: "model_not_found", 429: "rate_limit"}


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """``provider:model``, and the dimensions where they were chosen: vectors of two names do not compare."""

    @property
    def here(self) -> bool:
        """Whether texts stay on this machine."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, all of one length. Raises :class:`ModelError`."""

    async def aclose(self) -> None:
        """Drop connections."""


class HttpEmbedder:
    """An embedding service. ``path`` is below the endpoint's address."""

    def __init__(self, endpoint: Endpoint, model: str, path: str, dimensions: int | None, timeout: float) -> None:
        self._endpoint = endpoint
        self._model = model
        self._path = path
        self._dimensions = dimensions
        self._timeout = timeout
        self._client: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        size = f":{self._dimensions}" if self._dimensions else ""
        return f"{self._endpoint.provider}:{self._model}{size}"

    @property
    def here(self) -> bool:
        return self._endpoint.loopback

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See :class:`Embedder`."""
        found: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            found += await self._batch([text[:MAX_CHARS] for text in texts[start : start + BATCH]])
        if len({len(vector) for vector in found}) > 1:
            raise self._error("server", "vectors of several lengths came back")
        return found

    async def _batch(self, texts: Sequence[str]) -> list[list[float]]:
        import httpx

        if self._client is None:
            self._client = httpx.AsyncClient(timeout=self._timeout, **self._endpoint.client_options())
        body: dict[str, Any] = {"model": self._model, "input": list(texts)}
        if self._dimensions:
            body["dimensions" if self._endpoint.provider != "voyage" else "output_dimension"] = self._dimensions
        headers = dict(self._endpoint.default_headers)
        if self._endpoint.key:
            headers["Authorization"] = f"Bearer {self._endpoint.key.reveal()}"
        try:
            reply = await self._client.post(self._endpoint.base_url + self._path, json=body, headers=headers)
        except httpx.HTTPError as error:
            raise self._error("network", f"{type(error).__name__}: {error}".rstrip(": ")) from error
        if reply.status_code != 200:
            raise self._error(_KINDS.get(reply.status_code, "server"), f"status {reply.status_code}")
        try:
            vectors = _vectors(reply.json())
        except (ValueError, KeyError, TypeError) as error:
            raise self._error("server", "the answer holds no vectors") from error
        if len(vectors) != len(texts) or not all(vectors):
            raise self._error("server", f"{len(vectors)} vectors came back for {len(texts)} texts")
        return vectors

    def _error(self, kind: ErrorKind, what: str) -> ModelError:
        return ModelError(kind, f"Embeddings by {self.name} failed: {what}.", provider=self._endpoint.provider)

    async def aclose(self) -> None:
        """See :class:`Embedder`."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None


def _vectors(reply: Any) -> list[list[float]]:
    """The vectors of an OpenAI-compatible answer (in any order) or of Ollama's."""
    if "embeddings" in reply:
        rows = reply["embeddings"]
    else:
        rows = [row["embedding"] for row in sorted(reply["data"], key=lambda row: int(row.get("index", 0)))]
    return [[float(value) for value in row] for row in rows]


def path_of(provider: str) -> str:
    """The path of a provider's embedding service below its address."""
    return {"ollama": "/api/embed", "google": "/openai/embeddings"}.get(provider, "/embeddings")


def local_available() -> bool:
    """Whether the extra ``chatls[vectors]`` is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("onnxruntime", "tokenizers"))
