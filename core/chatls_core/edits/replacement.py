"""The new text of a replaced block as the file would have it, given how its old text was found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from chatls_core.edits.diagnosis import quote
from chatls_core.edits.diffing import opcodes
from chatls_core.edits.errors import EditError, EditErrorKind
from chatls_core.edits.grammars import language_of
from chatls_core.edits.indentation import carry_block, indent_of, unit_shift
from chatls_core.edits.lines import Lines
from chatls_core.edits.matching import LADDER, Match
from chatls_core.edits.plan import Draft, Rung
from chatls_core.edits.typography import plain_where_the_file_is

_GAP = re.compile(r"(?<=[^ ]) {2,}(?=[^ ])")
_GAP_END = re.compile(r" [^ ]")
WORD = re.compile(r"\w{3}")
"""What a line must have to be told from others when it is copied with a slip."""

_QUOTE = re.compile("[\"'`]")
_COMMENT = re.compile(r"#|//|/\*|--|;|%|<!--")
_FREE_INDENTATION = frozenset(
    ("c", "cpp", "c_sharp", "css", "go", "java", "javascript", "json", "php", "rust", "tsx", "typescript")
)


def ladder_for(path: str) -> tuple[Rung, ...]:
    """The rungs for a block in ``path``.

    Where a language gives indentation no meaning, a block indented in no uniform way may be replaced as sent; elsewhere
    the new text's indentation would have to be guessed.
    """
    if language_of(path) in _FREE_INDENTATION:
        return LADDER
    return tuple(rung for rung in LADDER if rung is not Rung.ANY_INDENTATION)


def fit(
    draft: Draft, path: str, lines: Lines, match: Match, block: Sequence[str], new: Sequence[str]
) -> list[str] | None:
    """``new`` re-indented as ``match`` demands, ``None`` where that cannot be told for sure.

    Lines that the model left as they were (in ``block`` and in ``new`` alike) stay as the file has them, so that a
    slip in copying them is not written into the file.
    """
    in_file = [None if number is None else lines.contents[number] for number in match.pairs]
    shift = unit_shift(match.shift, match.start, match.pairs, block, new, lines.contents)
    fitted = carry_block(shift, new, block, in_file)
    if fitted is None or match.rung is Rung.EXACT:
        return fitted
    if match.rung >= Rung.TYPOGRAPHY:
        plain = plain_where_the_file_is(block, filter(None, in_file))
        draft.curled(path, plain)
        fitted = [line.translate(plain) for line in fitted]
    moved = set(range(len(new)))
    for tag, i1, i2, j1, _ in opcodes(block, new):
        if tag != "equal":
            continue
        moved -= set(range(j1, j1 + i2 - i1))
        for offset in range(i2 - i1):
            number = match.pairs[i1 + offset]
            if match.rung is Rung.INDENTATION:
                if number is not None and not block[i1 + offset].strip():
                    fitted[j1 + offset] = lines.contents[number]  # it has no indentation to carry
            elif match.rung is Rung.ANY_INDENTATION:
                if number is not None and lines.contents[number] != fitted[j1 + offset]:
                    # An unchanged line shows that the new ones beside it are not indented as the file is.
                    return None
            elif number is not None and not _is_tidied(lines.contents, number, fitted[j1 + offset]):
                fitted[j1 + offset] = lines.contents[number]
    if match.rung >= Rung.TYPOGRAPHY:
        # A copied line that is indented anew, or was moved.
        again = _paired_anew(block, new, in_file)
        for j in moved:
            if (text := again.get(j)) is not None and new[j].strip() != text:
                fitted[j] = indent_of(fitted[j]) + text
    return fitted


def _paired_anew(block: Sequence[str], new: Sequence[str], in_file: Sequence[str | None]) -> dict[int, str]:
    """The file's own line for the lines of ``new`` that are lines of ``block`` but for their place or indentation.

    A line that stands in the file as it is has no slip; one without a word is told by its neighbours only.
    """
    theirs = {text.strip() for text in in_file if text}
    copied = {
        line.strip(): text.strip() for line, text in zip(block, in_file, strict=True) if text and WORD.search(line)
    }
    paired = {j: copied[line.strip()] for j, line in enumerate(new) if line.strip() in copied.keys() - theirs}
    for tag, i1, i2, j1, _ in opcodes([line.strip() for line in block], [line.strip() for line in new]):
        for offset in range(i2 - i1 if tag == "equal" else 0):
            if text := in_file[i1 + offset]:
                paired[j1 + offset] = text.strip()
    return paired


def _is_tidied(contents: Sequence[str], number: int, copied: str) -> bool:
    """Whether a copied line is the file's with single spaces for gaps that mean nothing; then it is taken as sent.

    A gap in a string, before a comment or above or below another one is meant.
    """
    in_file = contents[number].rstrip()
    gaps = list(_GAP.finditer(in_file))
    if not gaps or indent_of(in_file) + _GAP.sub(" ", in_file[len(indent_of(in_file)) :]) != copied.rstrip():
        return False
    around = [contents[i] for i in (number - 1, number + 1) if 0 <= i < len(contents)]
    return not any(
        _QUOTE.search(in_file, 0, gap.start())
        or _COMMENT.match(in_file, gap.end())
        or any(line[: gap.end() - 1].strip() and _GAP_END.match(line, gap.end() - 1) for line in around)
        for gap in gaps
    )


def without_shared_blanks(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Both sides without the empty lines both begin or end with: they say nothing, and the file may not have them.

    ``None`` where there are none, or nothing else would be left to look for.
    """
    room = min(len(old), len(new))
    low = 0
    while low < room and not old[low].strip() and not new[low].strip():
        low += 1
    high = 0
    while high < room - low and not old[-1 - high].strip() and not new[-1 - high].strip():
        high += 1
    if not (low or high) or low + high >= len(old):
        return None
    return list(old[low : len(old) - high]), list(new[low : len(new) - high])


def refuse_lost_blank(
    path: str, what: str, lines: Lines, match: Match, found: Sequence[str], block: Sequence[str], new: Sequence[str]
) -> None:
    """Raise :class:`EditError` where ``block`` ends in an empty line that the file lacks, and the line beside changes.

    Then the file has a line there that the model does not know of: it may have been skipped, or the new text may hold
    it already. ``found`` are the lines of ``block`` that were looked for.
    """
    kept = [line for line in block if line.strip()]
    put = [line for line in new if line.strip()] or [""]
    paired = [line for line, number in zip(found, match.pairs, strict=True) if number is not None]
    contents = lines.contents
    for edge, side, way in ((0, "begins", 1), (-1, "ends", -1)):
        lost = _blanks(block[::way]) - _blanks(paired[::way])
        # What the file has where the lost lines would stand, nearest line first.
        beside = (
            contents[match.stop : match.stop + lost]
            if way < 0
            else contents[max(0, match.start - lost) : match.start][::-1]
        )
        there = next((line for line in beside if line.strip()), "")
        if there and kept[edge] != put[edge]:
            raise EditError(
                EditErrorKind.NOT_FOUND,
                f"{what} stands at line {match.start + 1} of {path}, but it {side} with an empty line where the file "
                f"has {quote(there.strip(), 80)}: nothing was changed. Leave the empty line out, or write that line "
                "into both sides if the change belongs beyond it.",
                path,
            )


def _blanks(block: Iterable[str]) -> int:
    """How many empty lines ``block`` begins with."""
    return sum(1 for _ in takewhile(lambda line: not line.strip(), block))
