"""How a model's edit reaches the user's files: rebase, syntax check, review, apply, verify, tell.

The edit is computed against the text the model last read and carried through whatever was typed since; nothing typed
is lost. The host is the only writer.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatls_core.edits import RebaseConflict, rebase
from chatls_core.events import Edit, EditStatus, SyntaxProblem
from chatls_core.host import (
    Approval,
    ApprovalAnswer,
    ChangeResult,
    FileChange,
    Host,
    HostError,
    HostErrorKind,
    Hunk,
    ProposedFile,
    WorkspaceChange,
)
from chatls_core.text.redaction import MASK
from chatls_core.tools.aftermath import note_findings, save_files
from chatls_core.tools.base import EditRecord, ToolContext, ToolError, ToolOutcome
from chatls_core.tools.files import numbered, split_lines
from chatls_core.tools.paths import display, path_of
from chatls_core.tools.protected import is_protected
from chatls_core.tools.review import accept_hunks, review_hunks

MAX_REBASES = 6
SHOWN_LINES = 400


@dataclass(frozen=True, slots=True)
class WantedFile:
    """What the model wants of one file: ``base`` is the text it was computed against, ``after`` the wanted text.

    ``base`` ``None`` creates the file, ``after`` ``None`` deletes it, ``new_uri`` moves it.
    """

    uri: str
    base: str | None
    after: str | None
    new_uri: str | None = None


async def current_text(host: Host, uri: str) -> str | None:
    """The text at ``uri`` now, ``None`` when there is no such file. Other failures are for the model."""
    try:
        return (await host.read(uri)).text
    except HostError as error:
        if error.kind is HostErrorKind.NOT_FOUND:
            return None
        raise ToolError(str(error)) from error


async def make_change(
    context: ToolContext, title: str, wanted: Sequence[WantedFile], notes: Sequence[str] = ()
) -> ToolOutcome:
    """Carry out one tool call's edit as one transaction. Raises :class:`ToolError` with what the model must know."""
    for w in wanted:
        if w.after is not None and MASK in w.after and MASK not in (w.base or ""):
            raise ToolError(
                f"The new text holds {MASK}, which stands for a secret you were not shown. Edit around those lines."
            )
    change = await _EditRun(context, title).run(list(wanted))
    return ToolOutcome("\n".join([change, *notes]), "applied")


