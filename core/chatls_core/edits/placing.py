"""Where the hunks of a diff stand in a file, and the text they make of it.

Shared by ``udiff`` and ``apply_patch``. The hunks of a file are placed together: each climbs the ladder on its own,
then only placements that do not overlap are left, and exactly one must be. Line numbers, ``@@`` context and end-of-file
marks tell equal places apart; none of them makes a text match.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise

from chatls_core.edits.anchors import Anchoring, anchor_places
from chatls_core.edits.diagnosis import ambiguous, not_found, quote
from chatls_core.edits.diffhunk import DiffHunk
from chatls_core.edits.errors import EditError, EditErrorKind
from chatls_core.edits.grammars import language_of
from chatls_core.edits.lines import Lines, join_lines
from chatls_core.edits.matching import DIFF_LADDER, MAX_PLACES, FileIndex, Match
from chatls_core.edits.placement import INDENTED, LineEdit, Placement, place
from chatls_core.edits.plan import Draft, Rung

_ESCAPED_TAB = re.compile(r"(?:\\t)+")


def apply_diff(
    draft: Draft,
    path: str,
    text: str,
    hunks: Sequence[DiffHunk],
    add_at: Callable[[DiffHunk, FileIndex], int],
    ladder: Sequence[Rung] = DIFF_LADDER,
) -> str:
    """``text`` with the hunks applied. ``add_at`` gives the line before which a hunk of added lines only goes.

    Raises :class:`EditError` for a hunk that stands nowhere, or at several places that nothing tells apart.
    """
    lines = Lines.of(text)
    index = FileIndex(lines)
    edits: list[LineEdit] = []
    searched: list[tuple[DiffHunk, list[Placement]]] = []
    for hunk in hunks:
        if not hunk.changes:
            continue
        _refuse_escaped_tabs(path, hunk, lines)
        if hunk.searches:
            searched.append((hunk, _placements(draft, path, index, hunk, ladder)))
        else:
            spot = add_at(hunk, index)
            edits.append((spot, spot, tuple(draft.plain(path, line) for op, line in hunk.readings[0] if op == "+")))
            draft.report(path, spot + 1, Rung.EXACT)
    placed = _assign(draft, path, lines, searched)
    _refuse_contradiction(path, index, searched, placed)
    for placement in placed:
        if placement.doubt:
            raise _doubtful(path, placement)
        draft.curled(path, placement.plain)
        edits += placement.edits
        draft.report(path, placement.start + 1, placement.match.rung)
    return _rebuild(path, lines, edits, hunks)


def _rebuild(path: str, lines: Lines, edits: Sequence[LineEdit], hunks: Sequence[DiffHunk]) -> str:
    contents: list[str] = []
    endings: list[str] = []
    at = 0
    for start, stop, new in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        if start < at:
            raise _overlap(path, start)
        contents += lines.contents[at:start]
        endings += lines.endings[at:start]
        contents += new
        endings += [lines.newline] * len(new)
        at = stop
    contents += lines.contents[at:]
    endings += lines.endings[at:]
    old_open = any(hunk.old_open for hunk in hunks)
    new_open = any(hunk.new_open for hunk in hunks)
    terminated = lines.terminated if old_open == new_open else old_open
    return join_lines(contents, endings, lines.newline, terminated)


def _placements(draft: Draft, path: str, index: FileIndex, hunk: DiffHunk, ladder: Sequence[Rung]) -> list[Placement]:
    """The places of a hunk by the first rung that has any its anchors allow. Raises :class:`EditError` for none."""
    anchoring = anchor_places(index, hunk.anchors)
    if not anchoring.found and hunk.stacked:
        raise _no_anchor(path, hunk, anchoring, index.lines.contents)
    elsewhere: list[Placement] = []
    doubtful: list[Placement] = []
    for rung in ladder:
        for reading in hunk.readings:
            block = [line for op, line in reading if op != "+"]
            matches = index.places(block, rung)
            if len(matches) > MAX_PLACES:
                matches = _among_many(path, index, hunk, block, rung, anchoring)
            found = [p for match in matches if (p := place(draft, path, index, match, reading))]
            if all(placement.doubt for placement in found):
                if any(placement.doubt == INDENTED for placement in found):
                    return found
                doubtful = doubtful or found
                continue
            if not anchoring.found:
                return found
            if hunk.soft:
                return _under_heading(path, index, hunk, found, anchoring)
            allowed = [placement for placement in found if anchoring.allows(placement.match, placement.stop)]
            if allowed:
                return anchoring.inside(index, allowed, lambda p: p.match)
            elsewhere = elsewhere or found
    if len(doubtful) == 1 and not elsewhere:
        return doubtful
    raise _nowhere(path, index, hunk, elsewhere)


def _under_heading(
    path: str, index: FileIndex, hunk: DiffHunk, found: list[Placement], anchoring: Anchoring
) -> list[Placement]:
    """Of several places, those in the function that a diff's heading names, unless its line number names another."""
    inner = anchoring.inside(index, found, lambda p: p.match)
    claimed = [placement for placement in found if placement.match.start == hunk.line]
    if claimed and claimed[0] not in inner:
        raise _ambiguous_hunk(path, hunk, [placement.match.start for placement in found])
    return claimed or inner


