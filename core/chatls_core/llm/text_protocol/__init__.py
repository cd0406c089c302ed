"""Tool calls that a model wrote as text, read as calls (spec/agent.md §3.7–3.8).

A stateful scanner, not a pattern: tags are read wherever they stand, JSON objects outside code fences, and only when
neither gave a call, JSON in fences and the bracket form. What is no call stays text, word for word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass

from chatls_core.llm.text_protocol.cleanup import clean_arguments, is_json
from chatls_core.llm.text_protocol.invocation import read_invocation
from chatls_core.llm.text_protocol.names import NamedCall, coder_calls, tool_name
from chatls_core.llm.text_protocol.objects import as_text, brackets, call_in, objects
from chatls_core.llm.text_protocol.recovery import UnreadableJsonError, recover
from chatls_core.llm.text_protocol.tags import tags

__all__ = ["Reading", "WrittenCall", "read_calls"]

_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.M | re.S)


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call: a tool's name, its arguments as JSON text, and what is wrong with them (empty: nothing)."""

    name: str
    arguments: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says beside its calls, and the calls in the order they stand there."""

    text: str
    calls: tuple[WrittenCall, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    calls: tuple[WrittenCall, ...]


def read_calls(text: str, offered: Collection[str], *, tags_only: bool = False) -> Reading:
    """The calls in ``text``; ``offered`` are the names of the tools the model was told.

    ``tags_only`` is for models that have calls of their own: only a tag that begins a line outside a code fence
    counts, since such a model may well write about tags.
    """
    fences = [(m.start(), m.end()) for m in _FENCE.finditer(text)]
    if tags_only:
        found = [f for f in _tagged(text, offered) if _begins_line(text, f.start) and not _within(f.start, fences)]
    else:
        found = _tagged(text, offered)
        bracketed = [b for b in brackets(text) if tool_name(b[2], offered)]
        taken = [(f.start, f.end) for f in found] + [(start, end) for start, end, _, _ in bracketed]
        known = {call for f in found for call in f.calls}
        found += [f for f in _written(text, offered, [*taken, *fences]) if not known.issuperset(f.calls)]
        if not found:
            found = [f for start, end in fences for f in _fenced(text, start, end, offered)]
        if not found:
            found = [_Found(start, end, _calls(name, args, offered)) for start, end, name, args in bracketed]
    found.sort(key=lambda f: f.start)
    pieces, at = [], 0
    for one in found:
        pieces.append(text[at : one.start])
        at = one.end
    pieces.append(text[at:])
    said = "".join(pieces)
    return Reading(re.sub(r"\n{3,}", "\n\n", said).strip() if found else said, tuple(c for f in found for c in f.calls))


def _tagged(text: str, offered: Collection[str]) -> list[_Found]:
    found = []
    for tag in tags(text):
        if tag.name:
            calls = _calls(tag.name, tag.arguments or tag.body.strip(), offered)
        else:
            inside = [c for _, _, value in objects(tag.body) if (c := call_in(value, offered))]
            calls = tuple(c for name, arguments in inside for c in _calls(name, as_text(arguments), offered))
        if calls:
            found.append(_Found(tag.start, tag.end, calls))
    return found


def _written(text: str, offered: Collection[str], taken: list[tuple[int, int]]) -> list[_Found]:
    found = []
    for start, end, value in objects(text):
        if _within(start, taken) or (call := call_in(value, offered)) is None:
            continue
        found.append(_Found(start, end, _calls(call[0], as_text(call[1]), offered)))
    return found


def _fenced(text: str, start: int, end: int, offered: Collection[str]) -> list[_Found]:
    inside = _written(text[start:end], offered, [])
    return [_Found(start, end, tuple(c for f in inside for c in f.calls))] if inside else []


def _calls(name: str, arguments: str, offered: Collection[str]) -> tuple[WrittenCall, ...]:
    known = tool_name(name, offered)
    try:
        if known == "coder" and "coder" not in offered:
            return tuple(map(_written_call, coder_calls(read_invocation(arguments), offered)))
        plain = arguments if is_json(arguments) else _cleaned(arguments)
        return (_written_call(NamedCall(known or name, recover(plain, name))),)
    except UnreadableJsonError as problem:
        return (WrittenCall(known or name, arguments, f"The arguments could not be read: {problem}."),)


def _cleaned(arguments: str) -> str:
    cleaned = clean_arguments(arguments)
    return cleaned if cleaned.lstrip()[:1] in ("{", "[") else arguments


def _written_call(call: NamedCall) -> WrittenCall:
    return WrittenCall(call.name, json.dumps(dict(call.arguments), ensure_ascii=False), call.error)


def _within(at: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


def _begins_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()
