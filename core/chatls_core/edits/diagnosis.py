"""The words of a refused edit: the nearest text with line numbers, every place of an ambiguous one, the next step."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from chatls_core.edits.errors import EditError, EditErrorKind

_WORD = re.compile(r"\w+")
_MAX_LINES = 20_000
_MAX_COMPARED = 1_000_000
_MAX_LINE = 400
_SHOWN = 12
_NAMED = 8
_ALIKE = 0.4


def quote(text: str, limit: int = 160) -> str:
    """``text`` in one line for a message: line ends visible, cut after ``limit`` characters, in Python's quotes."""
    cut = text if len(text) <= limit else text[:limit] + "…"
    return ascii(cut) if any("\ud800" <= c <= "\udfff" for c in cut) else repr(cut)


def numbered(contents: Sequence[str], start: int, stop: int) -> str:
    """Lines ``start``..``stop`` (0-based, half-open) with 1-based numbers, as the read tool shows them; bounded."""
    start, stop = max(0, start), min(len(contents), stop)
    shown = range(start, min(stop, start + _SHOWN))
    return "\n".join(f"{i + 1:6}\t{contents[i][:_MAX_LINE]}" for i in shown)


def list_lines(lines: Iterable[int]) -> str:
    """``1-based`` line numbers for a message, at most eight of them."""
    numbers = list(lines)
    words = ", ".join(str(number) for number in numbers[:_NAMED])
    return words + (", …" if len(numbers) > _NAMED else "")


def ambiguous(path: str, what: str, lines: Sequence[int], advice: str, *, capped: bool = False) -> EditError:
    """The text stands at several places; ``lines`` are their 1-based first lines (``capped``: and more)."""
    return EditError(
        EditErrorKind.AMBIGUOUS,
        f"{what} stands {len(lines)} times{' or more' if capped else ''} in {path}, at lines {list_lines(lines)}: "
        f"nothing was changed. {advice}",
        path,
    )


def not_found(
    path: str, what: str, contents: Sequence[str], block: Sequence[str], new: Sequence[str] = ()
) -> EditError:
    """The text stands nowhere: says why as far as it can be told, and shows the nearest text."""
    wanted = [line for line in block if line.strip()]
    parts = [f"{what} was not found in {path}: nothing was changed."]
    if not contents:
        parts.append("The file is empty.")
    else:
        parts += _causes(contents, wanted, new)
        near = nearest_window(contents, wanted)
        if near is None:
            where = "the file" if len(contents) <= _MAX_LINES else f"its first {_MAX_LINES:,} lines"
            parts.append(f"Nothing in {where} comes near it. Read the file again and copy the text from what it shows.")
        else:
            start = max(0, near - 1)
            parts.append(
                f"The nearest text is at line {near + 1}:\n{numbered(contents, start, near + len(block) + 1)}\n"
                "Send the edit again with the text exactly as it stands there (without the line numbers)."
            )
    return EditError(EditErrorKind.NOT_FOUND, " ".join(parts), path)


def _causes(contents: Sequence[str], wanted: Sequence[str], new: Sequence[str]) -> list[str]:
    causes: list[str] = []
    have = {line.strip() for line in contents[:_MAX_LINES]}
    fresh = [line.strip() for line in new if line.strip()]
    if fresh and all(line in have for line in fresh) and any(line.strip() not in have for line in wanted):
        causes.append("The new text is in the file already, so this edit may have been made before.")
    lower = {line.lower() for line in have}
    if wanted and all(line.strip().lower() in lower for line in wanted):
        if any(line.strip() not in have for line in wanted):
            causes.append("It differs in upper and lower case.")
        else:
            causes.append("Each of its lines is there, but not in this order, or indented in another way.")
    if wanted and all(re.match(r"\s*\d+\s*(?:\||\t|:)", line) for line in wanted):
        causes.append("It begins with line numbers; leave them out.")
    if any(line.strip() in ("...", "…") or ("..." in line and line.strip(" .#/*-") == "") for line in wanted):
        causes.append("It holds '...' for left-out lines; write the lines out, or use a smaller piece.")
    return causes


def nearest_window(contents: Sequence[str], wanted: Sequence[str]) -> int | None:
    """The 0-based line where most of ``wanted`` (no blank lines) stands, or something like its longest line."""
    if not wanted:
        return None
    places: dict[str, list[int]] = {}
    keys = {line.strip() for line in wanted}
    for number, content in enumerate(contents[:_MAX_COMPARED]):
        key = content.strip()
        if key in keys:
            places.setdefault(key, []).append(number)
    votes: Counter[int] = Counter()
    for i, line in enumerate(wanted):
        for number in places.get(line.strip(), ())[:50]:
            votes[max(0, number - i)] += 1
    if votes:
        best = max(votes.values())
        return min(start for start, count in votes.items() if count == best)
    return _alike(contents, max(wanted, key=lambda line: len(line.strip())))


def _alike(contents: Sequence[str], line: str) -> int | None:
    """The line that shares most of its words with ``line``, two in five at least.

    Only lines that hold one of its three longest words are weighed.
    """
    words = set(_WORD.findall(line[:_MAX_LINE].lower()))
    best, place = 0.0, None
    for word in sorted(words, key=len, reverse=True)[:3]:
        hits = (n for n, text in enumerate(contents[:_MAX_LINES]) if word in text.lower())
        for number in islice(hits, 200):
            have = set(_WORD.findall(contents[number][:_MAX_LINE].lower()))
            share = len(words & have) / len(words | have) if have else 0.0
            if share > best:
                best, place = share, number
        if best >= _ALIKE:
            break
    return place if best >= _ALIKE else None
