"""A language server's eyes on instruction files: diagnostics, hover, links, definition, completion, lens.

Pure functions over an open buffer: they take the loaded :class:`Instructions`, the document and the negotiated
position encoding, and give LSP types. They read the disk (imports, file counts) and belong in a worker thread. A
document that is no instruction file gets nothing.
"""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from chatls_core.instructions import Instructions
from chatls_core.instructions.anatomy import Anatomy, Reference
from chatls_core.instructions.completion import Completion
from chatls_core.instructions.findings import Finding
from chatls_core.instructions.globs import problem as glob_problem
from chatls_core.instructions.standing import Standing
from chatls_core.text.amounts import amount
from chatls_server.lsp.lines import Encoding, to_column, to_units
from chatls_server.lsp.uris import uri_of

SOURCE = "ChatLS instructions"
TRIGGER_CHARACTERS = ("@", "/", "[", '"', "<")
"""What opens the completion list, for ``completionProvider``."""

_SEVERITY = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
_COMPLETION_KIND = {
    "file": types.CompletionItemKind.File,
    "folder": types.CompletionItemKind.Folder,
    "key": types.CompletionItemKind.Property,
    "glob": types.CompletionItemKind.Value,
    "link": types.CompletionItemKind.Reference,
}


def diagnostics(
    instructions: Instructions, uri: str, path: Path, text: str, encoding: Encoding
) -> list[types.Diagnostic]:
    """Everything to be said about the buffer; empty for other documents, so that old findings go away."""
    if not instructions.inspector.concerns(path):
        return []
    inspection = instructions.inspector.inspect(path, text)
    return [to_diagnostic(finding, inspection.anatomy, encoding) for finding in inspection.findings]


def to_diagnostic(finding: Finding, anatomy: Anatomy, encoding: Encoding) -> types.Diagnostic:
    """The finding as LSP says it; ``data`` is what a fix needs."""
    return types.Diagnostic(
        range=_range(anatomy, finding.line, finding.start, finding.end_line, finding.end, encoding),
        message=finding.message,
        severity=_SEVERITY[finding.severity],
        code=finding.code,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if finding.unnecessary else None,
        data=dict(finding.data) or None,
    )


def hover(
    instructions: Instructions, uri: str, path: Path, text: str, position: types.Position, encoding: Encoding
) -> types.Hover | None:
    """Where an import leads and what it brings; how many files a pattern matches."""
    if not instructions.inspector.concerns(path):
        return None
    anatomy = instructions.inspector.anatomy(path, text)
    line, column = _place(anatomy, position, encoding)
    if (reference := anatomy.reference_at(line, column)) is not None:
        return _hover(_describe(reference), _reference_range(anatomy, reference, encoding))
    if (pattern := anatomy.pattern_at(line, column)) is not None:
        place = _range(anatomy, pattern.line, pattern.start, pattern.line, pattern.end, encoding)
        if why := glob_problem(pattern.text):
            return _hover(f"Matches nothing: {why}.", place)
        matches = instructions.inspector.matches(anatomy, pattern.text)
        examples = "".join(f"\n- {_code(example)}" for example in matches.examples)
        return _hover(f"Matches {matches} of {matches.total:,}.{examples}", place)
    return None


def document_links(
    instructions: Instructions, uri: str, path: Path, text: str, encoding: Encoding
) -> list[types.DocumentLink]:
    """A link on every import and wiki link that leads somewhere."""
    if not instructions.inspector.concerns(path):
        return []
    anatomy = instructions.inspector.anatomy(path, text)
    return [
        types.DocumentLink(
            range=_range(anatomy, r.line, r.path_start, r.line, r.path_end, encoding),
            target=uri_of(r.target),
            tooltip=f"{r.size_bytes:,} bytes, about {r.tokens:,} tokens" if r.status == "expanded" else r.reason,
        )
        for r in anatomy.references
        if r.target is not None and r.status in ("expanded", "repeated", "cycle", "too-deep")
    ]


