"""Uniform re-indentation: how the file's block is indented against the model's copy of it, applied to the new text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chatls_core.edits.diffing import opcodes

_AROUND = 200
"""How many lines above and below a place tell how the file is indented there."""


def indent_of(line: str) -> str:
    """The leading spaces and tabs of ``line``."""
    return line[: len(line) - len(line.lstrip(" \t"))]


@dataclass(frozen=True, slots=True)
class Shift:
    """One rule that turns every indentation of the model's text into the file's.

    ``remove`` is taken off the front, then ``add`` is put there. Where the model indents with other characters than
    the file, ``unit`` (the model's) stands for one ``file_unit`` each, and ``levels`` are added. ``first_only``: the
    model's text starts in the middle of a line, so that only its first line lacks what stands before it (``add``).
    ``only_depth``: the rule reaches lines indented by ``remove`` exactly.
    """

    add: str = ""
    remove: str = ""
    unit: str = ""
    file_unit: str = ""
    levels: int = 0
    first_only: bool = False
    only_depth: bool = False

    def carry(self, line: str) -> str | None:
        """``line`` of the model's text as the file would have it, or ``None`` where the rule does not reach."""
        if self.first_only:
            return None
        if not line.strip(" \t"):
            return "" if self != IDENTITY else line
        indent = indent_of(line)
        moved = self._carry_indent(indent)
        return None if moved is None else moved + line[len(indent) :]

    def _carry_indent(self, indent: str) -> str | None:
        if self.unit:
            depth, rest = divmod(len(indent), len(self.unit))
            if rest or indent != self.unit * depth or depth + self.levels < 0:
                return None
            return self.file_unit * (depth + self.levels)
        if not indent.startswith(self.remove) or (self.only_depth and indent != self.remove):
            return None
        return self.add + indent[len(self.remove) :]


IDENTITY = Shift()


def find_shift(pairs: Iterable[tuple[str, str]]) -> Shift | None:
    """The one rule that explains every pair (model's line, file's line), ``None`` where there is none.

    Blank lines say nothing. Adding or removing a common prefix is preferred to a change of indentation characters.
    """
    pairs = [(model, file) for model, file in pairs if model.strip() and file.strip()]
    indents = dict.fromkeys((indent_of(model), indent_of(file)) for model, file in pairs)
    if not indents:
        return IDENTITY
    seen = list(indents)
    model, file = seen[0]
    candidates: list[Shift] = []
    if file.endswith(model):
        candidates.append(Shift(add=file[: len(file) - len(model)]))
    if model.endswith(file):
        candidates.append(Shift(remove=model[: len(model) - len(file)]))
    candidates += _unit_shifts(seen)
    for shift in candidates:
        if all(shift._carry_indent(m) == f for m, f in seen):
            return shift
    if len(seen) == 1:
        # Spaces here and tabs there, at one depth: what other depths would become is not known.
        return Shift(add=file, remove=model, only_depth=True)
    if not model and all(indent_of(m) == indent_of(f) for m, f in pairs[1:]):
        return Shift(add=file, first_only=True)
    return None


def _unit_shifts(seen: Sequence[tuple[str, str]]) -> list[Shift]:
    """Rules that exchange spaces and tabs; only where two different depths prove the width of a level."""
    if len({model for model, _ in seen}) < 2:
        return []
    ordered = sorted(seen, key=lambda pair: len(pair[0]))
    shifts: list[Shift] = []
    for unit in ("\t", "  ", "   ", "    ", "        "):
        for file_unit in ("\t", "  ", "   ", "    ", "        "):
            if unit == file_unit:
                continue
            model, file = ordered[0]
            if len(model) % len(unit) or len(file) % len(file_unit):
                continue
            shifts.append(
                Shift(unit=unit, file_unit=file_unit, levels=len(file) // len(file_unit) - len(model) // len(unit))
            )
    return shifts


def unit_shift(
    shift: Shift,
    start: int,
    pairs: Sequence[int | None],
    block: Sequence[str],
    new: Sequence[str],
    contents: Sequence[str],
) -> Shift:
    """``shift``, or the exchange of a level's width that explains the block as well, where the new text speaks for it.

    A block at one depth, four spaces here and eight in the file, may lack four spaces or count two to a level. New
    lines that go in by two, in a file that goes in by four, tell. ``pairs`` and ``start`` are those of the match.
    """
    depths = {
        (len(indent_of(line)), len(indent_of(contents[number])))
        for line, number in zip(block, pairs, strict=True)
        if number is not None and line.strip()
    }
    if len(depths) != 1 or not (shift.add or shift.remove) or shift.only_depth or shift.first_only:
        return shift
    depth, in_file = depths.pop()
    levels = {len(indent_of(line)) for line in new if line.strip()}
    step = min((level - depth for level in levels if level > depth), default=0)
    width = _level_width(contents[max(0, start - _AROUND) : start + _AROUND])
    if not (depth and step and width) or step == width or depth % step or in_file != depth // step * width:
        return shift
    return Shift(unit=" " * step, file_unit=" " * width)


def _level_width(contents: Sequence[str]) -> int:
    """By how many spaces lines mostly go in, 0 where they do not, or use tabs."""
    depths = [len(indent_of(line)) for line in contents if line.strip()]
    if any(line.startswith("\t") for line in contents):
        return 0
    steps = Counter(deeper - depth for depth, deeper in pairwise(depths) if deeper > depth)
    return max(steps, key=lambda step: steps[step], default=0)


def carry_block(
    shift: Shift, new: Sequence[str], block: Sequence[str], in_file: Sequence[str | None]
) -> list[str] | None:
    """The new lines of a block as the file would have them, ``None`` where that cannot be told for sure.

    ``block`` is the text searched for, ``in_file`` the file's line for each of its lines. Lines that ``block`` and
    ``new`` share tell whether the new text is indented like the search (it is moved alike) or like the file (it is
    taken as it is: the model left the indentation out in the search only). Where they do not tell, the first line
    does; one that is indented like neither leaves it open.
    """
    if shift.first_only:
        return _carry_from_middle(shift.add, new, block)
    if shift == IDENTITY:
        return list(new)
    shared, there = _shared(new, block, block), _shared(new, block, in_file)
    like_search, like_file = _alike(shared), _alike(there)
    if like_file <= like_search < sum(_as_deep(*pair) for pair in there):
        return None  # as deep as in the file, and in other characters
    if like_search == like_file:
        like_search, like_file = _alike(_first(new, block)), _alike(_first(new, in_file))
    if like_file > like_search:
        return list(new)
    moved = [shift.carry(line) for line in new]
    if None in moved or (like_search == like_file and any(line.strip() for line in new)):
        return None
    return [line for line in moved if line is not None]


def _shared(new: Sequence[str], block: Sequence[str], like: Sequence[str | None]) -> list[tuple[str, str]]:
    """The lines of ``new`` that stand in ``block`` too, apart from indentation, each with its line of ``like``."""
    pairs: list[tuple[str, str]] = []
    for tag, i1, i2, j1, _ in opcodes([line.strip() for line in block], [line.strip() for line in new]):
        for offset in range(i2 - i1 if tag == "equal" else 0):
            other = like[i1 + offset]
            if other is not None and other.strip():
                pairs.append((new[j1 + offset], other))
    return pairs


def _first(new: Sequence[str], like: Sequence[str | None]) -> list[tuple[str, str]]:
    """The first non-blank line of both."""
    one = next((line for line in new if line.strip()), None)
    other = next((line for line in like if line and line.strip()), None)
    return [] if one is None or other is None else [(one, other)]


def _alike(pairs: Sequence[tuple[str, str]]) -> int:
    """How many pairs are indented alike."""
    return sum(indent_of(one) == indent_of(other) for one, other in pairs)


def _as_deep(one: str, other: str) -> bool:
    return len(indent_of(one).expandtabs(4)) == len(indent_of(other).expandtabs(4))


def _carry_from_middle(lacking: str, new: Sequence[str], block: Sequence[str]) -> list[str] | None:
    """New lines for a search that starts in the middle of a line, right after the indentation ``lacking``.

    The lines below the first tell whether the model kept to the file's indentation there too, or wrote the new text as
    if it began at the left margin.
    """
    if not new or indent_of(new[0]):
        return None
    old_depth, new_depth = _outermost(block[1:]), _outermost(new[1:])
    if new_depth is None or old_depth is None:
        return [lacking + new[0], *new[1:]] if len(new) == 1 else None
    if new_depth == old_depth:
        return [lacking + new[0], *new[1:]]
    if lacking + new_depth == old_depth:
        return [lacking + line if line.strip() else "" for line in new]
    return None


def _outermost(lines: Sequence[str]) -> str | None:
    """The shallowest indentation among the non-blank lines."""
    indents = [indent_of(line) for line in lines if line.strip()]
    return min(indents, key=len) if indents else None
