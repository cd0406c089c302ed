"""Every file of the memory folder, opened through one door (spec/memory.md §3.1; docs/memory-format.md)."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from copy import deepcopy
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError

from chatls_core.memory import merges
from chatls_core.memory.identity import episode_id, fact_id
from chatls_core.memory.records import (
    Details,
    Episode,
    Fact,
    HistoryEntry,
    LenientRecord,
    Profile,
    Project,
    Record,
    Time,
    Topic,
    UndoEntry,
    Usage,
)
from chatls_core.store import (
    PLAIN,
    REAL,
    Codec,
    FileSystem,
    JsonStore,
    StoreReadOnlyError,
    UnopenableError,
    atomic_write_bytes,
    is_temporary,
    sweep_abandoned,
)
from chatls_core.store.codec import SEALED_PREFIX
from chatls_core.store.record_dump import FieldDump, RecordDump

logger = logging.getLogger(__name__)

_BESIDE_STORES = frozenset({"graph.json", "memory_learning.json", "memory_review.json"})

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

_SET_ASIDE = re.compile(r"\.corrupt(?:-\d+)?\Z")


def _none_is_empty(value: Any) -> Any:
    return [] if value is None else value


def _none_is_map(value: Any) -> Any:
    return {} if value is None else value


def _named_facts(items: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Facts with an id each and no two of one id; blank ones (a hand edit) are left out."""
    seen: set[str] = set()
    clean = True
    for item in items:
        if not item.id or item.id in seen or not item.content.strip():
            clean = False
            break
        seen.add(item.id)
    if clean:
        return items
    named = (f if f.id else f.model_copy(update={"id": fact_id(f.content)}) for f in items if f.content.strip())
    return tuple(merges.by_id(named).values())


def _named_episodes(items: tuple[Episode, ...]) -> tuple[Episode, ...]:
    named = (
        e if e.id else e.model_copy(update={"id": episode_id(e.date, e.project, e.summary)})
        for e in items
        if e.summary.strip()
    )
    return tuple(merges.episodes_by_id(named).values())


def _named_topics(items: tuple[Topic, ...]) -> tuple[Topic, ...]:
    return tuple(merges.topics_by_name(t for t in items if t.name.strip()).values())


def _named_projects(items: tuple[Project, ...]) -> tuple[Project, ...]:
    return tuple(merges.projects_by_name(p for p in items if p.name.strip()).values())


Facts = Annotated[tuple[Fact, ...], BeforeValidator(_none_is_empty), AfterValidator(_named_facts)]
Episodes = Annotated[tuple[Episode, ...], BeforeValidator(_none_is_empty), AfterValidator(_named_episodes)]
Topics = Annotated[tuple[Topic, ...], BeforeValidator(_none_is_empty), AfterValidator(_named_topics)]
Projects = Annotated[tuple[Project, ...], BeforeValidator(_none_is_empty), AfterValidator(_named_projects)]
Tombstones = Annotated[dict[str, Time], BeforeValidator(_none_is_map)]


class SideFile(LenientRecord):
    """``memory_details.json``: provenance and flags per item id, and removed list items (spec/memory.md §18.1)."""

    schema_version: int = 1
    items: dict[str, Details] = Field(default_factory=dict)
    list_tombstones: dict[str, dict[str, Time]] = Field(default_factory=dict)


class HistoryFile(LenientRecord):
    """``memory_history.json``: values that were true once."""

    schema_version: int = 1
    entries: tuple[HistoryEntry, ...] = ()


class UndoFile(LenientRecord):
    """``memory_undo.json``: what can be taken back."""

    schema_version: int = 1
    entries: tuple[UndoEntry, ...] = ()


class CompactorState(Record):
    """``compactor_state.json``."""

    last_compaction: Time | None = None


def _merge_side(a: SideFile, b: SideFile) -> SideFile:
    return SideFile.model_construct(
        **{**(a.__pydantic_extra__ or {}), **(b.__pydantic_extra__ or {})},
        schema_version=max(a.schema_version, b.schema_version),
        items=merges.all_details(a.items, b.items),
        list_tombstones=merges.nested_times(a.list_tombstones, b.list_tombstones),
    )


def _merge_history(a: HistoryFile, b: HistoryFile) -> HistoryFile:
    return a.model_copy(update={"entries": merges.history(a.entries, b.entries)})


def _merge_undo(a: UndoFile, b: UndoFile) -> UndoFile:
    return a.model_copy(update={"entries": merges.undo(a.entries, b.entries)})


def _merge_state(a: CompactorState, b: CompactorState) -> CompactorState:
    return a.model_copy(update={"last_compaction": merges.later(a.last_compaction, b.last_compaction)})


