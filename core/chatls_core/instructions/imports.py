"""The import grammar (spec/memory.md §1.5, and what §18.1 row 33 misses).

An import is ``@path`` or ``@import path`` on a line of its own (a list item counts), or ``@path`` inside a sentence, in
which case the sentence stays and the text follows it. Paths end in ``.md``, ``.mdx``, ``.markdown`` or ``.txt`` in any
case; one with spaces stands in quotes or in ``<…>``. Nothing is imported from code fences (backticks or tildes,
matched by length), indented code, code spans and HTML comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from chatls_core.instructions import pathtext

MOST_IMPORTS = 1000
"""Imports looked at in one file, and brought in by one; what more could add is cut by the cap anyway."""

LINE_BREAK = re.compile(r"\r\n|\r|\n")
"""Lines as every part of the instruction features counts them."""

_EXTENSION = r"\.(?:mdx?|markdown|txt)"
_DELIMITED = (
    rf"\"(?P<quoted>[^\"\n]+?{_EXTENSION})\"|'(?P<single>[^'\n]+?{_EXTENSION})'|<(?P<angled>[^<>\n]+?{_EXTENSION})>"
)
_WHOLE_LINE = re.compile(
    r"^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?"
    rf"(?P<all>@(?:import\s+)?(?:{_DELIMITED}|(?P<bare>[~./\\\w]\S*{_EXTENSION})))\s*$",
    re.IGNORECASE,
)
_IN_SENTENCE = re.compile(
    rf"(?<![^\s(\[\"'“‘*_])(?P<all>@(?:{_DELIMITED}|(?P<bare>[~./\\\w][^\s,;:!?()<>\[\]\"'`*]*?{_EXTENSION})))"
    r"(?=[\s.,;:!?)\]\"'”’*_]|$)(?!\.\w)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<mark>`{3,}|~{3,})(?P<info>.*)$")
_TICKS = re.compile(r"`+")
_COMMENT_MARK = re.compile(r"<!--|-->")
_LIST_ITEM = re.compile(r"^\s{0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_WIKILINK = re.compile(r"\[\[(?P<name>[^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")


@dataclass(frozen=True, slots=True)
class ImportReference:
    """An import as written: zero-based ``line``, half-open code-point columns of the whole and of the path in it."""

    line: int
    start: int
    end: int
    path_start: int
    path_end: int
    path: str
    in_sentence: bool


@dataclass(frozen=True, slots=True)
class WikiLink:
    """A ``[[name]]`` with the place of its name."""

    line: int
    start: int
    end: int
    name: str


def find_imports(text: str) -> tuple[ImportReference, ...]:
    """Every import in ``text``, in order, up to :data:`MOST_IMPORTS`."""
    if "@" not in text:
        return ()
    return tuple(islice(_imports_of(prose_lines(text)), MOST_IMPORTS))


def find_wikilinks(text: str) -> tuple[WikiLink, ...]:
    """Every ``[[name]]`` in ``text`` outside code and comments, in order."""
    if "[[" not in text:
        return ()
    return tuple(
        WikiLink(number, match.start("name"), match.end("name"), match["name"].strip())
        for number, line in enumerate(prose_lines(text))
        for match in islice(_WIKILINK.finditer(line), MOST_IMPORTS)
    )


def _imports_of(lines: Iterator[str]) -> Iterator[ImportReference]:
    for number, line in enumerate(lines):
        if "@" not in line:
            continue
        if match := _WHOLE_LINE.match(line):
            yield _reference(number, match, in_sentence=False)
        else:
            for match in _IN_SENTENCE.finditer(line):
                yield _reference(number, match, in_sentence=True)


def _reference(number: int, match: re.Match[str], *, in_sentence: bool) -> ImportReference:
    group = next(name for name in ("quoted", "single", "angled", "bare") if match[name] is not None)
    return ImportReference(
        number, match.start("all"), match.end("all"), match.start(group), match.end(group), match[group], in_sentence
    )


def prose_lines(text: str) -> Iterator[str]:
    """Every line of ``text`` with code and HTML comments overwritten by blanks, so that columns stay."""
    fence = ""
    in_comment = False
    in_list = in_indented_code = False
    after_blank = True
    for line in LINE_BREAK.split(text):
        if fence:
            match = _FENCE.match(line)
            if match and match["mark"].startswith(fence) and not match["info"].strip():
                fence = ""
            yield ""
            continue
        if not in_comment and (match := _FENCE.match(line)) and not (match["mark"][0] == "`" and "`" in match["info"]):
            fence = match["mark"]
            yield ""
            continue
        blank = not line.strip()
        indented = line.startswith(("    ", "\t"))
        if not blank:
            if not indented:
                in_list = bool(_LIST_ITEM.match(line)) or (in_list and not after_blank)
            in_indented_code = indented and not in_list and (after_blank or in_indented_code)
        after_blank = blank
        if in_indented_code and not in_comment:
            yield ""
            continue
        line, in_comment = _without_comments(_without_code_spans(line), in_comment)
        yield line


def _without_code_spans(line: str) -> str:
    """``line`` with code spans overwritten; a run of backticks is closed by the next run of the same length."""
    if "`" not in line:
        return line
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(line)]
    last = {end - start: number for number, (start, end) in enumerate(runs)}
    pieces: list[str] = []
    at = number = 0
    while number < len(runs):
        start, end = runs[number]
        length = end - start
        if last[length] == number:
            number += 1
            continue
        closing = next(n for n in range(number + 1, len(runs)) if runs[n][1] - runs[n][0] == length)
        stop = runs[closing][1]
        pieces += (line[at:start], "`" * (stop - start))
        at, number = stop, closing + 1
    pieces.append(line[at:])
    return "".join(pieces)


def _without_comments(line: str, in_comment: bool) -> tuple[str, bool]:
    """``line`` with HTML comments overwritten, and whether one goes on in the next line."""
    pieces: list[str] = []
    at = 0
    for match in _COMMENT_MARK.finditer(line):
        if in_comment is (match[0] == "-->"):
            stop = match.end() if in_comment else match.start()
            pieces.append(" " * (stop - at) if in_comment else line[at:stop])
            at, in_comment = stop, not in_comment
    pieces.append(" " * (len(line) - at) if in_comment else line[at:])
    return "".join(pieces), in_comment


def is_blank(text: str) -> bool:
    """Whether ``text`` is nothing but white space."""
    return not text.strip()


_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def is_silent(text: str) -> bool:
    """Whether ``text`` says nothing to a model: blank, or comments only (which is how a file is empty on purpose)."""
    return is_blank(_COMMENT.sub("", text))


def resolve(path: str, importing: str) -> str | None:
    """The absolute, normalised path an import written as ``path`` in the file ``importing`` names.

    ``~/`` is the home folder; ``None`` for other users' homes. The disk is not looked at.
    """
    if pathtext.SEP == "/":
        path = path.replace("\\", "/")
    if path.startswith("~"):
        if not path.startswith(("~/", "~\\")):
            return None
        path = pathtext.expand_home(path)
    return pathtext.normal(pathtext.join(pathtext.parent(importing), path))
