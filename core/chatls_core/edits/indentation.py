"""Uniform re-indentation: how the file's block is indented against the model's copy of it, applied to the new text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


def indent_of(line: str) -> str:
    """The leading spaces and tabs of ``line``."""
    return line[: len(line) - len(line.lstrip(" \t"))]


@dataclass(frozen=True, slots=True)
class Shift:
    """One rule that turns every indentation of the model's text into the file's.

    ``remove`` is taken off the front, then ``add`` is put there. Where the model indents with other characters than
    the file, ``unit`` (the model's) stands for one ``file_unit`` each, and ``levels`` are added. ``first_only``: the
    model's text starts in the middle of a line, so that only its first line lacks what stands before it (``add``).
    """

    add: str = ""
    remove: str = ""
    unit: str = ""
    file_unit: str = ""
    levels: int = 0
    first_only: bool = False

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
        if not indent.startswith(self.remove):
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


def carry_block(shift: Shift, new: Sequence[str], block: Sequence[str], file_first: str) -> list[str] | None:
    """The new lines of a block as the file would have them, ``None`` where that cannot be told for sure.

    ``block`` is the text searched for, ``file_first`` the file's line for its first non-blank one. A replacement that
    already starts at the file's indentation (the model left it out in the search only) is taken as it is; one that
    starts at neither is in unknown coordinates.
    """
    if shift.first_only:
        return _carry_from_middle(shift.add, new, block)
    first = next((line for line in new if line.strip()), None)
    model_first = next((line for line in block if line.strip()), "")
    if shift == IDENTITY or first is None:
        return list(new)
    if indent_of(first) != indent_of(model_first):
        return list(new) if indent_of(first) == indent_of(file_first) else None
    moved = [shift.carry(line) for line in new]
    return None if any(line is None for line in moved) else [line for line in moved if line is not None]


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
