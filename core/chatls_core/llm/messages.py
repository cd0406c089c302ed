"""What is said to a model: messages, parts, tools and one request, in no vendor's words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Role = Literal["user", "assistant"]
MessageKind = Literal[
    "text",  # what the user or the model said
    "turn_context",  # [TURN CONTEXT]: ours, before the user's own text (DESIGN.md, "The prompt's shape" 3)
    "tool_result",  # results of the preceding assistant message's tool calls
    "summary",  # a compaction's summary
    "notice",  # a steering note of ours (continue, stalled, rejected hunks)
]


@dataclass(frozen=True, slots=True)
class TextPart:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image, base64 without a data-URL prefix."""

    data: str
    media_type: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """What the model thought. ``opaque`` is the vendor's own block, sent back to the same provider only."""

    text: str
    provider: str = ""
    opaque: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """One call the model asked for. ``error`` is set when its arguments were no JSON object (``raw`` has them)."""

    id: str
    name: str
    arguments: Mapping[str, object]
    raw: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """The answer to a call."""

    call_id: str
    name: str
    text: str
    is_error: bool = False
    images: tuple[ImagePart, ...] = ()


Part = TextPart | ImagePart | ReasoningPart | ToolCallPart | ToolResultPart

IMAGE_CHARS = 4000
"""What an image weighs: about 1,000 tokens."""


def _part_chars(part: Part) -> int:
    match part:
        case TextPart(text) | ReasoningPart(text):
            return len(text)
        case ImagePart():
            return IMAGE_CHARS
        case ToolCallPart():
            return len(part.name) + len(part.raw or json.dumps(part.arguments, default=str))
        case ToolResultPart():
            return len(part.text) + IMAGE_CHARS * len(part.images)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation's history.

    ``id`` is unique within the conversation, ``time`` is when it was said (aware, UTC), ``cut`` marks an answer the
    user or a failure cut off, ``meta`` carries whatever another version stored beside it. ``chars`` is its weight in
    characters, counted once: every request weighs the whole history several times.
    """

    role: Role
    parts: tuple[Part, ...]
    kind: MessageKind = "text"
    id: str = ""
    time: datetime | None = None
    turn_id: str = ""
    cut: bool = False
    meta: Mapping[str, object] = field(default_factory=dict)
    chars: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "chars", sum(map(_part_chars, self.parts)))

    @property
    def text(self) -> str:
        """All text parts, joined."""
        return "".join(p.text for p in self.parts if isinstance(p, TextPart))

    @property
    def tool_calls(self) -> tuple[ToolCallPart, ...]:
        """The calls in this message, in order."""
        return tuple(p for p in self.parts if isinstance(p, ToolCallPart))


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool offered to the model; ``input_schema`` is a JSON schema of type object, ``chars`` its whole weight."""

    name: str
    description: str
    input_schema: Mapping[str, object]
    chars: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        weight = len(self.name) + len(self.description) + len(json.dumps(self.input_schema))
        object.__setattr__(self, "chars", weight)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request to a model.

    ``system`` are the parts of the system text in order, byte-stable for the whole conversation. ``tools`` are sorted
    by name. Where the vendor has cache markers, one goes on the last tool, one at the end of ``system`` and one on the
    last block of each message whose index is in ``breakpoints`` (at most two: rolling, and one more for long turns).
    ``cache_key`` is stable per conversation (OpenAI ``prompt_cache_key``). ``cache_ttl`` is how long a marked prefix
    should live; ``explicit_cache`` lets a service keep it under a name (Gemini). ``context_engine`` lets the service
    clear old tool results and thoughts, or also summarise (Anthropic). ``json_schema`` asks for an answer of that shape
    where the model has no native tools.
    """

    messages: tuple[Message, ...]
    system: tuple[str, ...] = ()
    tools: tuple[ToolDefinition, ...] = ()
    breakpoints: tuple[int, ...] = ()
    cache_key: str = ""
    cache_ttl: Literal["5m", "1h"] = "5m"
    explicit_cache: bool = False
    context_engine: Literal["builtin", "provider", "provider-compact"] = "builtin"
    model: str = ""
    max_output_tokens: int | None = None
    effort: Literal["", "none", "low", "medium", "high", "max"] = ""
    json_schema: Mapping[str, object] | None = None
    temperature: float | None = None
