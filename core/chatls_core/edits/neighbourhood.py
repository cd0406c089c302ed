"""Which lines of a huge file matter to a search: those around its rarest lines.

Folding every line of a 50 MB file takes seconds, whatever is looked for. A block can only stand where its lines do, so
a few of them are looked up by their words, which costs one pass each over the file as one string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chatls_core.edits.typography import fold_line, has_invisible

GAP = "\0"
"""A line that stands between two stretches of lines that do not adjoin in the file."""

REACH = 40
"""How many lines around a line that matters are searched, beside twice the length of the block."""

_WORD = re.compile(r"\w+")
_MAX_WORDS = 12
_MAX_LOOKED_UP = 12
_MAX_HITS = 500
_MAX_SEEN = 2_000
_MAX_BLANKS = 10_000
"""No line has more blanks than this beside its text: a longer one is another line."""


def lines_that_matter(text: str, block: Sequence[str]) -> list[int] | None:
    """The lines around which ``block`` may stand at any rung, 0-based and ascending.

    ``text`` is the file with a ``\\n`` before each line and one behind the last.
    ``None`` where that cannot be told at little cost. A quarter of the block's lines may be mistyped, so one line more
    than that is looked up: one of them must be there.
    """
    if (not text.isascii() and has_invisible(text)) or any(GAP in line for line in block):
        return None
    wanted = sorted((line for line in block if line.strip()), key=lambda line: -len(_longest(line)))
    needed = min(max(1, len(wanted) // 4) + 1, len(wanted), _MAX_LOOKED_UP)
    known = 0
    hits: set[int] = set()
    for line in wanted[: needed + _MAX_LOOKED_UP]:
        found = _lines_like(text, line)
        if found is not None:
            known += 1
            hits.update(found)
        if known == needed:
            reach = 2 * len(block) + REACH
            spans = ((hit - reach, hit + reach) for hit in sorted(hits))
            return sorted({number for low, high in spans for number in range(max(0, low), high)})
    return None


def _longest(line: str) -> str:
    return max(_WORD.findall(line), key=len, default="")


def _lines_like(text: str, line: str) -> list[int] | None:
    """The lines of ``text`` that are ``line`` when folded; ``None`` for too many of them, or for no word to go by."""
    words = _WORD.findall(line)[:_MAX_WORDS]
    if not words:
        return None
    phrase = r"[^\w\n]+".join(map(re.escape, words))
    found = None
    for pattern in dict.fromkeys((re.escape(_longest(line)), phrase)):
        if found is None:
            found = _hits(text, re.finditer(pattern, text), fold_line(line))
    return found


def _hits(text: str, candidates: Iterator[re.Match[str]], folded: str) -> list[int] | None:
    """The lines of the candidates that are ``folded``; ``None`` where there are too many to look at."""
    found: list[int] = []
    number = counted = done = 0
    for seen, candidate in enumerate(candidates):
        if seen == _MAX_SEEN or len(found) > _MAX_HITS:
            return None
        if candidate.start() < done:
            continue
        start = text.rfind("\n", 0, candidate.start())
        done = text.find("\n", candidate.start())
        if done - start <= len(folded) + _MAX_BLANKS and fold_line(text[start:done]) == folded:
            number += text.count("\n", counted, start)
            counted = start
            found.append(number)
    return found
