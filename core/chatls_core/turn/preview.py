"""The exact prompt of the next request, without sending it (``chatls.prompt.show``)."""

from __future__ import annotations

from dataclasses import dataclass

from chatls_core.llm.messages import TextPart, ToolCallPart, ToolResultPart
from chatls_core.prompt.request import breakpoints
from chatls_core.text.tokens import estimate
from chatls_core.turn.exchange import ChatRequest
from chatls_core.turn.live import LiveSession, Turn
from chatls_core.turn.run import ToolFactory, TurnRun, copy_of
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
    """Everything the next request would carry."""

    provider: str
    model: str
    window: int
    sections: tuple[ShownSection, ...]
    messages: tuple[ShownMessage, ...]
    tokens: int


async def preview(
    services: Services,
    session: LiveSession,
    request: ChatRequest,
    turn: Turn,
    tools: ToolFactory,
    preferred: tuple[str, str],
) -> PromptPreview:
    """Assemble the request on a copy of the session. Raises :class:`ModelError` when nobody could answer."""
    copy = LiveSession(copy_of(session.conversation), session.files)
    built = await TurnRun(services, copy, turn, tools, preferred).request()
    stored = copy.conversation.state.get("sections")
    names = [str(name) for name in stored] if isinstance(stored, list) else []
    sections = [
        ShownSection(names[i] if i < len(names) else f"part {i + 1}", text, estimate(text), True)
        for i, text in enumerate(built.request.system)
    ]
    if built.request.tools:
        text = "\n".join(f"{t.name}: {t.description}" for t in built.request.tools)
        sections.insert(0, ShownSection("tools", text, estimate(text), True))
    marks = set(breakpoints(built.request.messages))
    messages = tuple(
        ShownMessage(m.role, m.kind, _words(m.parts), estimate(_words(m.parts)), i in marks)
        for i, m in enumerate(built.request.messages)
    )
    total = sum(s.tokens for s in sections) + sum(m.tokens for m in messages)
    model = built.model
    return PromptPreview(model.provider, model.model, model.info.window, tuple(sections), messages, total)


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
