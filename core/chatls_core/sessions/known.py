"""What the store knows of a session's file since it last read or wrote it."""

from __future__ import annotations

from dataclasses import dataclass, field

from chatls_core.llm.messages import Message
from chatls_core.sessions.conversation import Conversation
from chatls_core.sessions.document import Renderer, SessionDocument
from chatls_core.store import Signature


@dataclass(slots=True)
class Known:
    """What we know of a session's file: its state when we last read or wrote it, and what we held then.

    ``others`` tells whether it holds messages that our conversation does not: another program's, kept beside ours.
    """

    name: str
    signature: Signature | None = None
    held: frozenset[str] = frozenset()
    version: int = 2
    extra: dict[str, object] = field(default_factory=dict)
    ours_extra: dict[str, object] = field(default_factory=dict)
    renderer: Renderer = field(default_factory=Renderer)
    others: bool = False
    named: bool = False
    title: str = ""
    saved: tuple[Message, ...] = ()
    saved_state: tuple[object, ...] = ()

    def changed(self, conversation: Conversation) -> bool:
        """Whether the conversation differs from what was last read or written. Messages are immutable."""
        messages = conversation.messages
        return (
            len(messages) != len(self.saved)
            or any(a is not b for a, b in zip(messages, self.saved, strict=True))
            or self.saved_state != _state_of(conversation)
        )

    def read_from(self, document: SessionDocument) -> None:
        """Note what of the file is not ours."""
        self.others = False
        self.version = document.version
        self.extra = dict(document.extra)
        self.ours_extra = dict(document.ours.model_extra or {})

    def remember(self, conversation: Conversation) -> None:
        """The conversation is on the disk as it is now."""
        self.held = frozenset(m.id for m in conversation.messages)
        self.saved = tuple(conversation.messages)
        self.saved_state = _state_of(conversation)


def _state_of(conversation: Conversation) -> tuple[object, ...]:
    """What a save would write beside the messages."""
    return (
        conversation.name,
        conversation.title,
        conversation.system,
        conversation.system_key,
        tuple(conversation.carried.items()),
        repr(conversation.state),
        conversation.named,
    )
