"""Our providers. A service that speaks OpenAI's chat-completions wire is one row here (spec/agent.md §8.3)."""

from __future__ import annotations

from functools import partial

from chatls_core.llm.backend import Backend
from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.quirks import Quirks
from chatls_core.llm.registry import ProviderSpec, register

_OPENAI_EFFORT = {"none": "none", "low": "low", "medium": "medium", "high": "high", "max": "xhigh"}
_PLAIN_EFFORT = {"low": "low", "medium": "medium", "high": "high", "max": "high"}


def _anthropic(endpoint: Endpoint) -> Backend:
    from chatls_core.llm.providers.anthropic import AnthropicBackend

    return AnthropicBackend(endpoint)


def _chat(endpoint: Endpoint, quirks: Quirks) -> Backend:
    from chatls_core.llm.providers.openai_chat import OpenAIChatBackend

    return OpenAIChatBackend(endpoint, quirks)


def _openai(endpoint: Endpoint) -> Backend:
    real = endpoint.base_url.startswith("https://api.openai.com/")
    return _chat(
        endpoint,
        Quirks(
            output_limit="max_completion_tokens" if real else "max_tokens",
            cache_key=real,
            effort=_OPENAI_EFFORT if real else _PLAIN_EFFORT,
        ),
    )


def chat_provider(quirks: Quirks | None = None) -> partial[Backend]:
    """``connect`` of a service that speaks the chat-completions wire."""
    return partial(_chat, quirks=quirks or Quirks())


register(
    ProviderSpec(
        name="anthropic",
        title="Anthropic",
        connect=_anthropic,
        base_url="https://api.anthropic.com",
        default_model="claude-sonnet-5-5",
        aliases=("claudeai", "claude"),
        key_env=("ANTHROPIC_API_KEY", "CLAUDEAI_API_KEY"),
        model_env=("ANTHROPIC_MODEL", "CLAUDEAI_MODEL"),
        url_env=("ANTHROPIC_BASE_URL",),
        prices="anthropic",
        window=200_000,
        max_output=64_000,
    )
)
register(
    ProviderSpec(
        name="openai",
        title="OpenAI",
        connect=_openai,
        base_url="https://api.openai.com/v1",
        default_model="gpt-6-sol",
        aliases=("open_ai", "openai_assistant"),
        key_env=("OPENAI_API_KEY",),
        model_env=("OPENAI_MODEL",),
        url_env=("OPENAI_BASE_URL",),
        endpoint_env=("OPENAI_API_URL",),
        prices="openai",
        max_output=16_384,
    )
)
