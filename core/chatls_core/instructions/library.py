"""The cache between the disk and the prompt: folders surveyed, documents prepared, rules resolved.

Everything derived knows the paths it rests on; when one of them differs, exactly what rests on it is derived again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chatls_core.instructions import documents, rules
from chatls_core.instructions.boundary import Boundary
from chatls_core.instructions.disk import FileTable, Unreadable
from chatls_core.instructions.documents import InstructionDocument
from chatls_core.instructions.folders import Folder, RuleFile, survey
from chatls_core.instructions.globs import PatternSet
from chatls_core.instructions.imports import is_blank
from chatls_core.instructions.model import FILE_LIMIT, ITEM_LIMIT
from chatls_core.instructions.workspace import Workspace, survey_roots

_WHOLE = 1 << 40
"""No cap of its own: a file of the hierarchy is cut by the hierarchy's cap."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of one folder, ready to be matched. ``shadowed_by`` is the path of the rule in its place."""

    file: RuleFile
    document: InstructionDocument | Unreadable
    applies: rules.Applies
    patterns: PatternSet
    shadowed_by: str = ""

    @property
    def stands(self) -> bool:
        """Whether the rule silences weaker ones of its name: it says something, and not only by hand."""
        return (
            isinstance(self.document, InstructionDocument)
            and self.document.head is not None
            and self.applies.when != "manual"
            and not is_blank(self.document.head.body)
        )

    @property
    def active(self) -> bool:
        """Whether the rule can reach the model at all."""
        return (
            not self.shadowed_by
            and isinstance(self.document, InstructionDocument)
            and bool(self.document.text)
            and self.applies.when in ("always", "paths")
        )


