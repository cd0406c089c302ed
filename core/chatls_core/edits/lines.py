"""Lines and their endings: how every part of this room cuts a text (``\\n``, ``\\r\\n`` and ``\\r`` only).

``str.splitlines`` also cuts at form feeds, U+2028 and others, which no editor counts as a line end; edits computed
with it land on the wrong line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_BREAK = re.compile(r"\r\n|\r|\n")
_WHOLE_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def split_keepends(text: str) -> list[str]:
    """The lines of ``text`` with their endings; joined they are ``text``. An empty text has no lines."""
    if "\r" not in text:
        lines = text.split("\n")
        last = lines.pop()
        kept = [line + "\n" for line in lines]
        if last:
            kept.append(last)
        return kept
    return _WHOLE_LINE.findall(text)


def split_contents(text: str) -> list[str]:
    """The lines of ``text`` without their endings; a final line ending adds no empty line."""
    lines = _BREAK.split(text) if "\r" in text else text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def to_lf(text: str) -> str:
    """``text`` with every line ending as ``\\n``."""
    return _BREAK.sub("\n", text) if "\r" in text else text


def with_newlines(text: str, newline: str) -> str:
    """``text`` with every line ending as ``newline``."""
    lf = to_lf(text)
    return lf if newline == "\n" else lf.replace("\n", newline)


def dominant_newline(text: str, default: str = "\n") -> str:
    """The line ending most lines of ``text`` have; the earlier one on a tie; ``default`` when it has none."""
    if "\r" not in text:
        return "\n" if "\n" in text else default
    counts: Counter[str] = Counter(_BREAK.findall(text))
    # Counters keep the order of first appearance, and max() the first of equals.
    return max(counts, key=lambda ending: counts[ending])


def ending_of(line: str) -> str:
    """The line ending of one line of :func:`split_keepends`; empty for an unterminated last line."""
    if line.endswith("\r\n"):
        return "\r\n"
    return line[-1] if line.endswith(("\n", "\r")) else ""


@dataclass(frozen=True, slots=True)
class Lines:
    """A text cut into lines: ``contents[i] + endings[i]``, joined, is the text again.

    Only the last ending may be empty. ``newline`` is what a new line gets (:func:`dominant_newline`).
    """

    contents: Sequence[str]
    endings: Sequence[str]
    newline: str

    @classmethod
    def of(cls, text: str) -> Lines:
        """Cut ``text``."""
        if "\r" not in text:
            contents = text.split("\n")
            if contents[-1]:
                endings = ["\n"] * (len(contents) - 1) + [""]
            else:
                contents.pop()
                endings = ["\n"] * len(contents)
            return cls(contents, endings, "\n")
        kept = split_keepends(text)
        ends = [ending_of(line) for line in kept]
        return cls(
            [line[: len(line) - len(end)] for line, end in zip(kept, ends, strict=True)], ends, dominant_newline(text)
        )

    def __len__(self) -> int:
        return len(self.contents)

    @property
    def terminated(self) -> bool:
        """Whether the text ends with a line ending; an empty text counts as terminated."""
        return not self.endings or bool(self.endings[-1])


def join_lines(contents: Sequence[str], endings: Sequence[str], newline: str, terminated: bool) -> str:
    """Put lines together; ``terminated`` says whether the last one gets a line ending.

    Lines without an ending of their own that do not come last get ``newline``.
    """
    if not contents:
        return ""
    parts: list[str] = []
    for content, ending in zip(contents, endings, strict=True):
        parts.append(content)
        parts.append(ending or newline)
    if not terminated:
        parts.pop()
    return "".join(parts)


def splice(old: Lines, start: int, stop: int, new: Sequence[str], *, terminated: bool | None = None) -> str:
    """The text of ``old`` with lines ``start``..``stop`` (half-open) replaced by the contents ``new``.

    Lines of ``new`` that stood in the replaced block keep their own ending, others get the file's dominant one. The
    end of the file stays as it was (with or without a line ending) unless ``terminated`` says otherwise.
    """
    kept = _endings_for(old, start, stop, new)
    contents = [*old.contents[:start], *new, *old.contents[stop:]]
    endings = [*old.endings[:start], *kept, *old.endings[stop:]]
    final = old.terminated if terminated is None else terminated
    return join_lines(contents, endings, old.newline, final)


def _endings_for(old: Lines, start: int, stop: int, new: Sequence[str]) -> list[str]:
    block = old.endings[start:stop]
    endings = [old.newline] * len(new)
    if all(ending == old.newline for ending in block):
        return endings
    from chatls_core.edits.diffing import opcodes

    for tag, i1, i2, j1, _j2 in opcodes(old.contents[start:stop], new):
        if tag == "equal":
            for offset in range(i2 - i1):
                endings[j1 + offset] = block[i1 + offset] or old.newline
    return endings


def conform(new: str, block: str, newline: str) -> str:
    """``new``, which replaces ``block``, in the file's line endings: a line that stood in ``block`` keeps its own."""
    endings = set(_BREAK.findall(block)) if "\r" in block else {"\n"} if "\n" in block else set()
    if endings <= {newline}:
        return with_newlines(new, newline)
    old, wanted = Lines.of(block), Lines.of(new)
    kept = _endings_for(Lines(old.contents, old.endings, newline), 0, len(old), wanted.contents)
    return join_lines(wanted.contents, kept, newline, wanted.terminated)