def _among_many(
    path: str, index: FileIndex, hunk: DiffHunk, block: Sequence[str], rung: Rung, anchoring: Anchoring
) -> list[Match]:
    """Of more places than can be weighed, the one at the line the hunk claims, or those its anchor's block holds."""
    at = None if hunk.line is None else index.place_at(block, rung, hunk.line)
    if at is not None:
        return [at]
    if len(anchoring.places) <= MAX_PLACES:
        # Blocks may lie in one another, so a place may be found twice.
        inner = {
            match.start: match
            for low, high in anchoring.blocks(index)
            for match in index.places_within(block, rung, low, high)
        }
        if inner and len(inner) <= MAX_PLACES:
            return [inner[start] for start in sorted(inner)]
    raise _ambiguous_hunk(path, hunk, [match.start for match in index.places(block, rung)], capped=True)


def _ambiguous_hunk(
    path: str, hunk: DiffHunk, starts: Sequence[int], *, among: int = 1, capped: bool = False
) -> EditError:
    return ambiguous(
        path,
        f"Hunk {hunk.number} ({quote(_headline(hunk), 80)})",
        [start + 1 for start in starts],
        "Add lines of context above and below until it is the only one, or name its function after @@."
        + (" The order of the hunks does not tell which one is meant." if among > 1 else ""),
        capped=capped,
    )


def _assign(
    draft: Draft, path: str, lines: Lines, searched: Sequence[tuple[DiffHunk, list[Placement]]]
) -> list[Placement]:
    """The one way to place the hunks without overlap.

    The order of the hunks tells the places of one apart only where line numbers show that it is the order of the file:
    models write hunks back to front, too, and imports last.
    """
    if not searched:
        return []
    hunks = [hunk for hunk, _ in searched]
    choices = _without_overlaps(_narrow(searched, len(lines)))
    ways = _count_ways(choices)
    total = sum(ways[-1])
    if total == 0:
        return _out_of_order(draft, path, list(zip(hunks, choices, strict=True)))
    open_hunks = [i for i, places in enumerate(choices) if len(places) > 1]
    if total == 1:
        placed = _walk_back(choices, ways)
        if not open_hunks or _is_filled(hunks, choices, open_hunks) or _numbers_agree(hunks, choices, placed):
            return placed
    kept = choices if total == 1 else _feasible(choices, ways)
    at = max(range(len(hunks)), key=lambda i: len(kept[i]))
    raise _ambiguous_hunk(path, hunks[at], [place.match.start for place in kept[at]], among=len(hunks))


