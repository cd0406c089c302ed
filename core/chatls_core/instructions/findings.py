"""What is wrong, or worth knowing, in an instruction file that is being edited."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from chatls_core.instructions import caps, frontmatter, globs, names, rules
from chatls_core.instructions.anatomy import Anatomy, Reference
from chatls_core.instructions.disk import READ_LIMIT
from chatls_core.instructions.documents import hidden_characters
from chatls_core.instructions.imports import is_blank
from chatls_core.instructions.model import ImportStatus
from chatls_core.text import injection, redaction

Severity = Literal["error", "warning", "information", "hint"]

_MOST_LINES = 3000
"""Lines searched one by one; little beyond reaches the model."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding with its half-open place. ``unnecessary`` text is not seen by the model and may be shown faded.

    ``data`` holds what a fix needs: ``target`` (an absolute path), ``name`` (a replacement).
    """

    code: str
    severity: Severity
    message: str
    line: int = 0
    start: int = 0
    end_line: int = 0
    end: int = 0
    unnecessary: bool = False
    data: Mapping[str, str] = field(default_factory=dict)


def findings(anatomy: Anatomy, global_folder: str, *, scan: bool) -> Iterator[Finding]:
    """Everything that can be said from the buffer and the files it imports."""
    yield from _encoding(anatomy)
    yield from _naming(anatomy)
    yield from _imports(anatomy)
    if anatomy.head is not None:
        yield from _head(anatomy, anatomy.head, global_folder)
    yield from _cap(anatomy)
    if scan:
        yield from _injections(anatomy)
    yield from _hidden(anatomy)
    yield from _secrets(anatomy)


def whole_line(anatomy: Anatomy, line: int) -> tuple[int, int, int, int]:
    """The place of a whole line."""
    return line, 0, line, len(anatomy.lines[line])


def _encoding(anatomy: Anatomy) -> Iterator[Finding]:
    if anatomy.unreadable:
        reason = anatomy.unreadable
        yield Finding("unreadable", "error", f"The model gets nothing of this file: {reason}.", *whole_line(anatomy, 0))
    encoding = anatomy.on_disk.encoding if anatomy.on_disk is not None else "utf-8"
    if encoding == "utf-16":
        yield Finding(
            "encoding",
            "warning",
            "The file is saved as UTF-16; other tools will not read it. Save it as UTF-8.",
            *whole_line(anatomy, 0),
        )
    elif encoding == "broken":
        yield Finding(
            "encoding",
            "warning",
            "The file has bytes that are not UTF-8; the model sees � in their place. Save it as UTF-8.",
            *whole_line(anatomy, 0),
        )


def _naming(anatomy: Anatomy) -> Iterator[Finding]:
    path = str(anatomy.path)
    if (right := names.right_name(path)) is not None:
        yield Finding(
            "wrong-case",
            "warning",
            f"This file is not read: its name must be {right}.",
            *whole_line(anatomy, 0),
            data={"target": str(anatomy.path.with_name(right))},
        )
    elif anatomy.role == "import" and (place := names.right_rule_path(path)) is not None:
        shown = "/".join(place.replace("\\", "/").split("/")[-3:])
        yield Finding(
            "misplaced-rule",
            "warning",
            f"No rules are read from here; move this file to {shown}.",
            *whole_line(anatomy, 0),
            data={"target": place},
        )
    if anatomy.role in ("agents", "bootstrap") and is_blank(anatomy.body):
        yield Finding(
            "blank",
            "information",
            "A blank file says nothing and hides nothing. Write a comment into it to "
            "silence the files it stands in for.",
            *whole_line(anatomy, 0),
        )


_SEVERITY: Mapping[ImportStatus, Severity] = {
    "missing": "warning",
    "refused": "warning",
    "unreadable": "warning",
    "cycle": "warning",
    "too-deep": "warning",
    "beyond-cap": "warning",
    "repeated": "hint",
}


def _imports(anatomy: Anatomy) -> Iterator[Finding]:
    for reference in anatomy.references:
        place = (reference.line, reference.start, reference.line, reference.end)
        what = "Link" if reference.kind == "wikilink" else "Import"
        written = caps.shown(reference.written)
        if reference.status != "expanded":
            severity = _SEVERITY[reference.status]
            if reference.kind == "wikilink" or (reference.in_sentence and reference.status == "missing"):
                severity = "information"
            yield Finding(
                f"import-{reference.status}",
                severity,
                f"{what} {written}: {reference.reason}.",
                *place,
                data=_target(reference),
            )
        elif reference.cut_bytes:
            yield Finding(
                "import-cut",
                "warning",
                f"Import {written}: the model will not see its last "
                f"{reference.cut_bytes:,} bytes; one import may bring 32 KiB.",
                *place,
            )
        for record in reference.beneath:
            where = f"{caps.shown(record.source.name)}, line {record.line + 1}"
            yield Finding(
                f"import-{record.status}",
                "information",
                f"{where}: import {caps.shown(record.written)}: {record.reason}.",
                *place,
            )


def _target(reference: Reference) -> Mapping[str, str]:
    creatable = reference.kind == "import" and reference.status == "missing" and reference.target is not None
    return {"target": str(reference.target)} if creatable else {}


def _head(anatomy: Anatomy, head: frontmatter.Head, global_folder: str) -> Iterator[Finding]:
    place = names.rule_place(str(anatomy.path), global_folder)
    if head.problem:
        severity: Severity = "error" if head.present else "warning"
        effect = " The rule applies nowhere until it can." if head.present else " The rule applies always."
        yield Finding(
            "frontmatter",
            severity,
            head.problem[0].upper() + head.problem[1:] + "." + effect,
            *whole_line(anatomy, min(head.problem_line, len(anatomy.lines) - 1)),
        )
    seen: set[str] = set()
    for key in head.keys:
        span = (key.line, key.start, key.line, key.end)
        if key.name in seen:
            yield Finding("duplicate-key", "warning", f"{key.name} is given twice; the last one counts.", *span)
        seen.add(key.name)
        if key.name not in frontmatter.KNOWN_KEYS:
            near = difflib.get_close_matches(key.name, sorted(frontmatter.KNOWN_KEYS), 1, 0.6)
            hint = f" Did you mean {near[0]}?" if near else ""
            yield Finding(
                "unknown-key",
                "warning",
                f"{key.name} has no meaning here.{hint}",
                *span,
                data={"name": near[0]} if near else {},
            )
    for pattern in head.patterns:
        if problem := globs.problem(pattern.text):
            yield Finding(
                "glob-invalid",
                "error",
                f"This pattern matches nothing: {problem}.",
                pattern.line,
                pattern.start,
                pattern.line,
                pattern.end,
            )
    if place is not None and not head.problem:
        applies = rules.applies(head, place.dialect)
        if applies.when == "manual":
            yield Finding(
                "manual-rule", "information", f"This rule is never applied: {applies.reason}.", *whole_line(anatomy, 0)
            )
        elif is_blank(anatomy.body):
            yield Finding("blank", "information", "This rule says nothing.", *whole_line(anatomy, 0))


def _cap(anatomy: Anatomy) -> Iterator[Finding]:
    if anatomy.hidden_from is None:
        return
    last = len(anatomy.lines) - 1
    yield Finding(
        "beyond-cap",
        "warning",
        "The model will not see the text from here on: with its imports the file takes "
        f"{anatomy.full_bytes:,} bytes, and {anatomy.limit:,} are shown.",
        anatomy.hidden_from,
        0,
        last,
        len(anatomy.lines[last]),
        unnecessary=True,
    )


def _injections(anatomy: Anatomy) -> Iterator[Finding]:
    for found in injection.scan(anatomy.body[: 2 * anatomy.limit], "context"):
        line, end_line = found.line + anatomy.body_line, found.end_line + anatomy.body_line
        yield Finding(
            "injection",
            "warning",
            f"This reads like {found.category}; the model sees [BLOCKED: {found.category}] in its place.",
            line,
            0,
            end_line,
            len(anatomy.lines[end_line]),
        )


def _hidden(anatomy: Anatomy) -> Iterator[Finding]:
    for number, line in _first_lines(anatomy):
        if line.isascii():
            continue
        starts = [match.start() for match in hidden_characters(line)]
        for _, run in itertools.groupby(enumerate(starts), lambda pair: pair[1] - pair[0]):
            columns = [column for _, column in run]
            yield Finding(
                "hidden-text",
                "warning",
                f"Invisible characters ({len(columns)}) that a model would read; they are kept from it.",
                number,
                columns[0],
                number,
                columns[-1] + 1,
            )


def _secrets(anatomy: Anatomy) -> Iterator[Finding]:
    message = "This looks like a secret. It would be sent to the model provider with every request; remove it."
    lines = [line for _, line in _first_lines(anatomy)]
    hit = False
    for number, line in enumerate(lines):
        if redaction.contains_secret(line):
            hit = True
            yield Finding("secret", "warning", message, *whole_line(anatomy, number))
    if not hit and redaction.contains_secret("\n".join(lines)[: 2 * anatomy.limit]):
        yield Finding("secret", "warning", message, *whole_line(anatomy, 0))


def _first_lines(anatomy: Anatomy) -> Iterator[tuple[int, str]]:
    """The lines worth a search, with their numbers: no more than the loader would read of the file."""
    left = READ_LIMIT
    for number, line in enumerate(anatomy.lines[:_MOST_LINES]):
        if left <= 0:
            return
        yield number, line[:left]
        left -= len(line)
