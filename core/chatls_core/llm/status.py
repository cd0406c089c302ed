"""What is said about providers: who could answer, with which models, and why others cannot."""

from __future__ import annotations

from dataclasses import dataclass

from chatls_core.llm.model import ModelInfo


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One model of a provider, for the model picker."""

    name: str
    title: str
    info: ModelInfo


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    """One provider, for ``chatls.provider.list``.

    ``reason`` says why it is unavailable, or where its key comes from. ``model`` is the one it would use. ``host`` is
    where requests go; ``signs_in``: a sign-in in the browser gives it a key.
    """

    name: str
    title: str
    available: bool
    reason: str
    model: str
    host: str
    models: tuple[ModelStatus, ...]
    signs_in: bool = False
