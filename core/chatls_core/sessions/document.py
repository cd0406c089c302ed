"""A session's file: ChatCLI's document, version 2, with ours under one ``chatls`` key (spec/agent.md §9.1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chatls_core.llm.messages import Message
from chatls_core.sessions.message_codec import OURS, decode_entries, encode_message

VERSION = 2

_HISTORIES = ("shared_memory", "chat_history", "agent_history", "coder_history")
"""Histories of older files, in the order they are merged in: what was shared comes first."""

_MODES = {"agent_history": "agent", "coder_history": "coder"}


class Ours(BaseModel):
    """What ChatCLI's document has no room for."""

    model_config = ConfigDict(extra="allow", defer_build=True)

    id: str = ""
    created: datetime | None = None
    updated: datetime | None = None
    named: bool | None = None
    system: list[str] = Field(default_factory=list)
    system_key: str = ""
    carried: dict[str, str] = Field(default_factory=dict)
    state: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionDocument:
    """A session's file as read. ``extra`` are top-level fields another program wrote; they are written back."""

    title: str
    messages: tuple[Message, ...]
    ours: Ours
    version: int = VERSION
    extra: Mapping[str, Any] = field(default_factory=dict)


class NotASessionError(ValueError):
    """The bytes are JSON, but no session of any version."""


def parse(data: bytes) -> SessionDocument:
    """Read a session's file, older forms included (a plain list of messages; split histories, which are merged).

    Raises :class:`ValueError` for bytes that are no JSON, :class:`NotASessionError` for JSON of another shape.
    """
    tree = json.loads(data.decode("utf-8-sig", "surrogatepass"))
    if isinstance(tree, list):
        tree = {"chat_history": tree}
    if not isinstance(tree, dict) or not any(isinstance(tree.get(h), list) for h in _HISTORIES):
        raise NotASessionError("the file is JSON, but holds no conversation")
    return SessionDocument(
        title=tree["title"] if isinstance(tree.get("title"), str) else "",
        messages=tuple(_merged(tree)),
        ours=_ours(tree.get(OURS)),
        version=tree["version"] if isinstance(tree.get("version"), int) else VERSION,
        extra={k: v for k, v in tree.items() if k not in (*_HISTORIES, "version", "title", OURS)},
    )


def _merged(tree: Mapping[str, Any]) -> list[Message]:
    """All histories as one; what an older program copied from one history into another is kept once."""
    messages: list[Message] = []
    earlier: set[str] = set()
    for name in _HISTORIES:
        history = tree.get(name)
        part = decode_entries(history if isinstance(history, list) else (), mode=_MODES.get(name, ""))
        # Ids of foreign entries come from their content, so a copied beginning has the ids of the original.
        start = 0
        while start < len(part) and part[start].id in earlier:
            start += 1
        messages += part[start:]
        earlier.update(m.id for m in part)
    return messages


def _ours(value: object) -> Ours:
    """Our own object, field by field: one damaged field must not cost the others."""
    if not isinstance(value, dict):
        return Ours()
    try:
        return Ours.model_validate(value)
    except ValidationError as error:
        broken = {e["loc"][0] for e in error.errors(include_input=False, include_url=False) if e["loc"]}
        return Ours.model_validate({k: v for k, v in value.items() if k not in broken})


class Renderer:
    """Writes documents; remembers the bytes of each message, so that a growing history is encoded only once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Message, bytes]] = {}

    def render(self, document: SessionDocument) -> bytes:
        """The file's bytes: UTF-8, one history entry per line. Raises :class:`TypeError` for state that is no JSON."""
        known: dict[int, tuple[Message, bytes]] = {}
        for message in document.messages:
            hit = self._known.get(id(message))
            known[id(message)] = hit if hit is not None and hit[0] is message else (message, _lines(message))
        self._known = known
        history = b",\n    ".join(known[id(m)][1] for m in document.messages)
        head: dict[str, Any] = {"version": document.version}
        if document.title:
            head["title"] = document.title
        tail = {**document.extra, OURS: document.ours.model_dump(mode="json", exclude_none=True)}
        fields = [f"  {_json(k)}: {_json(v)}".encode("utf-8", "surrogatepass") for k, v in head.items()]
        fields.append(b'  "chat_history": [' + (b"\n    " + history + b"\n  " if history else b"") + b"]")
        fields += [f"  {_json(k)}: {_json(v)}".encode() for k, v in tail.items()]
        return b"{\n" + b",\n".join(fields) + b"\n}\n"


def _lines(message: Message) -> bytes:
    return b",\n    ".join(_json(entry).encode() for entry in encode_message(message))


def _json(value: object) -> str:
    """JSON text that UTF-8 can carry: a lone surrogate (half a character, models do send them) is escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def as_utc(value: datetime | None) -> datetime | None:
    """The time in UTC; one without an offset is taken as UTC."""
    if value is None:
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
