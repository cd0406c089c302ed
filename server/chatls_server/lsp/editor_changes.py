"""A change sent to the editor as ``workspace/applyEdit``: minimal, versioned, in the negotiated encoding."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from chatls_server.lsp.errors import ClientError
from chatls_server.lsp.lines import split_lines, to_units
from chatls_server.lsp.preflight import Planned

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

logger = logging.getLogger(__name__)

ANNOTATION = "chatls"
ANSWER_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What the editor said: ``applied`` only for a clear yes."""

    applied: bool
    reason: str = ""


class EditorChanges:
    """Builds and sends workspace edits for one client."""

    def __init__(self, server: ChatServer) -> None:
        self._server = server

    def can(self, file: Planned) -> bool:
        """Whether the editor takes this kind of change at all."""
        features = self._server.features
        if not features.apply_edit:
            return False
        if file.kind == "edit":
            return True
        return features.document_changes and file.kind in features.resource_operations

    async def send(self, label: str, files: Sequence[Planned]) -> Answer:
        """Send one workspace edit and read the answer: null, an error and anything unclear are refusals."""
        try:
            answer = await self._server.ask_client(
                types.WORKSPACE_APPLY_EDIT,
                {"label": label, "edit": self.workspace_edit(label, files)},
                timeout_seconds=ANSWER_SECONDS,
            )
        except ClientError as error:
            return Answer(False, str(error))
        except TimeoutError:
            return Answer(False, "the editor did not answer")
        if not isinstance(answer, Mapping):
            return Answer(False, "the editor refused the edit")
        reason = answer.get("failureReason")
        return Answer(answer.get("applied") is True, reason if isinstance(reason, str) else "")

    def workspace_edit(self, label: str, files: Sequence[Planned]) -> dict[str, Any]:
        """The ``WorkspaceEdit`` of these files, as JSON."""
        features = self._server.features
        if not features.document_changes:
            return {"changes": {file.uri: self._text_edits(file, annotated=False) for file in files}}
        annotated = features.change_annotations
        changes: list[dict[str, Any]] = []
        for file in files:
            changes += self._document_changes(file, annotated)
        edit: dict[str, Any] = {"documentChanges": changes}
        if annotated:
            edit["changeAnnotations"] = {ANNOTATION: {"label": label or "ChatLS", "needsConfirmation": False}}
        return edit

    def _document_changes(self, file: Planned, annotated: bool) -> list[dict[str, Any]]:
        changes: list[dict[str, Any]] = []
        operation: dict[str, Any] | None = None
        version: int | None = file.opened.version if file.opened is not None else None
        match file.kind:
            case "create":
                operation = {"kind": "create", "uri": file.uri, "options": {"overwrite": False}}
                version = None
            case "delete":
                operation = {"kind": "delete", "uri": file.uri, "options": {"recursive": False}}
            case "rename":
                operation = {
                    "kind": "rename",
                    "oldUri": file.uri,
                    "newUri": file.target_uri,
                    "options": {"overwrite": False},
                }
                version = None
        if operation is not None:
            if annotated:
                operation["annotationId"] = ANNOTATION
            changes.append(operation)
        edits = self._text_edits(file, annotated) if file.kind != "delete" else []
        if edits or file.kind == "edit":
            changes.append({"textDocument": {"uri": file.final_uri, "version": version}, "edits": edits})
        return changes

    def _text_edits(self, file: Planned, annotated: bool) -> list[dict[str, Any]]:
        from chatls_core.edits import hunks

        before = file.current.text if file.current is not None else ""
        lines = split_lines(before)
        encoding = self._server.documents.encoding
        edits: list[dict[str, Any]] = []
        for hunk in hunks(before, file.change.after or ""):
            edit: dict[str, Any] = {"range": {}, "newText": hunk.new_text}
            for name, place in (("start", hunk.range.start), ("end", hunk.range.end)):
                units = to_units(lines[place.line], place.character, encoding) if place.line < len(lines) else 0
                edit["range"][name] = {"line": place.line, "character": units}
            if annotated:
                edit["annotationId"] = ANNOTATION
            edits.append(edit)
        return edits
