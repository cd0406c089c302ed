"""How a change reaches the user's files: checked first, applied through the editor or on disk, verified, undone whole.

(PROTOCOL.md ``workspace/applyEdit``; issue 5, "At the editor's boundary".)
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from chatls_core.host import (
    ChangeResult,
    ChangeStatus,
    Document,
    FileChange,
    FileChangeResult,
    HostError,
    WorkspaceChange,
)
from chatls_server.lsp import reading
from chatls_server.lsp.assumed import Assumptions
from chatls_server.lsp.disk_changes import apply_on_disk
from chatls_server.lsp.editor_changes import Answer, EditorChanges
from chatls_server.lsp.preflight import Planned, Preflight
from chatls_server.lsp.verifying import Verification, same_text

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
GRACE_SECONDS = 1.0


class Applying:
    """Applies one change at a time, all of its files or none."""

    def __init__(self, server: ChatServer, assumptions: Assumptions) -> None:
        self._server = server
        self._assumptions = assumptions
        self._editor = EditorChanges(server)
        self._lock = asyncio.Lock()

    async def apply(self, change: WorkspaceChange) -> ChangeResult:
        """Carry the change out. Never raises for a refusal: the result says what happened to which file.

        A cancelled change that is under way gets :data:`GRACE_SECONDS` to be finished or put back.
        """
        work = asyncio.ensure_future(self._apply(change))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait([work], timeout=GRACE_SECONDS)
            work.cancel()
            raise

    async def _apply(self, change: WorkspaceChange) -> ChangeResult:
        async with self._lock:
            for _ in range(MAX_ATTEMPTS):
                planned, refusal = await self._preflight(change.files)
                if refusal is not None:
                    return refusal
                result = await self._carry_out(change.label, planned)
                if result is not None:
                    return result
            return _nothing_applied(change.files, "the editor kept refusing an edit to a text that had not changed")

    async def _preflight(self, files: Sequence[FileChange]) -> tuple[list[Planned], ChangeResult | None]:
        preflight = Preflight(self._server.host.confinement, self._server.documents, self._assumptions)
        checked = await preflight.check(files)
        problems = {result.uri: result for result in checked if isinstance(result, FileChangeResult)}
        planned = [file for file in checked if isinstance(file, Planned)]
        for file in planned:
            if not self._editor.can(file) and file.opened is not None and file.opened.dirty:
                reason = "it has unsaved changes in the editor, and this editor cannot be told to change it"
                problems[file.change.uri] = FileChangeResult(file.change.uri, "refused", reason)
        if not problems:
            return planned, None
        results = tuple(
            problems.get(file.uri) or FileChangeResult(file.uri, "refused", "another file of the same change failed")
            for file in files
        )
        first = next(iter(problems.values()))
        return planned, ChangeResult(False, results, f"{first.uri}: {first.reason}")

    async def _carry_out(self, label: str, planned: list[Planned]) -> ChangeResult | None:
        """The result; ``None`` when the editor refused a version although no text had changed: try again."""
        by_editor = [file for file in planned if self._editor.can(file)]
        on_disk = [file for file in planned if not self._editor.can(file)]
        together = self._server.features.change_annotations and self._server.features.document_changes
        groups = [by_editor] if together and by_editor else [[file] for file in by_editor]
        done: list[Planned] = []
        notes: dict[str, str] = {}
        for group in groups:
            failure = await self._through_editor(label, group, notes)
            if failure is None:
                done += group
                continue
            undone = await self._roll_back(done)
            if not done and failure.retry:
                return None
            return _failure(planned, failure, undone)
        if on_disk:
            try:
                await asyncio.to_thread(apply_on_disk, on_disk)
            except (OSError, ValueError, HostError) as error:
                undone = await self._roll_back(done)
                return _failure(planned, Failure(str(error), frozenset(f.uri for f in on_disk)), undone)
            self._remember_disk(on_disk)
        return ChangeResult(
            True, tuple(FileChangeResult(f.change.uri, "applied", notes.get(f.uri, "")) for f in planned)
        )

    async def _through_editor(self, label: str, group: list[Planned], notes: dict[str, str]) -> Failure | None:
        """Send, read the answer, look at every text; what went wrong has been taken back."""
        with Verification(self._server.documents, group) as verification:
            answer = await self._editor.send(label, group)
            if answer.applied:
                wrong = await verification.wrong()
                if not wrong:
                    notes.update(self._assume(verification.unseen))
                    return None
            else:
                wrong = await verification.touched()
            return await self._take_back(group, answer, verification, wrong)

    async def _take_back(
        self, group: list[Planned], answer: Answer, verification: Verification, wrong: list[Planned]
    ) -> Failure:
        """After a failure: put back every text that holds our change, and say what stands there now."""
        elsewhere = [file for file in wrong if answer.applied and await verification.misplaced(file)]
        undone = await self._roll_back([file for file in group if file not in wrong] if answer.applied else wrong)
        for file in elsewhere:
            undone = await self._put_back(self._restored(file)) and undone
        current: dict[str, str] = {}
        stale: set[str] = set()
        for file in group:
            text = self._text_now(file)
            if text is None or file.current is None:
                continue
            current[file.uri] = text
            if text != file.current.text:
                stale.add(file.uri)
        unchanged = not stale and not wrong
        moved = any(f.opened is not None and f.opened.version != verification.version_of(f) for f in group)
        if answer.applied:
            reason = "the editor said it was applied, but the text is not the wanted one"
        else:
            reason = answer.reason or ("the text changed meanwhile" if stale else "the editor refused the edit")
        if not undone:
            reason += "; what had been changed could not be put back"
        return Failure(
            reason,
            frozenset(file.uri for file in (wrong or group)),
            frozenset(stale),
            current,
            retry=unchanged and (moved or answer.applied),
        )

    def _text_now(self, file: Planned) -> str | None:
        opened = self._server.documents.get(file.uri)
        return opened.text if opened is not None else None

    def _assume(self, unseen: Sequence[Planned]) -> dict[str, str]:
        """Files the editor changed where we cannot see it: believed until it shows something else."""
        notes: dict[str, str] = {}
        for file in unseen:
            path = file.target or file.path
            if path is None or file.change.after is None:
                continue
            document = file.current or Document(file.final_uri, "", path)
            self._assumptions.assume(
                replace(document, uri=file.final_uri, text=file.change.after, path=path, version=None),
                path,
                dirty=True,
            )
            notes[file.uri] = "the editor does not show the file, so its text could not be looked at"
        return notes

    def _remember_disk(self, files: Sequence[Planned]) -> None:
        """An editor that has the file open shows the old text until it reloads."""
        for file in files:
            if file.kind in ("edit", "rename") and file.opened is not None and file.current is not None:
                path = file.target or file.path
                if path is not None and file.change.after is not None:
                    self._assumptions.assume(
                        replace(file.current, uri=file.final_uri, text=file.change.after, path=path), path, dirty=False
                    )

    async def _roll_back(self, files: Sequence[Planned]) -> bool:
        """Put back what was applied, last first; True when every text is as it was (typing since is kept)."""
        fine = True
        for file in reversed(files):
            self._assumptions.forget(file.final_uri)
            fine = await self._put_back(self._inverse(file)) and fine
        return fine

    async def _put_back(self, inverse: Planned | None) -> bool:
        """Send a change that undoes another one; True when the text is as it was."""
        if inverse is None:
            return True
        with Verification(self._server.documents, [inverse]) as verification:
            answer = await self._editor.send("ChatLS: put back", [inverse])
            put_back = answer.applied and not await verification.wrong()
        if not put_back:
            logger.error("%s could not be put back: %s", inverse.uri, answer.reason or "the text differs")
        return put_back

    def _restored(self, file: Planned) -> Planned | None:
        """The change back to the text from before an edit that landed elsewhere."""
        opened = self._server.documents.get(file.final_uri)
        if opened is None or file.current is None:
            return None
        change = FileChange(opened.uri, opened.text, file.current.text)
        return Planned(change, "edit", opened.uri, opened.path, reading.from_buffer(opened), opened)

    def _inverse(self, file: Planned) -> Planned | None:
        """The change that undoes ``file``; ``None`` when there is nothing to undo."""
        before = file.current.text if file.current is not None else None
        after = file.change.after
        opened = self._server.documents.get(file.final_uri)
        if file.kind == "delete":
            change = FileChange(file.uri, None, before)
            return Planned(change, "create", file.uri, file.path, None, None)
        text = opened.text if opened is not None else after
        if text is None:
            return None
        document = (
            reading.from_buffer(opened)
            if opened is not None
            else Document(file.final_uri, text, file.target or file.path)
        )
        if file.kind == "create":
            change = FileChange(file.uri, text, None)
            return Planned(change, "delete", file.uri, file.path, document, opened)
        wanted = _without_ours(before or "", after or "", text)
        if file.kind == "rename":
            change = FileChange(file.final_uri, text, wanted, file.uri)
            return Planned(change, "rename", file.final_uri, file.target, document, opened, file.path, file.uri)
        if same_text(wanted, text):
            return None
        return Planned(FileChange(file.uri, text, wanted), "edit", file.uri, file.path, document, opened)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a group of files failed: which did, which are stale, what their texts are now.

    ``retry`` when nothing stands in the way of the same change.
    """

    reason: str
    failed: frozenset[str]
    stale: frozenset[str] = frozenset()
    current: Mapping[str, str] = field(default_factory=dict)
    retry: bool = False


def _without_ours(before: str, after: str, text: str) -> str:
    """``text`` without our change, with what was typed since."""
    from chatls_core.edits import RebaseConflict, rebase

    try:
        return rebase(after, before, text)
    except RebaseConflict:
        return before


def _failure(planned: Sequence[Planned], failure: Failure, undone: bool) -> ChangeResult:
    results = []
    for file in planned:
        status: ChangeStatus
        if file.uri in failure.stale:
            status, reason = "stale", failure.reason
        elif file.uri in failure.failed:
            status, reason = "failed", failure.reason
        else:
            status = "refused"
            reason = "another file of the same change failed" + ("" if undone else "; this one could not be put back")
        results.append(FileChangeResult(file.change.uri, status, reason, failure.current.get(file.uri)))
    return ChangeResult(False, tuple(results), failure.reason)


def _nothing_applied(files: Sequence[FileChange], reason: str) -> ChangeResult:
    return ChangeResult(False, tuple(FileChangeResult(file.uri, "failed", reason) for file in files), reason)
