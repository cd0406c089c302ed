"""How the tests of this room reach a provider: every dialect over a real socket, by the variables a user would set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chatls_core.config import Settings
from chatls_core.llm.chain import Sleep
from chatls_core.llm.events import (
    ModelError,
    ModelEvent,
    ReasoningDelta,
    Stopped,
    TextDelta,
    ToolCallDone,
    Usage,
    UsageReport,
)
from chatls_core.llm.messages import Message, ModelRequest, TextPart, ToolCallPart, ToolDefinition
from chatls_core.llm.model import Model
from chatls_core.llm.models import Models
from tests.fakes.model_server import ModelServer

KEY = "sk-test-0123456789abcdef"


@dataclass(frozen=True)
class Wire:
    """One dialect: the provider that speaks it and how the user points it at a server."""

    provider: str
    dialect: str
    variables: dict[str, str]
    model: str
    base_path: str = ""


WIRES = (
    Wire("anthropic", "anthropic", {"ANTHROPIC_BASE_URL": "", "ANTHROPIC_API_KEY": KEY}, "claude-sonnet-5-5"),
    Wire("openai", "openai", {"OPENAI_BASE_URL": "", "OPENAI_API_KEY": KEY}, "gpt-6-sol", "/v1"),
    Wire("openai_responses", "responses", {"OPENAI_BASE_URL": "", "OPENAI_API_KEY": KEY}, "gpt-6-sol", "/v1"),
    Wire("google", "gemini", {"GEMINI_BASE_URL": "", "GEMINI_API_KEY": KEY}, "gemini-3.8-flash"),
    Wire("ollama", "ollama", {"OLLAMA_BASE_URL": "", "OLLAMA_API_KEY": KEY}, "gpt-oss:20b"),
)
"""One provider for each dialect."""


def _chat(provider: str, model: str, prefix: str = "", **more: str) -> Wire:
    """A service that speaks chat completions and names its variables as most do."""
    prefix = prefix or provider.upper()
    return Wire(provider, "openai", {f"{prefix}_BASE_URL": "", f"{prefix}_API_KEY": KEY, **more}, model, "/v1")


PROVIDERS = (
    *WIRES,
    _chat("xai", "grok-4.7"),
    _chat("zai", "glm-5.3"),
    _chat("minimax", "MiniMax-M3"),
    _chat("moonshot", "kimi-k3"),
    _chat("openrouter", "openai/gpt-6-sol"),
    _chat("deepseek", "deepseek-v4-pro"),
    _chat("groq", "openai/gpt-oss-120b"),
    Wire(
        "github_models",
        "openai",
        {"GITHUB_MODELS_BASE_URL": "", "GITHUB_MODELS_TOKEN": KEY},
        "openai/gpt-4.1",
        "/v1",
    ),
    Wire(
        "copilot",
        "openai",
        {"COPILOT_BASE_URL": "", "GITHUB_API_URL": "", "GITHUB_COPILOT_TOKEN": KEY},
        "gpt-6.1-sol",
    ),
    Wire(
        "bedrock",
        "anthropic",
        {"AWS_BEARER_TOKEN_BEDROCK": KEY, "BEDROCK_BASE_URL": "", "AWS_REGION": "eu-west-1"},
        "global.anthropic.claude-sonnet-5-5",
    ),
    Wire(
        "vertex",
        "anthropic",
        {
            "GOOGLE_OAUTH_ACCESS_TOKEN": KEY,
            "ANTHROPIC_VERTEX_BASE_URL": "",
            "ANTHROPIC_VERTEX_PROJECT_ID": "p1",
            "CLOUD_ML_REGION": "europe-west1",
        },
        "claude-sonnet-5-5",
    ),
    _chat("lmstudio", "qwen4-8b", LMSTUDIO_MODEL="qwen4-8b"),
    _chat("compatible", "my-model", "OPENAI_COMPATIBLE", OPENAI_COMPATIBLE_MODEL="my-model"),
)
"""Every provider but the embedded model, whose process has tests of its own (``test_local.py``)."""

BY_PROVIDER = {wire.provider: wire for wire in WIRES}


async def no_wait(seconds: float) -> None:
    """A pause that does not pause."""


def environment(wire: Wire, url: str) -> dict[str, str]:
    """The environment of a user whose provider is at ``url``."""
    filled = {name: value or url + wire.base_path for name, value in wire.variables.items()}
    return {"HOME": "/nonexistent", **filled}


def models_for(wire: Wire, server: ModelServer, *, sleep: Sleep = no_wait, **settings: Any) -> Models:
    """All providers, with one of them at the server; waits between attempts take no time."""
    return Models(Settings.model_validate(settings), environment(wire, server.url), sleep=sleep)


def ask(text: str = "Hello?", **fields: Any) -> ModelRequest:
    """A request with one user message."""
    return ModelRequest(messages=(Message("user", (TextPart(text),)),), **fields)


READ_FILE = ToolDefinition(
    "read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
)


@dataclass
class Outcome:
    """Everything a stream gave."""

    events: list[ModelEvent]
    error: ModelError | None = None

    @property
    def text(self) -> str:
        return "".join(e.text for e in self.events if isinstance(e, TextDelta))

    @property
    def reasoning(self) -> str:
        return "".join(e.text for e in self.events if isinstance(e, ReasoningDelta))

    @property
    def calls(self) -> list[ToolCallPart]:
        return [e.call for e in self.events if isinstance(e, ToolCallDone)]

    @property
    def usage(self) -> Usage:
        return [e.usage for e in self.events if isinstance(e, UsageReport)][-1]

    @property
    def stop(self) -> str:
        stops = [e.reason for e in self.events if isinstance(e, Stopped)]
        assert len(stops) == 1, stops
        return stops[0]


async def collect(model: Model, request: ModelRequest) -> Outcome:
    """Run a stream to its end, good or bad."""
    outcome = Outcome([])
    try:
        async for event in model.stream(request):
            outcome.events.append(event)
    except ModelError as error:
        outcome.error = error
    return outcome