def definition(
    instructions: Instructions, uri: str, path: Path, text: str, position: types.Position, encoding: Encoding
) -> types.Location | None:
    """The file an import or wiki link names."""
    if not instructions.inspector.concerns(path):
        return None
    anatomy = instructions.inspector.anatomy(path, text)
    reference = anatomy.reference_at(*_place(anatomy, position, encoding))
    if (
        reference is None
        or reference.target is None
        or reference.status
        not in (
            "expanded",
            "repeated",
            "cycle",
            "too-deep",
        )
    ):
        return None
    start = types.Position(0, 0)
    return types.Location(uri_of(reference.target), types.Range(start, start))


def completion(
    instructions: Instructions, uri: str, path: Path, text: str, position: types.Position, encoding: Encoding
) -> types.CompletionList:
    """Import paths, wiki links, frontmatter keys and patterns of the workspace's files."""
    if not instructions.inspector.concerns(path):
        return types.CompletionList(False, [])
    anatomy = instructions.inspector.anatomy(path, text)
    line, column = _place(anatomy, position, encoding)
    proposals = instructions.inspector.complete(path, text, line, column)
    items = [_item(number, proposal, anatomy, line, column, encoding) for number, proposal in enumerate(proposals)]
    return types.CompletionList(False, items)


def _item(
    number: int, proposal: Completion, anatomy: Anatomy, line: int, column: int, encoding: Encoding
) -> types.CompletionItem:
    return types.CompletionItem(
        label=proposal.label,
        kind=_COMPLETION_KIND[proposal.kind],
        detail=proposal.detail or None,
        sort_text=f"{number:04d}",
        filter_text=proposal.insert,
        text_edit=types.TextEdit(_range(anatomy, line, proposal.start, line, column, encoding), proposal.insert),
    )


def code_lens(instructions: Instructions, uri: str, path: Path, text: str, encoding: Encoding) -> list[types.CodeLens]:
    """One lens at the top: what the file applies to, its tokens, its place in the prompt."""
    if not instructions.inspector.concerns(path):
        return []
    standing = instructions.inspector.standing(path, text)
    start = types.Position(0, 0)
    command = types.Command(lens_title(standing), "chatls.instructions.show", arguments=[{"uri": uri}])
    return [types.CodeLens(types.Range(start, start), command)]


def lens_title(standing: Standing) -> str:
    """For example ``applies to 34 files · 412 tokens · loaded 3rd of 5``."""
    place = (
        f"loaded {_ordinal(standing.position)} of {standing.total}"
        if standing.position is not None
        else f"not loaded by itself: {standing.why_not}"
    )
    tokens = amount(standing.tokens, "token")
    reach = [f"applies to {standing.matches}"] if standing.position is not None else []
    return " · ".join([*reach, tokens, place])


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _describe(reference: Reference) -> str:
    what = "Link" if reference.kind == "wikilink" else "Import"
    target = f" of {_code(str(reference.target))}" if reference.target is not None else f" {_code(reference.written)}"
    if reference.status != "expanded":
        return f"{what}{target}\n\nNot followed ({reference.status}): {reference.reason}."
    size = f"{reference.size_bytes:,} bytes, about {reference.tokens:,} tokens"
    cut = f"; the last {reference.cut_bytes:,} bytes are cut" if reference.cut_bytes else ""
    failed = "".join(
        f"\n- {_code(f.source.name)}, line {f.line + 1}: {_code(f.written)}: {f.reason}" for f in reference.beneath
    )
    return f"{what}{target}\n\n{size}{cut}" + (f"\n\nImports in it that fail:{failed}" if failed else "")


def _code(text: str) -> str:
    return f"`{text.replace('`', '´')}`"


def _hover(markdown: str, place: types.Range) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, markdown), place)


def _place(anatomy: Anatomy, position: types.Position, encoding: Encoding) -> tuple[int, int]:
    if not 0 <= position.line < len(anatomy.lines):
        return position.line, 0
    return position.line, to_column(anatomy.lines[position.line], position.character, encoding)


def _reference_range(anatomy: Anatomy, reference: Reference, encoding: Encoding) -> types.Range:
    return _range(anatomy, reference.line, reference.start, reference.line, reference.end, encoding)


def _range(anatomy: Anatomy, line: int, start: int, end_line: int, end: int, encoding: Encoding) -> types.Range:
    return types.Range(
        types.Position(line, to_units(anatomy.lines[line], start, encoding)),
        types.Position(end_line, to_units(anatomy.lines[end_line], end, encoding)),
    )
