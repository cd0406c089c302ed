"""A saved conversation to read, page by page (spec/memory.md §15.3): for a person, and for the model's session tool."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chatls_core.llm.messages import Message, TextPart, ToolCallPart, ToolResultPart
from chatls_core.sessions.conversation import Conversation, SessionError
from chatls_core.text import cut
from chatls_core.text.amounts import amount

PAGE = 20
"""Messages on a page."""

_PROSE_CHARS = 2000
_TOOL_CHARS = 600
_SINGLE_CHARS = 8000


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A message as shown: ``text`` is shortened where ``shortened`` says so, secrets are hidden."""

    message_id: str
    speaker: str
    time: datetime | None
    text: str
    shortened: bool = False


@dataclass(frozen=True, slots=True)
class Transcript:
    """A page of a conversation: messages ``offset`` to ``offset + len(excerpts)`` of ``total``, counting from 0."""

    name: str
    title: str
    offset: int
    total: int
    excerpts: tuple[Excerpt, ...]

    @property
    def markdown(self) -> str:
        """The page as text, absolute dates in sight, with how to read on."""
        lines = [f"# {self.title or self.name} ({self.name})"]
        for excerpt in self.excerpts:
            day = f", {excerpt.time.astimezone():%Y-%m-%d %H:%M}" if excerpt.time else ""
            more = f" [shortened; message {excerpt.message_id} in full by its id]" if excerpt.shortened else ""
            lines.append(f"**{excerpt.speaker}**{day} ({excerpt.message_id}): {excerpt.text}{more}")
        end = self.offset + len(self.excerpts)
        if end < self.total:
            lines.append(f"{amount(self.total - end, 'more message')}; read on with offset {end}.")
        return "\n\n".join(lines)


def transcript(
    conversation: Conversation, *, offset: int = 0, limit: int = PAGE, query: str = "", message_id: str = ""
) -> Transcript:
    """A page of a conversation.

    ``query`` centres the page on the message that answers it best, ``message_id`` gives that message alone, nearly
    whole. What we put into the prompt ourselves is left out. Raises :class:`SessionError` for an unknown message.
    """
    shown = [m for m in conversation.messages if m.kind not in ("turn_context", "notice")]
    if message_id:
        place = next((i for i, m in enumerate(shown) if m.id == message_id), None)
        if place is None:
            raise SessionError(f"There is no message {message_id!r} in session {conversation.name!r}.")
        page, offset, single = shown[place : place + 1], place, True
    else:
        limit = max(1, min(limit, 100))
        if query and (best := _best(shown, query)) is not None:
            offset = best - limit // 2
        offset = max(0, min(offset, len(shown)))
        page, single = shown[offset : offset + limit], False
    excerpts = tuple(_excerpt(m, single) for m in page)
    return Transcript(conversation.name, conversation.title, offset, len(shown), excerpts)


def _best(messages: list[Message], query: str) -> int | None:
    from chatls_core.text.passages import Passage
    from chatls_core.text.ranking import PassageIndex

    index = PassageIndex(Passage(str(place), _text(m), m.time) for place, m in enumerate(messages))
    hits = index.search(query, 1)
    return int(hits[0].id) if hits else None


def _excerpt(message: Message, single: bool) -> Excerpt:
    from chatls_core.text import redaction

    text = redaction.redact(_text(message))
    limit = _SINGLE_CHARS if single else _TOOL_CHARS if message.kind == "tool_result" else _PROSE_CHARS
    speaker = "tool" if message.kind == "tool_result" else message.role
    return Excerpt(message.id, speaker, message.time, cut.by_chars(text, limit), len(text) > limit)


def _text(message: Message) -> str:
    """What a message says, its calls and their results included."""
    said: list[str] = []
    for part in message.parts:
        match part:
            case TextPart(text) if text.strip():
                said.append(text)
            case ToolCallPart(name=name):
                said.append(f"[calls {name}]")
            case ToolResultPart(name=name, text=text):
                said.append(f"[{name or 'tool'}] {text}")
    return "\n".join(said)
