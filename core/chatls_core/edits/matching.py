"""The ladder: where a block of lines stands in a file (issue 5, "Matching ladder").

Each rung overlooks one more difference, and each counts only when exactly one place fits: a text that fits twice is
for the model to tell apart, and a text that fits nowhere is not guessed from its first and last line. Blocks are found
by turning every line into one character and searching the file as a string, so a search costs one pass at any rung,
whatever the lines repeat.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chatls_core.edits.indentation import IDENTITY, Shift, find_shift
from chatls_core.edits.lines import Lines
from chatls_core.edits.neighbourhood import GAP, REACH, lines_that_matter
from chatls_core.edits.plan import Rung
from chatls_core.edits.similarity import similar_places
from chatls_core.edits.typography import fold_line

MAX_PLACES = 64
"""More places than this are not told apart; the search says that it is ambiguous."""

_HUGE_LINES, _HUGE_CHARS = 20_000, 2_000_000
"""In larger files searches look only around the lines that matter."""

_MAX_DISTINCT = 0x10FFFF
_MAX_COMPARISONS = 20_000
_WORD = re.compile(r"\w")

_KEYS: dict[Rung, Callable[[str], str]] = {
    Rung.EXACT: str,
    Rung.TRAILING_BLANKS: str.rstrip,
    Rung.INDENTATION: str.strip,
    Rung.ANY_INDENTATION: str.strip,
    Rung.TYPOGRAPHY: fold_line,
    Rung.BLANK_LINES: fold_line,
}


@dataclass(frozen=True, slots=True)
class Match:
    """Where a block stands: lines ``start``..``stop`` (half-open), by which rung, indented by which ``shift``.

    ``pairs[i]`` is the file's line for the block's line ``i``, ``None`` for an empty line the file does not have.
    """

    start: int
    stop: int
    rung: Rung
    shift: Shift
    pairs: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class _Folded:
    """A file folded for one rung: a character per line, the characters by folded line, the kept lines' numbers."""

    text: str
    alphabet: dict[str, str]
    kept: Sequence[int] | None


