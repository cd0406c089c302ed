"""Questions to the person at the keyboard: approvals, the model's questions, saving, diagnostics.

A rich client declares ``experimental.chatls`` and gets ``chatls/*`` requests; any other is asked by
``window/showMessageRequest``. Null, malformed or late means no (PROTOCOL.md, "Editor-facing traffic").
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from lsprotocol import types
from pydantic import BaseModel, ValidationError

from chatls_core.host import (
    Approval,
    ApprovalAnswer,
    Diagnostic,
    DiagnosticReport,
    Position,
    ProposedFile,
    Question,
    Range,
    SaveResult,
)
from chatls_server.lsp.errors import ClientError
from chatls_server.lsp.lines import split_lines
from chatls_server.lsp.protocol import editor as wire
from chatls_server.lsp.protocol.base import Range as WireRange
from chatls_server.lsp.uris import document_key

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

logger = logging.getLogger(__name__)

APPROVAL_SECONDS = 600.0
_SAVE_SECONDS = 30.0
_CATCH_UP_SECONDS = 2.0
_MESSAGE_LIMIT = 8000
_SEVERITIES: Mapping[int, Literal["error", "warning", "information", "hint"]] = {
    1: "error",
    2: "warning",
    3: "information",
    4: "hint",
}

M = TypeVar("M", bound=BaseModel)


class Asking:
    """The questions of one server; ``patience_seconds`` is how long an approval may take (edits: no limit)."""

    def __init__(self, server: ChatServer, *, patience_seconds: float = APPROVAL_SECONDS) -> None:
        self._server = server
        self._patience = patience_seconds

    # --- approvals -------------------------------------------------------------------------------------------------

    async def approve(self, approval: Approval) -> ApprovalAnswer:
        """Ask for permission; anything but a clear yes is a no."""
        limit = None if approval.edits else self._patience
        try:
            if self._server.features.approve:
                return await self._approve_richly(approval, limit)
            return await self._approve_plainly(approval, limit)
        except asyncio.CancelledError:
            self._resolved(approval.call_id)
            raise
        except TimeoutError:
            self._resolved(approval.call_id)
            return ApprovalAnswer("deny", reason="nobody answered in time")
        except ClientError as error:
            logger.warning("An approval could not be asked: %s", error)
            return ApprovalAnswer("deny", reason="the editor could not ask")

    async def _approve_richly(self, approval: Approval, limit: float | None) -> ApprovalAnswer:
        hunk_ids: dict[str, str] = {}
        edits = [self._edit(approval, number, file, hunk_ids) for number, file in enumerate(approval.edits)]
        params = wire.ApproveParams(
            call_id=approval.call_id,
            title=approval.title,
            tool_kind=approval.tool_kind,
            preview=approval.preview or None,
            reason=approval.reason or None,
            edits=edits or None,
            options=[wire.ApprovalOption(id=name, title=title) for name, title in _options(approval)],
        )
        answer = _understood(
            wire.ApproveResult, await self._server.ask_client("chatls/approve", params, timeout_seconds=limit)
        )
        if answer is None:
            return ApprovalAnswer("deny", reason="the answer could not be understood")
        if answer.option_id not in dict(_options(approval)):
            return ApprovalAnswer("deny", reason=answer.reason or "")
        decision = cast(Literal["allow", "always", "deny"], answer.option_id)
        accepted: frozenset[str] | None = None
        if decision != "deny" and answer.accepted is not None and approval.edits:
            accepted = frozenset(hunk_ids[name] for name in answer.accepted if name in hunk_ids)
        return ApprovalAnswer(decision, accepted, answer.reason or "")

    def _edit(self, approval: Approval, number: int, file: ProposedFile, hunk_ids: dict[str, str]) -> wire.ApprovalEdit:
        original, proposed = self._server.host.proposals.offer(approval.call_id, number, file)
        lines = split_lines(file.before or "")
        hunks = []
        for hunk in file.hunks:
            # Ids count per file; with several files the wire needs them apart, and so does the answer.
            name = hunk.id if len(approval.edits) == 1 else f"{file.uri}#{hunk.id}"
            hunk_ids[name] = name
            hunks.append(
                wire.ApprovalHunk(
                    id=name,
                    range=WireRange.model_validate(self._server.wire_range(lines, hunk.range)),
                    new_text=hunk.new_text,
                    old_text=hunk.old_text,
                )
            )
        document = self._server.documents.get(file.uri)
        kind = "create" if file.before is None else "delete" if file.after is None else "edit"
        return wire.ApprovalEdit(
            uri=file.uri,
            version=file.version if file.version is not None else document.version if document else None,
            hunks=hunks,
            original=original,
            proposed=proposed,
            new_uri=file.new_uri,
            kind="rename" if file.new_uri and kind == "edit" else kind,
        )

    async def _approve_plainly(self, approval: Approval, limit: float | None) -> ApprovalAnswer:
        parts = [approval.title, approval.reason, approval.preview, *map(_as_diff, approval.edits)]
        text = _cut("\n\n".join(part for part in parts if part))
        chosen = await self._choose(text, [title for _, title in _options(approval)], limit)
        for name, title in _options(approval):
            if title == chosen:
                return ApprovalAnswer(cast(Literal["allow", "always", "deny"], name))
        return ApprovalAnswer("deny", reason="the question was closed")

    async def _choose(self, text: str, titles: Sequence[str], limit: float | None) -> str | None:
        answer = await self._server.ask_client(
            types.WINDOW_SHOW_MESSAGE_REQUEST,
            {"type": 3, "message": text, "actions": [{"title": title} for title in titles]},
            timeout_seconds=limit,
        )
        title = answer.get("title") if isinstance(answer, Mapping) else None
        return title if isinstance(title, str) else None

    def _resolved(self, call_id: str) -> None:
        if self._server.features.approve or self._server.features.ask:
            self._server.send_notification("chatls/resolved", wire.Resolved(call_id=call_id))

    # --- the model's questions -------------------------------------------------------------------------------------

    async def ask(self, call_id: str, questions: Sequence[Question]) -> Mapping[str, str | list[str]] | None:
        """Answers by question id; ``None`` when nobody answered."""
        try:
            if self._server.features.ask:
                return await self._ask_richly(call_id, questions)
            return await self._ask_plainly(questions)
        except asyncio.CancelledError:
            self._resolved(call_id)
            raise
        except TimeoutError:
            self._resolved(call_id)
            return None
        except ClientError as error:
            logger.warning("The model's question could not be asked: %s", error)
            return None

    async def _ask_richly(self, call_id: str, questions: Sequence[Question]) -> Mapping[str, str | list[str]] | None:
        params = wire.AskParams(
            call_id=call_id,
            questions=[
                wire.AskQuestion(
                    id=question.id,
                    text=question.text,
                    options=list(question.options) or None,
                    multiple=question.multiple or None,
                )
                for question in questions
            ],
        )
        answer = _understood(
            wire.AskResult, await self._server.ask_client("chatls/ask", params, timeout_seconds=self._patience)
        )
        if answer is None:
            return None
        asked = {question.id for question in questions}
        answers = {name: value for name, value in answer.answers.items() if name in asked}
        return answers or None

    async def _ask_plainly(self, questions: Sequence[Question]) -> Mapping[str, str | list[str]] | None:
        """One question after the other; those without options cannot be asked this way."""
        answers: dict[str, str | list[str]] = {}
        for question in questions:
            if question.options:
                chosen = await self._choose(_cut(question.text), question.options, self._patience)
                if chosen in question.options:
                    answers[question.id] = [chosen] if question.multiple else chosen
        return answers or None

    # --- saving and diagnostics ------------------------------------------------------------------------------------

    async def save(self, uris: Sequence[str]) -> Sequence[SaveResult]:
        """Bring documents to disk; without the capability, say which are there."""
        if self._server.features.save and uris:
            try:
                answer = _understood(
                    wire.SaveResults,
                    await self._server.ask_client(
                        "chatls/save", wire.SaveParams(uris=list(uris)), timeout_seconds=_SAVE_SECONDS
                    ),
                )
            except (ClientError, TimeoutError) as error:
                logger.warning("Documents could not be saved: %s", error)
                answer = None
            if answer is not None:
                told = {document_key(item.uri): item for item in answer.root}
                results = []
                for uri in uris:
                    item = told.get(document_key(uri))
                    await self._caught_up(uri, item.version if item else None)
                    results.append(SaveResult(uri, item is not None and item.saved, item.version if item else None))
                return results
        return [self._as_saved(uri) for uri in uris]

    async def _caught_up(self, uri: str, version: int | None) -> None:
        """Wait, bounded, until what saving changed in a document (formatters) has arrived here too."""
        if version is not None and self._server.documents.get(uri) is not None:
            await self._server.documents.wait_for(
                uri, lambda document: (document.version or 0) >= version, timeout_seconds=_CATCH_UP_SECONDS
            )

    def _as_saved(self, uri: str) -> SaveResult:
        assumed = self._server.host.assumptions.get(uri)
        if assumed is not None:
            return SaveResult(uri, not assumed.dirty)
        document = self._server.documents.get(uri)
        return SaveResult(uri, not document.dirty, document.version) if document else SaveResult(uri, True)

    async def diagnostics(self, uris: Sequence[str], settle_ms: int) -> DiagnosticReport:
        """Findings of other servers, in code-point columns of the buffers."""
        if not self._server.features.diagnostics or not uris:
            return DiagnosticReport()
        try:
            answer = _understood(
                wire.DiagnosticsResult,
                await self._server.ask_client(
                    "chatls/diagnostics",
                    wire.DiagnosticsParams(uris=list(uris), settle_ms=settle_ms),
                    timeout_seconds=settle_ms / 1000 + 10,
                ),
            )
        except (ClientError, TimeoutError) as error:
            logger.warning("Diagnostics could not be asked for: %s", error)
            return DiagnosticReport()
        if answer is None:
            return DiagnosticReport()
        asked = {document_key(uri): uri for uri in uris}
        items = tuple(
            Diagnostic(
                uri=asked.get(document_key(entry.uri), entry.uri),
                range=self._range(entry.uri, found.range),
                severity=_SEVERITIES.get(found.severity or 1, "error"),
                message=found.message,
                source=found.source or "",
            )
            for entry in answer.items
            for found in entry.diagnostics
        )
        told = {document_key(entry.uri) for entry in answer.items if entry.complete}
        return DiagnosticReport(items, complete=all(document_key(uri) in told for uri in uris))

    def _range(self, uri: str, range_: WireRange) -> Range:
        document = self._server.documents.get(uri)
        if document is not None:
            return self._server.core_range(document.text, range_)
        return Range(
            Position(range_.start.line, range_.start.character), Position(range_.end.line, range_.end.character)
        )


def _options(approval: Approval) -> list[tuple[str, str]]:
    always = [("always", "Always allow this")] if approval.allow_always else []
    if approval.edits:
        return [("allow", "Accept"), *always, ("deny", "Reject")]
    return [("allow", "Allow once"), *always, ("deny", "Deny")]


def _as_diff(file: ProposedFile) -> str:
    """An edit as a few readable lines, for a message box."""
    if file.after is None:
        return f"delete {file.uri}"
    lines = [f"move {file.uri} to {file.new_uri}" if file.new_uri else file.uri]
    for hunk in file.hunks:
        lines.append(f"line {hunk.range.start.line + 1}:")
        lines += [f"- {line}" for line in hunk.old_text.split("\n") if line]
        lines += [f"+ {line}" for line in hunk.new_text.split("\n") if line]
    return "\n".join(lines)


def _cut(text: str) -> str:
    return text if len(text) <= _MESSAGE_LIMIT else text[:_MESSAGE_LIMIT] + "\n[… cut]"


def _understood(model: type[M], answer: Any) -> M | None:
    """The client's answer as ``model``; ``None``, with a log line, when it is null or malformed."""
    if answer is None:
        return None
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        logger.warning("An answer of the editor does not fit %s: %s", model.__name__, error.errors(include_input=False))
        return None
