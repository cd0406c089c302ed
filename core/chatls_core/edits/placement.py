"""What a hunk changes at one place of a file, and why it may not be made there although its lines stand there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from chatls_core.edits.diffhunk import Reading
from chatls_core.edits.forgotten_comma import is_forgotten_comma
from chatls_core.edits.indentation import IDENTITY, indent_of, unit_shift
from chatls_core.edits.matching import FileIndex, Match
from chatls_core.edits.plan import Draft, Rung
from chatls_core.edits.replacement import WORD
from chatls_core.edits.typography import plain_where_the_file_is

LineEdit = tuple[int, int, tuple[str, ...]]
"""Lines ``start``..``stop`` (half-open) become these contents."""

INDENTED = "with another indentation, and how its added lines would be indented there cannot be told"


@dataclass(frozen=True, slots=True)
class Placement:
    """A hunk at one place: the changes it makes there. ``start``..``stop`` are the lines from first to last change.

    ``doubt``: why it cannot be made there, though the hunk stands there (it counts as a place all the same). ``plain``:
    the typographic characters that the file has as plain ones.
    """

    match: Match
    edits: tuple[LineEdit, ...]
    doubt: str = ""
    plain: Mapping[int, str] = field(default_factory=dict)

    @property
    def start(self) -> int:
        """The first line changed (where lines are only inserted, the line they come before)."""
        return self.edits[0][0]

    @property
    def stop(self) -> int:
        """The line after the last one changed."""
        return self.edits[-1][1]


def place(draft: Draft, path: str, index: FileIndex, match: Match, reading: Reading) -> Placement | None:
    """The changes of a hunk that stands at ``match``, or ``None`` where it would have to be guessed at."""
    edits: list[LineEdit] = []
    doubt = ""
    at = match.start
    wanted = 0
    block = [line for op, line in reading if op != "+"]
    shift = unit_shift(
        match.shift, match.start, match.pairs, block, [line for op, line in reading if op == "+"], index.lines.contents
    )
    plain: dict[int, str] = {}
    if match.rung >= Rung.TYPOGRAPHY:
        in_file = (index.lines.contents[number] for number in match.pairs if number is not None)
        plain = plain_where_the_file_is(block, in_file)
    own = _mistyped(match, block, index.lines.contents)
    for i, (op, line) in enumerate(reading):
        if op == "+":
            moved = own.get(line) or shift.carry(line)
            if moved is None:
                doubt, moved = INDENTED, line
            moved = draft.plain(path, moved.translate(plain))
            if edits and edits[-1][1] == at:
                edits[-1] = (edits[-1][0], at, (*edits[-1][2], moved))
            else:
                edits.append((at, at, (moved,)))
            continue
        pair = match.pairs[wanted]
        wanted += 1
        if op == "-":
            if pair is None:
                return None
            if edits and edits[-1][1] == pair:
                edits[-1] = (edits[-1][0], pair + 1, edits[-1][2])
            else:
                edits.append((pair, pair + 1, ()))
        elif pair is not None and match.rung is Rung.SIMILAR and not index.same(line, pair):
            moved = shift.carry(line)
            if moved is None or not is_forgotten_comma(index.lines.contents, pair, reading, i):
                return None
            edits.append((pair, pair + 1, (moved,)))
        if pair is not None:
            at = pair + 1
    if None in match.pairs and _changes_beside_a_lost_blank(match, reading, len(index.lines)):
        doubt = doubt or "it shows an empty line beside the change where the file has another line"
    if match.shift != IDENTITY and _added_as_in_the_file(match, reading, index.lines.contents):
        doubt = doubt or INDENTED
    return Placement(match, tuple(edits), doubt, plain)


def _mistyped(match: Match, block: Sequence[str], contents: Sequence[str]) -> dict[str, str]:
    """The lines of a hunk that the file has in other characters: where they are added again, the file's are meant."""
    if match.rung < Rung.TYPOGRAPHY:
        return {}
    pairs = [(line, contents[number]) for line, number in zip(block, match.pairs, strict=True) if number is not None]
    theirs = {text for _, text in pairs}
    return {
        line: text for line, text in pairs if WORD.search(line) and line not in theirs and line.strip() != text.strip()
    }


def _changes_beside_a_lost_blank(match: Match, reading: Reading, length: int) -> bool:
    """Whether an empty line at an end of the hunk, which the file does not have there, stands next to a change.

    Then what the file has there instead is a line the hunk does not know of, and the change may belong below it.
    """
    pairs = iter(match.pairs)
    known = [(op, op == "+" or next(pairs) is not None) for op, _ in reading]
    ends = ([known] if match.start else []) + ([known[::-1]] if match.stop < length else [])
    return any(not end[0][1] and next((op for op, there in end if there), " ") != " " for end in ends)


def _added_as_in_the_file(match: Match, reading: Reading, contents: Sequence[str]) -> bool:
    """Whether lines that replace others are indented like those in the file, while the hunk indents the old ones anew.

    Either the model left the indentation out of the old lines only, or the new ones are to be deeper than they were.
    """
    pairs = iter(match.pairs)
    marked = [(op, line, None if op == "+" else next(pairs)) for op, line in reading]
    for is_context, group in groupby(marked, key=lambda row: row[0] == " "):
        changed = [] if is_context else [row for row in group if row[1].strip()]
        removed = next((row for row in changed if row[0] == "-"), None)
        added = next((row for row in changed if row[0] == "+"), None)
        if removed is None or added is None or removed[2] is None:
            continue
        width, before, in_file = (
            len(indent_of(line).expandtabs(4)) for line in (added[1], removed[1], contents[removed[2]])
        )
        if before != width == in_file:
            return True
    return False