class _EditRun:
    def __init__(self, context: ToolContext, title: str) -> None:
        self._context = context
        self._title = title
        self._rejected: list[tuple[str, Hunk]] = []
        self._problems: dict[str, tuple[SyntaxProblem, ...]] = {}

    async def run(self, wanted: list[WantedFile]) -> str:
        context = self._context
        rebased = [await self._rebase(w) for w in wanted]
        rebased = [w for w in rebased if w.base != w.after or w.new_uri]
        if not rebased:
            return "Nothing to change: the file already has that text."
        for w in rebased:
            self._problems[w.uri] = await self._syntax(w)
        if context.settings.edits.review == "ask" or any(is_protected(w.uri, context.host.roots) for w in rebased):
            rebased = await self._review(rebased)
        await note_findings(context, [w.uri for w in rebased])
        result, final = await self._apply(rebased)
        if not result.applied:
            reason = result.reason or next((f.reason for f in result.files if f.reason), "the editor refused the edit")
            self._report(final, "failed", reason)
            raise ToolError(self._refusal(reason, result))
        self._report(final, "applied")
        for w in final:
            self._remember(w)
        changed = ""
        if context.settings.edits.save == "always":
            changed = await save_files(context, [w.new_uri or w.uri for w in final if w.after is not None])
        return self._success(final) + changed

    async def _rebase(self, wanted: WantedFile) -> WantedFile:
        now = await current_text(self._context.host, wanted.uri)
        if now == wanted.base:
            return wanted
        if wanted.base is None:
            raise ToolError(
                self._with_text(f"{self._name(wanted.uri)} exists already. Its text is", wanted.uri, now or "")
            )
        if now is None:
            raise ToolError(f"{self._name(wanted.uri)} does not exist any more.")
        if wanted.after is None:
            head = f"{self._name(wanted.uri)} changed since you read it. It now reads"
            raise ToolError(self._with_text(head, wanted.uri, now))
        try:
            after = await asyncio.to_thread(rebase, wanted.base, wanted.after, now)
        except RebaseConflict as error:
            self._context.files.read[wanted.uri] = now
            raise ToolError(
                self._with_text(
                    f"The user changed the same lines meanwhile ({error}). The file now reads", wanted.uri, now
                )
            ) from error
        return replace(wanted, base=now, after=after)

    async def _syntax(self, wanted: WantedFile) -> tuple[SyntaxProblem, ...]:
        path = path_of(wanted.new_uri or wanted.uri)
        if wanted.after is None or path is None:
            return ()
        return await asyncio.to_thread(_syntax_problems, path.name, wanted.base, wanted.after)

    async def _review(self, wanted: list[WantedFile]) -> list[WantedFile]:
        context = self._context
        proposed = tuple(
            ProposedFile(w.uri, None, review_hunks(w.base, w.after), w.base, w.after, w.new_uri) for w in wanted
        )
        for w, p in zip(wanted, proposed, strict=True):
            context.emit(Edit(context.call_id, w.uri, "proposed", p.hunks, self._problems[w.uri]))
        reason = "; ".join(f"syntax error in line {s.line + 1}" for p in self._problems.values() for s in p[:1])
        answer = await context.host.approve(
            Approval(context.call_id, self._title, "edit", edits=proposed, reason=reason)
        )
        # The user may have typed while reviewing: what was accepted still holds where the lines are others.
        return [await self._rebase(w) for w in self._accepted(wanted, proposed, answer)]

    def _accepted(
        self, wanted: list[WantedFile], proposed: tuple[ProposedFile, ...], answer: ApprovalAnswer
    ) -> list[WantedFile]:
        if answer.decision == "deny" or (answer.accepted is not None and not answer.accepted):
            reason = answer.reason or "the user rejected the edit"
            self._report(wanted, "rejected", reason)
            raise ToolError(f"The edit was not applied: {reason}. Ask what to do instead of repeating it.", denied=True)
        if answer.accepted is None:
            return wanted
        kept: list[WantedFile] = []
        single = len(wanted) == 1
        for w, p in zip(wanted, proposed, strict=True):
            prefix = "" if single else f"{w.uri}#"
            ids = {h.id for h in p.hunks if h.id in answer.accepted or f"{prefix}{h.id}" in answer.accepted}
            self._rejected += [(w.uri, h) for h in p.hunks if h.id not in ids]
            if len(ids) == len(p.hunks):
                kept.append(w)
            elif ids and w.after is not None:
                kept.append(replace(w, after=accept_hunks(w.base, p.hunks, ids)))
            else:
                self._report([w], "rejected", "the user rejected every hunk")
        return kept

    async def _apply(self, wanted: list[WantedFile]) -> tuple[ChangeResult, list[WantedFile]]:
        result = ChangeResult(False, reason="the file kept changing while the edit was applied")
        for _ in range(MAX_REBASES):
            files = tuple(FileChange(w.uri, w.base, w.after, w.new_uri) for w in wanted)
            result = await self._context.host.apply(WorkspaceChange(self._title, files))
            if result.applied or not result.stale:
                return result, wanted
            wanted = [await self._rebase(w) for w in wanted]
        return result, wanted

    def _report(self, wanted: Sequence[WantedFile], status: EditStatus, reason: str = "") -> None:
        for w in wanted:
            hunks = review_hunks(w.base, w.after)
            problems = self._problems.get(w.uri, ()) if status == "applied" else ()
            self._context.emit(Edit(self._context.call_id, w.uri, status, hunks, problems, reason))
            self._context.files.edits.append(EditRecord(w.uri, status == "applied", reason))

    def _remember(self, wanted: WantedFile) -> None:
        files = self._context.files
        files.changes.append((self._context.call_id, wanted.uri, wanted.base, wanted.after, wanted.new_uri))
        if wanted.after is None or wanted.new_uri:
            files.read.pop(wanted.uri, None)
        if wanted.after is not None:
            files.read[wanted.new_uri or wanted.uri] = wanted.after
            files.agent_edited.add(wanted.new_uri or wanted.uri)
            files.unchecked.add(wanted.new_uri or wanted.uri)
            if wanted.new_uri:
                files.findings[wanted.new_uri] = files.findings.pop(wanted.uri, Counter())
        files.touch(path_of(wanted.new_uri or wanted.uri))

    def _success(self, final: Sequence[WantedFile]) -> str:
        lines = []
        for w in final:
            if w.new_uri and w.base == w.after:
                lines.append(f"Moved {self._name(w.uri)} to {self._name(w.new_uri)}.")
                continue
            verb = "Deleted" if w.after is None else "Created" if w.base is None else "Edited"
            hunks = review_hunks(w.base, w.after)
            added = sum(h.new_text.count("\n") for h in hunks)
            removed = sum(h.old_text.count("\n") for h in hunks)
            moved = f", moved to {self._name(w.new_uri)}" if w.new_uri else ""
            lines.append(f"{verb} {self._name(w.uri)} (+{added} −{removed}{moved}).")
            lines += [
                f"Warning: the edit brought a syntax error in line {s.line + 1}: {s.message}."
                for s in self._problems.get(w.uri, ())[:5]
            ]
        if self._rejected:
            lines.append("The user rejected these parts; do not bring them back unasked:")
            lines += [
                f"- {self._name(uri)} line {h.range.start.line + 1}: {h.new_text.strip()[:400]}"
                for uri, h in self._rejected
            ]
        return "\n".join(lines)

    def _refusal(self, reason: str, result: ChangeResult) -> str:
        current = next(
            ((f.uri, f.current) for f in result.files if f.current is not None and f.status == "stale"), None
        )
        if current:
            self._context.files.read[current[0]] = current[1] or ""
            return self._with_text(
                f"The edit was not applied: {reason}. The file now reads", current[0], current[1] or ""
            )
        return f"The edit was not applied: {reason}."

    def _name(self, uri: str) -> str:
        """A file as the model names it."""
        path = path_of(uri)
        return uri if path is None else display(path, self._context)

    def _with_text(self, head: str, uri: str, text: str) -> str:
        self._context.files.read[uri] = text
        lines = split_lines(text)
        more = f"\n[{len(lines) - SHOWN_LINES} more lines]" if len(lines) > SHOWN_LINES else ""
        return f"{head}:\n{numbered(lines[:SHOWN_LINES], 1)}{more}"


def _syntax_problems(name: str, before: str | None, after: str) -> tuple[SyntaxProblem, ...]:
    from chatls_core.edits.syntax import new_errors

    return tuple(SyntaxProblem(found.line, found.message) for found in new_errors(name, before, after))
