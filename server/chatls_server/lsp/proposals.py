"""Texts under review, served as read-only ``chatls:`` documents for a diff editor (PROTOCOL.md, ``chatls/approve``)."""

from __future__ import annotations

from collections import OrderedDict
from posixpath import basename
from urllib.parse import quote

from chatls_core.host import ProposedFile
from chatls_server.lsp.protocol.base import BadParams
from chatls_server.lsp.uris import document_key

MAX_CHARACTERS = 64_000_000
"""Texts are kept after the review, for reading what was rejected, until this many characters have gathered."""


class Proposals:
    """The texts by URI; the oldest go first."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._characters = 0

    def offer(self, call_id: str, number: int, file: ProposedFile) -> tuple[str, str]:
        """Keep both texts of a file under review; returns the URIs of the original and the proposed one."""
        name = quote(basename(file.new_uri or file.uri), safe="%~-._")
        call = quote(call_id, safe="")
        return (
            self._keep(f"chatls:/original/{call}/{number}/{name}", file.before or ""),
            self._keep(f"chatls:/proposed/{call}/{number}/{name}", file.after or ""),
        )

    def text(self, uri: str) -> str:
        """The text of a ``chatls:`` document; raises :class:`BadParams` for one that is not kept."""
        text = self._texts.get(document_key(uri))
        if text is None:
            raise BadParams(f"workspace/textDocumentContent: uri: there is no document {uri}")
        return text

    def _keep(self, uri: str, text: str) -> str:
        key = document_key(uri)
        self._characters += len(text) - len(self._texts.pop(key, ""))
        self._texts[key] = text
        while self._characters > MAX_CHARACTERS and len(self._texts) > 2:
            _, dropped = self._texts.popitem(last=False)
            self._characters -= len(dropped)
        return uri
