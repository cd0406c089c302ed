"""Where conversations are kept: one file each in ChatCLI's format, written through after every step.

A save is: lock the folder, look whether another program changed the file since we read it, unite both sides, replace
the file atomically. What :meth:`SessionStore.save` returned from survives kill -9. A file that does not parse is set
aside as ``.corrupt``, one we cannot open is never written.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from chatls_core.config import Sessions
from chatls_core.llm.messages import Message
from chatls_core.sessions import names
from chatls_core.sessions.conversation import (
    Conversation,
    SessionError,
    SessionPage,
    SessionSummary,
    title_of,
)
from chatls_core.sessions.document import NotASessionError, Ours, Renderer, SessionDocument, as_utc, parse
from chatls_core.sessions.message_codec import FOREIGN_ID, fingerprint
from chatls_core.store import PLAIN, REAL, Clock, FileSystem, Signature, UnopenableError, atomic_write_bytes

logger = logging.getLogger(__name__)

_LOCK_TIMEOUT_SECONDS = 30.0


def new_id() -> str:
    """Twelve random hexadecimal digits."""
    return secrets.token_hex(6)


@dataclass(slots=True)
class _Known:
    """What we know of a session's file: its state when we last read or wrote it, and which messages we held then.

    ``others`` tells whether it holds messages that our conversation does not: another program's, kept beside ours.
    """

    signature: Signature | None = None
    held: frozenset[str] = frozenset()
    version: int = 2
    extra: dict[str, object] = field(default_factory=dict)
    ours_extra: dict[str, object] = field(default_factory=dict)
    renderer: Renderer = field(default_factory=Renderer)
    others: bool = False
    saved: tuple[Message, ...] = ()
    saved_state: tuple[object, ...] = ()

    def changed(self, conversation: Conversation) -> bool:
        """Whether the conversation differs from what was last read or written. Messages are immutable."""
        messages = conversation.messages
        return (
            len(messages) != len(self.saved)
            or any(a is not b for a, b in zip(messages, self.saved, strict=True))
            or self.saved_state != _state_of(conversation)
        )

    def read_from(self, document: SessionDocument) -> None:
        """Note what of the file is not ours."""
        self.others = False
        self.version = document.version
        self.extra = dict(document.extra)
        self.ours_extra = dict(document.ours.model_extra or {})

    def remember(self, conversation: Conversation) -> None:
        """The conversation is on the disk as it is now."""
        self.held = frozenset(m.id for m in conversation.messages)
        self.saved = tuple(conversation.messages)
        self.saved_state = _state_of(conversation)


class _DamagedError(Exception):
    """A session's file does not parse."""