class FileIndex:
    """A file's lines, folded for each rung on first use. One index serves every search in the same text.

    In a huge file (unless ``whole``) only the lines around those that matter to a search are folded.
    """

    def __init__(self, lines: Lines, *, whole: bool = False) -> None:
        self.lines = lines
        self._folds: dict[tuple[Callable[[str], str], bool], _Folded] = {}
        self._found: dict[tuple[tuple[str, ...], Rung], list[Match]] = {}
        self._hopeless: dict[tuple[str, ...], bool] = {}
        huge = len(lines) > _HUGE_LINES or sum(map(len, lines.contents)) > _HUGE_CHARS
        # Each line stands between two line breaks.
        self._text = "\n".join(("", *lines.contents, "")) if huge and not whole else None
        self._parts: dict[tuple[str, ...], _Part | None] = {}

    def _folded(self, rung: Rung) -> _Folded:
        fold, dense = _KEYS[rung], rung is Rung.BLANK_LINES
        made = self._folds.get((fold, dense))
        if made is None:
            keys = [fold(content) for content in self.lines.contents]
            kept = [number for number, key in enumerate(keys) if key] if dense else None
            if kept is not None:
                keys = [keys[number] for number in kept]
            distinct = dict.fromkeys(keys)
            # Past the last code point lines share characters, and what is found is compared in full (_match).
            alphabet = {key: chr(i % _MAX_DISTINCT + 1) for i, key in enumerate(distinct)}
            made = _Folded("".join(map(alphabet.__getitem__, keys)), alphabet, kept)
            self._folds[fold, dense] = made
        return made

    def _spell(self, block: Sequence[str], rung: Rung) -> tuple[str, Sequence[int]]:
        """The block in the file's characters (empty when the file lacks one of its lines), its own lines' numbers."""
        folded = self._folded(rung)
        fold = _KEYS[rung]
        keys = [fold(line) for line in block]
        own: Sequence[int] = range(len(block))
        if folded.kept is not None:
            own = [i for i, key in enumerate(keys) if key]
            keys = [keys[i] for i in own]
        if any(key not in folded.alphabet for key in keys):
            return "", own
        return "".join(map(folded.alphabet.__getitem__, keys)), own

    def _is_hopeless(self, block: tuple[str, ...]) -> bool:
        """Whether no rung between exact and similar can find the block: the most tolerant of them does not."""
        known = self._hopeless.get(block)
        if known is None:
            wanted, own = self._spell(block, Rung.BLANK_LINES)
            known = self._hopeless[block] = bool(own) and wanted not in self._folded(Rung.BLANK_LINES).text
            known = self._hopeless[block] = known or (bool(own) and not wanted)
        return known

    def places(self, block: Sequence[str], rung: Rung) -> list[Match]:
        """Every place where ``block`` stands by ``rung``, at most ``MAX_PLACES + 1`` of them, in order."""
        key = (tuple(block), rung)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._search(key[0], rung)
        return found

    def _search(self, block: tuple[str, ...], rung: Rung) -> list[Match]:
        blank = not any(line.strip() for line in block)
        if blank and rung is not Rung.EXACT:
            return []
        if self._text is not None and not blank:
            if rung is Rung.EXACT:
                return self._exact(self._text, "\n".join(block), len(block))
            if (part := self._part(self._text, block)) is not None:
                return part.search(block, rung)
        if rung is Rung.SIMILAR:
            return self._similar(block)
        if rung is not Rung.EXACT and self._is_hopeless(block):
            return []
        if rung >= Rung.INDENTATION and not any(map(_WORD.search, block)):
            # Brackets alone, at another depth or with another spacing, may be any brackets.
            return []
        text = self._folded(rung).text
        wanted, own = self._spell(block, rung)
        if not wanted:
            return []
        found: list[Match] = []
        tries = len(text) if rung < Rung.INDENTATION else max(16, _MAX_COMPARISONS // len(own))
        at = text.find(wanted)
        while at >= 0 and len(found) <= MAX_PLACES:
            if not tries:
                # Looking on would take too long, and one place among unseen ones proves nothing.
                return found if len(found) > 1 else []
            tries -= 1
            match = self._match(block, own, at, rung)
            if match is not None:
                found.append(match)
            at = text.find(wanted, at + 1)
        if rung > Rung.ANY_INDENTATION:
            # Indentation overlooked is one difference more.
            return [match for match in found if match.shift == IDENTITY] or found
        return found

    def _exact(self, text: str, wanted: str, size: int) -> list[Match]:
        found: list[Match] = []
        number = counted = 0
        at = text.find(f"\n{wanted}\n")
        while at >= 0 and len(found) <= MAX_PLACES:
            number += text.count("\n", counted, at)
            counted = at
            found.append(Match(number, number + size, Rung.EXACT, IDENTITY, range(number, number + size)))
            at = text.find(f"\n{wanted}\n", at + 1)
        return found

    def _part(self, text: str, block: tuple[str, ...]) -> _Part | None:
        if block not in self._parts:
            numbers = lines_that_matter(text, block)
            self._parts[block] = None if numbers is None else _Part.of(self.lines, numbers)
        return self._parts[block]

    def places_within(self, block: Sequence[str], rung: Rung, start: int, stop: int) -> list[Match]:
        """The places of ``block`` by ``rung`` that lie in the lines ``start``..``stop``, at most ``MAX_PLACES + 1``."""
        if rung is Rung.SIMILAR:
            return [match for match in self.places(block, rung) if start <= match.start and match.stop <= stop]
        folded = self._folded(rung)
        wanted, own = self._spell(block, rung)
        low, high = (line if folded.kept is None else bisect_left(folded.kept, line) for line in (start, stop))
        found: list[Match] = []
        at = folded.text.find(wanted, low, high) if wanted else -1
        while at >= 0 and len(found) <= MAX_PLACES:
            match = self._match(tuple(block), own, at, rung)
            if match is not None:
                found.append(match)
            at = folded.text.find(wanted, at + 1, high)
        return found

    def place_at(self, block: Sequence[str], rung: Rung, line: int) -> Match | None:
        """The place of ``block`` by ``rung`` whose first line that is not empty is ``line``'s, if it stands there."""
        if rung is Rung.SIMILAR or not 0 <= line < len(self.lines):
            return None
        if self._text is not None:
            reach = 2 * len(block) + REACH
            part = _Part.of(self.lines, range(max(0, line - reach), line + reach))
            return next((match for match in part.search(block, rung) if match.start == line), None)
        folded = self._folded(rung)
        wanted, own = self._spell(block, rung)
        spot = line if folded.kept is None else bisect_left(folded.kept, line)
        if not wanted or not folded.text.startswith(wanted, spot):
            return None
        match = self._match(tuple(block), own, spot, rung)
        return match if match is not None and match.start == line else None

    def _match(self, block: Sequence[str], own: Sequence[int], at: int, rung: Rung) -> Match | None:
        """The match of the lines ``own`` of ``block`` at place ``at`` of the folded file, if indentation allows it."""
        contents = self.lines.contents
        kept = None if rung < Rung.BLANK_LINES else self._folded(Rung.BLANK_LINES).kept
        numbers: Sequence[int] = range(at, at + len(own)) if kept is None else kept[at : at + len(own)]
        if rung in _KEYS and len(self._folded(rung).alphabet) > _MAX_DISTINCT:
            fold = _KEYS[rung]
            if any(fold(block[i]) != fold(contents[n]) for i, n in zip(own, numbers, strict=True)):
                return None
        shift = IDENTITY
        if rung is Rung.ANY_INDENTATION:
            # A search that starts in the middle of a line lacks that line's indentation only: no free indentation.
            if all(block[i] == contents[n] for i, n in zip(own[1:], numbers[1:], strict=True)):
                return None
        elif rung >= Rung.INDENTATION:
            uniform = find_shift((block[i], contents[n]) for i, n in zip(own, numbers, strict=True))
            if uniform is None:
                return None
            shift = uniform
        if len(own) == len(block):
            return Match(numbers[0], numbers[-1] + 1, rung, shift, numbers)
        pairs: list[int | None] = [None] * len(block)
        for i, number in zip(own, numbers, strict=True):
            pairs[i] = number
        self._pair_blanks(pairs)
        present = [number for number in pairs if number is not None]
        return Match(present[0], present[-1] + 1, rung, shift, pairs)

    def _pair_blanks(self, pairs: list[int | None]) -> None:
        """Give the block's empty lines the file's, in order, as far as the file has some at the same gap."""
        contents = self.lines.contents
        first = next(i for i, number in enumerate(pairs) if number is not None)
        for i in range(first + 1, len(pairs)):
            before = pairs[i - 1]
            if (
                pairs[i] is None
                and before is not None
                and before + 1 < len(contents)
                and not contents[before + 1].strip()
            ):
                pairs[i] = before + 1
        for i in range(first - 1, -1, -1):
            after = pairs[i + 1]
            if after is None or after == 0 or contents[after - 1].strip():
                break
            pairs[i] = after - 1

    def _similar(self, block: Sequence[str]) -> list[Match]:
        dense = self._folded(Rung.BLANK_LINES)
        kept = dense.kept
        assert kept is not None
        own = [i for i, line in enumerate(block) if line.strip()]
        folded = [fold_line(block[i]) for i in own]
        at = similar_places(
            [dense.alphabet.get(key, "\0") for key in folded],
            folded,
            dense.text,
            lambda spot: fold_line(self.lines.contents[kept[spot]]),
        )
        matches = (self._match(block, own, spot, Rung.SIMILAR) for spot in at)
        return [match for match in matches if match is not None]

    def same(self, line: str, number: int) -> bool:
        """Whether ``line`` is the file's line ``number`` apart from spacing and typography."""
        return fold_line(line) == fold_line(self.lines.contents[number])


@dataclass(frozen=True, slots=True)
class _Part:
    """A few lines of a huge file, searched as a file of their own. ``numbers`` are the file's, ``-1`` for a gap."""

    index: FileIndex
    numbers: Sequence[int]

    @classmethod
    def of(cls, lines: Lines, numbers: Sequence[int]) -> _Part:
        kept: list[int] = []
        for number in numbers:
            if number < len(lines):
                if kept and kept[-1] != number - 1:
                    kept.append(-1)
                kept.append(number)
        contents = [GAP if number < 0 else lines.contents[number] for number in kept]
        endings = ["\n" if number < 0 else lines.endings[number] for number in kept]
        return cls(FileIndex(Lines(contents, endings, lines.newline), whole=True), kept)

    def search(self, block: Sequence[str], rung: Rung) -> list[Match]:
        """The places of ``block`` by ``rung``, in the file's own numbers."""
        return [
            replace(
                match,
                start=self.numbers[match.start],
                stop=self.numbers[match.stop - 1] + 1,
                pairs=[None if pair is None else self.numbers[pair] for pair in match.pairs],
            )
            for match in self.index.places(block, rung)
        ]


LADDER: tuple[Rung, ...] = (
    Rung.EXACT,
    Rung.TRAILING_BLANKS,
    Rung.INDENTATION,
    Rung.ANY_INDENTATION,
    Rung.TYPOGRAPHY,
    Rung.BLANK_LINES,
    Rung.SIMILAR,
)
"""For blocks that are replaced as a whole."""

DIFF_LADDER: tuple[Rung, ...] = tuple(rung for rung in LADDER if rung is not Rung.ANY_INDENTATION)
"""For hunks, whose added lines are indented by what stands around them."""


def starting_at(places: Sequence[Match], line: int) -> Match | None:
    """The place that starts exactly at ``line`` (0-based), if any."""
    starts = [place.start for place in places]
    spot = bisect_left(starts, line)
    return places[spot] if spot < len(places) and starts[spot] == line else None
