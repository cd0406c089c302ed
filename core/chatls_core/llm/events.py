"""What comes back from a model while it answers, and how it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chatls_core.llm.messages import ReasoningPart, ToolCallPart


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, normalised across vendors (PROTOCOL.md "Chat").

    ``input_tokens`` leaves cached ones out. ``cost_usd`` is ``None`` when the model's price is unknown.
    ``aside_tokens`` are billed as input beside the prompt itself (to make an explicit cache, to summarise at the
    service); ``cache_token_hours`` is how long how many tokens are kept in an explicit cache.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    model: str = ""
    provider: str = ""
    aside_tokens: int = 0
    cache_token_hours: float = 0.0

    @property
    def prompt_tokens(self) -> int:
        """Everything the model read: fresh, cached and newly cached input."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            cost,
            other.model or self.model,
            other.provider or self.provider,
            self.aside_tokens + other.aside_tokens,
            self.cache_token_hours + other.cache_token_hours,
        )

    def __sub__(self, earlier: Usage) -> Usage:
        """What came since ``earlier``, a sum this one grew from."""
        cost = None if self.cost_usd is None or earlier.cost_usd is None else self.cost_usd - earlier.cost_usd
        return Usage(
            self.input_tokens - earlier.input_tokens,
            self.output_tokens - earlier.output_tokens,
            self.reasoning_tokens - earlier.reasoning_tokens,
            self.cache_read_tokens - earlier.cache_read_tokens,
            self.cache_write_tokens - earlier.cache_write_tokens,
            cost,
            self.model,
            self.provider,
            self.aside_tokens - earlier.aside_tokens,
            self.cache_token_hours - earlier.cache_token_hours,
        )


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of what the model thinks."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDone:
    """A finished reasoning block, to be kept in history."""

    part: ReasoningPart


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """The model began to write a call; its arguments follow."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of a call's argument JSON."""

    id: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolCallDone:
    """A call is complete."""

    call: ToolCallPart


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Usage so far; the last one of a stream is final."""

    usage: Usage


ModelStop = Literal["end", "tool_use", "max_tokens", "refused"]


@dataclass(frozen=True, slots=True)
class Stopped:
    """The stream ended whole. A stream that ends without this was cut, and the provider raises instead."""

    reason: ModelStop
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Answering:
    """Who answers: first event of every stream, again when a fallback takes over (``because`` says why)."""

    provider: str
    model: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class ContextCleared:
    """The service left parts of the request out of what the model read: the results of its ``tool_uses`` oldest calls,
    or, where it ``summarised``, everything before this answer."""

    tool_uses: int = 0
    summarised: bool = False


@dataclass(frozen=True, slots=True)
class ModelEnds:
    """The vendor has announced that it offers this model only until ``day`` (in the vendor's words)."""

    model: str
    day: str


ModelEvent = (
    Answering
    | TextDelta
    | ReasoningDelta
    | ReasoningDone
    | ToolCallStarted
    | ToolCallDelta
    | ToolCallDone
    | ContextCleared
    | ModelEnds
    | UsageReport
    | Stopped
)

ErrorKind = Literal[
    "no_provider",
    "auth",
    "rate_limit",
    "overloaded",
    "timeout",
    "network",
    "context_overflow",
    "model_not_found",
    "bad_request",
    "refused",
    "server",
    "budget",
    "internal",
]


class ModelError(Exception):
    """A model could not answer. ``str()`` says what happened; ``hint`` is one sentence on what to do (PROTOCOL.md)."""

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        hint: str = "",
        provider: str = "",
        retry_after: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.hint = hint
        self.provider = provider
        self.retry_after = retry_after
        self.status = status
