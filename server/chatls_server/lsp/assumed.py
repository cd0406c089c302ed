"""What the editor says it changed where we cannot look: buffers it keeps without telling us, files it has not reloaded.

Such a text is what the user sees, so reading gives it until the editor shows its own or the file on disk changes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from chatls_core.host import Document
from chatls_server.lsp.documents import Documents
from chatls_server.lsp.uris import document_key

logger = logging.getLogger(__name__)

Signature = tuple[int, int] | None


def signature(path: Path) -> Signature:
    """Modification time in nanoseconds and size in bytes; ``None`` when there is no such file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


@dataclass(frozen=True, slots=True)
class _Assumption:
    document: Document
    path: Path
    disk: Signature
    open_version: int | None


class Assumptions:
    """Assumed texts by document."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._assumed: dict[str, _Assumption] = {}

    def assume(self, document: Document, path: Path, *, dirty: bool) -> None:
        """``document.text`` is what the user sees; ``dirty`` when the disk does not have it."""
        opened = self._documents.get(document.uri)
        self._assumed[document_key(document.uri)] = _Assumption(
            replace(document, dirty=dirty), path, signature(path), opened.version if opened else None
        )

    def forget(self, uri: str) -> None:
        """The document is known again."""
        self._assumed.pop(document_key(uri), None)

    def get(self, uri: str) -> Document | None:
        """The assumed text while it holds."""
        key = document_key(uri)
        assumption = self._assumed.get(key)
        if assumption is None:
            return None
        opened = self._documents.get(uri)
        if signature(assumption.path) != assumption.disk or (opened.version if opened else None) != (
            assumption.open_version
        ):
            del self._assumed[key]
            return None
        return assumption.document

    def __iter__(self) -> Iterator[Document]:
        for assumption in tuple(self._assumed.values()):
            document = self.get(assumption.document.uri)
            if document is not None:
                yield document
