"""The chat request, its result and the events of a turn (PROTOCOL.md, "Chat")."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, SerializerFunctionWrapHandler, model_serializer

from chatls_server.lsp.protocol.base import Position, Range, Wire

__all__ = [
    "ActiveDocument",
    "ChatEdit",
    "ChatEvent",
    "ChatParams",
    "ChatResult",
    "ErrorData",
    "Image",
    "Mention",
    "Mode",
    "Position",
    "Range",
    "UsageWire",
]

Mode = Literal["chat", "agent", "coder"]
StopReason = Literal["end", "max_turns", "max_tokens", "refused", "stalled"]


class Mention(Wire):
    """A document, or a range of it, that the user pointed at; read from the editor's buffer."""

    uri: str
    range: Range | None = None


class Image(Wire):
    """An image: base64 without a data-URL prefix."""

    data: str
    media_type: str


class ActiveDocument(Wire):
    """The document the user looks at; without a selection only its path reaches the model."""

    uri: str
    selection: Range | None = None


class ChatParams(Wire):
    """One message of the user. An unknown ``sessionId`` creates the session; none creates one and names it."""

    text: str
    session_id: str | None = None
    mode: Mode | None = None
    mentions: list[Mention] = Field(default_factory=list)
    images: list[Image] = Field(default_factory=list)
    active_document: ActiveDocument | None = None
    model: str | None = None
    steer: bool = Field(False, description="Feed the text into the running turn instead of queueing it.")
    partial_result_token: int | str | None = None
    work_done_token: int | str | None = None


class UsageWire(Wire):
    """Tokens and cost; ``inputTokens`` leaves cached ones out, ``costUsd`` is null when the price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    model: str = ""
    provider: str = ""

    @model_serializer(mode="wrap")
    def _keep_unknown_cost(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {**handler(self), "costUsd": self.cost_usd}


class ChatEdit(Wire):
    """What became of one file the turn wanted to change."""

    uri: str
    applied: bool
    reason: str | None = None


class ChatResult(Wire):
    """The end of a turn."""

    session_id: str
    turn_id: str
    text: str
    stop_reason: StopReason
    usage: UsageWire
    edits: list[ChatEdit] = Field(default_factory=list)


class ErrorData(Wire):
    """``data`` of error −32010: which kind of failure, and one sentence on what to do."""

    kind: Literal[
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
    provider: str | None = None
    retry_after_seconds: float | None = None
    hint: str


class ContextItemWire(Wire):
    """One thing that rode along with the question."""

    id: str
    title: str
    uri: str | None = None


class LocationWire(Wire):
    """A place to show."""

    uri: str
    range: Range | None = None


class HunkWire(Wire):
    """One contiguous replacement: ``oldText`` at ``range`` becomes ``newText``."""

    id: str
    range: Range
    old_text: str
    new_text: str


class SyntaxProblemWire(Wire):
    """A syntax error that an edit brought in; zero-based line."""

    line: int
    message: str


class PlanEntryWire(Wire):
    """One step of a plan."""

    text: str
    status: str


class EventBase(Wire):
    """What every event carries: its turn and its number, counting from 1 in that turn."""

    turn_id: str
    seq: int


class QueuedEvent(EventBase):
    """The request waits; ``position`` counts from 1."""

    kind: Literal["queued"]
    position: int


class StartedEvent(EventBase):
    """The turn runs."""

    kind: Literal["started"]
    text: str | None = None
    mode: str | None = None
    provider: str | None = None
    model: str | None = None


class ContextEvent(EventBase):
    """What rode along with the question."""

    kind: Literal["context"]
    rules: list[ContextItemWire] = Field(default_factory=list)
    files: list[ContextItemWire] = Field(default_factory=list)
    facts: list[ContextItemWire] = Field(default_factory=list)
    skills: list[ContextItemWire] = Field(default_factory=list)


class TextEvent(EventBase):
    """More of the answer."""

    kind: Literal["text"]
    delta: str


class ReasoningEvent(EventBase):
    """More of what the model thinks."""

    kind: Literal["reasoning"]
    delta: str


class ToolStartEvent(EventBase):
    """A tool call begins."""

    kind: Literal["tool_start"]
    call_id: str
    name: str
    label: str
    tool_kind: str = Field(description="read, edit, delete, move, search, execute, think, fetch or other")
    input: dict[str, Any]
    locations: list[LocationWire] = Field(default_factory=list)


class ToolEndEvent(EventBase):
    """A tool call ended."""

    kind: Literal["tool_end"]
    call_id: str
    status: str = Field(description="completed, failed or denied")
    output: str | None = None
    locations: list[LocationWire] | None = None


class EditEvent(EventBase):
    """An edit to one file, at one stage of its life."""

    kind: Literal["edit"]
    call_id: str
    uri: str
    hunks: list[HunkWire] = Field(default_factory=list)
    status: str = Field(description="proposed, applied, rejected or failed")
    syntax_errors: list[SyntaxProblemWire] | None = None
    reason: str | None = None


class PlanEvent(EventBase):
    """The model's plan, whole, each time it changes; once more at the end of a turn that left a step in progress."""

    kind: Literal["plan"]
    entries: list[PlanEntryWire]


class NoticeEvent(EventBase):
    """One sentence for the user."""

    kind: Literal["notice"]
    level: Literal["info", "warning", "error"]
    text: str


class UsageEvent(EventBase, UsageWire):
    """Tokens of the turn so far."""

    kind: Literal["usage"]
    usage: UsageWire | None = Field(None, description="The same once more, as one object.")


class EndedEvent(EventBase):
    """The turn is over; only in replays (``chatls.session.events``), live clients get the request's answer."""

    kind: Literal["ended"]
    status: str = Field(description="completed, failed or cancelled")
    stop_reason: str | None = None
    error: dict[str, Any] | None = None


ChatEvent = Annotated[
    QueuedEvent
    | StartedEvent
    | ContextEvent
    | TextEvent
    | ReasoningEvent
    | ToolStartEvent
    | ToolEndEvent
    | EditEvent
    | PlanEvent
    | NoticeEvent
    | UsageEvent
    | EndedEvent,
    Discriminator("kind"),
]
