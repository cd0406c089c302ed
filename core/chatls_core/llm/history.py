"""A conversation in the form every vendor's history mapping starts from.

Vendors reject a history whose tool calls and results do not pair up, whose roles do not alternate or whose text is
empty. :func:`normalise` mends all of that once. It looks at each message with what came before it only, so that a
history that grows at its end gives a normal form that grows at its end: a cached prefix stays valid.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from chatls_core.llm.messages import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

NOT_RUN = "Not run: the turn was interrupted before this call was executed."
_ID_LENGTH = 40  # the shortest limit any supported service sets on a call id


@dataclass(frozen=True, slots=True)
class Block:
    """One part; ``marked`` says that a cache breakpoint belongs behind it."""

    part: Part
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """Consecutive messages of one role. In a user turn the results of the preceding calls come first, in call order."""

    role: Role
    blocks: tuple[Block, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts without their marks."""
        return tuple(b.part for b in self.blocks)


def normalise(messages: Sequence[Message], provider: str, breakpoints: Iterable[int] = ()) -> tuple[Turn, ...]:
    """The turns of a conversation, ready for ``provider``.

    Calls without a result get a synthetic one, results without a call are dropped, repeated call ids are made unique,
    empty texts and reasoning of other providers are left out. ``breakpoints`` are indices into ``messages``.
    """
    marks = set(breakpoints)
    used: set[str] = set()
    turns: list[Turn] = []
    open_calls: list[tuple[str, ToolCallPart]] = []
    for role, group in _runs(messages):
        blocks = [block for index, message in group for block in _blocks(message, index in marks)]
        if role == "assistant":
            blocks = [b for b in blocks if not _foreign(b.part, provider)]
            said, calls = _with_unique_ids(blocks, used)
            open_calls += calls
            if not said:
                continue
            if turns and turns[-1].role == "assistant":
                turns[-1] = Turn("assistant", (*turns[-1].blocks, *said))
            else:
                turns.append(Turn("assistant", tuple(said)))
            continue
        answered = _results_first(blocks, open_calls)
        open_calls = []
        if not answered:
            continue
        if turns and turns[-1].role == "user":
            turns[-1] = Turn("user", (*turns[-1].blocks, *answered))
        else:
            turns.append(Turn("user", tuple(answered)))
    if open_calls:
        turns.append(Turn("user", tuple(_results_first([], open_calls))))
    return tuple(turns)


def _runs(messages: Sequence[Message]) -> list[tuple[Role, list[tuple[int, Message]]]]:
    runs: list[tuple[Role, list[tuple[int, Message]]]] = []
    for index, message in enumerate(messages):
        if message.role == "assistant" or not runs or runs[-1][0] == "assistant":
            runs.append((message.role, []))
        runs[-1][1].append((index, message))
    return runs


def _blocks(message: Message, marked: bool) -> list[Block]:
    blocks = [Block(part) for part in message.parts if not (isinstance(part, TextPart) and not part.text.strip())]
    if marked:
        for at in range(len(blocks) - 1, -1, -1):
            if not isinstance(blocks[at].part, ReasoningPart):  # vendors refuse a marker on reasoning
                blocks[at] = Block(blocks[at].part, True)
                break
    return blocks


def _foreign(part: Part, provider: str) -> bool:
    return isinstance(part, ReasoningPart) and (part.opaque is None or part.provider != provider)


def _with_unique_ids(blocks: list[Block], used: set[str]) -> tuple[list[Block], list[tuple[str, ToolCallPart]]]:
    said: list[Block] = []
    calls: list[tuple[str, ToolCallPart]] = []
    for block in blocks:
        part = block.part
        if isinstance(part, ToolResultPart):
            continue
        if isinstance(part, ToolCallPart):
            call = replace(part, id=_unique(safe_id(part.id), used))
            calls.append((part.id, call))
            said.append(Block(call, block.marked))
        else:
            said.append(block)
    return said, calls


def _unique(wanted: str, used: set[str]) -> str:
    name, count = wanted, 1
    while name in used:
        count += 1
        name = f"{wanted[: _ID_LENGTH - 4]}_{count}"
    used.add(name)
    return name


def safe_id(raw: str) -> str:
    """A call id every service accepts: letters, digits, ``_`` and ``-``, at most 40 of them."""
    clean = re.sub(r"[^A-Za-z0-9_-]", "_", raw) or "call"
    if clean == raw and len(clean) <= _ID_LENGTH:
        return clean
    digest = hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{clean[: _ID_LENGTH - 9]}_{digest[:8]}"


def _results_first(blocks: list[Block], calls: list[tuple[str, ToolCallPart]]) -> list[Block]:
    results = [b for b in blocks if isinstance(b.part, ToolResultPart)]
    rest = [b for b in blocks if not isinstance(b.part, (ToolResultPart, ToolCallPart, ReasoningPart))]
    ordered: list[Block] = []
    for original, call in calls:
        found = next((b for b in results if isinstance(b.part, ToolResultPart) and b.part.call_id == original), None)
        if found is None:
            ordered.append(Block(ToolResultPart(call.id, call.name, NOT_RUN, is_error=True)))
            continue
        results.remove(found)
        assert isinstance(found.part, ToolResultPart)
        ordered.append(Block(replace(found.part, call_id=call.id), found.marked))
    return ordered + rest


def call_arguments(call: ToolCallPart) -> Mapping[str, object]:
    """The arguments to repeat in history: what was meant, or what was written where it was no JSON object."""
    return {"invalid_json": call.raw[:2000]} if call.error else call.arguments


def result_text(result: ToolResultPart) -> str:
    """A result's text for services without an error flag; never empty, which some services refuse."""
    text = result.text or "(no output)"
    return f"[ERROR] {text}" if result.is_error and not text.startswith("[ERROR") else text


def parse_arguments(call_id: str, name: str, raw: str) -> ToolCallPart:
    """A finished call from the JSON text the model wrote; ``error`` says what is wrong with it."""
    text = raw.strip()
    if not text:
        return ToolCallPart(call_id, name, {}, raw)
    try:
        value = _json(text)
        if isinstance(value, str):
            value = _json(value)  # some models encode the object twice
    except (ValueError, RecursionError) as problem:
        return ToolCallPart(call_id, name, {}, raw, f"The arguments are no valid JSON: {problem}.")
    if not isinstance(value, dict):
        return ToolCallPart(call_id, name, {}, raw, "The arguments must be a JSON object.")
    return ToolCallPart(call_id, name, value, raw)


def _json(text: str) -> object:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON value")

    return json.loads(whole_characters(text), parse_constant=refuse)


def whole_characters(text: str) -> str:
    """``text`` as UTF-8 can carry it: surrogate pairs joined, lone surrogates replaced."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def images_of(parts: Iterable[Part]) -> list[ImagePart]:
    """All images in some parts, those inside tool results included."""
    found: list[ImagePart] = []
    for part in parts:
        if isinstance(part, ImagePart):
            found.append(part)
        elif isinstance(part, ToolResultPart):
            found.extend(part.images)
    return found
