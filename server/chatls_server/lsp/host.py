"""The editor as the core sees it: :class:`chatls_core.host.Host` over LSP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from chatls_core.host import (
    Approval,
    ApprovalAnswer,
    ChangeResult,
    DiagnosticReport,
    Document,
    HostCapabilities,
    HostError,
    HostErrorKind,
    NoticeLevel,
    Question,
    SaveResult,
    WorkspaceChange,
)
from chatls_server.lsp import reading
from chatls_server.lsp.applying import Applying
from chatls_server.lsp.asking import APPROVAL_SECONDS, Asking
from chatls_server.lsp.assumed import Assumptions
from chatls_server.lsp.confinement import Confinement
from chatls_server.lsp.proposals import Proposals
from chatls_server.lsp.uris import has_scheme, path_of, scheme_of, uri_of

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

logger = logging.getLogger(__name__)


class LspHost:
    """Implements :class:`chatls_core.host.Host`. Event loop only, like everything of the server."""

    def __init__(self, server: ChatServer, *, patience_seconds: float = APPROVAL_SECONDS) -> None:
        self._server = server
        self.proposals = Proposals()
        self.assumptions = Assumptions(server.documents)
        self._asking = Asking(server, patience_seconds=patience_seconds)
        self._applying = Applying(server, self.assumptions)

    @property
    def roots(self) -> Sequence[Path]:
        """The opened folders, symlinks resolved, in the editor's order."""
        return self._server.roots

    @property
    def trusted(self) -> bool:
        """Whether the user trusts the workspace."""
        return self._server.trusted

    @property
    def capabilities(self) -> HostCapabilities:
        """What this editor can do."""
        features = self._server.features
        return HostCapabilities(
            edits_buffers=features.apply_edit,
            approves=features.approve,
            asks=features.ask,
            saves=features.save,
            diagnostics=features.diagnostics,
        )

    @property
    def confinement(self) -> Confinement:
        """The rules that hold now."""
        server = self._server
        return Confinement(server.roots, server.home, server.environment)

    def resolve(self, path: str) -> str:
        """The URI for a model's path or URI; an open document keeps the editor's spelling.

        Raises :class:`HostError`: ``OUTSIDE``, ``SENSITIVE``, or ``NOT_OPEN`` for a document that is no file.
        """
        documents = self._server.documents
        if has_scheme(path) and scheme_of(path) != "file":
            opened = documents.get(path)
            if opened is None:
                raise HostError(HostErrorKind.NOT_OPEN, f"{path} is not open in the editor.")
            return opened.uri
        candidate = path_of(path) if has_scheme(path) else self.confinement.candidate(path)
        if candidate is None:
            raise HostError(HostErrorKind.NOT_FOUND, f"{path} names no file.")
        opened = documents.get(uri_of(candidate))
        if opened is not None and not self.confinement.is_sensitive(candidate):
            return opened.uri
        real = self.confinement.check(candidate)
        opened = documents.get(uri_of(real))
        return opened.uri if opened is not None else uri_of(real)

    async def read(self, uri: str) -> Document:
        """The buffer where one is open (unsaved text included), else the file. Raises :class:`HostError`."""
        path = path_of(uri)
        confinement = self.confinement
        if path is not None and confinement.is_sensitive(path):
            raise HostError(HostErrorKind.SENSITIVE, f"{path} may hold secrets and is never read.")
        documents = self._server.documents
        assumed = self.assumptions.get(uri)
        if assumed is not None:
            return assumed
        opened = documents.get(uri)
        if opened is not None:
            return reading.from_buffer(opened)
        notebook = documents.notebook(uri)
        if notebook is not None:
            return reading.from_notebook(notebook, documents, path)
        if path is None:
            raise HostError(HostErrorKind.NOT_OPEN, f"{uri} is not open in the editor and is no file.")
        real = confinement.check(path)
        # The buffer may be open under the name its symbolic link leads to.
        opened = documents.get(uri_of(real))
        if opened is not None:
            return reading.from_buffer(opened)
        return await asyncio.to_thread(reading.from_disk, uri, real)

    async def read_lines(self, uri: str, first: int, last: int) -> Sequence[str]:
        """Lines of a file too large for :meth:`read`; editors do not keep such files as buffers of ours."""
        path = path_of(uri)
        if path is None:
            raise HostError(HostErrorKind.NOT_OPEN, f"{uri} is no file.")
        return await asyncio.to_thread(reading.lines_from_disk, self.confinement.check(path), first, last)

    async def apply(self, change: WorkspaceChange) -> ChangeResult:
        """Change documents, all or none; see :class:`chatls_server.lsp.applying.Applying`."""
        return await self._applying.apply(change)

    async def approve(self, approval: Approval) -> ApprovalAnswer:
        """Ask for permission; anything but a clear yes is ``deny``."""
        return await self._asking.approve(approval)

    async def ask(self, call_id: str, questions: Sequence[Question]) -> Mapping[str, str | list[str]] | None:
        """Ask the model's questions; ``None`` when nobody answered."""
        return await self._asking.ask(call_id, questions)

    async def save(self, uris: Sequence[str]) -> Sequence[SaveResult]:
        """Bring documents to disk, where the editor can."""
        return await self._asking.save(uris)

    async def diagnostics(self, uris: Sequence[str], settle_ms: int) -> DiagnosticReport:
        """Findings of other language servers."""
        return await self._asking.diagnostics(uris, settle_ms)

    def dirty_documents(self) -> Mapping[str, Document]:
        """Open documents that differ from disk, by URI, and buffers the editor keeps without showing them to us."""
        dirty = {
            document.uri: reading.from_buffer(document)
            for document in self._server.documents
            if document.dirty and self.assumptions.get(document.uri) is None
        }
        dirty.update({document.uri: document for document in self.assumptions if document.dirty})
        return dirty

    async def notify(self, level: NoticeLevel, text: str) -> None:
        """Tell the user one sentence: in the log when it is only information, else where it is seen."""
        if level == "info":
            self._server.send_notification(types.WINDOW_LOG_MESSAGE, {"type": 3, "message": text})
        else:
            self._server.show_message(level, text)
