"""The pending queue: what waits to be learned from, on disk from the moment it was said (spec/memory.md §10.6).

The queue is the worker's only memory of what is new, so a killed process loses nothing. An answer of a model is kept as
a file of its own before anything of it is stored: whatever cuts the storing, the same answer is stored again, and the
messages are never sent twice.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from chatls_core.memory.records import LenientRecord, Time
from chatls_core.memory.stores import Stores
from chatls_core.memory.worker.asking import Reply
from chatls_core.memory.worker.segment import QueuedSegment, Segment
from chatls_core.store import UnopenableError, atomic_write_bytes

logger = logging.getLogger(__name__)

B = TypeVar("B", bound=BaseModel)

MAX_BATCH = 40
"""Most messages of one request."""

LEFTOVER = timedelta(minutes=10)
"""A few messages that waited this long are learned from without waiting for more."""

MAX_AGE = timedelta(days=30)
MAX_UNREADABLE = 3
LOCK_SECONDS = 5.0


class Answer(LenientRecord):
    """A model's answer to a batch, not stored yet. ``files`` are the queue files it was made from.

    ``follows`` are the marks the conversation had before each of them; ``held``: the model was held to a schema.
    """

    created_at: Time
    segment: QueuedSegment
    files: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    reply: str = ""
    cut: bool = False
    held: bool = False


_NAME = re.compile(r"seg-(\d{1,20})\.json")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A queue file."""

    path: Path
    content: QueuedSegment


@dataclass(frozen=True, slots=True)
class Batch:
    """What one request is about: one conversation's queue files in order."""

    waiting: tuple[Waiting, ...]

    @property
    def segment(self) -> Segment:
        """All messages, each once."""
        first = self.waiting[0].content.segment
        lines = {line.id: line for w in self.waiting for line in w.content.segment.lines}
        external = any(w.content.external for w in self.waiting)
        return Segment(first.session, tuple(lines.values()), first.workspace, external)

    @property
    def name(self) -> str:
        """The first file's name."""
        return self.waiting[0].path.name

    @property
    def unreadable(self) -> int:
        """How many answers about it made no sense."""
        return max(w.content.unreadable for w in self.waiting)

    @property
    def oldest(self) -> datetime:
        """When the first file was made."""
        return min(w.content.created_at for w in self.waiting)

    def ready(self, now: datetime, minimum: int) -> bool:
        """Enough messages, or left over from a conversation that ended (or a clock that was set back)."""
        waited = now - max(w.content.created_at for w in self.waiting)
        return len(self.segment.lines) >= minimum or not timedelta(0) <= waited < LEFTOVER