def mend(model: type[M], tree: object) -> M | None:
    """A record from JSON that does not validate: values that are wrong are left out; ``None`` if that is not enough."""
    if not isinstance(tree, dict):
        return None
    rest = deepcopy(tree)
    for depth in (None, None, None, 2, 1):
        try:
            return model.model_validate(rest)
        except ValidationError as error:
            places = dict.fromkeys(problem["loc"][:depth] for problem in error.errors(include_url=False))
            for place in reversed(places):  # the last of a list first, so that the others keep their places
                _leave_out(rest, place)
    return None


def _leave_out(tree: Any, place: tuple[int | str, ...]) -> None:
    """Remove what stands at ``place``, or what holds it as far as the way there can be followed."""
    for step, following in pairwise((*place, None)):
        inside = isinstance(tree, list) and isinstance(step, int) and 0 <= step < len(tree)
        if not (inside or (isinstance(tree, dict) and step in tree)):
            return
        if following is None or not isinstance(tree[step], list | dict):
            del tree[step]
            return
        tree = tree[step]


def _mend_list(
    model: type[M], settle: Callable[[tuple[M, ...]], tuple[M, ...]]
) -> Callable[[object], tuple[M, ...] | None]:
    def salvage(tree: object) -> tuple[M, ...] | None:
        if not isinstance(tree, list):
            return None
        kept = [record for item in tree if (record := mend(model, item)) is not None]
        logger.warning("%s: kept %d of %d records", model.__name__, len(kept), len(tree))
        return settle(tuple(kept))

    return salvage


_A_TIME: TypeAdapter[datetime] = TypeAdapter(Time)


def _mend_times(tree: object) -> Mapping[str, datetime] | None:
    """The tombstones whose time can be read: without them what was forgotten would come back."""
    if not isinstance(tree, dict):
        return None
    kept = {}
    for key, value in tree.items():
        try:
            kept[str(key)] = _A_TIME.validate_python(value)
        except ValidationError:
            continue
    return kept


