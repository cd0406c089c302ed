"""Line numbers copied along with the text a read tool showed (``12 | text``, ``    12<tab>text``)."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBERED = re.compile(r"^\s*(\d{1,9})(?: ?\| ?|\t|: )(.*)$", re.DOTALL)
_BAR = re.compile(r"^\s*(\d{1,9}) \| ?(.*)$", re.DOTALL)


def unnumbered(block: Sequence[str]) -> tuple[int, list[str]] | None:
    """The first number and the lines without their numbers, where every line has one and they count up by one.

    The caller must check that the text stands at the line the numbers claim: only that proves that they are line
    numbers and no text.
    """
    for pattern in (_BAR, _NUMBERED):
        matches = [pattern.match(line) for line in block]
        if not matches or any(match is None for match in matches):
            continue
        numbers = [int(match[1]) for match in matches if match]
        if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
            return numbers[0], [match[2] for match in matches if match]
    return None


def new_unnumbered(new: Sequence[str], block: Sequence[str]) -> list[str] | None:
    """The new text of a numbered ``block`` without the numbers that its lines have, right or wrong.

    ``None`` where some lines have one and others that begin like one are no lines of ``block``: they may be text.
    """
    pattern = next((p for p in (_BAR, _NUMBERED) if all(map(p.match, block))), None)
    numbered = [None if pattern is None else pattern.match(line) for line in new]
    copied = [match is not None and line in block for match, line in zip(numbered, new, strict=True)]
    every = all(match or not line.strip() for match, line in zip(numbered, new, strict=True))
    if not every and any(match and not copy for match, copy in zip(numbered, copied, strict=True)):
        return None
    return [match[2] if match else line for match, line in zip(numbered, new, strict=True)]
