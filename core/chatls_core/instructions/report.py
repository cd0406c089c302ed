"""``chatls.instructions.show``: which files, imports and rules apply to a document, in order, and why (PROTOCOL.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from chatls_core.instructions import caps, names, pathtext
from chatls_core.instructions.folders import Folder
from chatls_core.instructions.library import Library, Rule
from chatls_core.instructions.model import (
    BOOTSTRAP_NAMES,
    ImportRecord,
    InstructionItem,
    InstructionReport,
    ItemKind,
    ReportEntry,
    ReportStatus,
)
from chatls_core.instructions.selection import Selected, Selection
from chatls_core.instructions.workspace import Root


def report(
    library: Library, selection: Selection, stable: Selected, around: Selected, path: Path | None
) -> InstructionReport:
    """The report for ``path``, given what :class:`Selection` chose for both halves."""
    applied = [
        *(_applied(item, "system") for item in stable.items if _is_file(item)),
        *(_applied(item, "turn") for item in around.items if _is_file(item)),
    ]
    left_out = [_left_out(item) for item in (*stable.left_out, *around.left_out)]
    settled = {entry.path for entry in (*applied, *left_out)}
    folders = list(_folders(library, selection, path))
    others = [
        *(entry for root, folder in folders for entry in _skipped(library, root, folder)),
        *(entry for root, folder in folders for entry in _idle_rules(library, root, folder)),
    ]
    everything = [*applied, *left_out, *(entry for entry in others if entry.path not in settled)]
    read = {str(entry.path) for entry in (*applied, *left_out)}
    imports = tuple(record for document in library.prepared(read) for record in document.imports)
    files = tuple(entry for entry in everything if entry.kind != "rule")
    rules = tuple(entry for entry in everything if entry.kind == "rule")
    cut = tuple(entry for entry in everything if entry.status == "cut" or "shortened" in entry.why)
    return InstructionReport(
        path, True, library.trusted, files, imports, rules, cut, _markdown(library, path, files, imports, rules)
    )


def _is_file(item: InstructionItem) -> bool:
    return not item.id.endswith("://left-out")


def _applied(item: InstructionItem, status: ReportStatus) -> ReportEntry:
    shown = caps.size(item.text)
    why = _why(item, status)
    if shown < item.full_bytes:
        why += f"; shortened from {item.full_bytes:,} bytes by the 32 KiB cap"
    return ReportEntry(
        item.id, item.kind, item.title, item.path, status, why, item.size_bytes, item.tokens, shown, item.patterns
    )


def _why(item: InstructionItem, status: ReportStatus) -> str:
    if item.kind == "rule":
        if status == "turn" and item.patterns:
            return "its patterns match"
        return f"applies to everything in {item.folder}" if status == "turn" else "always applies"
    if item.id == "agents://global":
        return "global, for every workspace"
    if status == "turn":
        return f"speaks for {item.folder}/"
    if item.kind == "bootstrap":
        return "the nearest of its name"
    return "of a folder above, in the same repository" if ".." in item.id else "of the opened folder"


def _left_out(item: InstructionItem) -> ReportEntry:
    return ReportEntry(
        item.id,
        item.kind,
        item.title,
        item.path,
        "cut",
        "applies, but nearer text fills the 32 KiB cap",
        item.size_bytes,
        item.tokens,
        0,
        item.patterns,
    )


def _folders(library: Library, selection: Selection, path: Path | None) -> Iterator[tuple[Root | None, Folder]]:
    seen: set[str] = set()
    seen.add(library.global_folder)
    yield None, library.folder(library.global_folder)
    for root in library.workspace.roots:
        for folder in (*root.parents, root.path):
            if folder not in seen:
                seen.add(folder)
                yield root, library.folder(folder)
    if path is not None:
        for root, folder in selection.chain(path):
            if folder not in seen:
                seen.add(folder)
                yield root, library.folder(folder)


def _skipped(library: Library, root: Root | None, folder: Folder) -> Iterator[ReportEntry]:
    for skipped in folder.skipped:
        kind: ItemKind = "agents"
        if names.is_rule(skipped.path, library.global_folder):
            kind = "rule"
        elif pathtext.base(skipped.path) in BOOTSTRAP_NAMES:
            kind = "bootstrap"
        title = _title(root, skipped.path, library)
        yield ReportEntry(f"file:{title}", kind, title, Path(skipped.path), skipped.kind, skipped.reason)


def _idle_rules(library: Library, root: Root | None, folder: Folder) -> Iterator[ReportEntry]:
    for rule in library.rules(folder.path):
        status, why = _idle(library, rule, is_global=root is None)
        title = _title(root, rule.file.path, library)
        yield ReportEntry(
            f"rule-file:{title}",
            "rule",
            f"Rule: {caps.shown(rule.file.name)}",
            Path(rule.file.path),
            status,
            why,
            rule.size_bytes,
            patterns=rule.applies.patterns,
        )


def _idle(library: Library, rule: Rule, *, is_global: bool) -> tuple[ReportStatus, str]:
    """Why a rule that is not among the applied ones does not apply."""
    if rule.unreadable is not None:
        return ("refused" if rule.unreadable.kind == "refused" else "unreadable"), rule.unreadable.reason
    if rule.shadowed_by:
        return "shadowed", f"a rule of the same name stands in its place: {caps.shown(rule.shadowed_by)}"
    if rule.applies.when == "broken":
        return "unreadable", rule.applies.reason
    if rule.applies.when == "manual":
        return "manual", rule.applies.reason
    if not rule.stands:
        return "empty", "it says nothing"
    if is_global and any(rule.file.name in library.rule_names(root) for root in library.workspace.roots):
        return "shadowed", "the workspace has a rule of the same name"
    return "unmatched", "no pattern matches"


def _title(root: Root | None, path: str, library: Library) -> str:
    start = root.path if root is not None else library.global_folder
    return caps.shown(pathtext.relative(path, start)) + (" (global)" if root is None else "")


def _markdown(
    library: Library,
    path: Path | None,
    files: tuple[ReportEntry, ...],
    imports: tuple[ImportRecord, ...],
    rules: tuple[ReportEntry, ...],
) -> str:
    subject = f"`{caps.shown(path.name)}`" if path is not None else "the workspace"
    lines = [f"# Instructions for {subject}", ""]
    if not library.trusted:
        lines += ["The workspace is not trusted: its files are shown to the model as data.", ""]
    entries = [*files, *rules]
    applied = [entry for entry in entries if entry.status in ("system", "turn")]
    tokens = sum(entry.tokens for entry in applied)
    lines += [f"{len(applied)} of {len(entries)} files and rules apply, about {tokens:,} tokens.", ""]
    if applied:
        lines += ["| # | what | where | bytes | tokens | why |", "| --- | --- | --- | --- | --- | --- |"]
        for number, entry in enumerate(applied, 1):
            where = "system text" if entry.status == "system" else "turn context"
            lines.append(
                f"| {number} | {_link(entry.title, entry.path)} | {where} | {entry.shown_bytes:,} | {entry.tokens:,} "
                f"| {_cell(entry.why)} |"
            )
        lines.append("")
    idle = [entry for entry in entries if entry.status not in ("system", "turn")]
    if idle:
        lines += ["## Not applied", ""]
        lines += [f"- {_link(e.title, e.path)}: {e.status}, {_cell(e.why)}" for e in idle]
        lines.append("")
    if imports:
        lines += ["## Imports", ""]
        for record in imports:
            target = _link(record.written, record.target) if record.target else f"`{_cell(record.written)}`"
            note = f", {record.reason}" if record.reason else f", {record.size_bytes:,} bytes"
            cut = f", {record.cut_bytes:,} bytes cut" if record.cut_bytes else ""
            lines.append(f"- {caps.shown(record.source.name)}: {target}: {record.status}{note}{cut}")
        lines.append("")
    return "\n".join(lines)


def _link(title: str, path: Path) -> str:
    return f"[{_cell(title)}]({path.as_uri()})"


def _cell(text: str) -> str:
    clean = caps.shown(text)
    for mark in "\\|[]<>*_`":
        clean = clean.replace(mark, "\\" + mark)
    return clean
