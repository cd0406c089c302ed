"""What client and server can do, resolved once at ``initialize`` (PROTOCOL.md, "initialize")."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from chatls_server.lsp.lines import Encoding
from chatls_server.lsp.protocol import PROTOCOL_VERSION

logger = logging.getLogger(__name__)

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")


@dataclass(frozen=True, slots=True)
class ClientFeatures:
    """The client's capabilities that change what the server does; all off for a client that declares nothing."""

    encoding: Encoding = "utf-16"
    apply_edit: bool = False
    document_changes: bool = False
    resource_operations: frozenset[str] = frozenset()
    change_annotations: bool = False
    configuration: bool = False
    configuration_registration: bool = False
    watched_files: bool = False
    relative_patterns: bool = False
    work_done_progress: bool = False
    show_document: bool = False
    text_document_content: bool = False
    approve: bool = False
    ask: bool = False
    save: bool = False
    diagnostics: bool = False
    secrets: bool = False
    code_actions: Mapping[str, str] = field(default_factory=dict)
    declared: Mapping[str, Any] = field(default_factory=dict)


def client_features(capabilities: object) -> ClientFeatures:
    """Read ``ClientCapabilities`` as JSON; what is missing or malformed counts as not supported."""
    workspace = _object(capabilities, "workspace")
    edit = _object(workspace, "workspaceEdit")
    window = _object(capabilities, "window")
    own = _object(_object(capabilities, "experimental"), "chatls")
    watching = _object(workspace, "didChangeWatchedFiles")
    operations = edit.get("resourceOperations")
    return ClientFeatures(
        encoding=_encoding(_object(capabilities, "general").get("positionEncodings")),
        apply_edit=workspace.get("applyEdit") is True,
        document_changes=edit.get("documentChanges") is True,
        resource_operations=frozenset(map(str, operations)) if isinstance(operations, list) else frozenset(),
        change_annotations=isinstance(edit.get("changeAnnotationSupport"), dict),
        configuration=workspace.get("configuration") is True,
        configuration_registration=_object(workspace, "didChangeConfiguration").get("dynamicRegistration") is True,
        watched_files=watching.get("dynamicRegistration") is True,
        relative_patterns=watching.get("relativePatternSupport") is True,
        work_done_progress=window.get("workDoneProgress") is True,
        show_document=_object(window, "showDocument").get("support") is True,
        text_document_content=isinstance(workspace.get("textDocumentContent"), dict),
        approve=_declared(own, "approve"),
        ask=_declared(own, "ask"),
        save=_declared(own, "save"),
        diagnostics=_declared(own, "diagnostics"),
        secrets=_declared(own, "secrets"),
        code_actions={k: v for k, v in _object(own, "codeActions").items() if isinstance(v, str)},
        declared=own,
    )


def chatls_capabilities() -> dict[str, Any]:
    """``experimental.chatls`` of the server capabilities."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "modes": ["chat", "agent", "coder"],
        "features": {
            "replay": {},
            "steer": {},
            "review": {"hunks": True},
            "images": {},
            "proposedDocuments": {"scheme": "chatls"},
        },
    }


def _encoding(offered: object) -> Encoding:
    """The first encoding of the client that we know; UTF-16 when it offers none."""
    if isinstance(offered, list):
        for name in offered:
            if name in ENCODINGS:
                return cast(Encoding, name)
        if offered:
            logger.warning("None of the client's position encodings is known; utf-16 is used")
    return "utf-16"


def _object(parent: object, name: str) -> Mapping[str, Any]:
    value = parent.get(name) if isinstance(parent, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _declared(own: Mapping[str, Any], name: str) -> bool:
    """Capabilities are objects; ``true`` is understood too, ``false`` and ``null`` mean no."""
    value = own.get(name)
    return isinstance(value, Mapping) or value is True
