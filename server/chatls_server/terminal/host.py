"""The terminal as the core sees it: files on disk, questions on the terminal when there is one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from chatls_core.edits.encoding import EncodeError
from chatls_core.host import (
    Approval,
    ApprovalAnswer,
    ChangeResult,
    DiagnosticReport,
    Document,
    FileChangeResult,
    HostCapabilities,
    HostError,
    HostErrorKind,
    NoticeLevel,
    Question,
    SaveResult,
    WorkspaceChange,
)
from chatls_server.lsp import reading
from chatls_server.lsp.assumed import Assumptions
from chatls_server.lsp.confinement import Confinement
from chatls_server.lsp.disk_changes import apply_on_disk
from chatls_server.lsp.documents import Documents
from chatls_server.lsp.preflight import Planned, Preflight
from chatls_server.lsp.uris import has_scheme, path_of, uri_of


class TerminalHost:
    """One folder, the files on its disk, and a person at the terminal (or nobody, when it is a pipe)."""

    def __init__(
        self, root: Path, home: Path, environment: Mapping[str, str], *, interactive: bool, trusted: bool = True
    ) -> None:
        self._root = root.resolve()
        self._interactive = interactive
        self._trusted = trusted
        self._confinement = Confinement((self._root,), home, environment)
        documents = Documents()
        self._preflight = Preflight(self._confinement, documents, Assumptions(documents))

    @property
    def roots(self) -> Sequence[Path]:
        """The folder the command was started in."""
        return (self._root,)

    @property
    def trusted(self) -> bool:
        """Whether the folder is trusted: the user started us in it."""
        return self._trusted

    @property
    def capabilities(self) -> HostCapabilities:
        """Edits go to disk; questions are asked only at a terminal."""
        return HostCapabilities(approves=self._interactive, asks=self._interactive)

    def resolve(self, path: str) -> str:
        """The URI of a path inside the folder. Raises :class:`chatls_core.host.HostError`."""
        named = path_of(path) if has_scheme(path) else self._confinement.candidate(path)
        if named is None:
            raise HostError(HostErrorKind.NOT_FOUND, f"{path} names no file.")
        return uri_of(self._confinement.check(named))

    async def read(self, uri: str) -> Document:
        """The file on disk. Raises :class:`chatls_core.host.HostError`."""
        path = path_of(uri)
        if path is None:
            raise HostError(HostErrorKind.NOT_OPEN, f"{uri} is no file.")
        real = await asyncio.to_thread(self._confinement.check, path)
        return await asyncio.to_thread(reading.from_disk, uri_of(real), real)

    async def read_lines(self, uri: str, first: int, last: int) -> Sequence[str]:
        """Lines of a file too large for :meth:`read`."""
        path = path_of(uri)
        if path is None:
            raise HostError(HostErrorKind.NOT_OPEN, f"{uri} is no file.")
        real = await asyncio.to_thread(self._confinement.check, path)
        return await asyncio.to_thread(reading.lines_from_disk, real, first, last)

    async def apply(self, change: WorkspaceChange) -> ChangeResult:
        """Write to disk, all files or none."""
        checked = await self._preflight.check(change.files)
        planned = [file for file in checked if isinstance(file, Planned)]
        refused = [file for file in checked if isinstance(file, FileChangeResult)]
        if refused:
            return ChangeResult(False, tuple(refused), refused[0].reason)
        try:
            await asyncio.to_thread(apply_on_disk, planned)
        except (OSError, EncodeError, HostError) as error:
            return ChangeResult(False, reason=str(error))
        return ChangeResult(True, tuple(FileChangeResult(file.uri, "applied") for file in change.files))

    async def approve(self, approval: Approval) -> ApprovalAnswer:
        """Ask at the terminal; without one the answer is no."""
        if not self._interactive:
            return ApprovalAnswer("deny", reason="nobody is at the terminal to ask")
        shown = [f"\n{approval.title}"] + ([f"({approval.reason})"] if approval.reason else [])
        for edit in approval.edits:
            for hunk in edit.hunks:
                shown += [f"- {line}" for line in hunk.old_text.splitlines()]
                shown += [f"+ {line}" for line in hunk.new_text.splitlines()]
        always = ", a(lways)" if approval.allow_always else ""
        answer = (await self._line("\n".join(shown) + f"\nAllow? y(es){always}, n(o): ")).lower()
        if answer in ("a", "always") and approval.allow_always:
            return ApprovalAnswer("always")
        return ApprovalAnswer("allow" if answer in ("y", "yes") else "deny")

    async def ask(self, call_id: str, questions: Sequence[Question]) -> Mapping[str, str | list[str]] | None:
        """Ask the model's questions at the terminal."""
        if not self._interactive:
            return None
        answers: dict[str, str | list[str]] = {}
        for question in questions:
            options = "".join(f"\n  {n}. {option}" for n, option in enumerate(question.options, 1))
            given = await self._line(f"\n{question.text}{options}\n> ")
            number = int(given) if given.isdigit() else 0
            answers[question.id] = question.options[number - 1] if 0 < number <= len(question.options) else given
        return answers

    async def save(self, uris: Sequence[str]) -> Sequence[SaveResult]:
        """Everything is on disk already."""
        return [SaveResult(uri, True) for uri in uris]

    async def diagnostics(self, uris: Sequence[str], settle_ms: int) -> DiagnosticReport:
        """No other language server is here."""
        return DiagnosticReport()

    def dirty_documents(self) -> Mapping[str, Document]:
        """Nothing is unsaved in a terminal."""
        return {}

    async def notify(self, level: NoticeLevel, text: str) -> None:
        """One line on standard error."""
        sys.stderr.write(f"{level}: {text}\n")

    async def _line(self, prompt: str) -> str:
        sys.stderr.write(prompt)
        sys.stderr.flush()
        return str(await asyncio.to_thread(sys.stdin.readline)).strip()