class PendingQueue:
    """The files of ``folder``; thread-safe between calls, and between processes by a lock."""

    def __init__(self, folder: Path, stores: Stores) -> None:
        self.folder = folder
        self.answers = folder / "answers"
        self._stores = stores
        self._ids: dict[str, frozenset[tuple[str, str]]] = {}

    def lock(self) -> AbstractContextManager[None]:
        """Hold while adding; a short one. Use as a context manager."""
        self._stores.fs.make_folder(self.folder, 0o700)
        return self._stores.fs.lock(self.folder / ".queue.lock", LOCK_SECONDS)

    def add(self, segment: Segment, now: datetime, *, follows: str) -> Path:
        """Write a queue file; on return it is on the disk. Call it under :meth:`lock`.

        Its name sorts after every other, whatever the clock says: the order of names is the order of what was said.
        """
        newest = max((int(m[1]) for p in self._files() if (m := _NAME.fullmatch(p.name))), default=-1)
        nanoseconds = max(int(now.timestamp() * 1_000_000) * 1000, newest + 1)
        path = self.folder / f"seg-{nanoseconds:020d}.json"
        self._write(path, QueuedSegment.of(segment, now, follows=follows))
        return path

    def message_ids(self, session: str) -> frozenset[str]:
        """Messages of a conversation that are queued or answered; files are read once."""
        paths = [*self._files(), *self._answer_files()]
        known: dict[str, frozenset[tuple[str, str]]] = {}
        for path in paths:
            key = f"{path.parent.name}/{path.name}"
            if key not in self._ids:
                content: QueuedSegment | None
                if path.parent == self.answers:
                    answer = self._read(path, Answer)
                    content = answer.segment if answer else None
                else:
                    content = self._read(path, QueuedSegment)
                lines = [(content.session, line.id) for line in content.segment.lines] if content else []
                self._ids[key] = frozenset(lines)
            known[key] = self._ids[key]
        self._ids = known
        return frozenset(i for ids in known.values() for s, i in ids if s == session)

    def __len__(self) -> int:
        return len(self._files())

    def batches(self) -> list[Batch]:
        """What waits, by conversation, the oldest first. Files without anything to learn from are removed."""
        groups: list[list[Waiting]] = []
        open_groups: dict[tuple[str, str], list[Waiting]] = {}
        for path in self._files():
            content = self._read(path, QueuedSegment)
            if content is None:
                continue
            lines = content.segment.lines
            if not lines:
                logger.info("%s holds nothing to learn from and is removed", path.name)
                self._stores.fs.delete(path)
                continue
            key = (content.session, content.workspace)
            group = open_groups.get(key)
            held = sum(len(w.content.messages) for w in group) if group else 0
            # A file that did not parse before is asked about alone, so that it cannot spoil its neighbours.
            alone = bool(content.unreadable) or bool(group and group[-1].content.unreadable)
            if group is None or alone or not content.session or held + len(lines) > MAX_BATCH:
                group = open_groups[key] = []
                groups.append(group)
            group.append(Waiting(path, content))
        return [Batch(tuple(g)) for g in groups]

    def keep_answer(self, batch: Batch, reply: Reply, now: datetime) -> tuple[Path, Answer]:
        """Write down what the model answered, before anything is stored and the files are removed."""
        name = f"ans-{batch.waiting[0].path.stem.removeprefix('seg-')}.json"
        answer = Answer(
            created_at=now,
            segment=QueuedSegment.of(batch.segment, batch.oldest),
            files=tuple(w.path.name for w in batch.waiting),
            follows=tuple(w.content.follows for w in batch.waiting),
            reply=reply.text,
            cut=reply.cut,
            held=reply.held,
        )
        path = self.answers / name
        self._write(path, answer)
        return path, answer

    def kept_answers(self) -> list[tuple[Path, Answer]]:
        """Answers that are not stored yet, oldest first."""
        found = [(path, self._read(path, Answer)) for path in self._answer_files()]
        return [(path, answer) for path, answer in found if answer is not None]

    def remove(self, names: Iterable[str]) -> None:
        """Remove queue files by name."""
        for name in names:
            self._stores.fs.delete(self.folder / Path(name).name)

    def remove_answer(self, path: Path) -> None:
        """Remove a stored answer."""
        self._stores.fs.delete(path)

    def set_aside(self, path: Path) -> None:
        """Keep a file that is of no use as ``.corrupt``, out of the way."""
        self._stores.fs.replace(path, path.with_name(path.name + ".corrupt"))

    def failed_to_parse(self, batch: Batch) -> bool:
        """Count an answer that made no sense; ``True`` when the batch was given up for it."""
        if batch.unreadable + 1 >= MAX_UNREADABLE:
            logger.warning(
                "%d messages of %s are given up: %d answers about them made no sense",
                len(batch.segment.lines),
                batch.segment.session or "an unnamed conversation",
                MAX_UNREADABLE,
            )
            self.remove(w.path.name for w in batch.waiting)
            return True
        for waiting in batch.waiting:
            content = waiting.content.model_copy(update={"unreadable": waiting.content.unreadable + 1})
            self._write(waiting.path, content)
        return False

    def drop_aged(self, batch: Batch, now: datetime) -> bool:
        """Give up what could not be learned from for 30 days; ``True`` when that happened."""
        if now - batch.oldest < MAX_AGE:
            return False
        logger.warning("%d queued messages are older than %s and dropped", len(batch.segment.lines), MAX_AGE)
        self.remove(w.path.name for w in batch.waiting)
        return True

    def _files(self) -> Sequence[Path]:
        return [p for p in self._stores.fs.list(self.folder) if p.name.startswith("seg-") and p.suffix == ".json"]

    def _answer_files(self) -> Sequence[Path]:
        return [p for p in self._stores.fs.list(self.answers) if p.name.startswith("ans-") and p.suffix == ".json"]

    def _write(self, path: Path, content: BaseModel) -> None:
        data = content.model_dump_json(indent=1).encode()
        atomic_write_bytes(path, self._stores.codec.encode(path.name, data), fs=self._stores.fs)

    def _read(self, path: Path, kind: type[B]) -> B | None:
        """A file's content; one that is gone or sealed gives ``None``, one that does not parse is set aside."""
        try:
            plain = self._stores.codec.decode(path.name, self._stores.fs.read(path))
        except FileNotFoundError:
            return None  # another process was faster
        except UnopenableError as error:
            logger.warning("Waits for its key: %s", error)
            return None
        try:
            return kind.model_validate_json(plain)
        except ValidationError as error:
            logger.warning("%s does not parse and is kept as .corrupt: %s", path.name, error.errors()[0]["msg"])
            self.set_aside(path)
            return None
