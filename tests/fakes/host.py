"""A host in memory: files, buffers, answers to questions; records what the core asked of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from chatls_core.host import (
    Approval,
    ApprovalAnswer,
    ChangeResult,
    Diagnostic,
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


@dataclass
class FakeHost:
    """Documents by path below one root; ``before_apply`` lets a test type into a buffer between read and write."""

    root: Path
    buffers: dict[str, str] = field(default_factory=dict)
    answer: ApprovalAnswer = field(default_factory=lambda: ApprovalAnswer("allow"))
    answers: Mapping[str, str | list[str]] | None = None
    refuse: str = ""
    before_apply: Callable[[], None] | None = None
    approvals: list[Approval] = field(default_factory=list)
    changes: list[WorkspaceChange] = field(default_factory=list)
    notices: list[tuple[NoticeLevel, str]] = field(default_factory=list)
    trusted: bool = True
    capabilities: HostCapabilities = field(default_factory=lambda: HostCapabilities(edits_buffers=True, approves=True))
    formatter: Callable[[str], str] | None = None
    """Changes a text when it is saved."""
    linter: Callable[[str, str], Sequence[Diagnostic]] | None = None
    """What another server finds in the text of a URI; ask for it with the capability ``diagnostics``."""
    asked_findings: list[Sequence[str]] = field(default_factory=list)

    @property
    def roots(self) -> Sequence[Path]:
        return (self.root,)

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def type(self, name: str, text: str) -> None:
        """The user's buffer now holds ``text``, unsaved."""
        self.buffers[self.uri(name)] = text

    def resolve(self, path: str) -> str:
        if path.startswith("file:"):
            return path
        full = (self.root / path).resolve()
        if not full.is_relative_to(self.root):
            raise HostError(HostErrorKind.OUTSIDE, f"{path} is outside the workspace folder.")
        return full.as_uri()

    async def read(self, uri: str) -> Document:
        return self._read(uri)

    async def read_lines(self, uri: str, first: int, last: int) -> Sequence[str]:
        return self._read(uri).text.split("\n")[first - 1 : last]

    def _read(self, uri: str) -> Document:
        path = _path(uri)
        if uri in self.buffers:
            return Document(uri, self.buffers[uri], path, 1, dirty=True)
        if path.is_dir():
            raise HostError(HostErrorKind.IS_DIRECTORY, f"{path.name} is a folder.")
        if not path.exists():
            raise HostError(HostErrorKind.NOT_FOUND, f"{path.name} does not exist.")
        return Document(uri, path.read_bytes().decode("utf-8"), path)

    async def apply(self, change: WorkspaceChange) -> ChangeResult:
        if self.before_apply is not None:
            hook, self.before_apply = self.before_apply, None
            hook()
        if self.refuse:
            return ChangeResult(False, reason=self.refuse)
        now = {}
        for file in change.files:
            try:
                now[file.uri] = self._read(file.uri).text
            except HostError:
                now[file.uri] = None
        stale = [
            FileChangeResult(f.uri, "stale", "changed", now[f.uri]) for f in change.files if now[f.uri] != f.before
        ]
        if stale:
            return ChangeResult(False, tuple(stale), "the document changed")
        for file in change.files:
            if file.after is None or file.new_uri:
                _path(file.uri).unlink(missing_ok=True)
                self.buffers.pop(file.uri, None)
            if file.after is not None:
                self.buffers[file.new_uri or file.uri] = file.after
        self.changes.append(change)
        return ChangeResult(True, tuple(FileChangeResult(f.uri, "applied") for f in change.files))

    async def approve(self, approval: Approval) -> ApprovalAnswer:
        self.approvals.append(approval)
        return self.answer

    async def ask(self, call_id: str, questions: Sequence[Question]) -> Mapping[str, str | list[str]] | None:
        return self.answers

    async def save(self, uris: Sequence[str]) -> Sequence[SaveResult]:
        saved = []
        for uri in uris:
            if uri in self.buffers:
                text = self.buffers.pop(uri)
                _write(_path(uri), self.formatter(text) if self.formatter else text)
            saved.append(SaveResult(uri, True))
        return saved

    async def diagnostics(self, uris: Sequence[str], settle_ms: int) -> DiagnosticReport:
        self.asked_findings.append(tuple(uris))
        if self.linter is None:
            return DiagnosticReport()
        found = []
        for uri in uris:
            try:
                found += self.linter(uri, self._read(uri).text)
            except HostError:
                continue
        return DiagnosticReport(tuple(found), complete=True)

    def dirty_documents(self) -> Mapping[str, Document]:
        return {uri: replace(self._read(uri), dirty=True) for uri in self.buffers}

    async def notify(self, level: NoticeLevel, text: str) -> None:
        self.notices.append((level, text))


def _path(uri: str) -> Path:
    return Path(uri.removeprefix("file://"))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")
