"""The list of all custom messages, in the order a reader meets them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from chatls_server.lsp.protocol import chat, editor


@dataclass(frozen=True, slots=True)
class Message:
    """One message: who sends it, what it carries, what is answered (``None``: a notification)."""

    method: str
    sender: Literal["client", "server"]
    params: type[BaseModel]
    result: type[BaseModel] | None
    note: str = ""


MESSAGES: tuple[Message, ...] = (
    Message("chatls/chat", "client", chat.ChatParams, chat.ChatResult, "one turn; cancel it with `$/cancelRequest`"),
    Message("chatls/secrets", "client", editor.Secrets, None, "at start and on change"),
    Message("chatls/trustChanged", "client", editor.TrustChanged, None),
    Message("chatls/prepare", "client", editor.Prepare, None, "optional"),
    Message(
        "workspace/textDocumentContent",
        "client",
        editor.TextDocumentContentParams,
        editor.TextDocumentContent,
        "LSP 3.18, scheme `chatls`",
    ),
    Message("chatls/approve", "server", editor.ApproveParams, editor.ApproveResult, "capability `approve`"),
    Message("chatls/ask", "server", editor.AskParams, editor.AskResult, "capability `ask`"),
    Message("chatls/secrets/keep", "server", editor.KeepSecretParams, editor.KeepSecretResult, "capability `secrets`"),
    Message("chatls/resolved", "server", editor.Resolved, None),
    Message("chatls/save", "server", editor.SaveParams, editor.SaveResults, "capability `save`"),
    Message(
        "chatls/diagnostics", "server", editor.DiagnosticsParams, editor.DiagnosticsResult, "capability `diagnostics`"
    ),
    Message("chatls/instructionsChanged", "server", editor.InstructionsChanged, None),
    Message("chatls/memoryChanged", "server", editor.MemoryChanged, None),
    Message("chatls/status", "server", editor.Status, None),
)

EVENTS: tuple[type[chat.EventBase], ...] = (
    chat.QueuedEvent,
    chat.StartedEvent,
    chat.ContextEvent,
    chat.TextEvent,
    chat.ReasoningEvent,
    chat.ToolStartEvent,
    chat.ToolEndEvent,
    chat.EditEvent,
    chat.PlanEvent,
    chat.NoticeEvent,
    chat.UsageEvent,
    chat.EndedEvent,
)


def first_line(thing: Any) -> str:
    """The first sentence of a docstring."""
    text: str = (thing.__doc__ or "").strip()
    return " ".join(text.split("\n\n")[0].split()).replace("``", "`")