def _refuse_contradiction(
    path: str, index: FileIndex, searched: Sequence[tuple[DiffHunk, list[Placement]]], placed: Sequence[Placement]
) -> None:
    """Refuse a hunk that stands in one place as it is, and in the very line that it claims apart from small things."""
    starts = {placement.match.start for placement in placed}
    for hunk, places in searched:
        if hunk.line is None or hunk.line in starts or len(places) > 1:
            continue
        for block in ([line for op, line in reading if op != "+"] for reading in hunk.readings):
            if any(index.place_at(block, rung, hunk.line) for rung in DIFF_LADDER if rung > places[0].match.rung):
                raise _ambiguous_hunk(path, hunk, sorted((places[0].match.start, hunk.line)))


def _without_overlaps(choices: Sequence[list[Placement]]) -> list[list[Placement]]:
    """The places of each hunk without those whose lines another hunk changes, which stands at one place only."""
    fixed = [(i, places[0]) for i, places in enumerate(choices) if len(places) == 1]
    return [
        places
        if len(places) == 1
        else [p for p in places if not any(p.start < o.stop and o.start < p.stop for _, o in fixed)] or places
        for places in choices
    ]


def _is_filled(hunks: Sequence[DiffHunk], choices: Sequence[list[Placement]], open_hunks: Sequence[int]) -> bool:
    """Whether the hunks that have several places are one and the same, and as many as the places."""
    first = open_hunks[0]
    return all(hunks[i].body == hunks[first].body for i in open_hunks) and len(choices[first]) == len(open_hunks)


def _numbers_agree(hunks: Sequence[DiffHunk], choices: Sequence[list[Placement]], placed: Sequence[Placement]) -> bool:
    """Whether the line numbers of the hunks, right or wrong, rise, and none is nearer to another place of its hunk."""
    numbers = [hunk.line for hunk in hunks if hunk.line is not None]
    if len(numbers) < len(hunks) or any(one >= other for one, other in pairwise(numbers)):
        return False
    return all(
        abs(place.match.start - claimed) == min(abs(other.match.start - claimed) for other in places)
        for claimed, place, places in zip(numbers, placed, choices, strict=True)
    )


def _narrow(searched: Sequence[tuple[DiffHunk, list[Placement]]], length: int) -> list[list[Placement]]:
    """Of several places of a hunk, the ones its own marks speak for: the end of the file, or the line it claims.

    Where line numbers are off, they are off alike: a hunk that stands at one place only gives the offset for those
    after it (as in GNU patch).
    """
    offset = 0
    narrowed: list[list[Placement]] = []
    for hunk, places in searched:
        if hunk.at_end and len(places) > 1:
            places = [place for place in places if place.match.stop >= length] or places
        if hunk.line is not None and len(places) == 1:
            offset = places[0].match.start - hunk.line
        elif hunk.line is not None:
            claimed = hunk.line + offset
            places = [place for place in places if place.match.start == claimed] or places
        narrowed.append(places)
    return narrowed


def _count_ways(choices: Sequence[Sequence[Placement]]) -> list[list[int]]:
    """For every place of every hunk, how many ways lead to it (two stands for more)."""
    ways = [[1] * len(choices[0])]
    for before, places in pairwise(choices):
        order = sorted(range(len(before)), key=lambda i: before[i].stop)
        stops = [before[i].stop for i in order]
        sums = [0]
        for i in order:
            sums.append(min(2, sums[-1] + ways[-1][i]))
        ways.append([sums[bisect_right(stops, place.start)] for place in places])
    return ways


def _walk_back(choices: Sequence[Sequence[Placement]], ways: Sequence[Sequence[int]]) -> list[Placement]:
    chosen: list[Placement] = []
    limit: int | None = None
    for places, counts in zip(reversed(choices), reversed(ways), strict=True):
        place = next(
            place
            for place, count in zip(places, counts, strict=True)
            if count and (limit is None or place.stop <= limit)
        )
        chosen.append(place)
        limit = place.start
    return chosen[::-1]


