"""Whether the editor did what it said: every text is looked at, typing of the user in the same moment included."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from types import TracebackType

from chatls_server.lsp.documents import Documents, OpenDocument
from chatls_server.lsp.preflight import Planned

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
        if wanted is not None and same_text(document.text, wanted):
            self._held.add(file.uri)
        elif document.text != file.change.before:
            self._foreign[file.uri].add(document.version)
        self._changed.set()

    def version_of(self, file: Planned) -> int | None:
        """The version the edit was made for."""
        return self._versions[file.uri]

    def misplaced(self, file: Planned) -> bool:
        """Whether the only change that came is neither the wanted text nor typing on top of it: ours, put elsewhere."""
        return len(self._foreign[file.uri]) == 1 and not self.holds(file)

    def holds(self, file: Planned) -> bool:
        """Whether the wanted text was seen in the buffer, or stands on disk where no buffer is open."""
        if file.change.after is None:
            return file.path is not None and not file.path.exists()
        if file.uri in self._held:
            return True
        document = self._documents.get(file.final_uri)
        if document is None:
            return self._on_disk(file)
        return same_text(document.text, file.change.after) or self._typed_since(file, document)

    async def wrong(self) -> list[Planned]:
        """The files that do not hold what was wanted, after a bounded wait; ``unseen`` are those nobody can look at."""
        self.unseen = []
        wrong: list[Planned] = []
        for file in self._files:
            seconds = OPEN_SECONDS if file.opened is not None else CLOSED_SECONDS
            if file.kind != "delete":
                await self._wait(file, seconds)
            if self.holds(file):
                continue
            if file.kind != "delete" and self._documents.get(file.final_uri) is None and self._plausible(file):
                self.unseen.append(file)
            else:
                wrong.append(file)
        return wrong

    async def settle(self) -> None:
        """Give changes that still travel after a refusal a moment to arrive."""
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                while not self.touched():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return

    def touched(self) -> list[Planned]:
        """The files that hold our change although the editor said no."""
        return [file for file in self._files if self._is_changed(file)]

    def _is_changed(self, file: Planned) -> bool:
        if file.kind in ("create", "rename"):
            path = file.target or file.path
            return path is not None and path.exists()
        return file.change.before != file.change.after and self.holds(file)

    async def _wait(self, file: Planned, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not self.holds(file):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            logger.info("The editor did not show the wanted text of %s within %s s", file.final_uri, seconds)

    @staticmethod
    def _on_disk(file: Planned) -> bool:
        from chatls_core.host import HostError
        from chatls_server.lsp.reading import from_disk

        path = file.target or file.path
        if path is None or file.change.after is None:
            return False
        try:
            return same_text(from_disk(file.final_uri, path).text, file.change.after)
        except HostError:
            return False

    @staticmethod
    def _plausible(file: Planned) -> bool:
        """Whether the disk fits an unsaved change in a buffer we are not shown."""
        path = file.target or file.path
        return path is not None and (path.exists() or file.kind == "create")

    @staticmethod
    def _typed_since(file: Planned, document: OpenDocument) -> bool:
        """Whether the text is ours with the user's typing on top: merging ours in again changes nothing."""
        from chatls_core.edits import RebaseConflict, rebase

        before, after = file.change.before, file.change.after
        if before is None or after is None or before == after:
            return False
        try:
            return rebase(before, after, document.text) == document.text != before
        except RebaseConflict:
            return False