class SessionStore:
    """Saved conversations. All methods block (call them in a thread), are thread-safe and safe between processes."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock,
        settings: Sessions,
        fs: FileSystem = REAL,
        make_id: Callable[[], str] = new_id,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self._clock = clock
        self._fs = fs
        self._make_id = make_id
        self._guard = threading.RLock()
        self._known: dict[str, _Known] = {}

    # -- one conversation -------------------------------------------------------------------------------------------

    def create(self, session_id: str | None = None, *, name: str = "") -> Conversation:
        """The conversation ``session_id``, or a new one with that id; with neither id nor name, one with a new id.

        ``name`` is what a person wants to call it. Nothing is written before the first :meth:`save`.
        Raises :class:`SessionError` for a ``name`` that is taken or has no usable character.
        """
        with self._guard:
            if session_id and (found := self.get(session_id)) is not None:
                return found
            now = self._clock()
            if name:
                stem = self._free_name_for_person(name)
            elif session_id:
                stem = self._free_name(names.from_id(session_id))
            else:
                stem = self._free_name(names.machine_made(now, self._make_id()))
            return Conversation(id=session_id or stem, name=stem, title="", created=now, updated=now, named=bool(name))

    def get(self, session_id: str) -> Conversation | None:
        """The saved conversation with this id or name; ``None`` when there is none.

        A file that does not parse is set aside and counts as none. Raises :class:`SessionError` for a file that cannot
        be opened, with the file as it was.
        """
        with self._guard:
            path = self._find(session_id)
            if path is None:
                return None
            document, signature = self._read_safely(path)
            if document is None:
                return None
            conversation = self._conversation(path.stem, document, session_id)
            self._note(conversation, document, signature)
            return conversation

    def load(self, name: str) -> Conversation:
        """The saved conversation with this name or id. Raises :class:`SessionError` when there is none."""
        conversation = self.get(name)
        if conversation is None:
            raise SessionError(f"There is no saved session {name!r}. List the sessions to see their names.")
        return conversation

    def save(self, conversation: Conversation, *, explicit: bool = False) -> None:
        """Write the conversation to its file; when this returns it is on the disk.

        Gives messages without id or time theirs, and the conversation its title. What another program added to the
        file meanwhile is kept in it (:meth:`refresh` brings it into the conversation). Does nothing for an empty
        conversation, one that has not changed, and, unless ``explicit``, one nobody named while autosave is off.
        Raises :class:`SessionError` when the file cannot be opened, :class:`OSError` when it cannot be written.
        """
        with self._guard:
            self._complete(conversation)
            if not conversation.messages or not (self.settings.autosave or explicit or conversation.named):
                return
            known = self._known.setdefault(conversation.id, _Known())
            if not known.changed(conversation) and self._fs.signature(self._path(conversation.name)) == known.signature:
                return
            self._fs.make_folder(self.folder)
            with self._lock():
                self._write(conversation, known)
            known.remember(conversation)

    def refresh(self, conversation: Conversation) -> bool:
        """Bring what another program added to the file into the conversation; call it before a turn begins.

        Returns whether anything came in; the history then grew, or was rewritten by the other side, so the prompt's
        prefix is built afresh.
        """
        with self._guard:
            known = self._known.get(conversation.id)
            path = self._path(conversation.name)
            if known is None or (self._fs.signature(path) == known.signature and not known.others):
                return False
            document, signature = self._read_safely(path)
            if document is None:
                return False
            disk = _aligned(document.messages, conversation.messages)
            united = _unite(conversation.messages, disk, known.held)
            known.signature = signature
            known.read_from(document)
            known.held = frozenset(m.id for m in disk)
            known.saved = ()
            if [m.id for m in united] == [m.id for m in conversation.messages]:
                return False
            conversation.messages[:] = united
            conversation.title = document.title or conversation.title
            conversation.forget_prefix()
            return True

    def list(self, *, limit: int = 50, offset: int = 0) -> SessionPage:
        """Saved conversations, the most recently used first."""
        summaries = []
        for path in self._files():
            document = self._peek(path)
            if document is not None:
                summaries.append(self._summary(path.stem, document))
        summaries.sort(key=lambda s: (s.updated is not None, s.updated, s.name), reverse=True)
        return SessionPage(tuple(summaries[offset : offset + limit]), len(summaries))

    # -- files ------------------------------------------------------------------------------------------------------

    def _lock(self) -> AbstractContextManager[None]:
        return self._fs.lock(self.folder / ".sessions.lock", _LOCK_TIMEOUT_SECONDS)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _files(self) -> Sequence[Path]:
        return [p for p in self._fs.list(self.folder) if p.suffix == ".json" and names.is_valid(p.stem)]

    def _find(self, session_id: str) -> Path | None:
        """The file of a session by id, else by name."""
        direct: Path | None = None
        for stem in dict.fromkeys((names.from_id(session_id), session_id)):
            if names.is_valid(stem) and self._fs.signature(self._path(stem)) is not None:
                direct = self._path(stem)
                document = self._peek(direct)
                if document is None or document.ours.id in ("", session_id):
                    return direct
        for path in self._files():
            document = self._peek(path)
            if document is not None and document.ours.id == session_id:
                return path
        return direct

    def _read(self, path: Path) -> tuple[SessionDocument | None, Signature | None]:
        """The document and the state of the file it was read from; nothing where there is no file.

        Raises :class:`SessionError` for a file that cannot be opened, :class:`_DamagedError` for one that does not
        parse.
        """
        try:
            signature = self._fs.signature(path)
            if signature is None:
                return None, None
            return parse(PLAIN.decode(path.name, self._fs.read(path))), signature
        except FileNotFoundError:
            return None, None
        except (UnopenableError, NotASessionError) as error:
            raise SessionError(f"The session {path.stem!r} cannot be opened: {error}") from error
        except ValueError as error:
            raise _DamagedError(str(error)) from error
        except OSError as error:
            raise SessionError(f"The session {path.stem!r} cannot be read: {error}") from error

    def _peek(self, path: Path) -> SessionDocument | None:
        """The document, or none where it cannot be read; the file stays as it is."""
        try:
            return self._read(path)[0]
        except (SessionError, _DamagedError) as error:
            logger.info("%s is left out: %s", path.name, error)
            return None

    def _read_or_set_aside(self, path: Path) -> tuple[SessionDocument | None, Signature | None]:
        """Like :meth:`_read`; a damaged file is moved away and counts as none. Only under the lock."""
        try:
            return self._read(path)
        except _DamagedError as error:
            keep = path.with_name(path.name + ".corrupt")
            number = 1
            while self._fs.signature(keep) is not None:
                keep = path.with_name(f"{path.name}.corrupt-{number}")
                number += 1
            self._fs.replace(path, keep)
            logger.warning("The session file %s does not parse (%s); it is kept as %s", path.name, error, keep.name)
            return None, None

    def _read_safely(self, path: Path) -> tuple[SessionDocument | None, Signature | None]:
        """Like :meth:`_read_or_set_aside`, taking the lock only for a damaged file."""
        try:
            return self._read(path)
        except _DamagedError:
            with self._lock():
                return self._read_or_set_aside(path)

    def _write(self, conversation: Conversation, known: _Known) -> None:
        path = self._path(conversation.name)
        messages: Sequence[Message] = conversation.messages
        unchanged = self._fs.signature(path) == known.signature and not known.others
        disk = None if unchanged else self._read_or_set_aside(path)[0]
        if disk is not None:
            if disk.ours.id not in ("", conversation.id):
                conversation.name = self._free_name(conversation.name)
                self._write(conversation, known)
                return
            messages = _unite(messages, _aligned(disk.messages, messages), known.held)
            known.read_from(disk)
        ours = Ours(
            id=conversation.id,
            created=conversation.created if conversation.dated else None,
            updated=conversation.updated,
            named=conversation.named,
            system=list(conversation.system),
            system_key=conversation.system_key,
            carried=dict(conversation.carried),
            state=dict(conversation.state),
            **known.ours_extra,
        )
        document = SessionDocument(conversation.title, tuple(messages), ours, known.version, known.extra)
        atomic_write_bytes(path, known.renderer.render(document), fs=self._fs)
        known.signature = self._fs.signature(path)
        known.others = len(messages) > len(conversation.messages)

    def _free_name(self, stem: str) -> str:
        """``stem``, or it with a number where a file of that name exists (upper and lower case alike)."""
        taken = {p.stem.casefold() for p in self._files()}
        candidate = stem
        number = 2
        while candidate.casefold() in taken:
            candidate = f"{stem}-{number}"
            number += 1
        return candidate

    def _free_name_for_person(self, wanted: str) -> str:
        stem = names.from_person(wanted.strip())
        if not stem:
            raise SessionError(f"{wanted!r} has no letter or digit to make a file name of.")
        if self._free_name(stem) != stem:
            raise SessionError(f"A session named {stem!r} exists already; choose another name.")
        return stem

    # -- documents and conversations --------------------------------------------------------------------------------

    def _conversation(self, stem: str, document: SessionDocument, session_id: str) -> Conversation:
        summary = self._summary(stem, document)
        now = self._clock()
        ours = document.ours
        return Conversation(
            id=ours.id or stem,
            name=stem,
            title=summary.title,
            created=summary.created or summary.updated or now,
            updated=summary.updated or summary.created or now,
            messages=_unique(document.messages, self._make_id),
            system=tuple(ours.system),
            system_key=ours.system_key,
            carried=dict(ours.carried),
            state=dict(ours.state),
            named=summary.named,
            dated=summary.created is not None,
        )

    @staticmethod
    def _summary(stem: str, document: SessionDocument) -> SessionSummary:
        ours = document.ours
        times = [m.time for m in document.messages if m.time is not None]
        created = as_utc(ours.created) or names.date_in(stem) or (min(times) if times else None)
        updated = as_utc(ours.updated) or (max(times) if times else None) or created
        return SessionSummary(
            id=ours.id or stem,
            name=stem,
            title=document.title or title_of(list(document.messages)),
            created=created,
            updated=updated,
            messages=len(document.messages),
            named=ours.named if ours.named is not None else not names.is_machine_made(stem),
        )

    def _note(self, conversation: Conversation, document: SessionDocument, signature: Signature | None) -> None:
        known = self._known.setdefault(conversation.id, _Known())
        known.signature = signature
        known.read_from(document)
        known.remember(conversation)

    def _complete(self, conversation: Conversation) -> None:
        """Give messages their ids and times; a repeated id is replaced."""
        seen: set[str] = set()
        latest: datetime | None = None
        for index, message in enumerate(conversation.messages):
            if not message.id or message.id in seen:
                message = replace(message, id=self._make_id())
            if message.time is None and not message.id.startswith(FOREIGN_ID):
                message = replace(message, time=self._clock())
            if message is not conversation.messages[index]:
                conversation.messages[index] = message
            seen.add(message.id)
            if message.time is not None:
                latest = message.time if latest is None else max(latest, message.time)
        if latest is not None:
            conversation.updated = latest
        if not conversation.title:
            conversation.title = title_of(conversation.messages)


def _unique(messages: Sequence[Message], make_id: Callable[[], str]) -> list[Message]:
    """The messages with ids of their own each (a hand-edited file may repeat one)."""
    seen: set[str] = set()
    unique = []
    for message in messages:
        if message.id in seen:
            message = replace(message, id=make_id())
        seen.add(message.id)
        unique.append(message)
    return unique


def _aligned(disk: Sequence[Message], ours: Sequence[Message]) -> list[Message]:
    """The disk's messages as ours where another program dropped our keys but kept what was said."""
    waiting: dict[str, list[Message]] = {}
    ids = {m.id for m in disk}
    for message in ours:
        if message.id not in ids:
            waiting.setdefault(fingerprint(message), []).append(message)
    aligned = []
    for message in disk:
        same = waiting.get(fingerprint(message)) if message.id.startswith(FOREIGN_ID) else None
        aligned.append(same.pop(0) if same else message)
    return aligned


def _unite(ours: Sequence[Message], disk: Sequence[Message], held: frozenset[str]) -> list[Message]:
    """Both histories in one: what either side added stays, what either side took away goes.

    ``held`` are the ids we had when we last read or wrote the file. What the other side added stands behind the message
    it followed there.
    """
    on_disk = {m.id for m in disk}
    mine = {m.id for m in ours}
    united = [m for m in ours if m.id in on_disk or m.id not in held]
    place = {m.id: index for index, m in enumerate(united)}
    inserts: dict[int, list[Message]] = {}
    at = -1
    for message in disk:
        if message.id in place:
            at = place[message.id]
        elif message.id not in mine and message.id not in held:
            inserts.setdefault(at, []).append(message)
    result = list(inserts.get(-1, ()))
    for index, message in enumerate(united):
        result.append(message)
        result.extend(inserts.get(index, ()))
    return result


def _state_of(conversation: Conversation) -> tuple[object, ...]:
    """What a save would write beside the messages."""
    return (
        conversation.name,
        conversation.title,
        conversation.system,
        conversation.system_key,
        tuple(conversation.carried.items()),
        repr(conversation.state),
        conversation.named,
    )