@dataclass(slots=True)
class Library:
    """Not thread-safe: its owner holds a lock."""

    roots: Sequence[str]
    global_folder: str
    trusted: bool
    scan: bool
    table: FileTable = field(default_factory=FileTable)
    _workspace: Workspace | None = None
    _folders: dict[str, Folder] = field(default_factory=dict)
    _documents: dict[tuple[str, bool, bool], InstructionDocument | Unreadable] = field(default_factory=dict)
    _rules: dict[str, tuple[Rule, ...]] = field(default_factory=dict)

    @property
    def workspace(self) -> Workspace:
        """The opened folders and the repositories around them."""
        if self._workspace is None:
            self._workspace = survey_roots(self.table, self.roots, self.global_folder, trusted=self.trusted)
        return self._workspace

    def boundary(self, folder: str) -> Boundary:
        """Where files of ``folder`` may come from and import from."""
        return self.workspace.global_boundary if folder == self.global_folder else self.workspace.boundary

    def is_top(self, folder: str) -> bool:
        """Whether ``folder`` is an opened folder, one of its parents or the global folder."""
        return folder == self.global_folder or any(folder in (r.path, *r.parents) for r in self.workspace.roots)

    def folder(self, path: str) -> Folder:
        """The instruction files of the folder ``path``."""
        known = self._folders.get(path)
        if known is None:
            known = survey(
                self.table, path, self.boundary(path),
                bootstrap=self.is_top(path), global_folder=self.global_folder,
            )
            self._folders[path] = known
        return known

    def document(self, path: str, folder: str, *, capped: bool = True, has_head: bool = False) -> (
        InstructionDocument | Unreadable
    ):
        """The file ``path`` of ``folder``, prepared; ``capped`` at its own limit or left to the hierarchy's."""
        key = (path, folder == self.global_folder, capped)
        known = self._documents.get(key)
        if known is None:
            known = documents.load(
                self.table, path, self.boundary(folder), scan=self.scan,
                limit=(ITEM_LIMIT if has_head else FILE_LIMIT) if capped else _WHOLE, has_head=has_head,
            )
            self._documents[key] = known
        return known

    def rules(self, path: str) -> tuple[Rule, ...]:
        """The rules of the folder ``path``, by name; of one name the strongest dialect that says something stands."""
        known = self._rules.get(path)
        if known is None:
            known = tuple(self._resolved(self.folder(path)))
            self._rules[path] = known
        return known

    def _resolved(self, folder: Folder) -> Iterator[Rule]:
        taken: dict[str, str] = {}
        found: list[Rule] = []
        for file in reversed(folder.rules):
            document = self.document(file.path, folder.path, has_head=True)
            if isinstance(document, InstructionDocument) and document.head is not None:
                applies = rules.applies(document.head, file.dialect)
            else:
                applies = rules.Applies("broken", reason="it cannot be read")
            rule = Rule(file, document, applies, PatternSet(applies.patterns), taken.get(file.name, ""))
            if rule.stands and not rule.shadowed_by:
                taken[file.name] = file.path
            found.append(rule)
        yield from sorted(found, key=lambda rule: (rule.file.name, rule.file.path))

    def refresh(self) -> tuple[dict[str, str], dict[str, str]] | None:
        """Look at everything again. ``None`` when nothing differs, else what was and what is used, by path."""
        dirty = self.table.check()
        if not dirty:
            return None
        before = self.used()
        known = list(self._folders)
        if self._workspace is not None and self._workspace.looked_at & dirty:
            old, self._workspace = self._workspace, None
            if (old.roots, old.boundary) != (self.workspace.roots, self.workspace.boundary):
                self._folders.clear()
                self._documents.clear()
        self._folders = {p: f for p, f in self._folders.items() if not f.looked_at & dirty}
        self._documents = {
            key: d
            for key, d in self._documents.items()
            if key[0] not in dirty and (isinstance(d, Unreadable) or not d.looked_at & dirty)
        }
        self._rules.clear()
        for path in known:
            if self.is_top(path) or self.table.is_folder(path):
                self._load(path)
        after = self.used()
        self._forget(known)
        return before, after

    def _load(self, path: str) -> None:
        folder = self.folder(path)
        for file in (folder.agents, folder.local):
            if file is not None:
                self.document(file, path, capped=False)
        for _, file in folder.bootstrap:
            self.document(file, path)
        self.rules(path)

    def _forget(self, known: Sequence[str]) -> None:
        """Drop what no folder holds any more, so that a long life does not grow."""
        held: set[str] = set()
        for folder in self._folders.values():
            held.update(p for p in (folder.agents, folder.local) if p)
            held.update(p for _, p in folder.bootstrap)
            held.update(r.path for r in folder.rules)
        self._documents = {key: d for key, d in self._documents.items() if key[0] in held}
        live = {*known, *held, *self.workspace.looked_at}
        for folder in self._folders.values():
            live |= folder.looked_at
        for document in self._documents.values():
            if isinstance(document, InstructionDocument):
                live |= document.looked_at
        self.table.retain(live)

    def uses(self, path: str) -> bool:
        """Whether the text of ``path`` is in a prepared document."""
        return any(
            path == used
            for document in self._documents.values()
            if isinstance(document, InstructionDocument)
            for used, _ in document.used
        )

    def users(self, path: str) -> set[str]:
        """The instruction files that have the text of ``path`` inside, itself left out."""
        return {
            document.path
            for document in self._documents.values()
            if isinstance(document, InstructionDocument)
            and document.path != path
            and any(used == path for used, _ in document.used)
        }

    def prepared(self, paths: set[str]) -> Iterator[InstructionDocument]:
        """The prepared documents of ``paths``, companions of AGENTS files among them, in order of loading."""
        wanted = set(paths)
        for folder in self._folders.values():
            if folder.agents in paths and folder.local is not None:
                wanted.add(folder.local)
        for (path, _, _), document in self._documents.items():
            if path in wanted and isinstance(document, InstructionDocument):
                yield document

    def used(self) -> dict[str, str]:
        """Every path whose text is in a prepared document, with a fingerprint."""
        return {
            path: digest
            for document in self._documents.values()
            if isinstance(document, InstructionDocument)
            for path, digest in document.used
        }
