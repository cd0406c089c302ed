"""Messages to ChatCLI's history entries and back (spec/agent.md §9.1).

ChatCLI keeps flat entries: ``role, content, meta, tool_calls, tool_call_id, images, is_error, ...``. One message of
ours becomes one entry, or several where it answers several tool calls. What the flat form has no word for (ids, times,
the order of parts, reasoning) goes into one ``chatls`` object per entry, so an entry stays whole when another program
moves, drops or edits its neighbours. What another program stored comes back under :data:`FOREIGN` in ``Message.meta``
and is written out again.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast, get_args

from chatls_core.llm.messages import (
    ImagePart,
    Message,
    MessageKind,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

logger = logging.getLogger(__name__)

OURS = "chatls"
"""Key of our own object in an entry and in the document."""

FOREIGN = "chatcli"
"""Key in ``Message.meta`` for what another program stored beside a message: ``entries``, ``before``, ``after``."""

FOREIGN_ID = "chatcli-"
"""How ids begin that we made for messages another program wrote; such a message has no time of its own."""

TURN_CONTEXT_HEADER = "[TURN CONTEXT]"
"""First words of a turn context; tells it from the user's text after another program dropped our keys."""

_OWN_FIELDS = frozenset({"role", "content", "tool_calls", "tool_call_id", "images", "is_error", OURS})
_UNREAD_IMAGES = "images we cannot show"
_ROLES = frozenset(get_args(Role))
_KINDS = frozenset(get_args(MessageKind))

Entry = dict[str, Any]


def encode_message(message: Message) -> list[Entry]:
    """The history entries of one message, in order; at least one. All values are JSON (NaN becomes ``null``)."""
    foreign = _mapping(message.meta.get(FOREIGN))
    groups = _groups(message.parts)
    entries: list[Entry] = list(_raw_entries(foreign.get("before")))
    for index, group in enumerate(groups):
        entry = _encode_group(message, group)
        entry[OURS].update(_envelope(message, index))
        extra = dict(_mapping(_mapping(foreign.get("entries")).get(str(index))))
        if unread := _list(extra.pop(_UNREAD_IMAGES, None)):
            entry["images"] = [*entry.get("images", []), *unread]
        entry = {**{k: v for k, v in extra.items() if k not in _OWN_FIELDS}, **entry}
        if message.kind == "summary":
            entry["meta"] = {**_mapping(extra.get("meta")), "is_summary": True}
        entries.append(entry)
    entries.extend(_raw_entries(foreign.get("after")))
    return cast("list[Entry]", _finite(entries))


def decode_entries(entries: Iterable[object], *, mode: str = "") -> list[Message]:
    """Messages of a history's entries.

    Entries without our keys get an id made from their content (stable as long as the content is) and no time.
    ``mode`` notes where entries of an old split history came from. Entries that are no conversation (system prompts,
    things we do not understand) ride along with their neighbour and are written back in place.
    """
    reader = _Reader(mode)
    for entry in entries:
        reader.take(entry)
    return reader.finish()


def fingerprint(message: Message) -> str:
    """What a message says, independent of our keys: finds it again after another program dropped them."""
    digest = hashlib.sha256(message.role.encode())
    for part in message.parts:
        if isinstance(part, TextPart):
            digest.update(part.text.encode("utf-8", "surrogatepass"))
        elif isinstance(part, ToolCallPart):
            digest.update(f"\0call:{part.id}".encode("utf-8", "surrogatepass"))
        elif isinstance(part, ToolResultPart):
            digest.update(f"\0result:{part.call_id}:{part.text}".encode("utf-8", "surrogatepass"))
        elif isinstance(part, ImagePart):
            digest.update(b"\0image")
    return digest.hexdigest()[:20]


def _groups(parts: Sequence[Part]) -> list[list[Part]]:
    """Parts by entry: each tool result on its own, what stands between results together."""
    groups: list[list[Part]] = []
    for part in parts:
        alone = isinstance(part, ToolResultPart)
        if alone or not groups or isinstance(groups[-1][-1], ToolResultPart):
            groups.append([part])
        else:
            groups[-1].append(part)
    return groups or [[]]


def _encode_group(message: Message, group: Sequence[Part]) -> Entry:
    if len(group) == 1 and isinstance(result := group[0], ToolResultPart):
        entry: Entry = {"role": "tool", "content": result.text, "tool_call_id": result.call_id}
        if result.is_error:
            entry["is_error"] = True
        if result.images:
            entry["images"] = [_image(i) for i in result.images]
        entry[OURS] = {"name": result.name}
        return entry
    texts = [p.text for p in group if isinstance(p, TextPart)]
    calls = [p for p in group if isinstance(p, ToolCallPart)]
    images = [p for p in group if isinstance(p, ImagePart)]
    entry = {"role": message.role, "content": "".join(texts), OURS: {}}
    if calls:
        entry["tool_calls"] = [_call(c) for c in calls]
    if images:
        entry["images"] = [_image(i) for i in images]
    if tuple(group) != _plain_parts(entry):
        entry[OURS]["layout"] = _layout(group)
    return entry


