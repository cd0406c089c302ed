"""The last rung: a block with one line in four mistyped, and nothing else in the file that comes near.

A line may differ by end-of-line punctuation, by the kind of quotes, or by one letter in one long word. Numbers,
operators and short names never differ: ``$50`` for ``$100`` is another statement, not a typing mistake.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

_TOKEN = re.compile(r"\w+|[^\w\s]")
_END = ",;.:!?"
_QUOTES = str.maketrans({'"': "'", "`": "'"})
_MAX_LINE = 400
_MAX_BLOCK = 400
_MAX_COMMON = 64
_MIN_WORD = 5
_MARGIN = 0.25


def same_but_mistyped(one: str, other: str) -> bool:
    """Whether two (folded) lines are the same statement with a typing mistake in one of them."""
    if len(one) > _MAX_LINE or len(other) > _MAX_LINE or not one or not other:
        return False
    a, b = (_TOKEN.findall(line.translate(_QUOTES).rstrip(_END)) for line in (one, other))
    if len(a) != len(b) or not a:
        return False
    differing = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
    return not differing or (len(differing) == 1 and _one_letter_off(*differing[0]))


def _one_letter_off(one: str, other: str) -> bool:
    """One letter added, left out, changed, or two swapped, in a word of letters long enough to be the same word."""
    if min(len(one), len(other)) < _MIN_WORD or not (one.isalpha() and other.isalpha()):
        return False
    if len(one) == len(other):
        at = [i for i, (x, y) in enumerate(zip(one, other, strict=True)) if x != y]
        if len(at) == 1:
            return True
        return len(at) == 2 and at[1] == at[0] + 1 and one[at[0]] == other[at[1]] and one[at[1]] == other[at[0]]
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) != 1:
        return False
    at_split = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    return short[at_split:] == long[at_split + 1 :]


def similar_places(wanted: Sequence[str], block: Sequence[str], text: str, line_at: Callable[[int], str]) -> list[int]:
    """Where ``block`` (folded, no empty lines) stands in a file with at most a quarter of its lines mistyped.

    ``wanted`` has each line's character in the file's alphabet (NUL for a line the file does not have), ``text`` the
    file in that alphabet, ``line_at`` its folded lines. A single line is never similar enough, and a place counts
    only with a margin to the second best; the result has one start at most, or several equally good ones.
    """
    size = len(block)
    if not 2 <= size <= _MAX_BLOCK or size > len(text):
        return []
    votes: Counter[int] = Counter()
    absent = common = 0
    for i, character in enumerate(wanted):
        if character == "\0":
            absent += 1
            continue
        at = text.find(character)
        seen = 0
        while at >= 0 and seen < _MAX_COMMON:
            if 0 <= at - i <= len(text) - size:
                votes[at - i] += 1
            seen += 1
            at = text.find(character, at + 1)
        common += at >= 0
    allowed = max(1, size // 4)
    if size - absent - common <= allowed - absent:
        return []  # a place may hold none but lines that are too common to be looked for everywhere
    ranked = votes.most_common(8)
    if not ranked or ranked[0][1] < size - allowed:
        return []
    scores: dict[int, float] = {}
    passing: list[int] = []
    for start, _ in ranked:
        off = [i for i in range(size) if text[start + i] != wanted[i]]
        near = [i for i in off if same_but_mistyped(block[i], line_at(start + i))] if len(off) <= allowed else []
        scores[start] = (size - len(off) + 0.9 * len(near)) / size
        if len(off) == len(near):
            passing.append(start)
    if len(passing) != 1:
        return passing
    best = scores.pop(passing[0])
    return passing if all(score <= best - _MARGIN for score in scores.values()) else []
