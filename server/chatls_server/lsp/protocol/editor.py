"""Traffic between server and editor beside the chat (PROTOCOL.md, "Editor-facing traffic from the server")."""

from __future__ import annotations

from typing import Any

from pydantic import Field, RootModel

from chatls_server.lsp.protocol.base import Range, Wire


class InitializationOptions(Wire):
    """``initializationOptions``; a bare settings object is accepted too."""

    settings: dict[str, Any] | None = None
    trusted: bool | None = None


class Secrets(RootModel[dict[str, str | None]]):
    """Provider name → key; an empty or null key removes it. Never traced, never logged."""


class TrustChanged(Wire):
    """The user changed the workspace's trust."""

    trusted: bool


class Prepare(Wire):
    """The user begins to write: load what the first answer needs. Nothing is sent to a model."""


class ApprovalOption(Wire):
    """One button of an approval."""

    id: str
    title: str


class ApprovalHunk(Wire):
    """One hunk under review; its id is unique within the approval."""

    id: str
    range: Range
    new_text: str
    old_text: str = ""


class ApprovalEdit(Wire):
    """One file under review. ``original`` and ``proposed`` are ``chatls:`` documents for a diff editor."""

    uri: str
    version: int | None = None
    hunks: list[ApprovalHunk]
    original: str | None = None
    proposed: str | None = None
    new_uri: str | None = None
    kind: str = Field("edit", description="edit, create, delete or rename")


class ApproveParams(Wire):
    """May this be done?"""

    call_id: str
    title: str
    tool_kind: str
    preview: str | None = None
    reason: str | None = None
    edits: list[ApprovalEdit] | None = None
    options: list[ApprovalOption]


class ApproveResult(Wire):
    """The user's choice. ``accepted`` lists hunk ids when only some hunks were taken."""

    option_id: str
    accepted: list[str] | None = None
    reason: str | None = None


class AskQuestion(Wire):
    """One question of the model; free text when it has no options."""

    id: str
    text: str
    options: list[str] | None = None
    multiple: bool | None = None


class AskParams(Wire):
    """The model asks the user."""

    call_id: str
    questions: list[AskQuestion]


class AskResult(Wire):
    """Answers by question id."""

    answers: dict[str, str | list[str]]


class Resolved(Wire):
    """A question was settled some other way: close its dialog."""

    call_id: str


class SaveParams(Wire):
    """Bring these documents to disk."""

    uris: list[str]


class SavedDocument(Wire):
    """Whether one document is on disk now."""

    uri: str
    saved: bool
    version: int | None = None


class SaveResults(RootModel[list[SavedDocument]]):
    """One entry per document asked for."""


class DiagnosticsParams(Wire):
    """Ask for other servers' findings once they have been quiet for ``settleMs`` milliseconds."""

    uris: list[str]
    settle_ms: int


class DiagnosticWire(Wire):
    """An LSP diagnostic, as far as it is read."""

    range: Range
    severity: int | None = None
    message: str
    source: str | None = None


class DocumentDiagnostics(Wire):
    """Findings for one document; ``complete`` is false where no editor shows the file."""

    uri: str
    version: int | None = None
    diagnostics: list[DiagnosticWire]
    complete: bool = True


class DiagnosticsResult(Wire):
    """Findings for the asked documents."""

    items: list[DocumentDiagnostics]


class InstructionsChanged(Wire):
    """Instruction files were reloaded."""

    changed: list[str]
    files: int
    rules: int


class MemoryChanged(Wire):
    """Memory was written to. Ids of facts, episodes (``ep_…``), ``topic:…``, ``project:…``, ``profile:…``, and
    ``review:…`` for items that wait for the user's yes.

    ``background``: learned or tidied unasked; ``undoToken`` takes back all that was added. ``elsewhere``: another
    window or program wrote it; the lists are empty where only what waits for review may have changed.
    """

    added: list[str] = Field(default_factory=list)
    changed: list[str] = Field(default_factory=list)
    removed: list[str] = Field(default_factory=list)
    undo_token: str | None = None
    background: bool = False
    elsewhere: bool = False


class Status(Wire):
    """What the status bar shows. ``state`` is open: starting, ready, answering, waiting, offline, error.

    ``extraction`` is ``{notice, failing}``: what background learning said last, and whether it fails now.
    """

    state: str
    provider: str | None = None
    model: str | None = None
    window: int | None = None
    used: int | None = None
    cached_share: float | None = None
    memory: Any = None
    extraction: Any = None
    message: str | None = None


class KeepSecretParams(Wire):
    """Keep a key in the editor's secret storage, and send it with ``chatls/secrets`` from now on; "" forgets it.

    Never traced or logged.
    """

    provider: str
    key: str


class KeepSecretResult(Wire):
    """Whether the editor did."""

    kept: bool = False


class TextDocumentContentParams(Wire):
    """``workspace/textDocumentContent`` of LSP 3.18, for ``chatls:`` documents."""

    uri: str


class TextDocumentContent(Wire):
    """The document's text."""

    text: str
