"""Our providers. A service that speaks OpenAI's chat-completions wire is one row here (spec/agent.md §8.3).

The order is the order in which a provider is chosen when the user names none: keys first, then what runs on this
machine, the embedded model last.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from chatls_core.llm.backend import Backend
from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.local_setup import ENGINE, MODEL_NAME
from chatls_core.llm.quirks import Quirks
from chatls_core.llm.registry import ProviderSpec, register
from chatls_core.llm.sign_in import SignIn

_OPENAI_EFFORT = {"none": "none", "low": "low", "medium": "medium", "high": "high", "max": "xhigh"}
_PLAIN_EFFORT = {"low": "low", "medium": "medium", "high": "high", "max": "high"}


def _anthropic(endpoint: Endpoint) -> Backend:
    from chatls_core.llm.providers.anthropic import AnthropicBackend

    return AnthropicBackend(endpoint)


def _bedrock(endpoint: Endpoint) -> Backend:
    from chatls_core.llm.providers.anthropic import AnthropicBackend
    from chatls_core.llm.providers.anthropic_clouds import bedrock_client

    return AnthropicBackend(endpoint, bedrock_client)


def _vertex(endpoint: Endpoint) -> Backend:
    from chatls_core.llm.providers.anthropic import AnthropicBackend
    from chatls_core.llm.providers.anthropic_clouds import vertex_client

    return AnthropicBackend(endpoint, vertex_client)


def _chat(endpoint: Endpoint, quirks: Quirks) -> Backend:
    from chatls_core.llm.providers.openai_chat import OpenAIChatBackend

    return OpenAIChatBackend(endpoint, quirks)


def _gemini(endpoint: Endpoint) -> Backend:
    from chatls_core.llm.providers.gemini import GeminiBackend

    return GeminiBackend(endpoint)


def _ollama(endpoint: Endpoint) -> Backend:
    from chatls_core.llm.providers.ollama import OllamaBackend

    return OllamaBackend(endpoint)


def _copilot(endpoint: Endpoint) -> Backend:
    from chatls_core.llm.providers.copilot import CopilotBackend

    return CopilotBackend(endpoint)


def _copilot_sign_in(options: Mapping[str, str]) -> SignIn:
    from chatls_core.llm.providers.copilot import DeviceSignIn

    return DeviceSignIn(options.get("github", "https://github.com"))


def _local(endpoint: Endpoint) -> Backend:
    from chatls_core.llm.providers.local import LocalBackend

    return LocalBackend(endpoint)


def _openai_quirks(endpoint: Endpoint) -> Quirks:
    """OpenAI's newer parameters go to OpenAI only: other servers at a user's address may refuse them."""
    if endpoint.base_url.startswith("https://api.openai.com/"):
        return Quirks(output_limit="max_completion_tokens", cache_key=True, effort=_OPENAI_EFFORT)
    return Quirks(effort=_PLAIN_EFFORT)


def _openai(endpoint: Endpoint) -> Backend:
    from chatls_core.llm.providers.openai import OpenAIBackend

    quirks = _openai_quirks(endpoint)
    return OpenAIBackend(endpoint, quirks) if quirks.cache_key else _chat(endpoint, quirks)


def _responses(endpoint: Endpoint) -> Backend:
    from chatls_core.llm.providers.openai_responses import OpenAIResponsesBackend

    return OpenAIResponsesBackend(endpoint, _openai_quirks(endpoint))


def chat_provider(quirks: Quirks | None = None) -> partial[Backend]:
    """``connect`` of a service that speaks the chat-completions wire."""
    return partial(_chat, quirks=quirks or Quirks())


_ROWS = (
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
        url_suffixes=("/messages", "/v1"),
        prices="anthropic",
        window=200_000,
        max_output=64_000,
    ),
    ProviderSpec(
        name="openai",
        title="OpenAI",
        connect=_openai,
        base_url="https://api.openai.com/v1",
        default_model="gpt-6-sol",
        aliases=("open_ai", "openai_assistant"),
        key_env=("OPENAI_API_KEY",),
        model_env=("OPENAI_MODEL",),
        url_env=("OPENAI_BASE_URL", "OPENAI_API_URL"),
        prices="openai",
        max_output=16_384,
    ),
    ProviderSpec(
        name="openai_responses",
        title="OpenAI (Responses)",
        key_of="openai",
        connect=_responses,
        base_url="https://api.openai.com/v1",
        default_model="gpt-6-sol",
        key_env=("OPENAI_API_KEY",),
        model_env=("OPENAI_MODEL",),
        url_env=("OPENAI_RESPONSES_API_URL", "OPENAI_BASE_URL"),
        url_suffixes=("/responses",),
        prices="openai",
        max_output=16_384,
        automatic=False,
    ),
    ProviderSpec(
        name="google",
        title="Google Gemini",
        connect=_gemini,
        base_url="https://generativelanguage.googleapis.com/v1beta",
        default_model="gemini-3.8-flash",
        aliases=("googleai", "gemini"),
        key_env=("GOOGLEAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"),
        model_env=("GOOGLEAI_MODEL", "GEMINI_MODEL"),
        url_env=("GOOGLEAI_BASE_URL", "GEMINI_BASE_URL"),
        prices="google",
        window=1_000_000,
        max_output=65_536,
    ),
    ProviderSpec(
        name="xai",
        title="xAI",
        connect=chat_provider(),
        base_url="https://api.x.ai/v1",
        default_model="grok-4.7",
        aliases=("x_ai", "grok"),
        key_env=("XAI_API_KEY",),
        model_env=("XAI_MODEL",),
        url_env=("XAI_BASE_URL", "XAI_API_URL"),
        prices="x-ai",
        max_output=16_384,
    ),
    ProviderSpec(
        name="zai",
        title="Z.AI",
        connect=chat_provider(Quirks(thinking_switch=True, repeat_reasoning="reasoning_content")),
        base_url="https://api.z.ai/api/paas/v4",
        default_model="glm-5.3",
        aliases=("z_ai", "glm"),
        key_env=("ZAI_API_KEY",),
        model_env=("ZAI_MODEL",),
        url_env=("ZAI_BASE_URL", "ZAI_API_URL"),
        prices="zai",
        window=202_752,
        max_output=65_535,
    ),
    ProviderSpec(
        name="minimax",
        title="MiniMax",
        connect=chat_provider(Quirks(repeat_reasoning="reasoning_details", extra={"reasoning_split": True})),
        base_url="https://api.minimax.io/v1",
        default_model="MiniMax-M3",
        key_env=("MINIMAX_API_KEY",),
        model_env=("MINIMAX_MODEL",),
        url_env=("MINIMAX_BASE_URL", "MINIMAX_API_URL"),
        prices="minimax",
        window=204_800,
        max_output=131_072,
    ),
    ProviderSpec(
        name="moonshot",
        title="Moonshot",
        connect=chat_provider(Quirks(repeat_reasoning="reasoning_content")),
        base_url="https://api.moonshot.ai/v1",
        default_model="kimi-k3",
        aliases=("moonshotai", "kimi"),
        key_env=("MOONSHOT_API_KEY",),
        model_env=("MOONSHOT_MODEL",),
        url_env=("MOONSHOT_BASE_URL", "MOONSHOT_API_URL"),
        prices="moonshotai",
        window=262_144,
        max_output=131_072,
    ),
    ProviderSpec(
        name="openrouter",
        title="OpenRouter",
        connect=chat_provider(Quirks(effort=_PLAIN_EFFORT, repeat_reasoning="reasoning_details", cache_markers=True)),
        base_url="https://openrouter.ai/api/v1",
        default_model="openai/gpt-6-sol",
        aliases=("open_router",),
        key_env=("OPENROUTER_API_KEY",),
        model_env=("OPENROUTER_MODEL",),
        url_env=("OPENROUTER_BASE_URL", "OPENROUTER_API_URL"),
        prices="openrouter",
        max_output=16_384,
        headers={"X-Title": "ChatLS"},
    ),
    ProviderSpec(
        name="deepseek",
        title="DeepSeek",
        connect=chat_provider(Quirks(thinking_switch=True, repeat_reasoning="reasoning_content")),
        base_url="https://api.deepseek.com",
        default_model="deepseek-v4-pro",
        key_env=("DEEPSEEK_API_KEY",),
        model_env=("DEEPSEEK_MODEL",),
        url_env=("DEEPSEEK_BASE_URL",),
        prices="deepseek",
    ),
    ProviderSpec(
        name="groq",
        title="Groq",
        connect=chat_provider(),
        base_url="https://api.groq.com/openai/v1",
        default_model="openai/gpt-oss-120b",
        key_env=("GROQ_API_KEY",),
        model_env=("GROQ_MODEL",),
        url_env=("GROQ_BASE_URL",),
        prices="groq",
    ),
    ProviderSpec(
        name="github_models",
        title="GitHub Models",
        connect=chat_provider(),
        base_url="https://models.github.ai/inference",
        default_model="openai/gpt-4.1",
        aliases=("githubmodels",),
        key_env=("GITHUB_MODELS_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"),
        model_env=("GITHUB_MODELS_MODEL",),
        url_env=("GITHUB_MODELS_BASE_URL", "GITHUB_MODELS_API_URL"),
        max_output=4_096,
        automatic=False,  # these tokens are set for other reasons on many machines
    ),
    ProviderSpec(
        name="copilot",
        title="GitHub Copilot",
        connect=_copilot,
        base_url="https://api.githubcopilot.com",
        default_model="gpt-6.1-sol",
        aliases=("github_copilot",),
        key_env=("GITHUB_COPILOT_TOKEN",),
        model_env=("COPILOT_MODEL",),
        url_env=("COPILOT_BASE_URL", "COPILOT_API_URL"),
        option_env={"github_api": ("GITHUB_API_URL",), "github": ("GITHUB_SERVER_URL",)},
        sign_in=_copilot_sign_in,
        prices="github-copilot",
        max_output=16_384,
    ),
    ProviderSpec(
        name="bedrock",
        title="Amazon Bedrock (Claude)",
        connect=_bedrock,
        base_url="https://bedrock-mantle.us-east-1.api.aws/anthropic",
        default_model="global.anthropic.claude-sonnet-5-5",
        aliases=("aws", "aws_bedrock"),
        key_env=("AWS_BEARER_TOKEN_BEDROCK",),
        model_env=("BEDROCK_MODEL",),
        url_env=("BEDROCK_BASE_URL", "ANTHROPIC_BEDROCK_MANTLE_BASE_URL"),
        url_suffixes=("/messages", "/v1"),
        ambient_env=("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE"),
        option_env={"region": ("BEDROCK_REGION", "AWS_REGION", "AWS_DEFAULT_REGION"), "profile": ("AWS_PROFILE",)},
        prices="aws",
        window=200_000,
        max_output=64_000,
        automatic=False,  # these variables are set for other reasons on many machines
        requires="botocore",
        extra="bedrock",
    ),
    ProviderSpec(
        name="vertex",
        title="Google Vertex AI (Claude)",
        connect=_vertex,
        base_url="https://aiplatform.googleapis.com/v1",
        default_model="claude-sonnet-5-5",
        aliases=("vertexai", "vertex_ai"),
        key_env=("GOOGLE_OAUTH_ACCESS_TOKEN",),
        model_env=("VERTEX_MODEL",),
        url_env=("ANTHROPIC_VERTEX_BASE_URL",),
        url_suffixes=(),
        ambient_env=("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_APPLICATION_CREDENTIALS"),
        option_env={
            "region": ("CLOUD_ML_REGION", "GOOGLE_CLOUD_LOCATION"),
            "project": ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT"),
        },
        prices="google",
        window=200_000,
        max_output=64_000,
        automatic=False,
        requires="google.auth",
        extra="vertex",
    ),
    ProviderSpec(
        name="ollama",
        title="Ollama",
        connect=_ollama,
        base_url="http://127.0.0.1:11434",
        default_model="gpt-oss:20b",
        key_env=("OLLAMA_API_KEY",),
        model_env=("OLLAMA_MODEL",),
        url_env=("OLLAMA_BASE_URL", "OLLAMA_HOST"),
        url_suffixes=("/chat", "/api", "/v1"),
        needs_key=False,
        on_this_machine=True,
        probe=True,
        window=8_192,
        max_output=8_192,
    ),
    ProviderSpec(
        name="lmstudio",
        title="LM Studio",
        connect=chat_provider(),
        base_url="http://127.0.0.1:1234/v1",
        aliases=("lm_studio",),
        key_env=("LMSTUDIO_API_KEY",),
        model_env=("LMSTUDIO_MODEL",),
        url_env=("LMSTUDIO_BASE_URL",),
        needs_key=False,
        on_this_machine=True,
        probe=True,
        window=8_192,
    ),
    ProviderSpec(
        name="compatible",
        title="OpenAI-compatible server",
        connect=chat_provider(),
        aliases=("llamacpp", "llama_cpp", "vllm", "custom"),
        key_env=("OPENAI_COMPATIBLE_API_KEY",),
        model_env=("OPENAI_COMPATIBLE_MODEL",),
        url_env=("OPENAI_COMPATIBLE_BASE_URL", "LLAMACPP_BASE_URL"),
        needs_key=False,
        on_this_machine=True,
        probe=True,
        window=8_192,
    ),
    ProviderSpec(
        name="local",
        title="Embedded model",
        connect=_local,
        default_model=MODEL_NAME,
        aliases=("embedded",),
        needs_key=False,
        on_this_machine=True,
        embedded=True,
        window=4_096,
        max_output=1_024,
        native_tools=False,
        requires=ENGINE,
        extra="local",
    ),
)

for _row in _ROWS:
    register(_row)
