"""Documents and files the editor tells about: open, change, save, close, watched files."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from chatls_server.lsp.protocol.base import parse
from chatls_server.lsp.protocol.editor import TextDocumentContentParams

if TYPE_CHECKING:
    from chatls_server.lsp.documents import OpenDocument
    from chatls_server.lsp.server import ChatServer

logger = logging.getLogger(__name__)


def register(server: ChatServer) -> None:
    """Add the handlers of this module."""
    synchronization = Synchronization(server)
    documents = server.documents
    server.raw_handlers.update(
        {
            types.TEXT_DOCUMENT_DID_OPEN: synchronization.did_open,
            types.TEXT_DOCUMENT_DID_CHANGE: documents.did_change,
            types.TEXT_DOCUMENT_DID_SAVE: documents.did_save,
            types.TEXT_DOCUMENT_DID_CLOSE: documents.did_close,
            types.NOTEBOOK_DOCUMENT_DID_OPEN: documents.did_open_notebook,
            types.NOTEBOOK_DOCUMENT_DID_CHANGE: documents.did_change_notebook,
            types.NOTEBOOK_DOCUMENT_DID_SAVE: lambda _params: None,
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
        if document.path is not None:
            return self._compare(document, document.path)
        return None

    async def _compare(self, document: OpenDocument, path: Path) -> None:
        opened = document.text
        saved = await asyncio.to_thread(_text_on_disk, path, opened)
        if document.saved is None:
            document.saved = saved

    def text_document_content(self, params: Any) -> dict[str, str]:
        """``workspace/textDocumentContent``: the texts of edits under review."""
        uri = parse(TextDocumentContentParams, params, types.WORKSPACE_TEXT_DOCUMENT_CONTENT).uri
        return {"text": self._server.host.proposals.text(uri)}


def _text_on_disk(path: Path, opened: str) -> str | None:
    """The saved text; ``None`` when there is no file.

    What cannot be decoded here was decoded by the editor, and nobody has changed it yet: ``opened`` it is.
    """
    from chatls_core.edits.encoding import DecodeError, decode

    try:
        return decode(path.read_bytes()).text
    except FileNotFoundError:
        return None
    except (OSError, DecodeError) as error:
        logger.debug("%s is not compared with its buffer: %s", path, error)
        return opened