class Stores:
    """The JSON files of one memory folder."""

    def __init__(self, folder: Path, *, fs: FileSystem = REAL, codec: Codec = PLAIN) -> None:
        self.folder = folder
        self.fs = fs
        self.codec = codec

        def store(
            name: str,
            kind: Any,
            empty: Callable[[], T],
            merge: Callable[[T, T], T],
            salvage: Callable[[object], T | None] | None = None,
            dump: Callable[[T], bytes] | None = None,
        ) -> JsonStore[T]:
            adapter: TypeAdapter[T] = TypeAdapter(kind)
            return JsonStore(
                folder / name, adapter, empty=empty, merge=merge, salvage=salvage, dump=dump, fs=fs, codec=codec
            )

        no_facts: Callable[[], tuple[Fact, ...]] = tuple
        no_episodes: Callable[[], tuple[Episode, ...]] = tuple
        no_topics: Callable[[], tuple[Topic, ...]] = tuple
        no_projects: Callable[[], tuple[Project, ...]] = tuple
        no_times: Callable[[], Mapping[str, datetime]] = dict
        self.facts = store(
            "memory_index.json",
            Facts,
            no_facts,
            merges.facts,
            _mend_list(Fact, _named_facts),
            RecordDump(TypeAdapter(Fact)),
        )
        self.tombstones = store("memory_tombstones.json", Tombstones, no_times, merges.times, _mend_times)
        self.archive = store(
            "memory_archive.json",
            Facts,
            no_facts,
            merges.facts,
            _mend_list(Fact, _named_facts),
            RecordDump(TypeAdapter(Fact)),
        )
        self.episodes = store(
            "episodes.json", Episodes, no_episodes, merges.episodes, _mend_list(Episode, _named_episodes)
        )
        self.topics = store("topics.json", Topics, no_topics, merges.topics, _mend_list(Topic, _named_topics))
        self.projects = store(
            "projects.json", Projects, no_projects, merges.projects, _mend_list(Project, _named_projects)
        )
        self.profile = store("user_profile.json", Profile, Profile, merges.profile, lambda t: mend(Profile, t))
        self.usage = store("usage_stats.json", Usage, Usage, merges.usage, lambda t: mend(Usage, t))
        self.side = store(
            "memory_details.json",
            SideFile,
            SideFile,
            _merge_side,
            lambda t: mend(SideFile, t),
            FieldDump(SideFile, "items"),
        )
        self.history = store(
            "memory_history.json", HistoryFile, HistoryFile, _merge_history, lambda t: mend(HistoryFile, t)
        )
        self.undo = store("memory_undo.json", UndoFile, UndoFile, _merge_undo, lambda t: mend(UndoFile, t))
        self.compactor = store(
            "compactor_state.json", CompactorState, CompactorState, _merge_state, lambda t: mend(CompactorState, t)
        )

    def all(self) -> tuple[JsonStore[Any], ...]:
        """Every store, for health reports and key rotation."""
        return (
            self.facts,
            self.tombstones,
            self.archive,
            self.episodes,
            self.topics,
            self.projects,
            self.profile,
            self.usage,
            self.side,
            self.history,
            self.undo,
            self.compactor,
        )

    def reseal(self) -> None:
        """Dress every file by the present codec: after a key was set for the first time or changed.

        Files that cannot be opened are left alone and logged. Raises :class:`OSError`.
        """
        for store in self.all():
            try:
                store.rewrite()
            except StoreReadOnlyError as error:
                logger.warning("Not sealed anew: %s", error)
        for path in self._texts():
            locked = path.suffix != ".md" or path.parent.name.isdigit()  # what others add to, not what they write whole
            with self.fs.lock(path.with_name(path.name + ".lock"), 30.0) if locked else nullcontext():
                try:
                    plain = self.codec.decode(path.name, self.fs.read(path))
                except FileNotFoundError:
                    continue
                except UnopenableError as error:
                    logger.warning("Not sealed anew: %s", error)
                    continue
                atomic_write_bytes(path, self.codec.encode(path.name, plain), fs=self.fs)
        for path in self._half_made():
            if self.codec is not PLAIN and not self._is_sealed(path):
                self.fs.delete(path)

    def unsealed(self) -> bool:
        """Whether a file is still in plain text though a key is set, and can be changed."""
        if self.codec is PLAIN or not self.fs.writable(self.folder):
            return False
        paths = [s.path for s in self.all() if s.signature is not None]
        return not all(map(self._is_sealed, (*paths, *self._texts(), *self._half_made())))

    def _is_sealed(self, path: Path) -> bool:
        """Whether nothing of a file can be read without the key; one that is gone by now is."""
        try:
            return self.fs.read(path, 0, len(SEALED_PREFIX)).startswith(SEALED_PREFIX)
        except FileNotFoundError:
            return True

    def sweep(self, before: datetime) -> None:
        """Remove what killed writers left half made before a time, in every folder that holds text."""
        for folder in (self.folder, *self._folders()):
            sweep_abandoned(folder, before, self.fs)

    def _folders(self) -> list[Path]:
        """The folders of notes, digests and the queue."""
        queue = self.folder / "pending"
        dated = [p for p in self.fs.list(self.folder) if p.name.isdigit() or p.name in ("weekly", "monthly")]
        return [*dated, queue, queue / "answers"]

    def _texts(self) -> list[Path]:
        """What holds text beside the stores: ``MEMORY.md``, its backups, notes, digests, the queue, the graph, what the
        worker knows, and damaged files that were set aside."""
        inside = [f for folder in self._folders() for f in self.fs.list(folder) if f.suffix in (".md", ".json")]
        own = [
            p
            for p in self.fs.list(self.folder)
            if p.name.startswith("MEMORY.md") or p.name in _BESIDE_STORES or self.is_set_aside(p.name)
        ]
        return [*own, *inside]

    def _half_made(self) -> list[Path]:
        """Temporary files of writers that are under way or were killed."""
        return [p for folder in (self.folder, *self._folders()) for p in self.fs.list(folder) if is_temporary(p)]

    @property
    def unwritable(self) -> str:
        """A sentence while the folder cannot be written, else empty; reads no file."""
        if self.fs.writable(self.folder):
            return ""
        return f"Memory cannot be written: {self.folder} is read-only here. Nothing new is remembered until it is not."

    @property
    def unopened(self) -> tuple[str, ...]:
        """What could not be opened when it was last read, in sentences; reads nothing."""
        return tuple(store.problem for store in self.all() if store.problem)

    def problems(self) -> tuple[str, ...]:
        """What cannot be opened or written right now, in sentences."""
        found = [problem] if (problem := self.unwritable) else []
        for store in self.all():
            store.read()
            if store.problem:
                found.append(store.problem)
        return tuple(found)

    def faults(self) -> tuple[str, ...]:
        """All that is wrong with the files, in sentences that say what to do."""
        return (*self.problems(), *self.set_aside())

    @staticmethod
    def is_set_aside(name: str) -> bool:
        """Whether a file is a damaged one that was kept out of the way."""
        return _SET_ASIDE.search(name) is not None

    def set_aside(self) -> tuple[str, ...]:
        """Damaged files that are kept, in sentences, the last one of each name."""
        kept = {_SET_ASIDE.sub("", p.name): p.name for p in self.fs.list(self.folder) if self.is_set_aside(p.name)}
        return tuple(
            f"{name} was damaged once and is kept as {copy}. What could be read was carried over; compare the two, "
            f"then delete the copy."
            for name, copy in kept.items()
        )
