"""Fixes for findings in instruction files: create the missing file, move a rule, split what is too long."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lsprotocol import types

from chatls_core.instructions import Instructions
from chatls_core.instructions.anatomy import Anatomy
from chatls_core.instructions.documents import hidden_characters
from chatls_core.instructions.findings import Finding
from chatls_server.lsp.instruction_features import to_diagnostic
from chatls_server.lsp.lines import Encoding, to_units
from chatls_server.lsp.uris import uri_of

_HEADING = re.compile(r"^#{1,3}\s+(?P<title>.*\S)\s*$")
_PATHLIKE = re.compile(r"`((?:[\w.*-]+/)+[\w.*-]*)`")
_MOST_PATTERNS = 5

Change = types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile


def code_actions(
    instructions: Instructions, uri: str, path: Path, text: str, place: types.Range, encoding: Encoding
) -> list[types.CodeAction]:
    """Fixes for the findings that touch ``place``. The client must support ``documentChanges`` and file operations."""
    if not instructions.inspector.concerns(path):
        return []
    inspection = instructions.inspector.inspect(path, text)
    actions: list[types.CodeAction] = []
    for finding in inspection.findings:
        if finding.end_line < place.start.line or finding.line > place.end.line:
            continue
        fix = _FIXES.get(finding.code)
        for title, changes in fix(finding, inspection.anatomy, uri, encoding, instructions.roots) if fix else ():
            actions.append(
                types.CodeAction(
                    title,
                    types.CodeActionKind.QuickFix,
                    [to_diagnostic(finding, inspection.anatomy, encoding)],
                    is_preferred=True,
                    edit=types.WorkspaceEdit(document_changes=list(changes)),
                )
            )
    return actions


Fixes = Iterator[tuple[str, Sequence[Change]]]


def _create_missing(finding: Finding, anatomy: Anatomy, uri: str, encoding: Encoding, roots: Sequence[Path]) -> Fixes:
    if target := finding.data.get("target"):
        options = types.CreateFileOptions(overwrite=False, ignore_if_exists=True)
        yield f"Create {Path(target).name}", [types.CreateFile(uri_of(target), options=options)]


def _move(finding: Finding, anatomy: Anatomy, uri: str, encoding: Encoding, roots: Sequence[Path]) -> Fixes:
    if target := finding.data.get("target"):
        options = types.RenameFileOptions(overwrite=False, ignore_if_exists=False)
        verb = "Rename to" if Path(target).parent == anatomy.path.parent else "Move to"
        shown = Path(target).name if verb == "Rename to" else "/".join(Path(target).parts[-3:])
        yield f"{verb} {shown}", [types.RenameFile(uri, uri_of(target), options=options)]


def _replace_key(finding: Finding, anatomy: Anatomy, uri: str, encoding: Encoding, roots: Sequence[Path]) -> Fixes:
    if name := finding.data.get("name"):
        yield f"Replace by {name}", [_edit(uri, anatomy, finding.line, finding.start, finding.end, name, encoding)]


def _remove_hidden(finding: Finding, anatomy: Anatomy, uri: str, encoding: Encoding, roots: Sequence[Path]) -> Fixes:
    line = anatomy.lines[finding.line]
    clean = line
    for match in reversed(hidden_characters(line)):
        clean = clean[: match.start()] + clean[match.end() :]
    yield "Remove the invisible characters", [_edit(uri, anatomy, finding.line, 0, len(line), clean, encoding)]


def _split(finding: Finding, anatomy: Anatomy, uri: str, encoding: Encoding, roots: Sequence[Path]) -> Fixes:
    """Move the section the cap starts in, or the first one behind it, into a rule of its own.

    Rules have a cap of their own; the paths the section names in code spans become its patterns.
    """
    root = next((r for r in roots if anatomy.path.is_relative_to(r)), None)
    if anatomy.role not in ("agents", "bootstrap") or root is None:
        return
    headings = ((number, _HEADING.match(line)) for number, line in enumerate(anatomy.lines))
    sections = [(number, match["title"]) for number, match in headings if match]
    ends = [*(number for number, _ in sections[1:]), len(anatomy.lines)]
    # A file without any heading has an end, but no section that begins before it.
    chosen = next(
        ((start, end, title) for (start, title), end in zip(sections, ends, strict=False) if end > finding.line), None
    )
    if chosen is None or chosen[0] == 0:
        return
    start, end, title = chosen
    slug = re.sub(r"[^\w]+", "-", title.lower()).strip("-") or "section"
    target = root / ".chatcli" / "rules" / f"{slug}.md"
    if target.exists():
        return
    section = "\n".join(anatomy.lines[start:end]).strip() + "\n"
    patterns = list(dict.fromkeys(p + "**" if p.endswith("/") else p for p in _PATHLIKE.findall(section)))
    head = "".join(f'  - "{pattern}"\n' for pattern in patterns[:_MOST_PATTERNS])
    content = f"---\npaths:\n{head}---\n\n{section}" if head else section
    origin = types.Position(0, 0)
    last = end - 1 if end == len(anatomy.lines) else end
    column = len(anatomy.lines[last]) if end == len(anatomy.lines) else 0
    yield (
        f"Move “{title}” into the rule {slug}.md",
        [
            types.CreateFile(uri_of(target), options=types.CreateFileOptions(overwrite=False, ignore_if_exists=False)),
            _document_edit(uri_of(target), types.Range(origin, origin), content),
            _document_edit(
                uri,
                types.Range(
                    types.Position(start, 0),
                    types.Position(last, to_units(anatomy.lines[last], column, encoding)),
                ),
                "",
            ),
        ],
    )


def _edit(
    uri: str, anatomy: Anatomy, line: int, start: int, end: int, text: str, encoding: Encoding
) -> types.TextDocumentEdit:
    units = anatomy.lines[line]
    place = types.Range(
        types.Position(line, to_units(units, start, encoding)), types.Position(line, to_units(units, end, encoding))
    )
    return _document_edit(uri, place, text)


def _document_edit(uri: str, place: types.Range, text: str) -> types.TextDocumentEdit:
    return types.TextDocumentEdit(
        types.OptionalVersionedTextDocumentIdentifier(uri, None), [types.TextEdit(place, text)]
    )


_FIXES: dict[str, Callable[[Finding, Anatomy, str, Encoding, Sequence[Path]], Fixes]] = {
    "import-missing": _create_missing,
    "misplaced-rule": _move,
    "wrong-case": _move,
    "unknown-key": _replace_key,
    "hidden-text": _remove_hidden,
    "beyond-cap": _split,
}
