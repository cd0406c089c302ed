"""What may be typed next in an instruction file: import paths, wiki links, frontmatter keys, globs."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from chatls_core.instructions import frontmatter, pathtext
from chatls_core.instructions.anatomy import Anatomy
from chatls_core.instructions.boundary import Boundary
from chatls_core.instructions.files import FileIndex
from chatls_core.instructions.folders import NOISE
from chatls_core.instructions.imports import resolve

_IMPORT = re.compile(r"(?:^|[\s(\[])@(?:import\s+)?(?:(?P<quote>[\"'<])(?P<quoted>[^\"'<>]*)|(?P<bare>[^\s\"'<>`]*))$")
_WIKILINK = re.compile(r"\[\[(?P<name>[^\[\]|#]*)$")
_TEXT_ENDINGS = (".md", ".mdx", ".markdown", ".txt")
_MOST = 200

_KEYS = (
    ("paths", "paths:\n  - ", "Patterns of the files the rule applies to"),
    ("globs", "globs: ", "Patterns, as Cursor writes them"),
    ("applyTo", "applyTo: ", "Patterns, as GitHub Copilot writes them"),
    ("alwaysApply", "alwaysApply: true", "Apply the rule to everything"),
    ("description", "description: ", "What the rule is about"),
)


@dataclass(frozen=True, slots=True)
class Completion:
    """One proposal: ``insert`` replaces the text of the line from column ``start`` to the asked place."""

    label: str
    insert: str
    start: int
    kind: Literal["file", "folder", "key", "glob", "link"]
    detail: str = ""


def complete(
    anatomy: Anatomy,
    line: int,
    column: int,
    boundary: Boundary,
    index: FileIndex,
    folders: Sequence[str],
    wiki_folders: Sequence[str],
) -> list[Completion]:
    """Proposals for the place; at most 200. ``folders`` are those the rule's patterns count from."""
    if not 0 <= line < len(anatomy.lines):
        return []
    before = anatomy.lines[line][:column]
    if _in_head(anatomy, line):
        return _head(anatomy, line, before, index, folders)
    if match := _WIKILINK.search(before):
        return _links(match["name"], match.start("name"), str(anatomy.path), wiki_folders)
    if match := _IMPORT.search(before):
        group = "quoted" if match["quote"] else "bare"
        return list(_paths(match[group], match.start(group), str(anatomy.path), boundary, quoted=bool(match["quote"])))
    return []


def _in_head(anatomy: Anatomy, line: int) -> bool:
    if anatomy.head is None:
        return False
    if anatomy.head.present:
        return 0 < line < anatomy.body_line - 1
    # A head that is being typed has no closing line yet.
    opened, *others = (text.rstrip() for text in anatomy.lines[: line + 1])
    return line > 0 and opened == "---" and "---" not in others


def _head(anatomy: Anatomy, line: int, before: str, index: FileIndex, folders: Sequence[str]) -> list[Completion]:
    key, _, value = before.partition(":")
    if ":" not in before and re.fullmatch(r"[A-Za-z]*", before):
        taken = {k.name for k in anatomy.head.keys if k.line != line} if anatomy.head is not None else set()
        return [Completion(name, insert, 0, "key", detail) for name, insert, detail in _KEYS if name not in taken]
    if key.strip() == "alwaysApply":
        start = len(before) - len(value.lstrip())
        return [Completion(word, word, start, "key") for word in ("true", "false")]
    owner = key.strip() if ":" in before else _list_owner(anatomy, line)
    if owner not in frontmatter.PATTERN_KEYS:
        return []
    typed = re.search(r"[^\s,\"'\[\]]*$", before)
    start = typed.start() if typed else len(before)
    quoted = before[start - 1 : start] in ("'", '"')
    return [
        Completion(glob, glob if quoted else f'"{glob}"', start, "glob", f"{number:,} files")
        for glob, number in _globs(index, folders)
    ][:_MOST]


def _list_owner(anatomy: Anatomy, line: int) -> str:
    """The key whose block list the line belongs to."""
    for number in range(line - 1, -1, -1):
        text = anatomy.lines[number]
        if match := re.match(r"([A-Za-z]\w*)\s*:\s*$", text):
            return match[1]
        if not re.match(r"\s*(?:-|#|$)", text):
            return ""
    return ""


def _globs(index: FileIndex, folders: Sequence[str]) -> list[tuple[str, int]]:
    """Patterns for the endings and folders there are, most files first."""
    endings: Counter[str] = Counter()
    below: Counter[str] = Counter()
    for folder in folders:
        for file in index.files(folder).files:
            parts = file.split("/")
            _, dot, ending = parts[-1].rpartition(".")
            if dot and ending.isalnum():
                endings[f"**/*.{ending}"] += 1
            for depth in range(1, min(3, len(parts))):
                below["/".join(parts[:depth]) + "/**"] += 1
    return sorted([*endings.items(), *below.items()], key=lambda pair: (-pair[1], pair[0]))


def _paths(typed: str, start: int, path: str, boundary: Boundary, *, quoted: bool) -> Iterator[Completion]:
    folder_part = typed[: max(typed.rfind("/"), typed.rfind("\\")) + 1]
    folder = resolve((folder_part or "./") + "x", path)
    if folder is None:
        return
    folder = pathtext.parent(folder)
    if not boundary.admits_as_written(folder) or not boundary.admits(pathtext.real(folder)):
        return
    for name, is_folder in _entries(folder):
        if pathtext.join(folder, name) == path:
            continue
        insert = folder_part + name + ("/" if is_folder else "")
        if " " in insert and not quoted:
            insert = f'"{insert}"'
        label = name + ("/" if is_folder else "")
        yield Completion(label, insert, start, "folder" if is_folder else "file")


def _entries(folder: str) -> list[tuple[str, bool]]:
    names: list[tuple[str, bool]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                is_folder = entry.is_dir()
                if (is_folder and entry.name not in NOISE) or (
                    not is_folder and entry.name.lower().endswith(_TEXT_ENDINGS)
                ):
                    names.append((entry.name, is_folder))
    except OSError:
        return []
    names.sort(key=lambda pair: (pair[1], pair[0]))
    return names[:_MOST]


def _links(typed: str, start: int, path: str, folders: Sequence[str]) -> list[Completion]:
    names: dict[str, str] = {}
    for folder in (pathtext.parent(path), *folders):
        for name, is_folder in _entries(folder):
            if not is_folder and name.lower().endswith((".md", ".mdc")):
                names.setdefault(name.rsplit(".", 1)[0], folder)
    return [
        Completion(name, name, start, "link", pathtext.base(folder))
        for name, folder in sorted(names.items())
        if name.lower().startswith(typed.lower())
    ][:_MOST]
