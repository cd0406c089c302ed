"""Conversations and a model for the tests of this room."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from chatls_core.llm.events import Answering, ModelError, ModelEvent, Stopped, TextDelta, Usage, UsageReport
from chatls_core.llm.messages import Message, MessageKind, ModelRequest, Part, TextPart, ToolCallPart, ToolResultPart
from chatls_core.llm.model import ModelInfo
from chatls_core.sessions.conversation import Conversation

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_numbers = itertools.count()


def message(role: str, *parts: Part | str, kind: MessageKind = "text", turn: str = "", **meta: object) -> Message:
    return Message(
        "assistant" if role == "assistant" else "user",
        tuple(TextPart(p) if isinstance(p, str) else p for p in parts),
        kind,
        f"m{next(_numbers)}",
        NOW,
        turn,
        meta=meta,
    )


def call(call_id: str, name: str = "read_file", **arguments: object) -> ToolCallPart:
    return ToolCallPart(call_id, name, arguments)


def result(call_id: str, text: str, name: str = "read_file") -> ToolResultPart:
    return ToolResultPart(call_id, name, text)


def conversation(messages: list[Message]) -> Conversation:
    return Conversation("c", "c", "", NOW, NOW, list(messages), ("system",), "chat")


@dataclass
class StubModel:
    """Answers every request with ``answer``, or raises it."""

    answer: str | ModelError = "## Files Read\nNone."
    window: int = 200_000
    provider: str = "stub"
    model: str = "stub"
    requests: list[ModelRequest] = field(default_factory=list)

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(self.window)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        yield Answering(self.provider, self.model)
        if isinstance(self.answer, ModelError):
            raise self.answer
        yield TextDelta(self.answer)
        yield UsageReport(Usage(10, 5))
        yield Stopped("end")

    async def count_tokens(self, request: ModelRequest) -> int | None:
        return None
