"""The cache between the disk and the prompt: folders surveyed, documents prepared, rules resolved.

Everything derived knows the paths it rests on; when one of them differs, exactly what rests on it is derived again. A
rule's text is prepared when the rule first applies: most rules of a large repository never do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from chatls_core.instructions import documents, frontmatter, rules
from chatls_core.instructions.boundary import Boundary
from chatls_core.instructions.disk import FileTable, Unreadable
from chatls_core.instructions.documents import InstructionDocument
from chatls_core.instructions.folders import Folder, RuleFile, survey
from chatls_core.instructions.globs import PatternSet
from chatls_core.instructions.imports import is_blank
from chatls_core.instructions.model import FILE_LIMIT, ITEM_LIMIT
from chatls_core.instructions.workspace import Root, Workspace, survey_roots

_WHOLE = 1 << 40
"""No cap of its own: a file of the hierarchy is cut by the hierarchy's cap."""

_ENDINGS = (".md", ".mdc", ".mdx", ".markdown", ".txt")
"""Endings of everything that can be in a document; most paths asked about are none of these."""

_LIMITS = {"agents": _WHOLE, "bootstrap": FILE_LIMIT, "rule": ITEM_LIMIT}


class DocumentKey(NamedTuple):
    """A file in the role it plays for a folder."""

    path: str
    folder: str
    role: Literal["agents", "bootstrap", "rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of one folder, ready to be matched.

    ``unreadable`` says why there is no head. ``shadowed_by`` is the path of the rule in its place. ``stands`` is
    whether it silences weaker rules of its name: it says something, and not only by hand.
    """

    file: RuleFile
    unreadable: Unreadable | None
    applies: rules.Applies
    patterns: PatternSet
    stands: bool
    size_bytes: int
    digest: str
    shadowed_by: str = ""

    @property
    def active(self) -> bool:
        """Whether the rule can reach the model at all."""
        return self.stands and not self.shadowed_by and self.applies.when in ("always", "paths")


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
    _documents: dict[DocumentKey, InstructionDocument | Unreadable] = field(default_factory=dict)
    _rules: dict[str, tuple[Rule, ...]] = field(default_factory=dict)
    _names: dict[str, frozenset[str]] = field(default_factory=dict)
    _rests_on: frozenset[str] | None = None
    _live: int = 0

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
                self.table, path, self.boundary(path), bootstrap=self.is_top(path), global_folder=self.global_folder
            )
            self._folders[path] = known
        return known

    def document(
        self, path: str, folder: str, role: Literal["agents", "bootstrap", "rule"]
    ) -> InstructionDocument | Unreadable:
        """The file ``path`` of ``folder``, prepared for its role."""
        key = DocumentKey(path, folder, role)
        known = self._documents.get(key)
        if known is None:
            known = documents.load(
                self.table, path, self.boundary(folder), scan=self.scan, limit=_LIMITS[role], has_head=role == "rule"
            )
            self._documents[key] = known
            self._rests_on = None
        return known

    def rules(self, path: str) -> tuple[Rule, ...]:
        """The rules of the folder ``path``, by name; of one name the strongest dialect that says something stands."""
        known = self._rules.get(path)
        if known is None:
            known = tuple(sorted(self._resolved(self.folder(path)), key=lambda r: (r.file.name, r.file.path)))
            self._rules[path] = known
            self._rests_on = None
        return known

    def _resolved(self, folder: Folder) -> Iterator[Rule]:
        taken: dict[str, str] = {}
        for file in reversed(folder.rules):
            content = documents.admitted(self.table, file.path, self.boundary(folder.path))
            if isinstance(content, Unreadable):
                yield Rule(file, content, rules.Applies("broken", reason=content.reason), PatternSet(()), False, 0, "")
                continue
            head = frontmatter.parse(content.text)
            applies = rules.applies(head, file.dialect)
            stands = applies.when != "manual" and not is_blank(head.body)
            shadowed_by = taken.get(file.name, "")
            if stands and not shadowed_by:
                taken[file.name] = file.path
            patterns = PatternSet(applies.patterns)
            yield Rule(file, None, applies, patterns, stands, content.size_bytes, content.digest, shadowed_by)

    def rule_names(self, root: Root) -> frozenset[str]:
        """Names of rules of ``root`` and its parents; a global rule of such a name stays silent there."""
        known = self._names.get(root.path)
        if known is None:
            own = (folder for folder in (root.path, *root.parents) if folder != self.global_folder)
            known = frozenset(rule.file.name for folder in own for rule in self.rules(folder) if rule.stands)
            self._names[root.path] = known
        return known

    def refresh(self) -> tuple[dict[str, str], dict[str, str]] | None:
        """Look at everything again. ``None`` when nothing differs.

        Otherwise what was used and what is used now, path to fingerprint, as far as it may differ.
        """
        dirty = self.table.check()
        if not dirty:
            return None
        everything = False
        if self._workspace is not None and self._workspace.looked_at & dirty:
            old, self._workspace = self._workspace, None
            new = self.workspace
            everything = (old.roots, old.boundary) != (new.roots, new.boundary)
        folders = [p for p, f in self._folders.items() if everything or not f.looked_at.isdisjoint(dirty)]
        stale = [
            key
            for key, document in self._documents.items()
            if key.folder in folders
            or key.path in dirty
            or (isinstance(document, InstructionDocument) and not document.looked_at.isdisjoint(dirty))
        ]
        with_rules = [p for p, known in self._rules.items() if p in folders or any(r.file.path in dirty for r in known)]
        before = self._used(stale, with_rules)
        for path in folders:
            del self._folders[path]
        for key in stale:
            del self._documents[key]
        for path in with_rules:
            del self._rules[path]
        self._names.clear()
        self._rests_on = None
        self._load_again(folders, stale, with_rules)
        after = self._used(stale, with_rules)
        inside = self._inside()
        elsewhere = {path: inside[path] for path in before if path not in after and path in inside}
        self._forget()
        return before, {**after, **elsewhere}

    def _load_again(self, folders: Sequence[str], stale: list[DocumentKey], with_rules: Sequence[str]) -> None:
        """Derive anew what was dropped, as far as it still exists; ``stale`` grows by documents of new files."""
        for path in folders:
            if not (self.is_top(path) or self.table.is_folder(path)):
                continue
            folder = self.folder(path)
            files = [(file, "agents") for file in (folder.agents, folder.local) if file is not None]
            for file, role in (*files, *((file, "bootstrap") for _, file in folder.bootstrap)):
                key = DocumentKey(file, path, "agents" if role == "agents" else "bootstrap")
                self.document(*key)
                if key not in stale:
                    stale.append(key)
        for path in with_rules:
            if path in self._folders:
                self.rules(path)
        for key in stale:
            if key.folder in self._folders and key not in self._documents and self._holds(key):
                self.document(*key)

    def _holds(self, key: DocumentKey) -> bool:
        """Whether the folder still has the file in this role."""
        folder = self._folders[key.folder]
        if key.role == "rule":
            return any(key.path == rule.path for rule in folder.rules)
        return key.path in (folder.agents, folder.local) or any(key.path == file for _, file in folder.bootstrap)

    def _used(self, keys: Sequence[DocumentKey], with_rules: Sequence[str]) -> dict[str, str]:
        used = {rule.file.path: rule.digest for path in with_rules for rule in self._rules.get(path, ()) if rule.digest}
        for key in keys:
            document = self._documents.get(key)
            if isinstance(document, InstructionDocument):
                used.update(document.used)
        return used

    def _inside(self) -> dict[str, str]:
        """Every path whose text is in a prepared document, with its fingerprint."""
        found: dict[str, str] = {}
        for document in self._documents.values():
            if isinstance(document, InstructionDocument):
                found.update(document.used)
        return found

    def _forget(self) -> None:
        """Drop what nothing rests on any more once it has piled up, so that a long life does not grow."""
        if len(self.table) <= self._live + self._live // 4 + 64:
            return
        live = set(self.workspace.looked_at)
        for folder in self._folders.values():
            live |= folder.looked_at
            live.update(rule.path for rule in folder.rules)
        for document in self._documents.values():
            if isinstance(document, InstructionDocument):
                live |= document.looked_at
        self.table.retain(live)
        self._live = len(self.table)

    def rests_on(self) -> frozenset[str]:
        """Every file whose change would change what was loaded, missing imports and the ends of links included."""
        if self._rests_on is None:
            found = {rule.file.path for known in self._rules.values() for rule in known}
            for document in self._documents.values():
                if isinstance(document, InstructionDocument):
                    found |= document.looked_at
            self._rests_on = frozenset(found | {self.table.real(path) for path in found})
        return self._rests_on

    def uses(self, path: str) -> bool:
        """Whether the text of ``path`` is in a prepared document."""
        if not path.lower().endswith(_ENDINGS):
            return False
        return any(
            used == path
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
        for key, document in self._documents.items():
            if key.path in wanted and isinstance(document, InstructionDocument):
                yield document
