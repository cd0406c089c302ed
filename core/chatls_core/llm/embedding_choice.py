"""Who turns texts into vectors, by the settings (spec/memory.md §8.4, §16)."""

from __future__ import annotations

from pathlib import Path

from chatls_core.config import OFF_WORDS, Settings
from chatls_core.llm.access import AccessRules
from chatls_core.llm.embedding import DEFAULT_MODELS, VOYAGE_URL, Embedder, HttpEmbedder, local_available, path_of
from chatls_core.llm.endpoint import Endpoint, checked_url
from chatls_core.llm.events import ModelError
from chatls_core.llm.registry import find
from chatls_core.llm.secret import Secret

_WITHOUT = frozenset({"anthropic", "bedrock", "vertex", "copilot"})


def embedder(settings: Settings, rules: AccessRules) -> Embedder | None:
    """The configured embedder; ``None`` when nobody shall embed. Raises :class:`ModelError` when it cannot be used."""
    wanted = settings.embedding
    word = wanted.provider.strip().lower()
    if not word or word in OFF_WORDS or word in ("null", "none"):
        return None
    if word == "local":
        return _local(wanted.model)
    endpoint = _voyage(settings, rules) if word == "voyage" else _endpoint(word, rules)
    if not endpoint.key and not endpoint.loopback:
        raise ModelError("no_provider", f"Embeddings by {endpoint.provider} need a key.", provider=endpoint.provider)
    model = wanted.model or DEFAULT_MODELS.get(endpoint.provider, "default")
    path = path_of(endpoint.provider)
    return HttpEmbedder(endpoint, model, path, wanted.dimensions, settings.retries.connect_timeout_seconds)


def _voyage(settings: Settings, rules: AccessRules) -> Endpoint:
    url = rules.variable(("VOYAGE_BASE_URL",)) or VOYAGE_URL
    key = Secret(rules.variable(("VOYAGE_API_KEY",)))
    return Endpoint("voyage", checked_url(url, "Voyage", allow_http=settings.allow_http), key)


def _endpoint(word: str, rules: AccessRules) -> Endpoint:
    spec = find(word)
    if spec is None or spec.name in _WITHOUT:
        raise ModelError("no_provider", f"{word} offers no embeddings that ChatLS can use.", provider=word)
    return rules.endpoint(spec)


def _local(model: str) -> Embedder:
    if not local_available():
        raise ModelError("no_provider", "Embeddings on this machine need the extra chatls[vectors].", provider="local")
    if not model:
        raise ModelError(
            "no_provider",
            "No embedding model is set.",
            hint="Set chatls.embedding.model to the path of an ONNX file that has its tokenizer.json beside it.",
            provider="local",
        )
    from chatls_core.llm.embedding_local import LocalEmbedder

    return LocalEmbedder(Path(model).expanduser())
