"""Calls that a model wrote as text although it has calls of its own (spec/agent.md §13 row 14).

Servers of open models are often started without the parser of their model's calls, and the call then arrives as
``<tool_call>…</tool_call>`` in the answer.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from chatls_core.llm.backend import Backend, Listed
from chatls_core.llm.events import (
    ContextCleared,
    ModelEnds,
    ModelEvent,
    Stopped,
    TextDelta,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStarted,
    UsageReport,
)
from chatls_core.llm.history import parse_arguments
from chatls_core.llm.messages import ModelRequest, ToolCallPart
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.text_protocol import WrittenCall
from chatls_core.llm.text_protocol.gate import TextGate
from chatls_core.llm.wire import new_call_id


class WrittenCalls:
    """A backend whose answers are also read for calls written as tags. Requests without tools pass through."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner

    async def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """Ask once; see :class:`Backend`."""
        stream = self._inner.stream(request, model, info)
        gate = TextGate(frozenset(t.name for t in request.tools), tags_only=True) if request.tools else None
        try:
            async for event in stream:
                if gate is None or isinstance(event, UsageReport | ContextCleared | ModelEnds):
                    yield event
                elif isinstance(event, TextDelta):
                    if shown := gate.feed(event.text):
                        yield TextDelta(shown)
                elif isinstance(event, Stopped):
                    reading = gate.finish(cut=event.reason == "max_tokens")
                    if reading.text:
                        yield TextDelta(reading.text)
                    for told in call_events(reading.calls):
                        yield told
                    yield Stopped("tool_use", event.raw) if reading.calls and event.reason == "end" else event
                else:
                    if shown := gate.flush():
                        yield TextDelta(shown)
                    yield event
        finally:
            await stream.aclose()

    async def load(self) -> None:
        """Load what the inner service needs."""
        await self._inner.load()

    async def count_tokens(self, request: ModelRequest, model: str, info: ModelInfo) -> int | None:
        """The inner service's count."""
        return await self._inner.count_tokens(request, model, info)

    async def list_models(self) -> Sequence[Listed]:
        """The inner service's models."""
        return await self._inner.list_models()

    async def aclose(self) -> None:
        """Drop all connections."""
        await self._inner.aclose()


def call_events(calls: Sequence[WrittenCall]) -> list[ModelEvent]:
    """Written calls as the events of a model's own ones."""
    events: list[ModelEvent] = []
    for written in calls:
        call_id = new_call_id()
        if written.error:
            call = ToolCallPart(call_id, written.name, {}, written.arguments, written.error)
        else:
            call = parse_arguments(call_id, written.name, written.arguments)
        events += [ToolCallStarted(call_id, call.name), ToolCallDelta(call_id, written.arguments), ToolCallDone(call)]
    return events
