"""What stands where in an instruction file that is being edited: head, patterns, imports, wiki links.

Works on a buffer's text, not on the saved file. Lines are zero-based and split at ``\\n``, ``\\r\\n`` and ``\\r``;
columns are code points.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chatls_core.instructions import caps, frontmatter, names, pathtext
from chatls_core.instructions.boundary import Boundary
from chatls_core.instructions.disk import READ_LIMIT, FileTable, FileText, Unreadable
from chatls_core.instructions.documents import admitted
from chatls_core.instructions.expansion import Expanded, expand
from chatls_core.instructions.imports import LINE_BREAK, find_imports, find_wikilinks
from chatls_core.instructions.model import FILE_LIMIT, HIERARCHY_LIMIT, ITEM_LIMIT, ImportRecord, ImportStatus
from chatls_core.text import tokens

Role = Literal["agents", "bootstrap", "rule", "import"]


@dataclass(frozen=True, slots=True)
class Reference:
    """An import or wiki link of a buffer, and where it leads.

    ``start`` and ``end`` span the whole import, ``path_start`` and ``path_end`` the path or name in it. ``target`` is
    ``None`` where none is named. ``beneath`` are the imports of the imported file that failed.
    """

    kind: Literal["import", "wikilink"]
    line: int
    start: int
    end: int
    path_start: int
    path_end: int
    written: str
    target: Path | None
    status: ImportStatus
    reason: str = ""
    size_bytes: int = 0
    tokens: int = 0
    cut_bytes: int = 0
    in_sentence: bool = False
    beneath: tuple[ImportRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The parts of a buffer. ``lines`` have no line endings; ``body_line`` is where the body starts.

    Of a huge buffer only the beginning, as much as the loader reads of a file, is the ``body`` and searched for
    references. ``hidden_from`` is the first line the model will not see because of the file's own cap, ``None`` when
    all is seen; ``limit`` is that cap and ``full_bytes`` what the text would take. ``unreadable`` is why the saved file
    holds no text, "" when it does or nothing is saved.
    """

    path: Path
    role: Role
    lines: tuple[str, ...]
    head: frontmatter.Head | None
    body: str
    body_line: int
    references: tuple[Reference, ...]
    full_bytes: int
    limit: int
    hidden_from: int | None
    tokens: int
    on_disk: FileText | None
    unreadable: str = ""

    def reference_at(self, line: int, column: int) -> Reference | None:
        """The import or wiki link under a place, its end included."""
        return next((r for r in self.references if r.line == line and r.start <= column <= r.end), None)

    def pattern_at(self, line: int, column: int) -> frontmatter.Pattern | None:
        """The path pattern under a place, its end included."""
        patterns = self.head.patterns if self.head is not None else ()
        return next((p for p in patterns if p.line == line and p.start <= column <= p.end), None)


def dissect(path: str, text: str, boundary: Boundary, wiki_folders: tuple[str, ...], global_folder: str) -> Anatomy:
    """The anatomy of the buffer ``text`` of the file ``path``. Imports are looked up on disk, now."""
    table = FileTable()
    role = names.role(path, global_folder)
    lines = tuple(LINE_BREAK.split(text))
    whole = "\n".join(lines)
    normal = _beginning(whole)
    beyond = caps.size(whole) - caps.size(normal)
    head = frontmatter.parse(normal) if role == "rule" else None
    body, body_line = (head.body, head.body_line) if head is not None else (normal, 0)
    saved = admitted(table, path, boundary)
    on_disk = saved if isinstance(saved, FileText) else None
    identity = on_disk.identity if on_disk is not None else (-1, -1)
    content = FileText(path, normal, caps.size(normal), "", identity)
    expanded = expand(table, path, content, body, boundary)
    limit = {"rule": ITEM_LIMIT, "agents": HIERARCHY_LIMIT}.get(role, FILE_LIMIT)
    shown = expanded.text.strip()
    hidden = _hidden_from(expanded, limit, pathtext.base(path))
    references = (*_imports(table, path, body, expanded), *_wikilinks(table, path, body, boundary, wiki_folders))
    moved = tuple(dataclasses.replace(r, line=r.line + body_line) for r in references)
    return Anatomy(
        Path(path),
        role,
        lines,
        head,
        body,
        body_line,
        moved,
        caps.size(shown) + beyond,
        limit,
        None if hidden is None else hidden + body_line,
        tokens.estimate(caps.cut(shown, limit, "")),
        on_disk,
        saved.reason if isinstance(saved, Unreadable) and saved.kind not in ("missing", "refused") else "",
    )


def _beginning(text: str) -> str:
    """Whole lines of ``text`` up to :data:`READ_LIMIT` characters; part of a line where it is longer."""
    if len(text) <= READ_LIMIT:
        return text
    return text[:READ_LIMIT].rpartition("\n")[0] or text[:READ_LIMIT]


def _hidden_from(expanded: Expanded, limit: int, name: str) -> int | None:
    full = caps.size(expanded.text.strip())
    if full <= limit:
        return None
    note = caps.file_note(name, full)
    seen = caps.size(caps.cut(expanded.text.lstrip(), limit, note)) - caps.size(note) - 2
    return next((number for number, end in enumerate(expanded.line_ends) if end - 1 > seen), None)


def _imports(table: FileTable, path: str, body: str, expanded: Expanded) -> list[Reference]:
    """The imports of the buffer itself; records of imported files hang beneath the import that led to them."""
    written = find_imports(body)
    own: list[ImportRecord] = []
    beneath: list[list[ImportRecord]] = []
    for record in expanded.imports:
        if str(record.source) == path and len(own) < len(written) and record.start == written[len(own)].start:
            own.append(record)
            beneath.append([])
        elif beneath and record.status not in ("expanded", "repeated"):
            beneath[-1].append(record)
    references: list[Reference] = []
    for place, record, failed in zip(written, own, beneath, strict=False):
        content = table.text(str(record.target)) if record.status == "expanded" and record.target else None
        length = tokens.estimate(content.text) if isinstance(content, FileText) else 0
        references.append(
            Reference(
                "import",
                place.line,
                place.start,
                place.end,
                place.path_start,
                place.path_end,
                record.written,
                record.target,
                record.status,
                record.reason,
                record.size_bytes,
                length,
                record.cut_bytes,
                place.in_sentence,
                tuple(failed),
            )
        )
    return references


def _wikilinks(table: FileTable, path: str, body: str, boundary: Boundary, folders: tuple[str, ...]) -> list[Reference]:
    references: list[Reference] = []
    for link in find_wikilinks(body):
        target = _wiki_target(table, link.name, (pathtext.parent(path), *folders), boundary)
        references.append(
            Reference(
                "wikilink",
                link.line,
                link.start,
                link.end,
                link.start,
                link.end,
                link.name,
                Path(target.real) if target else None,
                "expanded" if target else "missing",
                "" if target else "no file of this name is beside it, in the workspace's root or among the rules",
                target.size_bytes if target else 0,
                tokens.estimate(target.text) if target else 0,
            )
        )
    return references


def _wiki_target(table: FileTable, name: str, folders: tuple[str, ...], boundary: Boundary) -> FileText | None:
    for folder in folders:
        for ending in ("", ".md", ".mdc"):
            candidate = pathtext.normal(pathtext.join(folder, name + ending))
            if not boundary.admits_as_written(candidate):
                continue
            content = admitted(table, candidate, boundary)
            if isinstance(content, FileText):
                return dataclasses.replace(content, real=candidate)
    return None