def _feasible(choices: Sequence[Sequence[Placement]], ways: Sequence[Sequence[int]]) -> list[list[Placement]]:
    """The places of each hunk that are part of some way to place them all."""
    kept: list[list[Placement]] = []
    limit: int | None = None
    for places, counts in zip(reversed(choices), reversed(ways), strict=True):
        possible = [
            place
            for place, count in zip(places, counts, strict=True)
            if count and (limit is None or place.stop <= limit)
        ]
        kept.append(possible)
        limit = max(place.start for place in possible)
    return kept[::-1]


def _out_of_order(draft: Draft, path: str, searched: Sequence[tuple[DiffHunk, list[Placement]]]) -> list[Placement]:
    """Hunks that each have one place may come in any order; otherwise order was what told their places apart."""
    for hunk, places in searched:
        if len(places) > 1:
            raise _ambiguous_hunk(path, hunk, [place.match.start for place in places], among=len(searched))
    placed = sorted((places[0] for _, places in searched), key=lambda place: (place.start, place.stop))
    for one, other in pairwise(placed):
        if other.start < one.stop:
            raise _overlap(path, other.start)
    draft.note(f"{path}: the hunks were not in the order of the file.")
    return placed


def _overlap(path: str, start: int) -> EditError:
    return EditError(
        EditErrorKind.OVERLAP,
        f"Two hunks change the same lines of {path} (line {start + 1}): nothing was changed. "
        "Put changes of the same lines into one hunk.",
        path,
    )


def _headline(hunk: DiffHunk) -> str:
    reading = hunk.readings[0]
    lines = [line for op, line in reading if op != "+" and line.strip()] or [line for _, line in reading]
    return lines[0].strip() if lines else ""


def _nowhere(path: str, index: FileIndex, hunk: DiffHunk, elsewhere: Sequence[Placement]) -> EditError:
    if elsewhere:
        return EditError(
            EditErrorKind.NOT_FOUND,
            f"Hunk {hunk.number} of {path} stands at line {elsewhere[0].match.start + 1}, which is not after the line "
            f"its @@ names ({quote(hunk.anchors[-1], 80)}): nothing was changed. Name the line that comes before it, "
            "or leave the text after @@ out.",
            path,
        )
    reading = hunk.readings[0]
    return not_found(
        path,
        f"The text of hunk {hunk.number} ({quote(_headline(hunk), 80)}), its context and removed lines,",
        index.lines.contents,
        [line for op, line in reading if op != "+"],
        [line for op, line in reading if op == "+"],
    )


def _doubtful(path: str, placement: Placement) -> EditError:
    return EditError(
        EditErrorKind.NOT_FOUND,
        f"A hunk of {path} stands at line {placement.match.start + 1}, but {placement.doubt}: nothing was changed. "
        "Copy its lines as they stand in the file.",
        path,
    )


def _no_anchor(path: str, hunk: DiffHunk, anchoring: Anchoring, contents: Sequence[str]) -> EditError:
    missing = anchoring.missing or ""
    return not_found(path, f"The line {quote(missing, 80)} that @@ names for hunk {hunk.number}", contents, [missing])


def _refuse_escaped_tabs(path: str, hunk: DiffHunk, lines: Lines) -> None:
    """An added line indented with a written-out ``\\t`` is a real tab escaped once too often.

    One alone may be text where no grammar says otherwise (``\\theta``); in TeX, and where the file has such lines, all
    may be.
    """
    if path.lower().endswith((".tex", ".sty", ".cls", ".ltx", ".dtx", ".bib")):
        return
    least = 2 if language_of(path) is None else 1
    for op, line in hunk.readings[0]:
        tabs = _ESCAPED_TAB.match(line) if op == "+" else None
        if tabs and len(tabs[0]) >= 2 * least and not any(c.startswith("\\t") for c in lines.contents):
            raise EditError(
                EditErrorKind.MALFORMED,
                f"An added line of hunk {hunk.number} for {path} begins with a backslash and a t ({quote(line, 60)}): "
                "nothing was changed. Indent with real tab characters; if the two characters are meant, write that "
                "line with str_replace.",
                path,
            )
