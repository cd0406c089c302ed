"""What a front end asks of a turn, and what it gets in the end (PROTOCOL.md "Chat")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chatls_core.events import StopReason
from chatls_core.llm.events import Usage
from chatls_core.llm.messages import ImagePart
from chatls_core.prompt.allowed_tools import AllowedTools
from chatls_core.prompt.attachments import Mention
from chatls_core.prompt.hints import Effort
from chatls_core.tools.base import EditRecord, Mode


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request of the user. ``active_uri`` is the document in front of them; ``mentions`` holds the selection too.

    ``model`` is a model name, or ``provider/model``; empty keeps the session's. ``commands`` are command lines whose
    output the template behind the text asks for, ``effort`` is how hard it has the model think,
    ``allowed`` the tools it names, where it does.
    """

    text: str
    session_id: str | None = None
    mode: Mode = "chat"
    mentions: tuple[Mention, ...] = ()
    images: tuple[ImagePart, ...] = ()
    active_uri: str = ""
    model: str = ""
    steer: bool = False
    commands: tuple[str, ...] = ()
    effort: Effort = ""
    allowed: AllowedTools | None = None


@dataclass(frozen=True, slots=True)
class ChatResult:
    """The outcome of a turn that ended whole."""

    session_id: str
    turn_id: str
    text: str
    stop_reason: StopReason
    usage: Usage
    edits: tuple[EditRecord, ...] = ()


class QueueFullError(Exception):
    """Too many requests wait for a session; ``str()`` is a sentence for the user."""


class TurnFailedError(Exception):
    """The turn failed for a reason of our own; the log has the traceback, ``str()`` a sentence for the user."""


Outcome = Literal["completed", "failed", "cancelled"]
