"""Ask about a selection, or have it edited, from any editor's code action menu.

A client with an interface of its own names its commands in ``experimental.chatls.codeActions`` (``{"ask": id, "edit":
id}``) and gets ``{uri, range}``; any other runs ``chatls.chat.send``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

_TITLES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "ask": "Ask ChatLS about the selection",
        "edit": "Edit the selection with ChatLS",
        "fix": "Fix with ChatLS",
    },
    "pt": {
        "ask": "Perguntar ao ChatLS sobre a seleção",
        "edit": "Editar a seleção com o ChatLS",
        "fix": "Corrigir com o ChatLS",
    },
}


def actions_for(server: ChatServer, wanted: types.CodeActionParams, raw: Any) -> Iterator[types.CodeAction]:
    """The actions for a range; nothing for an empty one without findings."""
    own = server.features.code_actions
    place = {"uri": wanted.text_document.uri, "range": raw["range"]}
    titles = _TITLES["pt" if server.language.startswith("pt") else "en"]
    findings = [d.message for d in wanted.context.diagnostics if d.source != "chatls"]
    only = wanted.context.only
    empty = wanted.range.start == wanted.range.end
    if not empty and _asked_for(only, "refactor"):
        explain = {"text": "Explain this code.", "mode": "chat", "mentions": [place]}
        improve = {"text": "Improve this code and keep what it does.", "mode": "coder", "mentions": [place]}
        yield _action(titles["ask"], "refactor", own.get("ask"), place, explain)
        yield _action(titles["edit"], "refactor", own.get("edit"), place, improve)
    if findings and _asked_for(only, "quickfix"):
        text = "Fix these problems:\n" + "\n".join(f"- {message}" for message in findings[:10])
        yield _action(titles["fix"], "quickfix", None, place, {"text": text, "mode": "coder", "mentions": [place]})


def _asked_for(only: Any, kind: str) -> bool:
    return not only or any(kind == wanted or kind.startswith(f"{wanted}.") for wanted in map(str, only))


def _action(title: str, kind: str, own: str | None, place: dict[str, Any], message: dict[str, Any]) -> types.CodeAction:
    command = types.Command(title, own or "chatls.chat.send", arguments=[place if own else message])
    return types.CodeAction(title, types.CodeActionKind(kind), command=command)
