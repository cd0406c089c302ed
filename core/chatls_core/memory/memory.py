"""The one way into memory for everything above it (DESIGN.md, "The rooms")."""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from chatls_core import config
from chatls_core.memory import browse, cards, context, digest_views, finding, migration, notes, provenance, transfer
from chatls_core.memory.board import read_board
from chatls_core.memory.digest_views import DigestList
from chatls_core.memory.edited import EDITABLE, kind_of
from chatls_core.memory.editing import Editing
from chatls_core.memory.evidence import used
from chatls_core.memory.facts import FactBook
from chatls_core.memory.graph import Neighbour
from chatls_core.memory.learning import Learning
from chatls_core.memory.profile import ProfileBook
from chatls_core.memory.profile_view import profile_view
from chatls_core.memory.removal import Removal
from chatls_core.memory.retrieval import Retriever, was_asked_for
from chatls_core.memory.snapshot import Snapshot, is_sensitive, remembered
from chatls_core.memory.stores import Stores
from chatls_core.memory.together import Together, united
from chatls_core.memory.views import (
    AutoRecall,
    FactDetails,
    FactList,
    FactPage,
    FileList,
    Forgotten,
    GraphView,
    ItemDetails,
    LineView,
    MemoryChange,
    NodeView,
    ProfileView,
    ProjectList,
    Recall,
    Remembered,
    Source,
    Stats,
    TextView,
    Timeline,
    TopicList,
    Transfer,
    Undone,
)
from chatls_core.store import REAL, Clock, FileSystem, StoreReadOnlyError, atomic_write_bytes, codec_for

if TYPE_CHECKING:
    from chatls_core.memory.graph import Net, Outline
    from chatls_core.memory.meaning import Meaning
    from chatls_core.memory.records import Details, Fact, Profile

logger = logging.getLogger(__name__)

GRAPH_NODES = 500
"""Most nodes of a picture."""
_SOON_DERIVED = 1000
"""The graph of so many facts is derived within a few dozen milliseconds."""
_PROFILE = "profile:"
EXPANDED_FACTS = 2000
"""Beyond this deriving the graph takes longer than a recall may."""


