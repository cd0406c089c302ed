"""The documents the editor has open, as the user sees them.

Text is kept as lines, so that a key stroke in a file of 10 MB costs microseconds; the whole text is joined when
somebody asks for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatls_server.lsp.lines import Encoding, content_length, split_lines, to_column
from chatls_server.lsp.protocol.base import BadParams
from chatls_server.lsp.uris import document_key, path_of

logger = logging.getLogger(__name__)

Place = tuple[int, int]


class OpenDocument:
    """One open document. ``uri`` is the editor's own spelling; ``saved`` the text last known to be on disk."""

    def __init__(self, uri: str, language_id: str, version: int | None, text: str) -> None:
        self.uri = uri
        self.key = document_key(uri)
        self.path: Path | None = path_of(uri)
        self.language_id = language_id
        self.version = version
        self.saved: str | None = None
        self.notebook: str | None = None
        self._lines = split_lines(text)
        self._text: str | None = text

    @property
    def text(self) -> str:
        """The whole text, with its own line ends."""
        if self._text is None:
            self._text = "".join(self._lines)
        return self._text

    @property
    def lines(self) -> Sequence[str]:
        """The lines with their ends; the last one has none."""
        return self._lines

    @property
    def dirty(self) -> bool:
        """Whether the text is not known to be on disk; documents that are no files always are."""
        return self.saved is None or (self.saved is not self._text and self.saved != self.text)

    def replace(self, text: str) -> None:
        """The whole text is another one."""
        self._lines = split_lines(text)
        self._text = text

    def change(self, start: Place, end: Place, new_text: str, encoding: Encoding) -> None:
        """Replace a range given in lines and units; places outside the text are clamped into it."""
        if end < start:
            start, end = end, start
        first, from_column = self._clamp(start, encoding)
        last, to = self._clamp(end, encoding)
        before = self._lines[first][:from_column]
        segment = before + new_text + self._lines[last][to:]
        if first and segment.startswith("\n") and self._lines[first - 1].endswith("\r"):
            # The two halves of a line end meet again.
            first -= 1
            segment = self._lines[first] + segment
        pieces = split_lines(segment)
        if last < len(self._lines) - 1:
            # The segment ends with a line's end, after which split_lines reports one more, empty line.
            pieces.pop()
        self._lines[first : last + 1] = pieces
        self._text = None

    def _clamp(self, place: Place, encoding: Encoding) -> Place:
        line, units = place
        if line < 0:
            return 0, 0
        if line >= len(self._lines):
            last = len(self._lines) - 1
            return last, content_length(self._lines[last])
        return line, to_column(self._lines[line], units, encoding)


@dataclass(slots=True)
class Notebook:
    """An open notebook: its cells are documents of their own."""

    uri: str
    version: int | None
    kind: str
    cells: list[str] = field(default_factory=list)


Watcher = Callable[[OpenDocument], None]


