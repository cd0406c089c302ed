"""Who runs us? The only way out of the core to a person or an editor (DESIGN.md, "The rooms").

Everything a turn needs from its surroundings goes through :class:`Host`: the text the user sees, changes to it,
questions, approvals and notices. A language client, a terminal and a test each implement it; the core never opens a
workspace file behind its back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"]
NoticeLevel = Literal["info", "warning", "error"]


class HostErrorKind(StrEnum):
    """Why the host could not read or change a document."""

    NOT_FOUND = "not_found"
    IS_DIRECTORY = "is_directory"
    BINARY = "binary"
    ENCODING = "encoding"
    OUTSIDE = "outside"
    SENSITIVE = "sensitive"
    PERMISSION = "permission"
    TOO_LARGE = "too_large"
    NOT_OPEN = "not_open"
    UNSUPPORTED = "unsupported"


class HostError(Exception):
    """A document could not be read or changed; ``str()`` is one sentence that says which and why."""

    def __init__(self, kind: HostErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Document:
    """One text document as the user sees it: the editor's buffer where one is open, else the file on disk.

    ``text`` keeps its own line endings. ``version`` is the editor's version number, ``None`` when not open.
    ``path`` is ``None`` for documents that are no files (untitled, virtual).
    ``encoding`` is a Python codec name; ``bom`` says whether the file starts with a byte-order mark (not in ``text``).
    """

    uri: str
    text: str
    path: Path | None = None
    version: int | None = None
    language_id: str = ""
    dirty: bool = False
    encoding: str = "utf-8"
    bom: bool = False


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text: zero-based line (split at ``\\n``, ``\\r\\n``, ``\\r`` only) and code-point column."""

    line: int
    character: int


@dataclass(frozen=True, slots=True)
class Range:
    """A half-open range of a text, in zero-based lines and code-point columns."""

    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class Location:
    """A place to show to the user."""

    uri: str
    range: Range | None = None


@dataclass(frozen=True, slots=True)
class Hunk:
    """One contiguous replacement in a document: ``old_text`` at ``range`` becomes ``new_text``."""

    id: str
    range: Range
    old_text: str
    new_text: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """The wanted state of one file.

    ``before`` is the text the change was computed against (``None``: the file must not exist yet); the host refuses
    with ``stale`` when the document differs from it. ``after`` is the new text (``None``: delete). ``new_uri`` moves
    the file. ``encoding`` and ``bom`` are kept on disk writes.
    """

    uri: str
    before: str | None
    after: str | None
    new_uri: str | None = None


@dataclass(frozen=True, slots=True)
class WorkspaceChange:
    """All changes of one tool call: applied together or not at all, one undo step where the editor allows it."""

    label: str
    files: tuple[FileChange, ...]


ChangeStatus = Literal["applied", "refused", "stale", "failed"]


@dataclass(frozen=True, slots=True)
class FileChangeResult:
    """What became of one file of a :class:`WorkspaceChange`.

    ``current`` is the document's text after the attempt (what the model should be told when ``stale``).
    """

    uri: str
    status: ChangeStatus
    reason: str = ""
    current: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """The outcome of :meth:`Host.apply`; ``applied`` only when every file holds its wanted text."""

    applied: bool
    files: tuple[FileChangeResult, ...] = ()
    reason: str = ""

    @property
    def stale(self) -> bool:
        """Whether the change may be rebased on the current text and tried again."""
        return not self.applied and any(f.status == "stale" for f in self.files)


@dataclass(frozen=True, slots=True)
class ProposedFile:
    """One file of an edit under review."""

    uri: str
    version: int | None
    hunks: tuple[Hunk, ...]
    before: str | None
    after: str | None
    new_uri: str | None = None


@dataclass(frozen=True, slots=True)
class Approval:
    """A question whether something may be done (PROTOCOL.md ``chatls/approve``)."""

    call_id: str
    title: str
    tool_kind: ToolKind
    preview: str = ""
    reason: str = ""
    edits: tuple[ProposedFile, ...] = ()
    allow_always: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """``accepted`` lists hunk ids when only some hunks of an edit were taken; ``None`` means all of them."""

    decision: Literal["allow", "always", "deny"]
    accepted: frozenset[str] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the model to the user; free text when ``options`` is empty."""

    id: str
    text: str
    options: tuple[str, ...] = ()
    multiple: bool = False


@dataclass(frozen=True, slots=True)
class SaveResult:
    """Whether one document is on disk now."""

    uri: str
    saved: bool
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding of another language server about a document."""

    uri: str
    range: Range
    severity: Literal["error", "warning", "information", "hint"]
    message: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class DiagnosticReport:
    """Findings for the asked documents; ``complete`` is False where no editor could answer in time."""

    items: tuple[Diagnostic, ...] = ()
    complete: bool = False


@dataclass(frozen=True, slots=True)
class HostCapabilities:
    """What the host can do, resolved once."""

    edits_buffers: bool = False
    approves: bool = False
    asks: bool = False
    saves: bool = False
    diagnostics: bool = False
    extra: Mapping[str, object] = field(default_factory=dict)


class Host(Protocol):
    """The surroundings of a turn. All methods are safe to call from the event loop and never block it."""

    @property
    def roots(self) -> Sequence[Path]:
        """The opened workspace folders, symlinks resolved, in the editor's order; empty when none is open."""

    @property
    def trusted(self) -> bool:
        """Whether the user trusts the workspace (DESIGN.md, "Trust")."""

    @property
    def capabilities(self) -> HostCapabilities:
        """What this host can do."""

    def resolve(self, path: str) -> str:
        """The URI for a model's path (absolute, ``~``, or relative to the roots).

        Raises :class:`HostError` (``OUTSIDE``) for a path that, symlinks resolved, leaves the opened folders.
        """

    async def read(self, uri: str) -> Document:
        """The document as the user sees it. Raises :class:`HostError`."""

    async def read_lines(self, uri: str, first: int, last: int) -> Sequence[str]:
        """Lines ``first`` to ``last`` (from 1, without their ends) of a file that is too large for :meth:`read`; fewer,
        or none, where the file ends before. Nothing behind ``last`` is read. Raises :class:`HostError`."""

    async def apply(self, change: WorkspaceChange) -> ChangeResult:
        """Change documents, all or none. Never raises for a refusal: the result says what happened."""

    async def approve(self, approval: Approval) -> ApprovalAnswer:
        """Ask for permission; with no way to ask, or no answer in time, the answer is ``deny``."""

    async def ask(self, call_id: str, questions: Sequence[Question]) -> Mapping[str, str | list[str]] | None:
        """Ask the user the model's questions; ``None`` when nobody can be asked or nobody answered."""

    async def save(self, uris: Sequence[str]) -> Sequence[SaveResult]:
        """Bring documents to disk before something reads it there."""

    async def diagnostics(self, uris: Sequence[str], settle_ms: int) -> DiagnosticReport:
        """Findings of other language servers after an edit."""

    def dirty_documents(self) -> Mapping[str, Document]:
        """Open documents that differ from disk, by URI (search must see them)."""

    async def notify(self, level: NoticeLevel, text: str) -> None:
        """Tell the user one sentence."""
