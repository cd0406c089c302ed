"""Making single messages shorter, with the whole text kept in the archive (spec/agent.md §7.2, §7.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from chatls_core.llm.messages import Message, Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from chatls_core.prompt.compaction_archive import Archive
from chatls_core.prompt.compaction_split import openings, total_chars
from chatls_core.prompt.compaction_tool import NAME as RECALL
from chatls_core.prompt.compaction_tool import recovery_call
from chatls_core.text import cut

RESULT_CHARS = 5_000
RESULT_HEAD, RESULT_TAIL = 2_000, 500
CONTEXT_CHARS = 3_000
CONTEXT_HEAD = 2_000
REASONING_CHARS = 400
_NOTE = re.compile(rf'\n\[… \d+ characters left out; {RECALL} \{{"key": "([0-9a-f]{{16}})"\}}[^\n]{{0,120}} …\]\n')
FLOOR_CHARS = 400
"""No message is made shorter than this in an emergency."""


def shortened(text: str, head: int, tail: int, archive: Archive, guide: str = "") -> str:
    """``text`` without its middle; a note in its place names the call that returns the whole, and ``guide`` may say
    more about it (one line). Raises :class:`OSError` when it cannot be archived: then nothing may be cut."""
    if len(text) <= head + tail:
        return text
    text = _uncut(text, archive)
    key = archive.put(text)
    return cut.middle(
        text, head, tail, lambda left: f"\n[… {left} characters left out; {recovery_call(key)}{guide} …]\n"
    )


def _uncut(text: str, archive: Archive) -> str:
    """What ``text`` was before an earlier cut, so that one call returns all of it, not a text with a hole."""
    note = _NOTE.search(text)
    if note is not None and (whole := archive.get(note.group(1))) is not None:
        head, tail = text[: note.start()], text[note.end() :]
        if len(head) + len(tail) < len(whole) and whole.startswith(head) and whole.endswith(tail):
            return whole
    return text


def trim_old(messages: Sequence[Message], upto: int, turn_id: str, archive: Archive) -> list[Message]:
    """Level 1: large tool results, large contexts and reasoning before index ``upto`` become short.

    The user's own words, summaries, what ``recall_archive`` returned, calls, and the running turn's opening stay.
    """
    kept = openings(messages, turn_id)
    return [
        message if index >= upto or index in kept or message.kind == "summary" else _trimmed(message, archive)
        for index, message in enumerate(messages)
    ]


def _trimmed(message: Message, archive: Archive) -> Message:
    parts: list[Part] = []
    for part in message.parts:
        match part:
            case ToolResultPart() if part.name != RECALL and len(part.text) > RESULT_CHARS:
                parts.append(replace(part, text=shortened(part.text, RESULT_HEAD, RESULT_TAIL, archive)))
            case TextPart() if message.kind == "turn_context" and len(part.text) > CONTEXT_CHARS:
                parts.append(TextPart(shortened(part.text, CONTEXT_HEAD, 0, archive)))
            case ReasoningPart() if len(part.text) > REASONING_CHARS:
                note = f"[earlier reasoning left out; {recovery_call(archive.put(part.text))}]"
                parts.append(TextPart(note))
            case ReasoningPart():
                # An opaque block has no words to lose; vendors do not ask for those of earlier turns.
                if part.text:
                    parts.append(part)
            case _:
                parts.append(part)
    new = tuple(parts)
    # A message of nothing but opaque reasoning keeps it: an empty message would break the order of roles.
    return message if not new or new == message.parts else replace(message, parts=new)


def shrink_to(messages: Sequence[Message], budget_chars: int, archive: Archive, cap: int = 0) -> list[Message]:
    """Level 3: the largest texts are cut, one at a time, until the whole fits or nothing is above 400 characters.

    With ``cap`` every message above so many characters is cut to it first. Summaries go last.
    """
    result = list(messages)
    if cap:
        result = [m if m.kind == "summary" or m.chars <= cap else _capped(m, cap, archive) for m in result]
    total = total_chars(result)
    done: set[int] = set()
    while total > budget_chars and len(done) < len(result):
        waiting = [i for i in range(len(result)) if i not in done]
        index = max(waiting, key=lambda i: (result[i].kind != "summary", result[i].chars))
        before = result[index].chars
        result[index] = _capped(result[index], max(FLOOR_CHARS, before - (total - budget_chars)), archive)
        done.add(index)
        total += result[index].chars - before
    return result


def _capped(message: Message, cap: int, archive: Archive) -> Message:
    """The message with its text parts cut so that they take about ``cap`` characters together."""
    weights = [_text_chars(part) for part in message.parts]
    total = sum(weights)
    if total <= cap:
        return message
    parts: list[Part] = []
    for part, weight in zip(message.parts, weights, strict=True):
        limit = max(FLOOR_CHARS // 2, weight * cap // total)
        head, tail = limit * 2 // 3, limit // 3
        match part:
            case TextPart(text):
                parts.append(TextPart(shortened(text, head, tail, archive)))
            case ToolResultPart():
                parts.append(replace(part, text=shortened(part.text, head, tail, archive)))
            case ToolCallPart() if weight > limit:
                values = {
                    k: shortened(v, head, tail, archive) if isinstance(v, str) else v for k, v in part.arguments.items()
                }
                parts.append(replace(part, arguments=values, raw=""))
            case _:
                parts.append(part)
    return replace(message, parts=tuple(parts))


def _text_chars(part: Part) -> int:
    match part:
        case TextPart(text):
            return len(text)
        case ToolResultPart():
            return len(part.text)
        case ToolCallPart():
            return sum(len(v) for v in part.arguments.values() if isinstance(v, str))
    return 0


def count_recoverable(messages: Sequence[Message]) -> int:
    """How many cuts in ``messages`` name the call that returns what was there."""
    mark = f"{RECALL} {{"
    texts = (p.text for m in messages for p in m.parts if isinstance(p, TextPart | ToolResultPart))
    return sum(text.count(mark) for text in texts)
