"""Where conversations are kept: one file each in ChatCLI's format, written through after every step.

A save is: lock the folder, look whether another program changed the file since we read it, unite both sides, replace
the file atomically. What :meth:`SessionStore.save` returned from survives kill -9. A file that does not parse is set
aside as ``.corrupt``, one we cannot open is never written.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from chatls_core.config import Sessions
from chatls_core.llm.messages import Message
from chatls_core.sessions import history, names
from chatls_core.sessions.catalog import Catalog
from chatls_core.sessions.conversation import (
    Conversation,
    SessionError,
    SessionPage,
    SessionSummary,
    title_of,
)
from chatls_core.sessions.document import Ours, SessionDocument
from chatls_core.sessions.files import SessionFiles
from chatls_core.sessions.indexing import SessionIndex, summary_of
from chatls_core.sessions.known import Known
from chatls_core.sessions.message_codec import FOREIGN_ID
from chatls_core.sessions.recall import recall_block
from chatls_core.sessions.search import SearchResult, SessionSearch
from chatls_core.sessions.transcript import PAGE, Transcript, transcript
from chatls_core.store import REAL, Clock, FileSystem, atomic_write_bytes

logger = logging.getLogger(__name__)


TRASH_DAYS = 30
"""Days a deleted conversation can be brought back."""


def new_id() -> str:
    """Twelve random hexadecimal digits."""
    return secrets.token_hex(6)


@dataclass(frozen=True, slots=True)
class Deleted:
    """A deleted session; ``token`` brings it back."""

    id: str
    name: str
    token: str


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
        self._make_id = make_id
        self._fs = fs
        self._files = SessionFiles(folder, fs)
        self._index = SessionIndex(self._files, Catalog(self._files.own / "index.sqlite3"))
        self._search = SessionSearch(self._index.catalog)
        self._guard = threading.RLock()
        self._known: dict[str, Known] = {}

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
                stem = self._name_for_person(name)
            elif session_id:
                stem = self._files.free_name(names.from_id(session_id))
            else:
                stem = self._files.free_name(names.machine_made(now, self._make_id()))
            # A renamed session keeps its id, which may be the very name that is free again.
            own_id = session_id or (stem if self._find(stem) is None else f"{stem}-{self._make_id()}")
            return Conversation(own_id, stem, "", created=now, updated=now, named=bool(name))

    def get(self, session_id: str) -> Conversation | None:
        """The saved conversation with this id or name; ``None`` when there is none.

        A file that does not parse is set aside and counts as none. Raises :class:`SessionError` for a file that cannot
        be opened, with the file as it was.
        """
        with self._guard:
            name = self._find(session_id)
            document, signature = self._files.read_safely(name) if name else (None, None)
            if name is None or document is None:
                return None
            conversation = self._conversation(name, document)
            if conversation.id not in self._known:
                # Where the session is known, a turn may hold it: what it has seen of the file must stay as it is.
                known = self._known[conversation.id] = Known(name, signature, named=conversation.named)
                known.read_from(document)
                known.remember(conversation)
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
            known = self._known.get(conversation.id)
            if known is None:
                known = self._known[conversation.id] = Known(conversation.name, named=conversation.named)
            # A rename may have gone past a copy of the conversation that the turn still holds: the store knows best.
            conversation.name = known.name
            conversation.named = known.named = known.named or conversation.named
            conversation.title = known.title or conversation.title
            self._complete(conversation)
            if not conversation.messages or not (self.settings.autosave or explicit or conversation.named):
                return
            if not known.changed(conversation) and self._files.signature(known.name) == known.signature:
                return
            with self._files.lock():
                self._write(conversation, known)
            known.remember(conversation)

    def refresh(self, conversation: Conversation) -> bool:
        """Bring what another program added to the file into the conversation; call it before a turn begins.

        Returns whether anything came in; the history then grew, or was rewritten by the other side, so the prompt's
        prefix is built afresh.
        """
        with self._guard:
            known = self._known.get(conversation.id)
            if known is None or (self._files.signature(known.name) == known.signature and not known.others):
                return False
            document, signature = self._files.read_safely(known.name)
            if document is None:
                return False
            disk = history.aligned(document.messages, conversation.messages)
            united = history.unite(conversation.messages, disk, known.held | conversation.loaded)
            known.signature = signature
            known.read_from(document)
            known.held = conversation.loaded = frozenset(m.id for m in disk)
            known.saved = ()
            if [m.id for m in united] == [m.id for m in conversation.messages]:
                return False
            conversation.messages[:] = united
            conversation.title = document.title or conversation.title
            conversation.forget_prefix()
            return True

    # -- all conversations ------------------------------------------------------------------------------------------

    def list(self, *, limit: int = 50, offset: int = 0) -> SessionPage:
        """Saved conversations, the most recently used first; those without a date last."""
        sessions, total = self._index.ask(lambda: self._index.catalog.page(limit, offset))
        return SessionPage(tuple(sessions), total)

    def rename(self, session_id: str, name: str) -> SessionSummary:
        """Give a saved conversation a name a person chose; it then never expires. Its id stays.

        Raises :class:`SessionError` when there is none, the name is taken or has no usable character.
        """
        with self._guard:
            conversation = self.load(session_id)
            known = self._known[conversation.id]
            wanted = name.strip()
            if names.from_person(wanted) != conversation.name:
                stem = self._name_for_person(wanted, instead_of=conversation.name)
                with self._files.lock():
                    self._fs.replace(self._files.path(conversation.name), self._files.path(stem))
                if stem != wanted:
                    conversation.title = wanted
                known.name, known.title = stem, conversation.title
                known.signature = self._files.signature(stem)
                self._index.forget()
            conversation.named = known.named = True
            held, known.saved = known.held, ()
            self.save(conversation)
            # A turn may hold the conversation without what another window added to the file: that is not taken back.
            known.held, known.others = held, True
            return self._summary(conversation)

    def fork(self, session_id: str, *, name: str = "", messages: Sequence[Message] | None = None) -> Conversation:
        """A copy of a saved conversation with an id of its own, saved at once.

        ``messages`` are taken instead of the conversation's own (a checkpoint's, for example).
        Raises :class:`SessionError` when there is none or the name is taken.
        """
        with self._guard:
            origin = self.load(session_id)
            copy = self.create(name=name)
            copy.title = origin.title
            copy.created, copy.dated = origin.created, origin.dated
            copy.messages = list(origin.messages if messages is None else messages)
            if messages is None:
                # The same text for the same history: the copy's first request finds the origin's prompt cache.
                copy.system, copy.system_key = origin.system, origin.system_key
            copy.carried = dict(origin.carried)
            copy.state = {**origin.state, "forkedFrom": origin.id}
            self.save(copy, explicit=True)
            return copy

    def delete(self, session_id: str) -> Deleted:
        """Delete a saved conversation; :meth:`undelete` brings it back.

        Raises :class:`SessionError` when there is none.
        """
        with self._guard:
            name = self._find(session_id)
            if name is None:
                raise SessionError(f"There is no saved session {session_id!r}.")
            document = self._files.peek(name)
            with self._files.lock():
                token = self._files.discard(name, self._clock())
            identity = (document.ours.id if document else "") or name
            self._known.pop(identity, None)
            self._index.forget()
            return Deleted(identity, name, token)

    def undelete(self, token: str) -> SessionSummary:
        """Bring a deleted conversation back. Raises :class:`SessionError` when it is gone for good."""
        with self._guard:
            with self._files.lock():
                name = self._files.bring_back(token)
            self._index.forget()
            return self._summary(self.load(name))

    def expire(self, *, keep_ids: Collection[str] = ()) -> Sequence[Deleted]:
        """Delete (recoverably) machine-named conversations that are too old or too many (spec/memory.md §15.1).

        ``keep_ids`` are conversations in use. One without a known date never expires by age. What was deleted more than
        :data:`TRASH_DAYS` ago goes for good.
        """
        with self._guard:
            with self._files.lock():
                self._files.empty_trash(self._clock() - timedelta(days=TRASH_DAYS))
            sessions, _ = self._index.ask(lambda: self._index.catalog.page(-1))
            machine = [s for s in sessions if not s.named]
            oldest = self._clock() - timedelta(days=self.settings.ttl_days) if self.settings.ttl_days else None
            gone = [
                s
                for place, s in enumerate(machine)
                if s.id not in keep_ids
                and (
                    place >= self.settings.keep or (oldest is not None and s.updated is not None and s.updated < oldest)
                )
            ]
            return [self.delete(s.name) for s in gone]

    # -- search -----------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        date_from: datetime | None = None,
        date_to: datetime | None = None,
        as_of: datetime | None = None,
        limit: int = 10,
        snippets: int = 3,
    ) -> SearchResult:
        """The best conversations for a question, best first, with dated snippets; see :meth:`SessionSearch.search`."""
        hits = self._index.ask(
            lambda: self._search.search(
                query,
                now=self._clock(),
                date_from=date_from,
                date_to=date_to,
                as_of=as_of,
                limit=limit,
                snippets=snippets,
            ),
            passages=True,
        )
        return SearchResult(tuple(hits))

    def transcript(
        self, session_id: str, *, offset: int = 0, limit: int = PAGE, query: str = "", message_id: str = ""
    ) -> Transcript:
        """A page of a saved conversation to read; see :func:`~chatls_core.sessions.transcript.transcript`.

        Raises :class:`SessionError` when there is no such conversation or message.
        """
        return transcript(self.load(session_id), offset=offset, limit=limit, query=query, message_id=message_id)

    def recall_block(self, text: str, *, exclude: str, now: datetime) -> str:
        """The ``[SESSION RECALL]`` block for what the user wrote; empty when nothing earlier bears on it.

        ``exclude`` is the id or name of the conversation it is for. Spec/memory.md §9.4.
        """
        catalog = self._index.catalog

        def block() -> str:
            excluded = {exclude, catalog.name_of(exclude) or exclude}
            if not catalog.has_others(excluded):
                return ""  # a newcomer's first conversations: not even the question need be read
            return recall_block(self._search, catalog, text, exclude=excluded, now=now)

        try:
            return self._index.ask(block, passages=True)
        except SessionError as error:
            logger.warning("No session recall: %s", error)
            return ""

    def index_all(self) -> None:
        """Read everything into the search index and return when done (searches otherwise do so as they go)."""
        self._index.sync(passages=True, wait=True)

    def index_progress(self) -> tuple[int, int]:
        """How many saved conversations can be searched, and how many there are."""
        return self._index.progress()

    def close(self) -> None:
        """Let go of the index; the store must not be used afterwards."""
        self._index.close()

    # -- inner ------------------------------------------------------------------------------------------------------

    def _find(self, session_id: str) -> str | None:
        """The name under which a session is saved: by id, else by name."""
        if (known := self._known.get(session_id)) is not None and self._files.signature(known.name) is not None:
            return known.name
        stem = names.from_id(session_id)
        if self._files.signature(stem) is not None:
            document = self._files.peek(stem)
            if document is None or document.ours.id in ("", session_id):
                return stem
        if (name := self._name_of(session_id)) is not None:
            return name
        by_name = names.is_valid(session_id) and self._files.signature(session_id) is not None
        return session_id if by_name else None

    def _name_of(self, session_id: str) -> str | None:
        """The name under which the session with this id is saved; without an index every file is looked at."""
        try:
            return self._index.ask(lambda: self._index.catalog.name_of(session_id))
        except SessionError as error:
            logger.warning("Sessions are looked up file by file: %s", error)
        for name, _ in self._files.scan():
            document = self._files.peek(name)
            if document is not None and document.ours.id == session_id:
                return name
        return None

    def _write(self, conversation: Conversation, known: Known) -> None:
        """Unite with the file and replace it. Under the folder's lock."""
        signature = self._files.signature(known.name)
        if signature is None and known.signature is not None:
            self._follow_rename(conversation, known)
            signature = self._files.signature(known.name)
        messages: Sequence[Message] = conversation.messages
        unchanged = signature == known.signature and not known.others
        disk = None if unchanged else self._files.read_or_set_aside(known.name)[0]
        if disk is not None:
            if disk.ours.id not in ("", conversation.id) or (not disk.ours.id and known.signature is None):
                conversation.name = known.name = self._files.free_name(known.name)
                disk = None
            else:
                messages = history.unite(
                    messages, history.aligned(disk.messages, messages), known.held | conversation.loaded
                )
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
        before = self._index.folder_state()
        atomic_write_bytes(self._files.path(known.name), known.renderer.render(document), fs=self._fs)
        known.signature = self._files.signature(known.name)
        known.others = len(messages) > len(conversation.messages)
        self._index.saved(known.name, document, known.signature, before)

    def _follow_rename(self, conversation: Conversation, known: Known) -> None:
        """Another process renamed the session (then its file is ours) or deleted it (then it is written anew)."""
        self._index.forget()
        if (name := self._name_of(conversation.id)) is not None:
            conversation.name = known.name = name
        else:
            known.signature = None
            known.held = conversation.loaded = frozenset()

    def _name_for_person(self, wanted: str, *, instead_of: str = "") -> str:
        stem = names.from_person(wanted.strip())
        if not stem:
            raise SessionError(f"{wanted!r} has no letter or digit to make a file name of.")
        if stem.casefold() != instead_of.casefold() and self._files.free_name(stem) != stem:
            raise SessionError(f"A session named {stem!r} exists already; choose another name.")
        return stem

    def _conversation(self, name: str, document: SessionDocument) -> Conversation:
        summary = summary_of(name, document)
        ours = document.ours
        now = self._clock()
        messages = history.unique(document.messages, self._make_id)
        return Conversation(
            id=summary.id,
            name=name,
            title=summary.title,
            created=summary.created or now,
            updated=summary.updated or now,
            messages=messages,
            system=tuple(ours.system),
            system_key=ours.system_key,
            carried=dict(ours.carried),
            state=dict(ours.state),
            named=summary.named,
            dated=summary.created is not None,
            loaded=frozenset(m.id for m in messages),
        )

    @staticmethod
    def _summary(conversation: Conversation) -> SessionSummary:
        dated = conversation.dated
        return SessionSummary(
            conversation.id,
            conversation.name,
            conversation.title,
            conversation.created if dated else None,
            conversation.updated if dated else None,
            len(conversation.messages),
            conversation.named,
        )

    def _complete(self, conversation: Conversation) -> None:
        """Give messages their ids and times, the conversation its title and its last time."""
        messages = history.unique(conversation.messages, self._make_id)
        for index, message in enumerate(messages):
            if message.time is None and not message.id.startswith(FOREIGN_ID):
                messages[index] = replace(message, time=self._clock())
        for index, message in enumerate(messages):
            if message is not conversation.messages[index]:
                conversation.messages[index] = message
        conversation.updated = max((m.time for m in messages if m.time is not None), default=conversation.updated)
        if not conversation.title:
            conversation.title = title_of(conversation.messages)
