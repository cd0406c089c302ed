"""Small pieces every dialect's reader needs: closing streams, joining split characters, collecting calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from uuid import uuid4

from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.events import ToolCallDelta, ToolCallDone, ToolCallStarted
from chatls_core.llm.history import parse_arguments, whole_characters

T = TypeVar("T")


class _Closable(Protocol):
    async def close(self) -> None: ...


@asynccontextmanager
async def closing(stream: _Closable) -> AsyncIterator[None]:
    """Close a vendor's stream on every way out: a cancelled turn must drop its connection at once."""
    try:
        yield
    finally:
        await stream.close()


async def within(seconds: float, call: Callable[[], Awaitable[T]]) -> T:
    """The result of a call, or ``TimeoutError`` after so many seconds."""
    async with asyncio.timeout(seconds):
        return await call()


async def paced(stream: AsyncIterator[T], endpoint: Endpoint) -> AsyncGenerator[T, None]:
    """The items of a stream within the endpoint's time limits, the first one's being the longer one.

    Where both limits are the same the HTTP client's own watchdog holds them, for which keep-alive comments count too.
    """
    if endpoint.first_timeout <= endpoint.idle_timeout:
        async for item in stream:
            yield item
        return
    limit = endpoint.first_timeout
    while True:
        try:
            item = await within(limit, lambda: anext(stream))
        except StopAsyncIteration:
            return
        limit = endpoint.idle_timeout
        yield item


class ThinkTagSplitter:
    """Takes ``<think>…</think>`` at the beginning of an answer apart: local servers often leave it in the text."""

    _OPEN, _CLOSE = "<think>", "</think>"

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"
        self._trimming = False

    def feed(self, text: str) -> list[tuple[bool, str]]:
        """The pieces of ``text``, each with whether it is thought."""
        if self._state == "start":
            self._held += text
            begun = self._held.lstrip()
            if len(begun) < len(self._OPEN) and self._OPEN.startswith(begun):
                return []
            text, self._held = self._held, ""
            tagged = begun.startswith(self._OPEN)
            self._state, self._trimming = ("thought", True) if tagged else ("text", False)
            text = begun.removeprefix(self._OPEN) if tagged else text
        if self._state == "text":
            return self._pieces(False, text)
        thought, closed, rest = (self._held + text).partition(self._CLOSE)
        if not closed:
            safe = len(thought) - _overlap(thought, self._CLOSE)
            self._held = thought[safe:]
            return self._pieces(True, thought[:safe])
        self._held, self._state = "", "text"
        pieces = self._pieces(True, thought)
        self._trimming = True
        return [*pieces, *self._pieces(False, rest)]

    def _pieces(self, thought: bool, text: str) -> list[tuple[bool, str]]:
        """One piece or none; empty lines next to a tag belong to the tag."""
        if self._trimming:
            text = text.lstrip("\n")
            self._trimming = not text
        return [(thought, text)] if text else []

    def end(self) -> list[tuple[bool, str]]:
        """What was held back for a tag that did not come."""
        held, self._held = self._held, ""
        return [(self._state == "thought", held)] if held else []


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of ``text`` could begin ``tag``."""
    return next((n for n in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:n])), 0)


class CharacterJoiner:
    """Joins a character whose UTF-16 halves a vendor sent in two deltas."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """The part of ``text`` that is whole; a high surrogate at its end waits for the next delta."""
        if not self._half and text.isascii():
            return text
        text = self._half + text
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return whole_characters(text)


def new_call_id() -> str:
    """An id for a call whose vendor gives none."""
    return f"call_{uuid4().hex[:24]}"


@dataclass(slots=True)
class _OpenCall:
    id: str
    name: str
    vendor_id: str = ""
    pieces: list[str] = field(default_factory=list)
    announced: bool = False


class CallCollector:
    """Puts tool calls together from deltas that may come in any cut and interleaved, keyed by the vendor's index."""

    def __init__(self) -> None:
        self._open: dict[object, _OpenCall] = {}
        self._ids: set[str] = set()

    def add(
        self, key: object, call_id: str = "", name: str = "", arguments: str = ""
    ) -> list[ToolCallStarted | ToolCallDelta]:
        """Take one delta; the events it gives. A call is announced once its name is known."""
        call = self._open.get(key)
        if call is None:
            unique = call_id if call_id and call_id not in self._ids else new_call_id()
            self._ids.add(unique)
            call = self._open[key] = _OpenCall(unique, name, call_id)
        elif name and not call.announced:
            call.name += name
        events: list[ToolCallStarted | ToolCallDelta] = []
        if call.name and not call.announced:
            call.announced = True
            events.append(ToolCallStarted(call.id, call.name))
        if arguments:
            call.pieces.append(arguments)
            if call.announced:
                events.append(ToolCallDelta(call.id, arguments))
        return events

    def key_for(self, index: int, call_id: str) -> object:
        """The key of a delta: its index, or its id where a service numbers every call the same."""
        call = self._open.get(index)
        if call is not None and call_id and call.vendor_id and call_id != call.vendor_id:
            return (index, call_id)
        if not call_id and (keys := [k for k in self._open if isinstance(k, tuple) and k[0] == index]):
            return keys[-1]
        return index

    def finish(self, key: object, arguments: str | None = None) -> list[ToolCallDone]:
        """Complete one call; ``arguments`` replaces what was collected where the vendor repeats the whole."""
        call = self._open.pop(key, None)
        if call is None:
            return []
        raw = "".join(call.pieces) if arguments is None else arguments
        return [ToolCallDone(parse_arguments(call.id, call.name, raw))]

    def finish_all(self) -> list[ToolCallDone]:
        """Complete every open call, in the order they were begun."""
        return [done for key in list(self._open) for done in self.finish(key)]

    @property
    def open(self) -> bool:
        """Whether a call has begun and not ended."""
        return bool(self._open)
