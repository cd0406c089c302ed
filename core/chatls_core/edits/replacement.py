"""The new text of a replaced block as the file would have it, given how its old text was found."""

from __future__ import annotations

from collections.abc import Sequence

from chatls_core.edits.diffing import opcodes
from chatls_core.edits.grammars import language_of
from chatls_core.edits.indentation import carry_block
from chatls_core.edits.lines import Lines
from chatls_core.edits.matching import LADDER, Match
from chatls_core.edits.plan import Rung
from chatls_core.edits.typography import plain_where_the_file_is

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


def fit(lines: Lines, match: Match, block: Sequence[str], new: Sequence[str]) -> list[str] | None:
    """``new`` re-indented as ``match`` demands, ``None`` where that cannot be told for sure.

    Lines that the model left as they were (in ``block`` and in ``new`` alike) stay as the file has them, so that a
    slip in copying them is not written into the file.
    """
    in_file = [None if number is None else lines.contents[number] for number in match.pairs]
    fitted = carry_block(match.shift, new, block, in_file)
    if fitted is None or match.rung is Rung.EXACT:
        return fitted
    if match.rung >= Rung.TYPOGRAPHY:
        plain = plain_where_the_file_is(block, filter(None, in_file))
        fitted = [line.translate(plain) for line in fitted]
    for tag, i1, i2, j1, _ in opcodes(block, new):
        if tag != "equal":
            continue
        for offset in range(i2 - i1):
            number = match.pairs[i1 + offset]
            if match.rung is Rung.INDENTATION:
                if number is not None and not block[i1 + offset].strip():
                    fitted[j1 + offset] = lines.contents[number]  # it has no indentation to carry
            elif match.rung is Rung.ANY_INDENTATION:
                if number is not None and lines.contents[number] != fitted[j1 + offset]:
                    # An unchanged line shows that the new ones beside it are not indented as the file is.
                    return None
            elif number is not None and _keeps(match.rung, lines.contents[number], fitted[j1 + offset]):
                fitted[j1 + offset] = lines.contents[number]
    return fitted


def _keeps(rung: Rung, in_file: str, copied: str) -> bool:
    """Whether a copied line gives way to the file's own; mere spacing inside the line is taken as sent."""
    return rung in (Rung.TRAILING_BLANKS, Rung.SIMILAR) or "".join(in_file.split()) != "".join(copied.split())


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
