"""Places in a conversation to go back to (spec/agent.md §7.6).

A checkpoint holds the messages themselves (they are immutable, so the copy is a true one), not a length: it survives
compaction. On disk only what the session's own file no longer has is kept beside the ids, so a checkpoint costs little.
"""

from __future__ import annotations

import copy
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from chatls_core.llm.messages import Message
from chatls_core.sessions import names
from chatls_core.sessions.conversation import Conversation, SessionError
from chatls_core.sessions.message_codec import decode_entries, encode_message
from chatls_core.sessions.store import new_id
from chatls_core.store import REAL, Clock, FileSystem, JsonStore, StoreReadOnlyError
from chatls_core.text import cut

logger = logging.getLogger(__name__)

KEPT = 20
"""Checkpoints kept per session; the oldest goes first."""

LABEL_LENGTH = 60
"""Most characters of a label."""

CHOICES = frozenset({"provider", "model", "effort", "persona", "contexts", "pinned_skills"})
"""Keys of ``Conversation.state`` a person chose; going back in the conversation does not take them back."""

SPENT = frozenset({"cache"})
"""Keys for what the conversation did outside: what a provider's cache holds. No way back undoes that."""

_STAYS = CHOICES | SPENT


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A conversation as it was. ``note`` is what its maker wants back with it (JSON; the edit journal's place)."""

    id: str
    time: datetime
    label: str
    messages: tuple[Message, ...]
    carried: Mapping[str, str] = field(default_factory=dict)
    state: Mapping[str, object] = field(default_factory=dict)
    note: Mapping[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class _Kept:
    """The checkpoints of one session, oldest first, and what a rewind replaced."""

    checkpoints: list[Checkpoint] = field(default_factory=list)
    replaced: tuple[Checkpoint, list[Checkpoint]] | None = None


class _StoredCheckpoint(BaseModel):
    model_config = ConfigDict(defer_build=True)

    id: str
    time: datetime
    label: str
    ids: list[str]
    carried: dict[str, str] = Field(default_factory=dict)
    state: dict[str, Any] = Field(default_factory=dict)
    note: dict[str, Any] = Field(default_factory=dict)


class _StoredFile(BaseModel):
    model_config = ConfigDict(defer_build=True)

    version: int = 1
    checkpoints: list[_StoredCheckpoint] = Field(default_factory=list)
    dropped: list[dict[str, Any]] = Field(default_factory=list)


class Checkpoints:
    """Checkpoints of all sessions. Thread-safe. With a ``folder`` they survive the server."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        clock: Clock,
        limit: int = KEPT,
        fs: FileSystem = REAL,
        make_id: Callable[[], str] = new_id,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._limit = limit
        self._fs = fs
        self._make_id = make_id
        self._guard = threading.RLock()
        self._kept: dict[str, _Kept] = {}

    def add(self, conversation: Conversation, label: str, *, note: Mapping[str, object] | None = None) -> Checkpoint:
        """Remember the conversation as it is now; ``label`` becomes one short line. A rewind can then not be undone."""
        with self._guard:
            kept = self._of(conversation)
            checkpoint = self._taken(conversation, label, note)
            kept.checkpoints = [*kept.checkpoints, checkpoint][-self._limit :]
            kept.replaced = None
            self._write(conversation, kept)
            return checkpoint

    def list(self, conversation: Conversation) -> list[Checkpoint]:
        """The session's checkpoints, newest first."""
        with self._guard:
            return list(reversed(self._of(conversation).checkpoints))

    def rewind(self, conversation: Conversation, checkpoint_id: str) -> Checkpoint:
        """Put the conversation back to a checkpoint, which stays; later ones go. :meth:`undo_rewind` takes it back.

        The system text is built afresh by the next request (a natural rebuild). Raises :class:`SessionError` for an
        unknown checkpoint.
        """
        with self._guard:
            kept = self._of(conversation)
            index = next((i for i, c in enumerate(kept.checkpoints) if c.id == checkpoint_id), None)
            if index is None:
                raise SessionError(
                    f"There is no checkpoint {checkpoint_id!r} in this session; only the last {self._limit} are kept."
                )
            kept.replaced = (self._taken(conversation, "before the rewind", None), kept.checkpoints[:])
            kept.checkpoints = kept.checkpoints[: index + 1]
            self._restore(conversation, kept.checkpoints[index])
            self._write(conversation, kept)
            return kept.checkpoints[index]

    def undo_rewind(self, conversation: Conversation) -> bool:
        """Take the last rewind back; False when there is none, or a checkpoint was added since."""
        with self._guard:
            kept = self._of(conversation)
            if kept.replaced is None:
                return False
            before, kept.checkpoints = kept.replaced
            kept.replaced = None
            self._restore(conversation, before)
            self._write(conversation, kept)
            return True

    def delete(self, session_id: str) -> None:
        """Forget a session's checkpoints."""
        with self._guard:
            self._kept.pop(session_id, None)
            if self._folder is not None:
                self._fs.delete(self._path(session_id))

    def _taken(self, conversation: Conversation, label: str, note: Mapping[str, object] | None) -> Checkpoint:
        return Checkpoint(
            id=self._make_id(),
            time=self._clock(),
            label=cut.by_chars(" ".join(label.split()), LABEL_LENGTH),
            messages=tuple(conversation.messages),
            carried=dict(conversation.carried),
            state=copy.deepcopy({k: v for k, v in conversation.state.items() if k not in SPENT}),
            note=copy.deepcopy(dict(note or {})),
        )

    @staticmethod
    def _restore(conversation: Conversation, checkpoint: Checkpoint) -> None:
        chosen = {k: v for k, v in conversation.state.items() if k in _STAYS}
        conversation.messages[:] = checkpoint.messages
        conversation.carried = dict(checkpoint.carried)
        earlier = {k: v for k, v in checkpoint.state.items() if k not in _STAYS}
        conversation.state = {**copy.deepcopy(earlier), **chosen}
        conversation.forget_prefix()

    # -- on disk ----------------------------------------------------------------------------------------------------

    def _of(self, conversation: Conversation) -> _Kept:
        kept = self._kept.get(conversation.id)
        if kept is None:
            kept = self._kept[conversation.id] = self._read(conversation)
        return kept

    def _path(self, session_id: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{names.from_id(session_id)}.json"

    def _store(self, session_id: str) -> JsonStore[_StoredFile]:
        return JsonStore(
            self._path(session_id),
            TypeAdapter(_StoredFile),
            empty=_StoredFile,
            merge=lambda mine, disk: mine,
            fs=self._fs,
            indent=None,
        )

    def _read(self, conversation: Conversation) -> _Kept:
        if self._folder is None or self._fs.signature(self._path(conversation.id)) is None:
            return _Kept()
        stored = self._store(conversation.id).read()
        known = {m.id: m for m in (*decode_entries(stored.dropped), *conversation.messages)}
        return _Kept(
            [
                Checkpoint(c.id, c.time, c.label, tuple(known[i] for i in c.ids), c.carried, c.state, c.note)
                for c in stored.checkpoints
                if all(i in known for i in c.ids)
            ]
        )

    def _write(self, conversation: Conversation, kept: _Kept) -> None:
        """A checkpoint that cannot be written still holds while the server lives, so this only logs."""
        if self._folder is None:
            return
        live = {m.id for m in conversation.messages}
        dropped = {m.id: m for c in kept.checkpoints for m in c.messages if m.id not in live}
        file = _StoredFile(
            checkpoints=[
                _StoredCheckpoint(
                    id=c.id,
                    time=c.time,
                    label=c.label,
                    ids=[m.id for m in c.messages],
                    carried=dict(c.carried),
                    state=dict(c.state),
                    note=dict(c.note),
                )
                for c in kept.checkpoints
            ],
            dropped=[entry for m in dropped.values() for entry in encode_message(m)],
        )
        try:
            self._store(conversation.id).update(lambda _: (file, None))
        except (OSError, StoreReadOnlyError) as error:
            logger.warning("Checkpoints of session %s could not be written: %s", conversation.name, error)