def _layout(group: Sequence[Part]) -> list[Entry]:
    """The order of parts; texts by length in characters, so that nothing is stored twice."""
    layout: list[Entry] = []
    for part in group:
        match part:
            case TextPart(text):
                layout.append({"text": len(text)})
            case ImagePart():
                layout.append({"image": True})
            case ToolCallPart():
                layout.append({"call": True, **({"error": part.error} if part.error else {})})
            case ReasoningPart(text, provider, opaque):
                body: Entry = {"text": text, "provider": provider}
                if opaque is not None:
                    body["opaque"] = dict(opaque)
                layout.append({"reasoning": body})
    return layout


def _envelope(message: Message, index: int) -> Entry:
    envelope: Entry = {"id": message.id}
    if index:
        envelope["part"] = index
        return envelope
    if message.time is not None:
        envelope["time"] = message.time.astimezone(UTC).isoformat()
    if message.kind != "text":
        envelope["kind"] = message.kind
    if message.turn_id:
        envelope["turn"] = message.turn_id
    if message.cut:
        envelope["cut"] = True
    if message.role != "user" and any(isinstance(p, ToolResultPart) for p in message.parts):
        envelope["role"] = message.role
    if meta := {k: v for k, v in message.meta.items() if k != FOREIGN}:
        envelope["meta"] = meta
    return envelope


def _call(call: ToolCallPart) -> Entry:
    body: Entry = {"id": call.id, "type": "function", "name": call.name, "arguments": dict(call.arguments)}
    if call.raw:
        body["raw"] = call.raw
    return body


def _image(image: ImagePart) -> Entry:
    return {"media_type": image.media_type, "data": image.data}


class _Reader:
    """Collects entries into messages, one after the other."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._messages: list[Message] = []
        self._names: dict[str, str] = {}
        self._waiting: list[object] = []
        self._next_part = 0
        self._merges_tools = False
        self._seen: dict[str, int] = {}

    def take(self, entry: object) -> None:
        fields = entry if isinstance(entry, dict) else {}
        ours = _mapping(fields.get(OURS))
        summary = bool(_mapping(fields.get("meta")).get("is_summary"))
        role = fields.get("role")
        if role not in _ROLES and role != "tool" and not (role == "system" and summary):
            self._waiting.append(entry)
            self._merges_tools = False
            return
        parts = self._parts(fields, ours)
        known = isinstance(ours.get("id"), str) and bool(ours["id"])
        if self._continues(fields, ours, known):
            self._extend(parts, fields)
            return
        kind = self._kind(fields, ours, summary)
        message = Message(
            role=cast("Role", ours.get("role") if ours.get("role") in _ROLES else role if role in _ROLES else "user"),
            parts=parts,
            kind=kind,
            id=str(ours["id"]) if known else "",
            time=_time(ours.get("time")),
            turn_id=_string(ours.get("turn")),
            cut=ours.get("cut") is True,
            meta=dict(_mapping(ours.get("meta"))),
        )
        foreign: dict[str, Any] = {}
        if extra := self._extra(fields, kind, known):
            foreign["entries"] = {"0": extra}
        if self._waiting:
            foreign["before"] = self._waiting
            self._waiting = []
        if foreign:
            message = replace(message, meta={**message.meta, FOREIGN: foreign})
        self._messages.append(message)
        self._next_part = 1
        self._merges_tools = role == "tool" and not known

    def finish(self) -> list[Message]:
        if self._waiting and self._messages:
            last = self._messages[-1]
            foreign = {**_mapping(last.meta.get(FOREIGN)), "after": self._waiting}
            self._messages[-1] = replace(last, meta={**last.meta, FOREIGN: foreign})
        return [m if m.id else replace(m, id=self._made_id(m)) for m in self._messages]

    def _continues(self, fields: Entry, ours: Mapping[str, Any], known: bool) -> bool:
        """Whether an entry is a further part of the last message (ChatCLI stores one entry per tool result)."""
        if not self._messages or self._waiting:
            return False
        if known:
            return ours.get("part") == self._next_part and self._messages[-1].id == ours["id"]
        return self._merges_tools and fields.get("role") == "tool"

    def _extend(self, parts: tuple[Part, ...], fields: Entry) -> None:
        last = self._messages[-1]
        meta = last.meta
        if extra := self._extra(fields, last.kind, OURS in fields):
            foreign = dict(_mapping(meta.get(FOREIGN)))
            foreign["entries"] = {**_mapping(foreign.get("entries")), str(self._next_part): extra}
            meta = {**meta, FOREIGN: foreign}
        self._messages[-1] = replace(last, parts=last.parts + parts, meta=meta)
        self._next_part += 1

    def _parts(self, fields: Entry, ours: Mapping[str, Any]) -> tuple[Part, ...]:
        if fields.get("role") == "tool":
            call_id = _string(fields.get("tool_call_id"))
            return (
                ToolResultPart(
                    call_id=call_id,
                    name=_string(ours.get("name")) or self._names.get(call_id, ""),
                    text=_string(fields.get("content")),
                    is_error=fields.get("is_error") is True,
                    images=tuple(_images(fields)),
                ),
            )
        plain = _plain_parts(fields)
        for part in plain:
            if isinstance(part, ToolCallPart):
                self._names[part.id] = part.name
        layout = ours.get("layout")
        return _laid_out(plain, _string(fields.get("content")), layout) if isinstance(layout, list) else plain

    @staticmethod
    def _kind(fields: Entry, ours: Mapping[str, Any], summary: bool) -> MessageKind:
        if ours.get("kind") in _KINDS:
            return cast("MessageKind", ours["kind"])
        if OURS in fields and fields.get("role") != "tool":
            return "text"
        if fields.get("role") == "tool":
            return "text" if _string(ours.get("id")) else "tool_result"
        if summary:
            return "summary"
        if fields.get("role") == "user" and _string(fields.get("content")).startswith(TURN_CONTEXT_HEADER):
            return "turn_context"
        return "text"

    def _extra(self, fields: Entry, kind: MessageKind, known: bool) -> Entry:
        """What the entry holds beyond our fields; a meta that only repeats what ``kind`` says is left out."""
        extra = {k: v for k, v in fields.items() if k not in _OWN_FIELDS}
        if known and kind == "summary" and isinstance(extra.get("meta"), dict):
            meta = {k: v for k, v in extra["meta"].items() if k != "is_summary"}
            extra.pop("meta")
            if meta:
                extra["meta"] = meta
        if self._mode and not known and "mode" not in _mapping(extra.get("meta")):
            extra["meta"] = {**_mapping(extra.get("meta")), "mode": self._mode}
        unread = [i for i in _list(fields.get("images")) if _read_image(i) is None]
        if unread:
            extra[_UNREAD_IMAGES] = unread
        return extra

    def _made_id(self, message: Message) -> str:
        mark = fingerprint(message)
        count = self._seen[mark] = self._seen.get(mark, 0) + 1
        return f"{FOREIGN_ID}{mark}" if count == 1 else f"{FOREIGN_ID}{mark}-{count}"


def _plain_parts(fields: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts an entry has by its own: text, images, calls."""
    content = _string(fields.get("content"))
    parts: list[Part] = [TextPart(content)] if content else []
    parts.extend(_images(fields))
    for call in _list(fields.get("tool_calls")):
        body = _mapping(call)
        arguments = body.get("arguments")
        parts.append(
            ToolCallPart(
                id=_string(body.get("id")),
                name=_string(body.get("name")),
                arguments=arguments if isinstance(arguments, dict) else {},
                raw=_string(body.get("raw")),
            )
        )
    return tuple(parts)