class Memory:
    """What is remembered across sessions, in one folder that other processes may write at the same time.

    Synchronous and thread-safe: call it from a thread. What a call acknowledged is on the disk. Writes raise
    :class:`~chatls_core.store.StoreReadOnlyError` for a file that cannot be opened and :class:`OSError` for a disk that
    refuses; nothing is lost then.
    """

    def __init__(
        self,
        folder: Path,
        *,
        settings: config.Memory,
        clock: Clock,
        environment: Mapping[str, str] | None = None,
        fs: FileSystem = REAL,
        tokens: Callable[[], str] = lambda: secrets.token_hex(8),
        neighbours: Callable[[], Sequence[Neighbour]] = tuple,
    ) -> None:
        """``folder`` is the data folder's ``memory``; ``environment`` may hold the encryption key: plain files
        are then encrypted at once. An older memory is brought in (:mod:`chatls_core.memory.migration`).

        ``tokens`` makes undo tokens; ``neighbours`` tells the graph of sessions, skills and knowledge bases.
        """
        self.folder = folder
        self.settings = settings
        self.clock = clock
        self.stores = Stores(folder, fs=fs, codec=codec_for(environment or {}))
        self._seal()
        self._profile = ProfileBook(self.stores, clock)
        self._facts = FactBook(self.stores, clock, cap=settings.max_facts, names=self._user_names)
        self._learning = Learning(self.stores, clock)
        self._retriever = Retriever()
        self._removal = Removal(self.stores, self._facts, self._profile, clock, tokens)
        self._editing = Editing(self.stores, self._learning, clock, self._removal.remember_edit)
        self._neighbours = neighbours
        self._guard = threading.RLock()
        self._together = Together()
        self._subscribers: list[Callable[[MemoryChange], None]] = []
        self._seen: tuple[object, ...] = ()
        self._snapshot: Snapshot | None = None
        self._digest: tuple[Snapshot | None, str] = (None, "")
        self._net: tuple[str, Net] | None = None
        self._outlined: tuple[Net, Outline | None] | None = None
        self._news = ""
        if problem := self.stores.unwritable:
            logger.warning("%s", problem)
        if migration.is_due(self.stores, environment or {}):
            self._bring_in(environment or {})

    def _seal(self) -> None:
        """Encrypt what is still in plain text though a key is set."""
        try:
            if self.stores.unsealed():
                self.stores.reseal()
        except OSError as error:
            logger.warning("Not all of memory is encrypted yet: %s", error)

    def _bring_in(self, environment: Mapping[str, str]) -> None:
        """An older memory (spec/memory.md §11.4)."""
        if migration.bring_in(self.stores, self._facts, environment, self.clock):
            try:
                self.write_longterm()
            except OSError as error:
                logger.warning("MEMORY.md is written anew later: %s", error)

    # Facts

    def remember(self, content: str, category: str = "", *, scope: str = "", source: Source) -> Remembered:
        """Remember one statement; ``scope`` is the project's path it belongs to, empty: everywhere.

        Raises :class:`ValueError` for blank content or an unknown category.
        """
        result = self._facts.remember(content, category, project=scope, source=source)
        self._tell(
            MemoryChange(
                added=(result.id,) if result.added else (),
                changed=() if result.added or result.reason else (result.id,),
                removed=tuple(p.id for p in result.superseded),
                undo_token=result.undo_token,
                background=source.kind == "extraction",
            )
        )
        return result

    def recall(
        self,
        query: str,
        *,
        as_of: datetime | None = None,
        limit: int = 10,
        project: Path | None = None,
        budget: int | None = None,
        private: bool = True,
    ) -> Recall:
        """What is known about a question, with reasons. Time words in it are counted from ``as_of`` (default: now).

        ``context`` of the result is the text for a model, in at most ``budget`` bytes (default: the setting
        ``memory.retrievalBudget``); what is sensitive stands in it only when words of the question found it. Without
        ``private`` nothing sensitive is found at all: for what is pushed unasked.
        """
        now, moment, where = self.snapshot(), self._moment(), str(project or "")
        found = self._retriever.recall(now, query, as_of=as_of, limit=limit, project=where, moment=moment)
        asked = tuple(i for i in found.items if not is_sensitive(now, i) or (private and was_asked_for(i)))
        if not private:
            found = replace(found, items=asked)
        size = self.settings.retrieval_budget if budget is None else budget
        related = self._related(found) if self.settings.graph and len(now.alive.facts) <= EXPANDED_FACTS else ()
        told = replace(found, items=asked)
        text = context.assemble(now, self.stores, told, limit=size, project=where, moment=moment, related=related)
        return replace(found, context=cards.safe(text))

    def find(self, typed: str, *, limit: int = 50, project: Path | None = None) -> Recall:
        """What a person who is still typing may mean: what contains the words so far, then what they bring as a
        question."""
        now, moment = self.snapshot(), self._moment()
        literal = finding.containing(now, typed, limit, moment)
        known = {(i.kind, i.id) for i in literal}
        where = str(project or "")
        asked = self._retriever.recall(now, typed, as_of=None, limit=limit, project=where, moment=moment)
        more = (i for i in asked.items if (i.kind, i.id) not in known)
        return replace(asked, items=(*literal, *more)[:limit])

    def auto_recall(
        self,
        query: str,
        *,
        carried: Collection[str] = (),
        project: Path | None = None,
        now: datetime | None = None,
    ) -> AutoRecall:
        """What rides in a turn unasked: text to be frozen into history, empty for most questions.

        ``query`` is the user's own text; ``carried`` are ids the conversation holds already.
        """
        return self._retriever.auto_recall(
            self.snapshot(), query, carried=carried, project=str(project or ""), moment=self._moment(now)
        )

    def read_ahead(self) -> None:
        """Get ready for the first question and the first fact; takes seconds among ten thousand facts."""
        self._facts.read_ahead()
        self._retriever.read_ahead(self.snapshot())
        self.graph_card(promptly=True)

    @property
    def meaning(self) -> Meaning | None:
        """Search by meaning beside the words; ``None`` where nobody gave one."""
        return self._retriever.meaning

    @meaning.setter
    def meaning(self, meaning: Meaning) -> None:
        self._retriever.meaning = meaning

    def texts(self, private: bool = True) -> Sequence[str]:
        """The texts of facts and episodes, the most important first; without ``private`` no sensitive fact."""
        return list(remembered(self.snapshot(), private=private).values())

    def evidence(self, shown_ids: Collection[str], reply: str) -> None:
        """Strengthen shown facts that the reply made use of (spec/memory.md §8.8)."""
        facts = self._facts.alive().facts
        useful = tuple(i for i in shown_ids if i in facts and used(facts[i].content, reply))
        self._facts.touch(useful)
        self._tell(MemoryChange(changed=useful, background=True))

    def edit(
        self,
        item_id: str,
        content: str | None = None,
        category: str = "",
        *,
        field: str = "",
        source: Source | None = None,
    ) -> Remembered:
        """Correct a fact by hand, the old wording becomes history; an entry of the profile by its id; or a ``field`` of
        a topic, a project or an episode (:data:`chatls_core.memory.edited.EDITABLE`), where blank content clears it.

        Raises :class:`KeyError` for what is not remembered, :class:`ValueError` for what cannot be.
        """
        source = source or Source("user")
        if kind_of(item_id) in EDITABLE:
            return self._edit_field(item_id, field, content, source)
        if field:
            raise ValueError("Facts and entries of the profile are edited whole: leave the field out.")
        content = content or ""
        if item_id.startswith(_PROFILE):
            return self._edit_profile(item_id, content, source)
        result = self._facts.edit(item_id, content, category, source=source)
        if result.added:
            self._learning.relink({item_id: result.id})
        self._tell(
            MemoryChange(
                added=(result.id,) if result.added else (),
                changed=() if result.added else (result.id,),
                removed=tuple(p.id for p in result.superseded),
                undo_token=result.undo_token,
            )
        )
        return result

    def _edit_profile(self, item_id: str, content: str, source: Source) -> Remembered:
        before = self._profile.read()
        profile, new_id, refused = self._profile.replace_entry(item_id, content, source)
        if refused:
            raise ValueError(refused)
        token = ""
        if profile != before:
            key = item_id.removeprefix(_PROFILE).partition(":")[0]
            token = self._profile_changed(before, profile, (key,), source)
        return Remembered(new_id, True, " ".join(content.split()), "profile", undo_token=token)

    def _edit_field(self, item_id: str, field: str, content: str | None, source: Source) -> Remembered:
        if content is None:
            raise ValueError("The new text is missing.")
        done = self._editing.edit(item_id, field, content, source)
        changed = bool(done.undo_token)
        if changed:
            ids = (done.id,)
            self._tell(
                MemoryChange(added=ids, removed=done.gone, undo_token=done.undo_token)
                if done.gone
                else MemoryChange(changed=ids, undo_token=done.undo_token)
            )
        reason = "" if done.text else f"The {done.field} is empty now."
        return Remembered(done.id, changed, done.text, done.kind, reason=reason, undo_token=done.undo_token)

    def pin(self, item_id: str, pinned: bool = True) -> FactDetails:
        """Keep a fact from decay and pruning, and show it in the index. Raises :class:`KeyError`."""
        return self._flag(item_id, {"pinned": pinned, "pinned_at": self.clock()})

    def sensitive(self, item_id: str, sensitive: bool = True) -> FactDetails:
        """Mark a fact private: it is never brought up unasked. Raises :class:`KeyError`."""
        return self._flag(item_id, {"sensitive": sensitive, "sensitive_at": self.clock()})

    def _flag(self, item_id: str, flags: Mapping[str, object]) -> FactDetails:
        if item_id not in self._facts.alive().facts:
            raise KeyError(item_id)
        self._facts.change_details([item_id], lambda d: d.model_copy(update=flags))
        self._tell(MemoryChange(changed=(item_id,)))
        return self.why(item_id)

    def why(self, item_id: str) -> FactDetails:
        """Where a fact comes from, and what it was before. Raises :class:`KeyError`."""
        return browse.why(self.snapshot(), item_id, self.clock())

    def about(self, item_id: str) -> FactDetails | ItemDetails:
        """Like :meth:`why` for any item or node of the graph, which is told with the facts beside it.

        Raises :class:`KeyError`.
        """
        now, moment = self.snapshot(), self.clock()
        fact_id = item_id.removeprefix("fact:")
        if fact_id in now.alive.facts or "@" in fact_id:
            return browse.why(now, fact_id, moment)
        from chatls_core.memory import details

        return details.item_details(now, self._graph(), item_id, moment)

    def facts(self, category: str = "", *, limit: int = 50, offset: int = 0) -> FactPage:
        """Facts, pinned ones first, then by score."""
        return browse.fact_page(self._facts.alive(), self.clock(), category, limit, offset)

    def forget(self, match: str = "", ids: Sequence[str] = (), *, dry_run: bool = False) -> Forgotten:
        """Forget what contains ``match`` (whole words, any kind of item) or has one of ``ids``; can be undone."""
        result = self._removal.forget(match, ids, dry_run=dry_run)
        if result.items and not dry_run:
            self.write_longterm()
            self._tell(MemoryChange(removed=tuple(i.id for i in result.items), undo_token=result.undo_token))
        return result

    def undo(self, token: str) -> Undone:
        """Take back what an earlier call with this token did; an unknown or used token does nothing."""
        result = self._removal.undo(token)
        self._tell(MemoryChange(added=result.restored, removed=result.removed))
        return result

    # The rest of what is known

    def profile(self, set: Mapping[str, str] | None = None, *, source: Source | None = None) -> ProfileView:
        """The user's profile; ``set`` changes it first (keys and list operations: spec/memory.md §5)."""
        before = self._profile.read()
        if not set:
            return self._profile_view(before)
        source = source or Source("user")
        profile, changed, refused = self._profile.update(set, source)
        token = self._profile_changed(before, profile, changed, source) if changed else ""
        return replace(self._profile_view(profile, changed, refused), undo_token=token)

    def _profile_view(
        self, profile: Profile, changed: tuple[str, ...] = (), refused: Mapping[str, str] | None = None
    ) -> ProfileView:
        details = self._facts.alive().details
        view = profile_view(profile, self.clock(), changed, refused)
        return replace(view, fields=tuple(replace(f, said=provenance.latest(details, f.id)) for f in view.fields))

    def _profile_changed(self, before: Profile, now: Profile, keys: Sequence[str], source: Source) -> str:
        """Write down who said what is new, and tell of it; returns the token that takes the change back."""
        known = {f.id: f.value for f in profile_view(before, self.clock()).fields}
        new = [f.id for f in profile_view(now, self.clock()).fields if known.get(f.id) != f.value]
        provenance.note(self.stores, new, source, self.clock())
        by_user = source.kind != "extraction"
        token = self._removal.remember_additions((), before) if by_user else ""
        ids = tuple(f"profile:{key}" for key in keys)
        self._tell(MemoryChange(changed=ids, undo_token=token, background=not by_user))
        return token

    def record_episode(
        self,
        summary: str,
        *,
        outcome: str = "",
        refs: Sequence[str] = (),
        project: str = "",
        date: datetime | None = None,
        source: Source,
    ) -> str:
        """Record finished work under the day it was done (default: the source's time); returns its id."""
        day = date or source.time or self.clock()
        item_id, added = self._learning.episode(
            summary, outcome=outcome, refs=refs, project=project, date=day, source=source
        )
        background = source.kind == "extraction"
        self._tell(
            MemoryChange(added=(item_id,), background=background)
            if added
            else MemoryChange(changed=(item_id,), background=background)
        )
        return item_id

    def record_topics(self, topics: Mapping[str, str], *, source: Source) -> tuple[str, ...]:
        """Count a mention of each topic (name → one-line summary, may be empty); returns the names as kept."""
        new, again = self._learning.note_topics(
            topics, facts=self._facts.alive().facts.values(), time=source.time or self.clock()
        )
        added, changed = (tuple(f"topic:{n}" for n in names) for names in (new, again))
        provenance.note(self.stores, (*added, *changed), source, self.clock())
        self._tell(MemoryChange(added=added, changed=changed, background=source.kind == "extraction"))
        return (*new, *again)

    def record_project(self, fields: Mapping[str, str], *, source: Source) -> str:
        """Add to what is known of a project (keys: spec/memory.md §6.2); returns its name, empty without one."""
        known = {p.name for p in self._learning.projects()}
        result = self._learning.note_project(fields, time=source.time or self.clock())
        if result is None:
            return ""
        name, changed = result
        if changed:
            ids, background = (f"project:{name}",), source.kind == "extraction"
            provenance.note(self.stores, ids, source, self.clock())
            self._tell(
                MemoryChange(changed=ids, background=background)
                if name in known
                else MemoryChange(added=ids, background=background)
            )
        return name

    def record_use(
        self,
        *,
        messages: int = 0,
        feature: str = "",
        session_seconds: float | None = None,
        started: bool = False,
        commands: Sequence[str] = (),
        errors: Sequence[str] = (),
        hour: int | None = None,
    ) -> None:
        """Count use: messages by local hour and feature, sessions begun and their length, commands, errors."""
        self._learning.note_use(
            messages=messages,
            feature=feature,
            session_seconds=session_seconds,
            started=started,
            commands=commands,
            errors=errors,
            hour=hour,
        )

    def note(self, entry: str, *, time: datetime) -> Path:
        """Add an entry to the daily note of ``time``'s day (local time); returns the note's path."""
        return notes.append_note(self.stores, entry, time)

    def timeline(
        self,
        query: str = "",
        *,
        start: str | datetime = "",
        end: str | datetime = "",
        project: str = "",
        limit: int = 50,
        as_of: datetime | None = None,
    ) -> Timeline:
        """Finished work in order of time (:func:`chatls_core.memory.browse.timeline`). Raises :class:`ValueError`."""
        return browse.timeline(
            self.snapshot(), query, start=start, end=end, project=project, limit=limit, moment=self._moment(as_of)
        )

    def topics(self) -> TopicList:
        """Topics, most alive first."""
        return browse.topics(self.snapshot(), self.clock())

    def projects(self) -> ProjectList:
        """Projects, most recently active first."""
        return browse.projects(self.snapshot())

    def stats(self) -> Stats:
        """Sizes, habits, and problems of the files."""
        return browse.stats(self.snapshot(), self.stores, self.settings.max_facts)

    def longterm(self, *, private: bool = True) -> FactList:
        """All facts as Markdown, in at most ``memory.maxSize`` bytes; without ``private`` no sensitive one."""
        text = browse.longterm(self._facts.alive(), self.settings.max_size, private=private)
        return FactList("Long-term memory", text)

    def list(self) -> FileList:
        """The files of memory."""
        return browse.files(self.stores)

    def daily(self, day: str | date = "") -> TextView:
        """The note of a day: ``2026-04-12``, ``yesterday``, empty: today; ``week``: the notes of the last seven days.

        Raises :class:`ValueError`.
        """
        if isinstance(day, str) and day.strip().lower() in ("week", "semana"):
            return browse.week(self.stores, self._day(""))
        return browse.daily(self.stores, self._day(day))

    def digests(self, name: str = "") -> DigestList:
        """The weekly and monthly digests, or one by its name (``weekly/2026-W07``)."""
        return digest_views.read(self.stores, name)

    def load(self, day: str | date = "") -> TextView:
        """The text that brings a day's note into a conversation. Raises :class:`ValueError`."""
        view = browse.loaded(self.snapshot(), self.stores, self._day(day), self.settings.max_size)
        return replace(view, text=cards.safe(view.text))

    def _day(self, day: str | date) -> date:
        if isinstance(day, date):
            return day
        found = notes.parse_day(day, self.clock().astimezone().date())
        if found is None:
            raise ValueError(f"{day!r} is no date; write 2026-04-12, 12/04/2026 or 'yesterday'.")
        return found

    # The graph

    def map(self) -> LineView:
        """The graph's index card (spec/memory.md §12.3)."""
        from chatls_core.memory import graph

        text = graph.index_card(graph.outline(self._graph()), self._is_private)
        return LineView("Knowledge graph", cards.safe(text) or "The knowledge graph is empty.")

    def neighbors(self, query: str, *, hops: int = 2, limit: int = 12, private: bool = True) -> GraphView:
        """What is near the thing a query means; without ``private`` no sensitive fact."""
        from chatls_core.memory import graph

        view = graph.neighbourhood(self._graph(), query, hops=hops, most=limit)
        if not private:  # the first is what was asked for
            rest = (n for n in view.nodes[1:] if not self._is_private(n.id))
            view = replace(view, nodes=(*view.nodes[:1], *rest))
        return view

    def graph(self, subject: str = "") -> GraphView:
        """The graph with a picture: all of it without tags (the strongest 500 nodes), or what is near ``subject``."""
        from chatls_core.memory import graph, graph_svg

        net = self._graph()
        if subject:
            view = graph.neighbourhood(net, subject, hops=2, most=24)
        else:
            keys = [k for k in net.nodes if net.nodes[k]["kind"] != "tag"]
            if len(keys) > GRAPH_NODES:
                keys = graph.hubs(net, GRAPH_NODES, tags=False)
            view = graph.view_of(net, sorted(keys))
        return replace(view, svg=graph_svg.draw(view))

    def _graph(self, *, keep: bool = True) -> Net:
        """The graph of the present state; ``keep`` saves a newly derived one."""
        from chatls_core.memory import graph, graph_cache

        others = tuple(self._neighbours())
        board = read_board(self.folder.parent / "board.json", self.stores.fs)
        key = graph_cache.fingerprint(self.stores, others, board)
        now = self.snapshot()
        with self._guard:
            if self._net is None or self._net[0] != key:
                net = graph_cache.load(self.stores, key) if self.settings.graph else None
                if net is None:
                    net = graph.build(now, others, board)
                    if keep and self.settings.graph and net.number_of_nodes():
                        graph_cache.save(self.stores, net, key, self.clock())
                self._net = (key, net)
            return self._net[1]

    def _related(self, found: Recall) -> tuple[NodeView, ...]:
        """What stands next to the best facts in the graph, without what was found itself (spec/memory.md §8.6)."""
        from chatls_core.memory import graph

        seeds = [f"fact:{i.id}" for i in found.items if i.kind == "fact"][:3]
        shown = {f"{i.kind}:{i.id}" for i in found.items}
        near = graph.beside(self._graph(keep=False), seeds, shown) if seeds else ()
        return tuple(node for node in near if not self._is_private(node.id))

    def _is_private(self, node: str) -> bool:
        """Whether a node of the graph is a sensitive fact."""
        alive = self._facts.alive()
        fact = alive.facts.get(node.removeprefix("fact:"))
        return fact is not None and alive.is_sensitive(fact)

    # Out and in, and staying small

    def export(self, path: Path) -> Transfer:
        """Write everything as JSON lines; encrypted line by line when a key is set."""
        return transfer.export(self.stores, tuple(self._facts.alive().facts.values()), path, self.clock())

    def import_(self, path: Path) -> Transfer:
        """Merge an export into memory; nothing is deleted. Raises :class:`.transfer.TransferError`."""
        result = transfer.import_(self.stores, path, self._facts.adopt)
        self._tell(MemoryChange(changed=tuple(f"import:{kind}" for kind, count in result.counts.items() if count)))
        return result

    def consolidate(
        self, merged: Sequence[tuple[Fact, Details]], gone: Sequence[str], replaced: Mapping[str, str] | None = None
    ) -> tuple[str, ...]:
        """Take merged facts in and move ``gone`` to the archive; returns the ids that went.

        ``replaced`` tells into which fact those of ``gone`` were merged: what was linked to them is linked to it. The
        archive is written first. A merged fact that does not take hold (it was forgotten once) keeps all its parents in
        place.
        """
        facts = self._facts.alive().facts
        leaving = [facts[i] for i in gone if i in facts]
        self._facts.to_archive(leaving)
        self._facts.adopt(merged)
        alive = self._facts.alive().facts
        if any(fact.id not in alive for fact, _ in merged):
            return ()
        self._learning.relink(replaced or {})
        removed = self._facts.remove(f.id for f in leaving)
        ids = tuple(f.id for f in removed)
        self.write_longterm()
        added = tuple(f.id for f, _ in merged if f.id not in facts)
        self._tell(MemoryChange(added=added, removed=ids, background=True))
        return ids

    def reseal(self) -> None:
        """Encrypt every file with the present key: after one was set or changed. Raises :class:`OSError`."""
        self.stores.reseal()

    def write_longterm(self) -> Path:
        """Write ``MEMORY.md`` from the facts (sealed when a key is set); left alone while files cannot be opened."""
        path = self.folder / "MEMORY.md"
        if problems := self.stores.problems():
            logger.warning("MEMORY.md is not rewritten: %s", problems[0])
            return path
        data = self.stores.codec.encode(path.name, self.longterm().text.encode())
        atomic_write_bytes(path, data, fs=self.stores.fs)
        return path

    # What rides in the prompt

    def index_digest(self) -> str:
        """The ``# Memory Index`` block (spec/memory.md §9.2); the same bytes while nothing changed."""
        now = self.snapshot()
        with self._guard:
            if self._digest[0] is not now:
                self._digest = (now, cards.digest(now))
            return self._digest[1]

    def card(self, *, saved_conversations: int = 0, latest: str = "") -> str:
        """The persistent-memory card (spec/memory.md §9.3), to be frozen; empty when nothing is remembered or saved.

        ``latest`` is the newest saved conversation as ``name (date, "title")``.
        """
        board = read_board(self.folder.parent / "board.json", self.stores.fs)
        return cards.card(self.snapshot(), board, saved_conversations, latest)

    def graph_card(self, *, promptly: bool = False) -> str:
        """The ``# Knowledge Graph (index)`` block; empty when switched off or the graph is.

        ``promptly``, nobody waits: the graph is told as it was last derived, and not at all where memory is large.
        """
        if not (self.settings.graph and self.settings.graph_index):
            return ""
        if promptly and len(self._facts.alive().facts) > _SOON_DERIVED:
            return ""
        from chatls_core.memory import graph

        net = self._graph() if self._net is None or not promptly else self._net[1]
        text = graph.index_card(self._outline(net), self._is_hidden)
        hint = 'What is linked to one of them, the memory tool tells: {"command": "neighbors", "query": "…"}.'
        return cards.safe(f"# Knowledge Graph (index)\n{text}\n{hint}") if text else ""

    def _outline(self, net: Net) -> Outline | None:
        from chatls_core.memory import graph

        if self._outlined is None or self._outlined[0] is not net:
            # Each new conversation would change what a prompt begins with.
            self._outlined = (net, graph.outline(net, without="session"))
        return self._outlined[1]

    def _is_hidden(self, node: str) -> bool:
        """Whether a node of the graph is a sensitive fact, or one that is no more."""
        kind, _, key = node.partition(":")
        return kind == "fact" and (key not in self._facts.alive().facts or self._is_private(node))

    def news(self) -> str:
        """What went wrong with the files since this was last asked, as one sentence: told once, and when it changes."""
        problem = next(iter((*filter(None, (self.stores.unwritable,)), *self.stores.unopened)), "")
        with self._guard:
            news, self._news = (problem if problem != self._news else ""), problem
        return news

    # Who wants to know

    def subscribe(self, callback: Callable[[MemoryChange], None]) -> Callable[[], None]:
        """Call ``callback`` after each write of this process; returns the way to stop it."""
        with self._guard:
            self._subscribers.append(callback)

        def stop() -> None:
            with self._guard:
                if callback in self._subscribers:
                    self._subscribers.remove(callback)

        return stop

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Tell what this thread adds meanwhile as one change, with a token that takes all of it back."""
        if self._together.is_open:
            yield
            return
        before = self._profile.read()
        changes: list[MemoryChange] = []
        try:
            with self._together.held(changes):
                yield
        except Exception:  # what was written before the fault is told all the same
            self._tell_as_one(changes, before)
            raise
        self._tell_as_one(changes, before)

    def _tell_as_one(self, changes: Sequence[MemoryChange], before: Profile) -> None:
        change, token = united(changes), ""
        try:
            token = self._removal.remember_additions(change.added, before) if change else ""
        except (OSError, StoreReadOnlyError) as error:
            logger.warning("What was learned cannot be undone in one step: %s", error)
        self._tell(replace(change, undo_token=token))

    def announce(self, change: MemoryChange) -> None:
        """Tell subscribers of a change next to memory: items that wait for review (``review:…``)."""
        self._tell(change)

    def _tell(self, change: MemoryChange) -> None:
        if not change or self._together.take(change):
            return
        with self._guard:
            subscribers = tuple(self._subscribers)
        for subscriber in subscribers:
            try:
                subscriber(change)
            except Exception:  # a listener's fault must not fail a write that happened
                logger.exception("A listener of memory changes failed")

    def snapshot(self) -> Snapshot:
        """Everything remembered at this moment; the same object while no file changed."""
        parts = (
            self._facts.alive(),
            self.stores.history.read(),
            self.stores.side.read(),
            self.stores.episodes.read(),
            self.stores.topics.read(),
            self.stores.projects.read(),
            self.stores.profile.read(),
        )
        with self._guard:
            if self._snapshot is None or any(a is not b for a, b in zip(parts, self._seen, strict=True)):
                self._snapshot = Snapshot(
                    parts[0],
                    parts[1].entries,
                    {e.id: e for e in self._learning.episodes()},
                    self._learning.topics(),
                    self._learning.projects(),
                    self._profile.read(),
                )
                self._seen = parts
            return self._snapshot

    def _moment(self, given: datetime | None = None) -> datetime:
        """``given`` or now in this machine's zone: a person's days are counted from it (spec/memory.md §7.3)."""
        return (given or self.clock()).astimezone()

    def _user_names(self) -> frozenset[str]:
        from chatls_core.text import tokenizer

        name = self._profile.read().name
        return frozenset(tokenizer.stem(w.folded, "en") for w in tokenizer.words(name))
