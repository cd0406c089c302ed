"""What the fake model server may be told to answer: one frozen value per answer, in no vendor's words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Tokens:
    """Usage to report; ``input`` leaves cached tokens out, each dialect adds them up as its vendor does."""

    input: int = 12
    output: int = 7
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


@dataclass(frozen=True)
class Call:
    """One tool call. ``arguments`` may be raw text, to send broken JSON; ``split`` cuts it every so many characters."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""
    split: int = 7

    @property
    def text(self) -> str:
        """The arguments as the model would write them."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class Reply:
    """One answer.

    ``deltas`` says how ``text`` is split (default: after each space). All deltas of an answer (reasoning, text, tool
    arguments) are numbered from 0 in the order they are sent: ``hold`` waits for one :meth:`ModelServer.release` before
    each of the listed deltas (``gated``: before every delta), ``stall_after`` stops sending after so many deltas
    and keeps the connection open, ``cut_after`` drops the connection after so many, ``error_after`` sends the vendor's
    in-stream error event after so many. ``hold_start`` waits for a release before the response's first byte.
    ``chunk_bytes`` splits the body into network chunks of that many bytes. ``noise`` mixes in pings, comments and
    events of unknown types. ``stop`` is ``end``, ``tool_use``, ``max_tokens`` or ``refused`` (empty: by content).
    ``unfinished`` ends the response in an orderly way but without the stream's closing events.
    ``cleared`` says that the service left out the results of so many calls (Anthropic), ``summary`` that it summarised.
    ``match`` gives this answer only to a request whose body contains the text.
    """

    text: str = ""
    deltas: tuple[str, ...] | None = None
    reasoning: str = ""
    signature: str = "c2lnbmVk"
    tool_calls: tuple[Call, ...] = ()
    usage: Tokens | None = Tokens()
    stop: str = ""
    hold: tuple[int, ...] = ()
    gated: bool = False
    hold_start: bool = False
    stall_after: int | None = None
    cut_after: int | None = None
    error_after: int | None = None
    error_type: str = "overloaded_error"
    chunk_bytes: int | None = None
    noise: bool = False
    unfinished: bool = False
    match: str = ""
    cleared: int = 0
    summary: str = ""

    def __post_init__(self) -> None:
        calls = tuple(c if isinstance(c, Call) else Call(**c) for c in self.tool_calls)
        calls = tuple(c if c.id else Call(c.name, c.arguments, f"call_{i}", c.split) for i, c in enumerate(calls, 1))
        object.__setattr__(self, "tool_calls", calls)
        if isinstance(self.usage, dict):
            object.__setattr__(self, "usage", Tokens(**self.usage))
        for name in ("deltas", "hold"):
            value = getattr(self, name)
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))

    @property
    def pieces(self) -> tuple[str, ...]:
        """The text as it is split into deltas."""
        if self.deltas is not None:
            return self.deltas
        *words, last = self.text.split(" ")
        return (*(word + " " for word in words), *((last,) if last else ()))

    @property
    def full_text(self) -> str:
        """The whole text."""
        return "".join(self.pieces)

    @property
    def stop_reason(self) -> str:
        """Why the answer ends, in our words."""
        return self.stop or ("tool_use" if self.tool_calls else "end")


@dataclass(frozen=True)
class ErrorReply:
    """An HTTP error. ``code`` is the vendor's error code or type; ``body`` replaces the vendor's JSON (HTML pages).

    ``retry_after`` is sent as ``Retry-After``; other forms go into ``headers``.
    """

    status: int = 500
    message: str = "something went wrong"
    code: str = ""
    retry_after: str | int | float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    content_type: str = "application/json"
    hold_start: bool = False
    match: str = ""


@dataclass(frozen=True)
class RawReply:
    """A response with exactly this body, for wire forms no vendor documents. ``cut`` drops the connection after it."""

    body: str
    status: int = 200
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)
    chunk_bytes: int | None = None
    cut: bool = False
    match: str = ""


@dataclass(frozen=True)
class DropReply:
    """The connection is closed without an answer."""

    match: str = ""


AnyReply = Reply | ErrorReply | RawReply | DropReply


def reply_from_json(raw: Mapping[str, Any]) -> AnyReply:
    """A reply from its JSON form: ``{"text": …}``, ``{"error": {…}}``, ``{"raw": {…}}`` or ``{"drop": {…}}``.

    Raises ``TypeError`` for an unknown field.
    """
    if "error" in raw:
        return ErrorReply(**raw["error"])
    if "raw" in raw:
        return RawReply(**raw["raw"])
    if "drop" in raw:
        return DropReply(**(raw["drop"] or {}))
    return Reply(**raw)
