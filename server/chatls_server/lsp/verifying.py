"""Whether the editor did what it said: every text is looked at, typing of the user in the same moment included."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType

from chatls_core.host import HostError
from chatls_server.lsp.documents import Documents, OpenDocument
from chatls_server.lsp.preflight import Planned
from chatls_server.lsp.reading import from_disk

logger = logging.getLogger(__name__)

OPEN_SECONDS = 5.0
"""How long the ``didChange`` of an open document may take after the editor's answer."""

CLOSED_SECONDS = 2.0
"""How long an editor may take to show a file it had not open."""

SETTLE_SECONDS = 0.2
"""How long a change may still arrive after a refusal."""


def same_text(one: str, other: str) -> bool:
    """Equal but for the kind of line ends: editors keep one kind per buffer."""
    return one == other or ((len(one) != len(other) or "\r" in one) and _folded(one) == _folded(other))


def _folded(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class Verification:
    """Watches the documents of one workspace edit from before it is sent."""

    def __init__(self, documents: Documents, files: Sequence[Planned]) -> None:
        self._documents = documents
        self._files = files
        self._versions = {file.uri: file.opened.version if file.opened else None for file in files}
        self._held: set[str] = set()
        self._foreign: dict[str, set[int | None]] = {file.uri: set() for file in files}
        self._touched: set[str] = set()
        self._stack = ExitStack()
        self._changed = asyncio.Event()
        self.unseen: list[Planned] = []

    def __enter__(self) -> Verification:
        for file in self._files:
            self._stack.enter_context(self._documents.watching(file.final_uri, partial(self._look, file)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _look(self, file: Planned, document: OpenDocument) -> None:
        wanted = file.change.after
        self._touched.add(file.uri)
        if wanted is not None and same_text(document.text, wanted):
            self._held.add(file.uri)
        elif document.text != file.change.before:
            self._foreign[file.uri].add(document.version)
        self._changed.set()

    def version_of(self, file: Planned) -> int | None:
        """The version the edit was made for."""
        return self._versions[file.uri]

    async def misplaced(self, file: Planned) -> bool:
        """Whether the only change that came is neither the wanted text nor typing on top of it: ours, put elsewhere."""
        return len(self._foreign[file.uri]) == 1 and not await self.holds(file)

    async def holds(self, file: Planned) -> bool:
        """Whether the wanted text was seen in the buffer, or stands on disk where no buffer is open."""
        path, wanted = file.target or file.path, file.change.after
        if wanted is None:
            return path is not None and not await asyncio.to_thread(os.path.lexists, path)
        if file.uri in self._held:
            return True
        document = self._documents.get(file.final_uri)
        if document is None:
            return path is not None and await asyncio.to_thread(_is_on_disk, file.final_uri, path, wanted)
        if same_text(document.text, wanted):
            return True
        return file.uri in self._touched and await asyncio.to_thread(
            _typed_since, file.change.before, wanted, document.text
        )

    async def wrong(self) -> list[Planned]:
        """The files that do not hold what was wanted, after a bounded wait; ``unseen`` are those nobody can look at."""
        self.unseen = []
        wrong: list[Planned] = []
        for file in self._files:
            seconds = OPEN_SECONDS if file.opened is not None else CLOSED_SECONDS
            if await self._wait(file, 0 if file.kind == "delete" else seconds):
                continue
            if file.kind != "delete" and self._documents.get(file.final_uri) is None and await _is_plausible(file):
                self.unseen.append(file)
            else:
                wrong.append(file)
        return wrong

    async def touched(self) -> list[Planned]:
        """The files that hold our change although the editor said no; a change still under way gets a moment."""
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                while not self._held:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            logger.debug("Nothing arrived after the refusal")
        return [file for file in self._files if await self._is_changed(file)]

    async def _is_changed(self, file: Planned) -> bool:
        if file.kind in ("create", "rename"):
            path = file.target or file.path
            return path is not None and await asyncio.to_thread(os.path.lexists, path)
        return file.change.before != file.change.after and await self.holds(file)

    async def _wait(self, file: Planned, seconds: float) -> bool:
        if await self.holds(file):
            return True
        try:
            async with asyncio.timeout(seconds):
                while True:
                    self._changed.clear()
                    await self._changed.wait()
                    if await self.holds(file):
                        return True
        except TimeoutError:
            logger.info("The editor did not show the wanted text of %s within %s s", file.final_uri, seconds)
        return False


def _is_on_disk(uri: str, path: Path, wanted: str) -> bool:
    try:
        return same_text(from_disk(uri, path).text, wanted)
    except HostError:
        return False


async def _is_plausible(file: Planned) -> bool:
    """Whether the disk fits an unsaved change in a buffer we are not shown."""
    path = file.target or file.path
    return path is not None and (file.kind == "create" or await asyncio.to_thread(path.exists))


def _typed_since(before: str | None, after: str, text: str) -> bool:
    """Whether the text is ours with the user's typing on top: merging ours in again changes nothing."""
    from chatls_core.edits import RebaseConflict, rebase

    if before is None or before == after:
        return False
    try:
        return rebase(before, after, text) == text != before
    except RebaseConflict:
        return False
