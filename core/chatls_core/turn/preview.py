"""The exact prompt of the next request, without sending it (``chatls.prompt.show``)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from chatls_core.llm.messages import ModelRequest, TextPart, ToolCallPart, ToolDefinition, ToolResultPart
from chatls_core.prompt.request import breakpoints
from chatls_core.text.tokens import estimate
from chatls_core.turn.counting import TokenCount
from chatls_core.turn.exchange import ChatRequest
from chatls_core.turn.live import LiveSession, Turn
from chatls_core.turn.run import ToolFactory, TurnRun
from chatls_core.turn.saving import copy_of
from chatls_core.turn.services import Services


@dataclass(frozen=True, slots=True)
class ShownSection:
    """One section of the system text, or the tools; ``tokens`` is an estimate."""

    name: str
    text: str
    tokens: int
    cached: bool
    recovery: str = ""


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """One message of the history; ``marked`` where a cache marker ends the prefix."""

    role: str
    kind: str
    text: str
    tokens: int
    marked: bool


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """Everything the next request would carry. ``tokens`` is an estimate, ``counted`` the provider's own count;
    where there is none, ``not_counted`` says why."""

    provider: str
    model: str
    window: int
    sections: tuple[ShownSection, ...]
    messages: tuple[ShownMessage, ...]
    tokens: int
    counted: int | None = None
    not_counted: str = ""


async def preview(
    services: Services,
    session: LiveSession,
    request: ChatRequest,
    turn: Turn,
    tools: ToolFactory,
    preferred: tuple[str, str],
    *,
    count: bool = False,
) -> PromptPreview:
    """Assemble the request on a copy of the session; with ``count`` the provider is asked how long it is.

    Raises :class:`ModelError` when nobody could answer.
    """
    copy = LiveSession(copy_of(session.conversation), session.files)
    built = await TurnRun(services, copy, turn, tools, preferred).request()
    model, state = built.model, copy.conversation.state
    ratio = services.curation.ratio.ratio(model.provider, model.model)
    sections, messages = await asyncio.to_thread(_rendered, built.request, state, ratio)
    total = sum(s.tokens for s in sections) + sum(m.tokens for m in messages)
    counted = await services.counts.count(model, _with_words(built.request)) if count else TokenCount(None)
    return PromptPreview(
        model.provider, model.model, model.info.window, sections, messages, total, counted.tokens, counted.reason
    )


def _rendered(
    request: ModelRequest, state: Mapping[str, object], ratio: float
) -> tuple[tuple[ShownSection, ...], tuple[ShownMessage, ...]]:
    """Sections and messages as they are shown; ``state`` is the conversation's. Reads the whole history."""
    stored, recoveries = state.get("sections"), state.get("recoveries")
    names = [str(name) for name in stored] if isinstance(stored, list) else []
    ways = recoveries if isinstance(recoveries, dict) else {}
    sections = []
    if request.tools:
        text = "\n\n".join(map(_definition, request.tools))
        sections.append(ShownSection("tools", text, estimate(text, ratio), True))
    for i, text in enumerate(request.system):
        name = names[i] if i < len(names) else f"part {i + 1}"
        sections.append(ShownSection(name, text, estimate(text, ratio), True, str(ways.get(name, ""))))
    marks = set(breakpoints(request.messages))
    messages = tuple(
        ShownMessage(m.role, m.kind, _words(m.parts), estimate(m.chars, ratio), i in marks)
        for i, m in enumerate(request.messages)
    )
    return tuple(sections), messages


def _with_words(request: ModelRequest) -> ModelRequest:
    """The request with one word where the user has not written any yet: vendors refuse to count an empty message."""
    *others, last = request.messages
    if last.text.strip():
        return request
    return replace(request, messages=(*others, replace(last, parts=(*last.parts, TextPart(".")))))


def _definition(tool: ToolDefinition) -> str:
    return f"{tool.name}: {tool.description}\n{json.dumps(tool.input_schema, ensure_ascii=False)}"


def _words(parts: tuple[object, ...]) -> str:
    shown: list[str] = []
    for part in parts:
        match part:
            case TextPart(text):
                shown.append(text)
            case ToolCallPart():
                shown.append(f"[call {part.name} {part.raw or dict(part.arguments)}]")
            case ToolResultPart():
                shown.append(f"[result of {part.name}]\n{part.text}")
            case _:
                shown.append("[image or reasoning]")
    return "\n".join(shown)
