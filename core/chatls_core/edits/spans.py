"""Where a text stands in another, as it is or apart from line endings: offsets, and the lines they are on."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from chatls_core.edits.lines import to_lf
from chatls_core.edits.plan import Rung
from chatls_core.edits.typography import spelled_freely

MAX_OCCURRENCES = 100_000
_ONE_BREAK = r"(?:\r\n|\r(?!\n)|(?<!\r)\n)"


def line_numbers(text: str, starts: Sequence[int]) -> list[int]:
    """1-based line of each of the ascending offsets ``starts``."""
    if "\r" not in text:
        lines, line, at = [], 1, 0
        for start in starts:
            line += text.count("\n", at, start)
            at = start
            lines.append(line)
        return lines
    offsets = [0]
    for match in re.finditer(r"\r\n|\r|\n", text):
        offsets.append(match.end())
    return [bisect_right(offsets, start) for start in starts]


def occurrences(text: str, wanted: str) -> list[int]:
    """Every start of ``wanted``, overlapping ones too; bounded, since a thousand are no more telling than two."""
    starts: list[int] = []
    at = text.find(wanted)
    while at >= 0 and len(starts) < MAX_OCCURRENCES:
        starts.append(at)
        at = text.find(wanted, at + 1)
    return starts


def apart(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans from the left without those that overlap one before them."""
    kept: list[tuple[int, int]] = []
    for span in spans:
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def find_spans(text: str, old: str) -> tuple[list[tuple[int, int]], Rung]:
    """Where ``old`` stands as it is, or else apart from line endings, as offsets of ``text``.

    In a file with ``\\r``, places that differ in line endings only are equal places, and no place cuts a ``\\r\\n``.
    """
    if "\r" not in text or not ("\n" in old or "\r" in old):
        spans = [(start, start + len(old)) for start in occurrences(text, old)]
        if spans or "\r" not in old:
            return spans, Rung.EXACT
    elif "\r" in old:
        whole = [(start, start + len(old)) for start in occurrences(text, old) if not _cuts_crlf(text, start, len(old))]
        if whole:
            return whole, Rung.EXACT
    spans = folded_spans(text, to_lf(text), to_lf(old))
    exact = all(text[start:stop] == old for start, stop in spans)
    return spans, Rung.EXACT if exact else Rung.LINE_ENDINGS


def typographic_spans(text: str, old: str) -> list[tuple[int, int]]:
    """Where ``old`` stands apart from typographic characters and line endings, overlapping places too.

    As a pattern, since translating a huge text takes seconds.
    """
    pattern = re.compile(spelled_freely(to_lf(old)).replace("\n", _ONE_BREAK))
    spans: list[tuple[int, int]] = []
    match = pattern.search(text)
    while match and len(spans) < MAX_OCCURRENCES:
        spans.append(match.span())
        match = pattern.search(text, match.start() + 1)
    return spans


def _cuts_crlf(text: str, start: int, size: int) -> bool:
    return text[start - 1 : start + 1] == "\r\n" or text[start + size - 1 : start + size + 1] == "\r\n"


def folded_spans(text: str, folded: str, wanted: str) -> list[tuple[int, int]]:
    """The spans of ``wanted`` in ``folded`` (``text`` with ``\\r\\n`` as one character), as offsets of ``text``."""
    starts = occurrences(folded, wanted)
    if not starts or len(folded) == len(text):
        return [(start, start + len(wanted)) for start in starts]
    # At the k-th two-character line end of the text, k characters have been folded away before it.
    breaks = [match.start() - k for k, match in enumerate(re.finditer("\r\n", text))]

    def original(offset: int) -> int:
        return offset + bisect_right(breaks, offset - 1)

    return [(original(start), original(start + len(wanted))) for start in starts]
