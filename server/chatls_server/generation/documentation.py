"""docs/protocol.md: what a client may rely on, message by message."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, RootModel

from chatls_server.generation.messages import EVENTS, MESSAGES, Message, first_line
from chatls_server.generation.prose import CHAT, COMMANDS_INTRO, EDITOR, EVENTS_INTRO, INTRODUCTION, TYPES_INTRO
from chatls_server.generation.typescript import field_type, is_optional, type_of, wire_name
from chatls_server.lsp.protocol import chat, editor
from chatls_server.lsp.protocol.base import Position, Range
from chatls_server.lsp.protocol.commands import COMMANDS, CommandResult


def documentation() -> str:
    """The whole document."""
    by_client = [m for m in MESSAGES if m.sender == "client"]
    by_server = [m for m in MESSAGES if m.sender == "server"]
    described = {m.params for m in MESSAGES} | {m.result for m in MESSAGES}
    shared = [
        model
        for model in (
            *(Position, Range, chat.Mention, chat.Image, chat.ActiveDocument, chat.UsageWire, chat.ChatEdit),
            *(chat.ErrorData, chat.LocationWire, chat.HunkWire, chat.ContextItemWire, chat.SyntaxProblemWire),
            *(chat.PlanEntryWire, editor.ApprovalOption, editor.ApprovalEdit, editor.ApprovalHunk),
            *(editor.AskQuestion, editor.SavedDocument, editor.DocumentDiagnostics, editor.DiagnosticWire),
            CommandResult,
        )
        if model not in described
    ]
    parts = [
        INTRODUCTION,
        _fields("initializationOptions", editor.InitializationOptions),
        CHAT,
        *(_message(message) for message in by_client),
        EVENTS_INTRO,
        *(_fields(f"`{_kind(event)}`", event, skip=("turnId", "seq", "kind")) for event in EVENTS),
        COMMANDS_INTRO,
        _commands(),
        EDITOR,
        *(_message(message) for message in by_server),
        TYPES_INTRO,
        *(_fields(f"`{model.__name__}`", model) for model in shared),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _message(message: Message) -> str:
    kind = "request" if message.result is not None else "notification"
    note = f"; {message.note}" if message.note else ""
    text = f"### `{message.method}`\n\n{message.sender} → {_other(message.sender)}, {kind}{note}. "
    text += f"{first_line(message.params)}\n\n{_table(message.params)}"
    if message.result is not None:
        text += f"\n\nResult: {first_line(message.result)}\n\n{_table(message.result)}"
    return text


def _other(sender: str) -> str:
    return "server" if sender == "client" else "client"


def _fields(title: str, model: type[BaseModel], skip: Iterable[str] = ()) -> str:
    return f"### {title}\n\n{first_line(model)}\n\n{_table(model, skip)}"


def _table(model: type[BaseModel], skip: Iterable[str] = ()) -> str:
    if issubclass(model, RootModel):
        return f"`{type_of(model.model_fields['root'].annotation)}`"
    rows = [
        f"| `{wire_name(name, field)}` | {_cell(field_type(model, name, field))} | "
        f"{'' if is_optional(model, name, field) else 'yes'} | {field.description or ''} |"
        for name, field in model.model_fields.items()
        if wire_name(name, field) not in skip
    ]
    if not rows:
        return "No fields of its own."
    return "\n".join(["| field | type | always | |", "| --- | --- | --- | --- |", *rows])


def _cell(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def _kind(event: type[chat.EventBase]) -> str:
    return type_of(event.model_fields["kind"].annotation).strip("'")


def _commands() -> str:
    rows = []
    for name, (model, data) in COMMANDS.items():
        arguments = ", ".join(
            f"`{wire_name(field_name, field)}{'?' if is_optional(model, field_name, field) else ''}`"
            for field_name, field in model.model_fields.items()
        )
        rows.append(f"| `{name}` | {arguments or '—'} | {data} |")
    return "\n".join(["| command | arguments | `data` |", "| --- | --- | --- |", *rows])
