"""Documents and files the editor tells about: open, change, save, close, watched files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from chatls_server.lsp.protocol.base import parse

if TYPE_CHECKING:
    from chatls_server.lsp.documents import OpenDocument
    from chatls_server.lsp.server import ChatServer


def register(server: ChatServer) -> None:
    """Add the handlers of this module."""
    synchronization = Synchronization(server)
    documents = server.documents
    server.raw_handlers.update(
        {
            types.TEXT_DOCUMENT_DID_OPEN: synchronization.did_open,
            types.TEXT_DOCUMENT_DID_CHANGE: synchronization.did_change,
            types.TEXT_DOCUMENT_DID_SAVE: synchronization.did_save,
            types.TEXT_DOCUMENT_DID_CLOSE: synchronization.did_close,
            types.NOTEBOOK_DOCUMENT_DID_OPEN: documents.did_open_notebook,
            types.NOTEBOOK_DOCUMENT_DID_CHANGE: documents.did_change_notebook,
            types.NOTEBOOK_DOCUMENT_DID_SAVE: documents.did_save_notebook,
            types.NOTEBOOK_DOCUMENT_DID_CLOSE: documents.did_close_notebook,
            types.WORKSPACE_TEXT_DOCUMENT_CONTENT: synchronization.text_document_content,
        }
    )


class Synchronization:
    """Handlers of document messages."""

    def __init__(self, server: ChatServer) -> None:
        self._server = server

    def did_open(self, params: Any) -> Any:
        """Take the document; whether it differs from the disk is found out in a thread."""
        document = self._server.documents.did_open(params)
        self._server.eyes.document_changed(document)
        if document.path is not None:
            return self._compare(document, document.path)
        return None

    def did_change(self, params: Any) -> None:
        """Follow the typing."""
        document = self._server.documents.did_change(params)
        if document is not None:
            self._server.eyes.document_changed(document)

    def did_save(self, params: Any) -> Any:
        """The buffer is on disk; an instruction file is read again at once."""
        document = self._server.documents.did_save(params)
        return self._server.eyes.document_saved(document) if document is not None else None

    def did_close(self, params: Any) -> None:
        """The document is the disk's again."""
        document = self._server.documents.did_close(params)
        if document is not None:
            self._server.host.assumptions.forget(document.uri)
            self._server.eyes.document_closed(document)

    async def _compare(self, document: OpenDocument, path: Path) -> None:
        opened = document.text
        saved = await asyncio.to_thread(_text_on_disk, path, opened)
        self._server.documents.found_on_disk(document, saved)

    def text_document_content(self, params: Any) -> dict[str, str]:
        """``workspace/textDocumentContent``: the texts of edits under review."""
        from chatls_server.lsp.protocol.editor import TextDocumentContentParams

        uri = parse(TextDocumentContentParams, params, types.WORKSPACE_TEXT_DOCUMENT_CONTENT).uri
        return {"text": self._server.host.proposals.text(uri)}


def _text_on_disk(path: Path, opened: str) -> str | None:
    """The saved text; ``None`` when there is no file.

    What cannot be decoded here was decoded by the editor, and nobody has changed it yet: ``opened`` it is.
    """
    from chatls_core.host import HostError, HostErrorKind
    from chatls_server.lsp.reading import from_disk

    try:
        return from_disk("", path).text
    except HostError as error:
        return None if error.kind is HostErrorKind.NOT_FOUND else opened
