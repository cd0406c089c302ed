"""What the loader hands out: items for the prompt, changes, and the report of what applies and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ItemKind = Literal["bootstrap", "agents", "rule"]

BOOTSTRAP_NAMES = ("SOUL.md", "USER.md", "IDENTITY.md", "RULES.md")
"""The files beside AGENTS.md, in prompt order (spec/memory.md §1.1)."""

HIERARCHY_LIMIT = 32 * 1024
"""Bytes of UTF-8 one joined hierarchy of AGENTS files may take (spec/memory.md §1.4), in each half of the prompt."""

FILE_LIMIT = 32 * 1024
"""Bytes of UTF-8 one import or other bootstrap file may take, its own imports included (spec/memory.md §1.4)."""

RULES_LIMIT = 32 * 1024
"""Bytes of UTF-8 the rules of one half of the prompt may take together."""

ITEM_LIMIT = 31 * 1024
"""Bytes of one rule or one nested AGENTS file, so that with its heading it fits the cap of its half."""


@dataclass(frozen=True, slots=True)
class InstructionItem:
    """One instruction text as the model reads it.

    ``id`` is the same for the same place on disk as long as the workspace's folders stay; ``digest`` fingerprints
    ``text``, so a caller that remembers both knows what a conversation already carries. ``text`` has its imports
    expanded, is scanned and within its cap. ``size_bytes`` is the file's size on disk, ``full_bytes`` that of the
    text before any cap, ``tokens`` an estimate for ``text``. ``folder`` is the workspace-relative folder a nested file
    speaks for ("" for the whole workspace). ``comment`` stands before the text in the joined hierarchy.
    ``trusted`` is False for a file of a workspace the user has not trusted: it is rendered as data.
    """

    id: str
    kind: ItemKind
    title: str
    path: Path
    text: str
    digest: str
    size_bytes: int = 0
    full_bytes: int = 0
    tokens: int = 0
    patterns: tuple[str, ...] = ()
    folder: str = ""
    comment: str = ""
    trusted: bool = True


@dataclass(frozen=True, slots=True)
class InstructionChanges:
    """What :meth:`Instructions.refresh` found different from what was loaded before. Paths are sorted."""

    changed: tuple[Path, ...] = ()
    added: tuple[Path, ...] = ()
    removed: tuple[Path, ...] = ()
    files: int = 0
    rules: int = 0

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.removed)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every path that differs, sorted."""
        return tuple(sorted({*self.changed, *self.added, *self.removed}))


ImportStatus = Literal[
    "expanded",  # the text stands in the importing file's place
    "missing",  # no such file
    "refused",  # leaves the folders imports may come from
    "cycle",  # imports itself, directly or through others
    "repeated",  # stands further up already
    "too-deep",  # more than four hops
    "unreadable",  # a directory, a device, binary, no permission
    "beyond-cap",  # what comes here is cut anyway
]


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One import met while loading, and where: ``source`` is the importing file, ``start`` and ``end`` are half-open.

    Lines are zero-based, counted in the file's body (behind a rule's frontmatter); columns are code points.
    """

    source: Path
    line: int
    start: int
    end: int
    written: str
    target: Path | None
    status: ImportStatus
    reason: str = ""
    size_bytes: int = 0
    cut_bytes: int = 0


ReportStatus = Literal[
    "system",  # in the system text
    "turn",  # in [TURN CONTEXT] for the asked document
    "cut",  # applies, but left out or shortened by a cap
    "shadowed",  # another file stands in its place
    "unmatched",  # a rule whose patterns do not match the document
    "manual",  # a rule that another tool applies only by hand
    "empty",  # nothing but white space or comments
    "refused",  # a link that leaves the workspace
    "unreadable",  # cannot be read, or frontmatter cannot be parsed
]


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """One file of the report: what it is, whether the model reads it, and why."""

    id: str
    kind: ItemKind
    title: str
    path: Path
    status: ReportStatus
    why: str
    size_bytes: int = 0
    tokens: int = 0
    shown_bytes: int = 0
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InstructionReport:
    """The answer of ``chatls.instructions.show`` (PROTOCOL.md): what applies to ``path``, in prompt order.

    ``files`` are AGENTS and the other bootstrap files, ``rules`` the rules, both in the order the model reads them and
    followed by what does not apply; ``cut`` repeats the entries a cap shortened.
    """

    path: Path | None
    enabled: bool
    trusted: bool
    files: tuple[ReportEntry, ...] = ()
    imports: tuple[ImportRecord, ...] = ()
    rules: tuple[ReportEntry, ...] = ()
    cut: tuple[ReportEntry, ...] = ()
    markdown: str = ""

    def data(self) -> Mapping[str, object]:
        """The report as JSON-ready data: ``{files, imports, rules, cut, enabled, trusted}`` with URIs."""
        return {
            "enabled": self.enabled,
            "trusted": self.trusted,
            "files": [_entry_data(e) for e in self.files],
            "imports": [_import_data(i) for i in self.imports],
            "rules": [_entry_data(e) for e in self.rules],
            "cut": [_entry_data(e) for e in self.cut],
        }


def _entry_data(entry: ReportEntry) -> Mapping[str, object]:
    return {
        "id": entry.id,
        "kind": entry.kind,
        "title": entry.title,
        "uri": entry.path.as_uri(),
        "status": entry.status,
        "why": entry.why,
        "bytes": entry.size_bytes,
        "shownBytes": entry.shown_bytes,
        "tokens": entry.tokens,
        "patterns": list(entry.patterns),
    }


def _import_data(record: ImportRecord) -> Mapping[str, object]:
    return {
        "source": record.source.as_uri(),
        "line": record.line,
        "written": record.written,
        "uri": record.target.as_uri() if record.target else None,
        "status": record.status,
        "reason": record.reason,
        "bytes": record.size_bytes,
        "cutBytes": record.cut_bytes,
    }
