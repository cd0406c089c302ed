"""What each turn changed in files, kept outside the repository, so that a turn can be undone.

Undo is never a count of Ctrl+Z: for each file the text before the turn is merged onto what the file holds now; where
the user changed the same lines since, the file is left alone and named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from chatls_core.edits import RebaseConflict, rebase
from chatls_core.host import FileChange, Host, HostError, HostErrorKind, WorkspaceChange
from chatls_core.store import atomic_write_bytes

MAX_TURNS = 200
"""Turns whose edits are kept; the oldest go first."""


class RecordedFile(BaseModel):
    """One file of one call: its text before and after; ``None`` where it did not exist."""

    model_config = ConfigDict(frozen=True)
    call_id: str
    uri: str
    before: str | None
    after: str | None
    new_uri: str | None = None


_FILES: TypeAdapter[list[RecordedFile]] = TypeAdapter(list[RecordedFile])


@dataclass(frozen=True, slots=True)
class UndoneFile:
    """What became of one file; ``reason`` says why it was left alone."""

    uri: str
    restored: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class UndoneEdits:
    """An undo: its files, and the token that undoes it in turn."""

    files: tuple[UndoneFile, ...]
    undo_token: str = ""


class EditJournal:
    """Edits by turn, one file each, below the data folder. Methods that touch the disk block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def record(self, turn_id: str, files: Sequence[RecordedFile]) -> None:
        """Add files to a turn's record. Raises :class:`OSError`."""
        known = self.read(turn_id)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        atomic_write_bytes(self._path(turn_id), _FILES.dump_json([*known, *files]))
        self._collect()

    def read(self, turn_id: str) -> list[RecordedFile]:
        """What a turn changed, in order; empty for an unknown turn or a damaged record."""
        try:
            return _FILES.validate_json(self._path(turn_id).read_bytes())
        except (FileNotFoundError, ValidationError):
            return []

    def _path(self, turn_id: str) -> Path:
        safe = "".join(c for c in turn_id if c.isalnum() or c in "-_")[:80] or "none"
        return self._folder / f"{safe}.json"

    def _collect(self) -> None:
        files = sorted(self._folder.glob("*.json"), key=lambda p: p.stat().st_mtime_ns)
        for path in files[:-MAX_TURNS]:
            path.unlink(missing_ok=True)


async def undo(
    journal: EditJournal, host: Host, turn_ids: Sequence[str], call_id: str | None, token: str
) -> UndoneEdits:
    """Put the files of turns (or of one call) back; ``token`` names this undo so that it can be undone itself."""
    recorded = [r for turn in turn_ids for r in await asyncio.to_thread(journal.read, turn)]
    wanted = [r for r in recorded if call_id is None or r.call_id == call_id]
    results: list[UndoneFile] = []
    done: list[RecordedFile] = []
    for record in reversed(wanted):
        results.append(await _restore(host, record, token, done))
    if done:
        await asyncio.to_thread(journal.record, token, done)
    merged = {r.uri: r for r in results if r.restored} | {r.uri: r for r in results if not r.restored}
    return UndoneEdits(tuple(merged.values()), token if done else "")


async def _restore(host: Host, record: RecordedFile, token: str, done: list[RecordedFile]) -> UndoneFile:
    here = record.new_uri or record.uri
    try:
        now: str | None = (await host.read(here)).text
    except HostError as error:
        if error.kind is not HostErrorKind.NOT_FOUND:
            return UndoneFile(record.uri, False, str(error))
        now = None
    if now is None and record.after is not None:
        return UndoneFile(record.uri, False, "the file was deleted since")
    target: str | None
    if now == record.after:
        target = record.before
    elif record.before is None or record.after is None or now is None:
        return UndoneFile(record.uri, False, "the file was changed since")
    else:
        try:
            target = await asyncio.to_thread(rebase, record.after, record.before, now)
        except RebaseConflict as error:
            return UndoneFile(record.uri, False, f"you changed the same lines since ({error})")
    back = record.uri if record.new_uri else None
    result = await host.apply(WorkspaceChange("Undo", (FileChange(here, now, target, back),)))
    if not result.applied:
        return UndoneFile(record.uri, False, result.reason or "the editor refused the change")
    done.append(RecordedFile(call_id=record.call_id, uri=here, before=now, after=target, new_uri=back))
    return UndoneFile(record.uri, True)