class Documents:
    """All open documents by canonical key. Everything here runs on the event loop."""

    def __init__(self) -> None:
        self.encoding: Encoding = "utf-16"
        self._open: dict[str, OpenDocument] = {}
        self._notebooks: dict[str, Notebook] = {}
        self._watchers: dict[str, set[Watcher]] = {}

    def get(self, uri: str) -> OpenDocument | None:
        """The open document for any spelling of its URI."""
        return self._open.get(document_key(uri))

    def notebook(self, uri: str) -> Notebook | None:
        """The open notebook for any spelling of its URI."""
        return self._notebooks.get(document_key(uri))

    def __iter__(self) -> Iterator[OpenDocument]:
        return iter(tuple(self._open.values()))

    # --- messages of the editor ------------------------------------------------------------------------------------

    def did_open(self, params: Any) -> OpenDocument:
        """``textDocument/didOpen``; a second one replaces the first."""
        item = _mapping(params, "textDocument")
        return self._put(item)

    def did_change(self, params: Any) -> OpenDocument | None:
        """``textDocument/didChange``: changes apply one after the other. ``None`` when the document is not open."""
        identifier = _mapping(params, "textDocument")
        document = self.get(_text(identifier, "uri"))
        if document is None:
            logger.warning("A change came for a document that is not open: %s", identifier.get("uri"))
            return None
        version = identifier.get("version")
        changes = params.get("contentChanges")
        if not isinstance(changes, list):
            raise BadParams("textDocument/didChange: contentChanges: a list was expected")
        self._apply(document, changes, version)
        return document

    def did_save(self, params: Any) -> OpenDocument | None:
        """``textDocument/didSave``: what is open is on disk now."""
        document = self.get(_text(_mapping(params, "textDocument"), "uri"))
        if document is not None:
            text = params.get("text")
            document.saved = text if isinstance(text, str) else document.text
            self._tell(document)
        return document

    def found_on_disk(self, document: OpenDocument, text: str | None) -> None:
        """``text`` is what the disk holds for a document (``None``: nothing); a save in the meantime knows better."""
        if document.saved is None:
            document.saved = text
            self._tell(document)

    def did_close(self, params: Any) -> OpenDocument | None:
        """``textDocument/didClose``; gives the document that was open."""
        return self._open.pop(document_key(_text(_mapping(params, "textDocument"), "uri")), None)

    def did_open_notebook(self, params: Any) -> None:
        """``notebookDocument/didOpen``: the cells are opened as documents."""
        item = _mapping(params, "notebookDocument")
        notebook = Notebook(_text(item, "uri"), _version(item), str(item.get("notebookType", "")))
        notebook.cells = [str(cell.get("document", "")) for cell in _list(item, "cells")]
        self._notebooks[document_key(notebook.uri)] = notebook
        for item in _list(params, "cellTextDocuments"):
            cell = self._put(item)
            # Nobody can tell from here; what has just been opened is most likely what was saved.
            cell.notebook, cell.saved = notebook.uri, cell.text

    def did_change_notebook(self, params: Any) -> None:
        """``notebookDocument/didChange``: cells come, go and change."""
        identifier = _mapping(params, "notebookDocument")
        notebook = self.notebook(_text(identifier, "uri"))
        if notebook is None:
            logger.warning("A change came for a notebook that is not open: %s", identifier.get("uri"))
            return
        notebook.version = _version(identifier)
        change = params.get("change")
        cells = change.get("cells") if isinstance(change, dict) else None
        if not isinstance(cells, dict):
            return
        structure = cells.get("structure")
        if isinstance(structure, dict):
            array = _mapping(structure, "array")
            start, count = int(array.get("start", 0)), int(array.get("deleteCount", 0))
            fresh = [str(cell.get("document", "")) for cell in _list(array, "cells")]
            notebook.cells[start : start + count] = fresh
            for item in _list(structure, "didOpen"):
                self._put(item).notebook = notebook.uri
            for item in _list(structure, "didClose"):
                self._open.pop(document_key(_text(item, "uri")), None)
        for item in _list(cells, "textContent"):
            identifier = _mapping(item, "document")
            document = self.get(_text(identifier, "uri"))
            if document is not None:
                self._apply(document, _list(item, "changes"), identifier.get("version"))

    def did_save_notebook(self, params: Any) -> None:
        """``notebookDocument/didSave``: every cell is on disk now."""
        notebook = self.notebook(_text(_mapping(params, "notebookDocument"), "uri"))
        for uri in notebook.cells if notebook is not None else ():
            if (cell := self.get(uri)) is not None:
                cell.saved = cell.text

    def did_close_notebook(self, params: Any) -> None:
        """``notebookDocument/didClose``."""
        self._notebooks.pop(document_key(_text(_mapping(params, "notebookDocument"), "uri")), None)
        for item in _list(params, "cellTextDocuments"):
            self._open.pop(document_key(_text(item, "uri")), None)

    # --- waiting ---------------------------------------------------------------------------------------------------

    async def wait_for(
        self, uri: str, wanted: Callable[[OpenDocument], bool], *, timeout_seconds: float
    ) -> OpenDocument | None:
        """The document once ``wanted`` holds, looked at after every single change; ``None`` when it never does."""
        document = self.get(uri)
        if document is not None and wanted(document):
            return document
        found: asyncio.Future[OpenDocument] = asyncio.get_running_loop().create_future()

        def look(changed: OpenDocument) -> None:
            if not found.done() and wanted(changed):
                found.set_result(changed)

        with self.watching(uri, look):
            try:
                async with asyncio.timeout(timeout_seconds):
                    return await found
            except TimeoutError:
                return None

    def watching(self, uri: str, watcher: Watcher) -> _Watch:
        """A context in which ``watcher`` sees the document after each single change, opening and saving."""
        return _Watch(self._watchers, document_key(uri), watcher)

    def _put(self, item: Mapping[str, Any]) -> OpenDocument:
        document = OpenDocument(
            _text(item, "uri"), str(item.get("languageId", "")), _version(item), _text(item, "text")
        )
        self._open[document.key] = document
        self._tell(document)
        return document

    def _apply(self, document: OpenDocument, changes: Sequence[Any], version: object) -> None:
        if isinstance(version, int):
            document.version = version
        for change in changes:
            text = _text(change, "text")
            span = change.get("range")
            if span is None:
                document.replace(text)
            else:
                document.change(_place(span, "start"), _place(span, "end"), text, self.encoding)
            self._tell(document)

    def _tell(self, document: OpenDocument) -> None:
        for watcher in tuple(self._watchers.get(document.key, ())):
            watcher(document)


class _Watch:
    """Adds a watcher for the length of a ``with`` block."""

    def __init__(self, watchers: dict[str, set[Watcher]], key: str, watcher: Watcher) -> None:
        self._watchers, self._key, self._watcher = watchers, key, watcher

    def __enter__(self) -> None:
        self._watchers.setdefault(self._key, set()).add(self._watcher)

    def __exit__(self, *_: object) -> None:
        rest = self._watchers[self._key]
        rest.discard(self._watcher)
        if not rest:
            del self._watchers[self._key]


def _mapping(params: Any, name: str) -> Mapping[str, Any]:
    value = params.get(name) if isinstance(params, Mapping) else None
    if not isinstance(value, Mapping):
        raise BadParams(f"{name}: an object was expected")
    return value


def _list(params: Mapping[str, Any], name: str) -> list[Any]:
    value = params.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise BadParams(f"{name}: a list of objects was expected")
    return value


def _text(params: Any, name: str) -> str:
    value = params.get(name) if isinstance(params, Mapping) else None
    if not isinstance(value, str):
        raise BadParams(f"{name}: a string was expected")
    return value


def _version(params: Mapping[str, Any]) -> int | None:
    value = params.get("version")
    return value if isinstance(value, int) else None


def _place(span: Any, name: str) -> Place:
    place = _mapping(span, name)
    line, character = place.get("line"), place.get("character")
    if not isinstance(line, int) or not isinstance(character, int):
        raise BadParams(f"range.{name}: line and character must be integers")
    return line, character
