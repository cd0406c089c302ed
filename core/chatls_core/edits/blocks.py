"""Reading search/replace blocks out of a model's answer: markers, file names, line hints, code fences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chatls_core.edits.errors import EditError, EditErrorKind

_SEARCH = re.compile(r"^(?P<mark><{5,9}|-{5,9}) ?(?:SEARCH|ORIGINAL)>?\s*$")
_REPLACE = re.compile(r"^(?P<mark>>{5,9}|\+{5,9}) ?(?:REPLACE|UPDATED)\s*$")
_DIVIDER = re.compile(r"^={5,9}\s*$")
_HINT = re.compile(r"^:(?P<key>start_line|end_line):\s*(?P<line>\d{1,9})\s*$")
_RULE = re.compile(r"^-{5,9}\s*$")
_ESCAPED = re.compile(r"^\\(?=<{5,9}|={5,9}|>{5,9}|-{5,9}|\+{5,9}|:start_line:|:end_line:)")
_FENCE = re.compile(r"^\s*(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
_FIND = re.compile(r"^---(?P<key>FILEPATH|FIND|REPLACE|COMPLETE)\b[ \t]*(?P<value>.*?)\s*$")
_LOOKS_LIKE_A_PATH = re.compile(r"^(?:[\w@.+~-]+[/\\])*[\w@.+~-]*\.?[\w@+~-]+$")
_BARE_NAME = re.compile(
    r"(?:Make|Docker|Container|Vagrant|Jenkins|Proc|Gem|Rake|Just|Brew|Pip)file|LICEN[CS]E|COPYING|README|CHANGELOG"
    r"|AUTHORS|NOTICE|CODEOWNERS"
)
_ABOVE = 3
_FORM = (
    "A block has this form, with the file's path on the line above it:\nsrc/app.py\n<<<<<<< SEARCH\ntext as it stands "
    "in the file\n=======\ntext to put there\n>>>>>>> REPLACE"
)


@dataclass(frozen=True, slots=True)
class Block:
    """One replacement. ``path`` is empty where no file is named; ``start_line`` is the 1-based hint."""

    number: int
    path: str
    search: tuple[str, ...]
    replace: tuple[str, ...]
    start_line: int | None = None


def _malformed(problem: str) -> EditError:
    return EditError(EditErrorKind.MALFORMED, f"{problem} Nothing was changed. {_FORM}")


def parse_blocks(edit: str, known: Callable[[str], bool]) -> list[Block]:
    """The blocks of an answer; ``known`` tells file names among the lines above a block.

    Raises :class:`EditError` for markers that are missing or out of order, and when there is no block at all.
    """
    lines = edit.replace("\r\n", "\n").split("\n")
    if any(_FIND.match(line) for line in lines) and not any(_SEARCH.match(line) for line in lines):
        blocks = _find_replace(lines)
    else:
        blocks = _marked(lines, known)
    if not blocks:
        raise _malformed("There is no search/replace block in the edit.")
    return blocks


def _marked(lines: Sequence[str], known: Callable[[str], bool]) -> list[Block]:
    blocks: list[Block] = []
    path = ""
    at = after = 0
    while at < len(lines):
        opening = _SEARCH.match(lines[at])
        if opening is None:
            if _REPLACE.match(lines[at]) and lines[at][0] == ">":
                raise _malformed(f"Line {at + 1} of the edit closes a block that no SEARCH marker opens.")
            at += 1
            continue
        stop = _end_of_block(lines, at)
        body = list(lines[at + 1 : stop])
        divider = _divider(body, len(opening["mark"]), len(blocks) + 1)
        start_line, search = _hints(body[:divider])
        path = _name_above(lines[after:at], known) or path
        blocks.append(
            Block(
                number=len(blocks) + 1,
                path=path,
                search=tuple(_ESCAPED.sub("", line) for line in search),
                replace=tuple(_ESCAPED.sub("", line) for line in body[divider + 1 :]),
                start_line=start_line,
            )
        )
        at = after = stop + 1
    return blocks


def _end_of_block(lines: Sequence[str], opening: int) -> int:
    for at in range(opening + 1, len(lines)):
        if _REPLACE.match(lines[at]):
            return at
        if _SEARCH.match(lines[at]) and lines[at][0] == lines[opening][0]:
            break
    raise _malformed(
        f"The block that begins at line {opening + 1} of the edit has no REPLACE marker after it: it was cut off, or "
        "the marker is misspelled. A line of the file that looks like a marker gets a backslash before it."
    )


def _divider(body: Sequence[str], width: int, number: int) -> int:
    """The line between both sides. Of several, the one as wide as the markers; a heading underline may be another."""
    found = [i for i, line in enumerate(body) if _DIVIDER.match(line)]
    if len(found) > 1:
        found = [i for i in found if len(body[i].rstrip()) == width] or found
    if not found:
        raise _malformed(f"Block {number} has no line of ======= between SEARCH and REPLACE.")
    if len(found) > 1:
        raise _malformed(
            f"Block {number} has {len(found)} lines of =======, so it is not clear where REPLACE begins. Put a "
            "backslash before the ones that are text of the file."
        )
    return found[0]


def _hints(search: Sequence[str]) -> tuple[int | None, list[str]]:
    """The line hint at the top of SEARCH (``:start_line:12``, a rule of dashes below it), and the text below."""
    start_line: int | None = None
    at = 0
    while at < len(search) and (hint := _HINT.match(search[at])):
        if hint["key"] == "start_line":
            start_line = int(hint["line"])
        at += 1
    if at and at < len(search) and _RULE.match(search[at]):
        at += 1
    return start_line, list(search[at:])


def _name_above(lines: Sequence[str], known: Callable[[str], bool]) -> str:
    """The file name on the last lines above a block, fences and decoration left out; empty where there is none."""
    candidates: list[str] = []
    for line in reversed(lines):
        if len(candidates) == _ABOVE:
            break
        fence = _FENCE.match(line)
        text = fence["info"] if fence else line
        name = text.strip().strip("`*").removeprefix("# ").strip().rstrip(":").strip("`*").strip()
        if name and name != "..." and not (fence and "." not in name and "/" not in name):
            candidates.append(name)
    for name in candidates:
        if known(name):
            return name
    return next((name for name in candidates if _is_path(name)), "")


def _is_path(name: str) -> bool:
    if len(name) >= 400 or not _LOOKS_LIKE_A_PATH.match(name):
        return False
    return "." in name or "/" in name or bool(_BARE_NAME.fullmatch(name))


def _find_replace(lines: Sequence[str]) -> list[Block]:
    """Copilot's spelling: ``---FILEPATH``, then ``---FIND`` and ``---REPLACE`` with a fenced body each."""
    blocks: list[Block] = []
    path = ""
    search: tuple[str, ...] | None = None
    for key, value, body in _parts(lines):
        if key == "FILEPATH":
            path = value
        elif key == "FIND":
            if search is not None:
                raise _malformed(f"Block {len(blocks) + 1} has a ---FIND, but no ---REPLACE after it.")
            search = _unfenced(body)
        elif key == "REPLACE":
            if search is None:
                raise _malformed(f"Block {len(blocks) + 1} has a ---REPLACE, but no ---FIND before it.")
            blocks.append(Block(len(blocks) + 1, path, search, _unfenced(body)))
            search = None
    if search is not None:
        raise _malformed(f"Block {len(blocks) + 1} has a ---FIND, but no ---REPLACE after it.")
    return blocks


def _parts(lines: Sequence[str]) -> list[tuple[str, str, list[str]]]:
    parts: list[tuple[str, str, list[str]]] = []
    for line in lines:
        if part := _FIND.match(line):
            parts.append((part["key"], part["value"], []))
        elif parts:
            parts[-1][2].append(line)
    return parts


def _unfenced(body: Sequence[str]) -> tuple[str, ...]:
    """The text in the code fence, or all of it where there is none."""
    start = next((i for i, line in enumerate(body) if line.strip()), len(body))
    stop = next((i for i in range(len(body), start, -1) if body[i - 1].strip()), start)
    opening = _FENCE.match(body[start]) if start < stop else None
    if opening and stop - start > 1 and body[stop - 1].strip() == opening["fence"]:
        return tuple(body[start + 1 : stop - 1])
    return tuple(body[start:stop])
