"""``search_replace``: blocks of text to find and to put there, between marker lines (docs/edits.md).

Three spellings of the markers are read: aider's and Roo's ``<<<<<<< SEARCH``, Cline's ``------- SEARCH`` and Copilot's
``---FIND``. Blocks are applied in turn, each to the text the ones before it left.
"""

from __future__ import annotations

from collections.abc import Sequence

from chatls_core.edits.blocks import Block, parse_blocks
from chatls_core.edits.diagnosis import ambiguous, not_found, quote
from chatls_core.edits.errors import EditError, EditErrorKind
from chatls_core.edits.lines import Lines, splice
from chatls_core.edits.matching import MAX_PLACES, FileIndex, Match, starting_at
from chatls_core.edits.omissions import refuse_placeholders
from chatls_core.edits.plan import Draft, Rung
from chatls_core.edits.replacement import fit, ladder_for, refuse_lost_blank, without_shared_blanks
from chatls_core.edits.unnumber import new_unnumbered, unnumbered

_NEAR = 3
_APART = 10


def named_paths(edit: str) -> tuple[str, ...]:
    """The files the blocks name, in order; none for blocks without a file name."""
    blocks = parse_blocks(edit, lambda name: False)
    return tuple(dict.fromkeys(block.path for block in blocks if block.path))


def apply(draft: Draft, edit: str) -> None:
    """Replace block by block. Raises :class:`EditError` for the first one that cannot be."""
    blocks = parse_blocks(edit, lambda name: draft.find(name) is not None)
    moved: dict[str, list[tuple[int, int]]] = {}
    for block in blocks:
        _replace(draft, block, moved)


def _path_of(draft: Draft, block: Block) -> str:
    if block.path:
        return block.path
    paths = list(draft.paths())
    if len(paths) == 1:
        return paths[0]
    raise EditError(
        EditErrorKind.MALFORMED,
        f"Block {block.number} does not say which file it changes: nothing was changed. Write the file's path on the "
        "line above the SEARCH marker.",
    )


def _replace(draft: Draft, block: Block, moved: dict[str, list[tuple[int, int]]]) -> None:
    path = _path_of(draft, block)
    if not any(line.strip() for line in block.search):
        _fill(draft, path, block)
        return
    key = draft.require(path)
    text = draft.get(key)
    assert text is not None
    if list(block.search) == list(block.replace):
        raise EditError(
            EditErrorKind.NO_CHANGE,
            f"SEARCH and REPLACE of block {block.number} are the same, so {key} would not change. "
            "Say what the text should become.",
            key,
        )
    refuse_placeholders(key, block.replace, block.search)
    lines = Lines.of(text)
    match, search, new = _find(key, lines, block, moved.get(key, []))
    refuse_lost_blank(key, f"SEARCH of block {block.number}", lines, match, search, block.search, block.replace)
    carried = fit(draft, key, lines, match, search, new)
    if carried is None:
        raise EditError(
            EditErrorKind.NOT_FOUND,
            f"SEARCH of block {block.number} stands at line {match.start + 1} of {key} with another indentation, and "
            "REPLACE is indented like neither: nothing was changed. Write both with the file's own indentation.",
            key,
        )
    draft.report(key, match.start + 1, match.rung)
    carried = [draft.plain(key, line) for line in carried]
    draft.write(key, splice(lines, match.start, match.stop, carried))
    moved.setdefault(key, []).append((match.start, len(carried) - (match.stop - match.start)))


def _fill(draft: Draft, path: str, block: Block) -> None:
    """An empty search creates a file or fills an empty one."""
    key = draft.find_exact(path) or draft.place_for_new(path)
    if draft.get(key):
        raise EditError(
            EditErrorKind.EMPTY_SEARCH,
            f"SEARCH of block {block.number} is empty, but {key} has text: say which text to replace. To insert, put "
            "the line next to the place into SEARCH, and that line with the new ones into REPLACE.",
            key,
        )
    refuse_placeholders(key, block.replace, ())
    draft.write(key, "".join(line + "\n" for line in block.replace))


def _find(
    path: str, lines: Lines, block: Block, moved: Sequence[tuple[int, int]]
) -> tuple[Match, Sequence[str], Sequence[str]]:
    """Where the block stands, with its search and new lines as they were matched."""
    index = FileIndex(lines)
    hint = None if block.start_line is None else block.start_line - 1
    for start, delta in moved:
        # The hint counts lines of the file before this edit.
        if hint is not None and start < hint:
            hint += delta
    search, new = list(block.search), list(block.replace)
    attempts = [(search, new)]
    if (trimmed := without_shared_blanks(search, new)) is not None:
        attempts.append(trimmed)
    for rung in ladder_for(path):
        for wanted, put in reversed(attempts) if rung is Rung.BLANK_LINES else attempts:
            found = index.places(wanted, rung)
            if len(found) > MAX_PLACES and hint is not None:
                at = index.place_at(wanted, rung, hint)
                found = [at] if at is not None else found
            match = _choose(path, block, found, hint)
            if match is not None:
                _refuse_contradiction(path, index, block, wanted, match, hint)
                return match, wanted, put
    numbered = unnumbered(search)
    if numbered is not None:
        first, bare = numbered
        match = _choose(path, block, index.places(bare, Rung.EXACT), hint)
        put_bare = new_unnumbered(new, search)
        if match is not None and match.start == first - 1 and put_bare is not None:
            return match, bare, put_bare
    raise not_found(path, f"SEARCH of block {block.number} ({quote(_first(search), 80)})", lines.contents, search, new)


def _refuse_contradiction(
    path: str, index: FileIndex, block: Block, wanted: Sequence[str], match: Match, hint: int | None
) -> None:
    """Refuse a block that stands in one place as it is, and in the very line of its hint apart from small things."""
    if hint is None or match.start == hint:
        return
    if any(index.place_at(wanted, rung, hint) for rung in ladder_for(path) if rung > match.rung):
        raise _ambiguous_block(path, block, sorted((match.start, hint)))


def _ambiguous_block(path: str, block: Block, starts: Sequence[int], *, capped: bool = False) -> EditError:
    return ambiguous(
        path,
        f"SEARCH of block {block.number} ({quote(_first(block.search), 80)})",
        [start + 1 for start in starts],
        "Add the lines around the one you mean, or give its line as ':start_line:N' below the SEARCH marker.",
        capped=capped,
    )


def _first(search: Sequence[str]) -> str:
    return next((line.strip() for line in search if line.strip()), "")


def _choose(path: str, block: Block, found: Sequence[Match], hint: int | None) -> Match | None:
    if len(found) < 2:
        return found[0] if found else None
    if hint is not None:
        exact = starting_at(found, hint)
        if exact is not None:
            return exact
        by_distance = sorted(found, key=lambda match: abs(match.start - hint))
        near, next_near = (abs(match.start - hint) for match in by_distance[:2])
        if near <= _NEAR and next_near >= near + _APART:
            return by_distance[0]
    raise _ambiguous_block(path, block, [match.start for match in found], capped=len(found) > MAX_PLACES)
