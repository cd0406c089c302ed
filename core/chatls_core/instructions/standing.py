"""Where an instruction file stands among the others: what it applies to, its place, and what is in its way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatls_core.instructions import caps, globs, names, pathtext
from chatls_core.instructions.anatomy import Anatomy
from chatls_core.instructions.files import FileIndex
from chatls_core.instructions.findings import Finding, whole_line
from chatls_core.instructions.globs import PatternSet
from chatls_core.instructions.library import Library
from chatls_core.instructions.model import InstructionItem
from chatls_core.instructions.rules import applies
from chatls_core.instructions.selection import Selection
from chatls_core.text.amounts import amount

MOST_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Matches:
    """How many of the ``total`` files a pattern matches, with a few ``examples``.

    ``complete`` is False when the folder has more files than were looked at.
    """

    count: int
    total: int
    complete: bool
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        more = "" if self.complete else "at least "
        return f"{more}{amount(self.count, 'file')}"


@dataclass(frozen=True, slots=True)
class Standing:
    """What the lens says: files it applies to, tokens, and its place, or why it is not loaded (``why_not``)."""

    matches: Matches
    tokens: int
    position: int | None = None
    total: int = 0
    why_not: str = ""


def pattern_folders(anatomy: Anatomy, library: Library) -> tuple[str, ...]:
    """The folders a rule's patterns count from: a global rule's count from every opened folder."""
    place = names.rule_place(str(anatomy.path), library.global_folder)
    roots = tuple(root.path for root in library.workspace.roots)
    return roots if place is None or place.dialect == "global" else (place.folder,)


def count(index: FileIndex, folders: Sequence[str], patterns: Sequence[str], below: str = "") -> Matches:
    """How many files of ``folders`` that lie in ``below`` match; no patterns match all."""
    found = total = 0
    complete = True
    examples: list[str] = []
    for folder in folders:
        listing = index.files(folder)
        total += len(listing.files)
        complete = complete and listing.complete
        files = [file for file in listing.files if file.startswith(below + "/")] if below else listing.files
        matched = PatternSet(patterns).matching(files) if patterns else files
        found += len(matched)
        examples.extend(matched[: MOST_EXAMPLES - len(examples)])
    return Matches(found, total, complete, tuple(examples))


def unmatched(anatomy: Anatomy, index: FileIndex, folders: Sequence[str]) -> Iterator[Finding]:
    """Patterns of a rule that match no file."""
    for pattern in anatomy.head.patterns if anatomy.head is not None else ():
        if pattern.text.startswith("!") or globs.problem(pattern.text):
            continue
        matches = count(index, folders, (pattern.text,))
        if not matches.count and matches.complete:
            yield Finding(
                "glob-unmatched",
                "warning",
                f"No file matches {caps.shown(pattern.text)}.",
                pattern.line,
                pattern.start,
                pattern.line,
                pattern.end,
            )


def in_the_way(anatomy: Anatomy, library: Library, stable: Sequence[InstructionItem]) -> Iterator[Finding]:
    """Other files that keep this one, or part of it, from the model."""
    path = str(anatomy.path)
    if (reason := _shadowed(anatomy, library)) is not None:
        yield Finding("shadowed", "information", f"This file is not read: {reason}.", *whole_line(anatomy, 0))
    for item in stable:
        shown = caps.size(item.text)
        if str(item.path) == path and shown < item.full_bytes <= anatomy.limit:
            message = f"Nearer files leave room for {shown:,} of its {item.full_bytes:,} bytes."
            yield Finding("crowded-out", "warning", message, *whole_line(anatomy, 0))


def _shadowed(anatomy: Anatomy, library: Library) -> str | None:
    path = str(anatomy.path)
    if anatomy.role == "rule":
        place = names.rule_place(path, library.global_folder)
        if place is None:
            return None
        for rule in library.rules(place.folder):
            if rule.file.path == path and rule.shadowed_by:
                return f"{caps.shown(pathtext.relative(rule.shadowed_by, place.folder))} stands in its place"
        return None
    folder = library.folder(pathtext.parent(path))
    for skipped in folder.skipped:
        if skipped.path == path and skipped.kind in ("shadowed", "refused"):
            return skipped.reason
    if anatomy.role == "bootstrap" and folder.path == library.global_folder:
        for root in library.workspace.roots:
            for above in (root.path, *root.parents):
                if above != folder.path and anatomy.path.name in dict(library.folder(above).bootstrap):
                    return "the workspace's own file stands in its place"
    return None


def standing(
    anatomy: Anatomy,
    library: Library,
    selection: Selection,
    stable: Sequence[InstructionItem],
    index: FileIndex,
) -> Standing:
    """The place of the file in the prompt of a document it applies to."""
    matches, example = _reach(anatomy, library, index)
    why_not = _shadowed(anatomy, library) or _never(anatomy, library)
    if anatomy.role == "import":
        users = sorted(caps.shown(Path(u).name) for u in library.users(str(anatomy.path)))
        by = f"imported by {', '.join(users[:3])}{' and others' if len(users) > 3 else ''}"
        return Standing(matches, anatomy.tokens, why_not=by if users else "imported by no loaded file")
    around = selection.for_paths(Path(example), ()).items if example else ()
    chosen = [*stable, *around]
    for position, item in enumerate(chosen, 1):
        if str(item.path) == str(anatomy.path):
            return Standing(matches, anatomy.tokens, position, len(chosen))
    return Standing(matches, anatomy.tokens, total=len(chosen), why_not=why_not or "not loaded")


def reach_folders(anatomy: Anatomy, library: Library) -> tuple[str, ...]:
    """The opened folders (or folders of a rule's own) whose files the buffer may apply to."""
    roots = tuple(root.path for root in library.workspace.roots)
    if anatomy.role == "rule":
        inside = [f for f in pattern_folders(anatomy, library) if library.workspace.locate(f) is not None]
        return tuple(inside) or roots
    place = library.workspace.locate(pathtext.parent(str(anatomy.path))) if anatomy.role == "agents" else None
    return (place[0].path,) if place is not None else roots


def _reach(anatomy: Anatomy, library: Library, index: FileIndex) -> tuple[Matches, str]:
    """The files it applies to, and one of them ("" when there is none)."""
    folders = reach_folders(anatomy, library)
    patterns = tuple(p.text for p in anatomy.head.patterns) if anatomy.head is not None else ()
    place = library.workspace.locate(pathtext.parent(str(anatomy.path))) if anatomy.role == "agents" else None
    matches = count(index, folders, patterns, place[1] if place is not None else "")
    return matches, pathtext.join(folders[0], matches.examples[0]) if matches.examples else ""


def _never(anatomy: Anatomy, library: Library) -> str:
    place = names.rule_place(str(anatomy.path), library.global_folder)
    if place is None or anatomy.head is None:
        return ""
    when = applies(anatomy.head, place.dialect)
    return when.reason if when.when in ("manual", "broken") else ""