def _laid_out(plain: tuple[Part, ...], content: str, layout: Sequence[object]) -> tuple[Part, ...]:
    """Parts in the order of ``layout``; ``plain`` where the entry was edited so that the layout no longer fits."""
    images = iter([p for p in plain if isinstance(p, ImagePart)])
    calls = iter([p for p in plain if isinstance(p, ToolCallPart)])
    parts: list[Part] = []
    start = 0
    for item in layout:
        body = _mapping(item)
        if isinstance(length := body.get("text"), int):
            parts.append(TextPart(content[start : start + length]))
            start += length
        elif "image" in body and (image := next(images, None)) is not None:
            parts.append(image)
        elif "call" in body and (call := next(calls, None)) is not None:
            parts.append(replace(call, error=_string(body.get("error"))))
        elif "reasoning" in body:
            reasoning = _mapping(body["reasoning"])
            opaque = reasoning.get("opaque")
            parts.append(
                ReasoningPart(
                    _string(reasoning.get("text")),
                    _string(reasoning.get("provider")),
                    opaque if isinstance(opaque, dict) else None,
                )
            )
    whole = start == len(content) and next(images, None) is None and next(calls, None) is None
    return tuple(parts) if whole else plain


def _images(fields: Mapping[str, Any]) -> list[ImagePart]:
    return [image for item in _list(fields.get("images")) if (image := _read_image(item)) is not None]


def _read_image(item: object) -> ImagePart | None:
    body = _mapping(item)
    data, media_type = body.get("data"), body.get("media_type")
    return ImagePart(data, media_type) if isinstance(data, str) and isinstance(media_type, str) else None


def _raw_entries(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _time(value: object) -> datetime | None:
    """An aware UTC time from ISO 8601 text; a time without an offset is taken as UTC."""
    if not isinstance(value, str) or not value:
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        logger.debug("A message's time is not ISO 8601: %r", value)
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)


def _finite(value: object) -> object:
    """The value with NaN and infinities as ``None``: other programs' JSON readers refuse the whole file otherwise."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return value
