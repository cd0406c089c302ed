"""Line differences whose cost stays bounded: unique lines as anchors, the shortest edit script between them.

Lines that are unique on both sides pin the alignment (the "patience" idea, which also gives the hunks a person would
draw); what lies between two pins is small, so the quadratic step runs on little. A stretch that is neither small nor
pinned becomes one replacement rather than a slow search.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

Tag = Literal["equal", "replace", "delete", "insert"]
Opcode = tuple[Tag, int, int, int, int]
"""``(tag, i1, i2, j1, j2)`` as :meth:`difflib.SequenceMatcher.get_opcodes` gives them."""

_MAX_EDITS = 128
_BUDGET_PER_LINE = 16
_BUDGET_FLOOR = 100_000


class _Budget:
    """Steps left for one comparison; at zero the rest becomes one replacement instead of a slow search."""

    __slots__ = ("steps",)

    def __init__(self, lines: int) -> None:
        self.steps = _BUDGET_FLOOR + _BUDGET_PER_LINE * lines

    def spend(self, steps: int) -> bool:
        self.steps -= steps
        return self.steps > 0


def opcodes(a: Sequence[str], b: Sequence[str]) -> list[Opcode]:
    """How to turn the lines ``a`` into ``b``: adjoining ranges that cover both, changed and equal ones in turn."""
    codes: list[Opcode] = []
    i = j = 0
    for start_a, start_b, size in _merge(_matches(a, b)):
        if start_a > i or start_b > j:
            codes.append((_tag(i, start_a, j, start_b), i, start_a, j, start_b))
        if size:
            codes.append(("equal", start_a, start_a + size, start_b, start_b + size))
        i, j = start_a + size, start_b + size
    if i < len(a) or j < len(b):
        codes.append((_tag(i, len(a), j, len(b)), i, len(a), j, len(b)))
    return codes


def _tag(i1: int, i2: int, j1: int, j2: int) -> Tag:
    if i1 == i2:
        return "insert"
    return "delete" if j1 == j2 else "replace"


def _merge(runs: Iterator[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    held: tuple[int, int, int] | None = None
    for i, j, size in runs:
        if held is not None and held[0] + held[2] == i and held[1] + held[2] == j:
            held = (held[0], held[1], held[2] + size)
            continue
        if held is not None:
            yield held
        held = (i, j, size)
    if held is not None:
        yield held


def _matches(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Equal runs ``(i, j, size)`` in order; an explicit stack, since a recursion could run deep."""
    budget = _Budget(len(a) + len(b))
    stack: list[tuple[int, int, int, int] | tuple[int, int, int]] = [(0, len(a), 0, len(b))]
    while stack:
        item = stack.pop()
        if len(item) == 3:
            yield item
            continue
        i1, i2, j1, j2 = item
        head = 0
        while i1 + head < i2 and j1 + head < j2 and a[i1 + head] == b[j1 + head]:
            head += 1
        if head:
            yield (i1, j1, head)
            i1, j1 = i1 + head, j1 + head
        tail = 0
        while i2 - tail > i1 and j2 - tail > j1 and a[i2 - tail - 1] == b[j2 - tail - 1]:
            tail += 1
        i2, j2 = i2 - tail, j2 - tail
        if tail:
            stack.append((i2, j2, tail))
        if i1 == i2 or j1 == j2 or not budget.spend(i2 - i1 + j2 - j1):
            continue
        pins = _pins(a, b, i1, i2, j1, j2)
        if pins:
            edges = [*pins, (i2, j2)]
            pieces: list[tuple[int, int, int, int] | tuple[int, int, int]] = []
            low_i, low_j = i1, j1
            for pin_i, pin_j in edges:
                pieces.append((low_i, pin_i, low_j, pin_j))
                low_i, low_j = pin_i, pin_j
                if (pin_i, pin_j) != (i2, j2):
                    pieces.append((pin_i, pin_j, 1))
                    low_i, low_j = pin_i + 1, pin_j + 1
            stack.extend(reversed(pieces))
            continue
        runs, reached_i, reached_j = _shortest(a, b, i1, i2, j1, j2, budget)
        if runs and (reached_i, reached_j) != (i2, j2):
            stack.append((reached_i, i2, reached_j, j2))
        stack.extend(reversed(runs))


def _pins(a: Sequence[str], b: Sequence[str], i1: int, i2: int, j1: int, j2: int) -> list[tuple[int, int]]:
    """Lines that are unique on both sides and keep their order: a longest increasing subsequence of them."""
    count_a, count_b = Counter(a[i1:i2]), Counter(b[j1:j2])
    place_b = {b[j]: j for j in range(j1, j2) if count_b[b[j]] == 1}
    pairs = [(i, place_b[a[i]]) for i in range(i1, i2) if count_a[a[i]] == 1 and a[i] in place_b]
    if not pairs:
        return []
    tails: list[int] = []
    tail_index: list[int] = []
    previous: list[int] = []
    for index, (_, j) in enumerate(pairs):
        spot = bisect_left(tails, j)
        previous.append(tail_index[spot - 1] if spot else -1)
        if spot == len(tails):
            tails.append(j)
            tail_index.append(index)
        else:
            tails[spot] = j
            tail_index[spot] = index
    chain: list[tuple[int, int]] = []
    index = tail_index[-1]
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    chain.reverse()
    return chain


def _shortest(
    a: Sequence[str], b: Sequence[str], i1: int, i2: int, j1: int, j2: int, budget: _Budget
) -> tuple[list[tuple[int, int, int]], int, int]:
    """Myers' O(ND) shortest edit script as equal runs, and the point it reaches.

    After ``_MAX_EDITS`` edits the path that came farthest is taken, and the caller goes on from its end; with no
    budget left, or nothing in common, there are no runs.
    """
    n, m = i2 - i1, j2 - j1
    if not set(a[i1:i2]) & set(b[j1:j2]):
        return [], i2, j2
    reach = {1: 0}
    trace: list[dict[int, int]] = []
    edits = 0
    best = (0, 0)
    while budget.spend(2 * edits + 1):
        trace.append(dict(reach))
        for k in range(-edits, edits + 1, 2):
            if k == -edits or (k != edits and reach.get(k - 1, -1) < reach.get(k + 1, -1)):
                x = reach[k + 1]
            else:
                x = reach[k - 1] + 1
            y = x - k
            while x < n and y < m and a[i1 + x] == b[j1 + y]:
                x, y = x + 1, y + 1
            reach[k] = x
            if x >= n and y >= m:
                return _walk_back(trace, edits, n, m, i1, j1), i2, j2
            if x <= n and y <= m and x + y > sum(best):
                best = (x, y)
        if edits == _MAX_EDITS:
            x, y = best
            # The farthest path was found after at most this many edits; its own number has the parity of its diagonal.
            return _walk_back(trace, _edits_to(trace, x, y), x, y, i1, j1), i1 + x, j1 + y
        edits += 1
    return [], i2, j2


def _edits_to(trace: Sequence[dict[int, int]], x: int, y: int) -> int:
    """After how many edits the point was first reached: its diagonal's reach in the state of the next step."""
    k = x - y
    return next(
        (d - 1 for d in range(1, len(trace)) if trace[d].get(k, -1) == x and (d - 1 - k) % 2 == 0), len(trace) - 1
    )


def _walk_back(trace: list[dict[int, int]], edits: int, n: int, m: int, i1: int, j1: int) -> list[tuple[int, int, int]]:
    runs: list[tuple[int, int, int]] = []
    x, y = n, m
    for d in range(edits, -1, -1):
        reach = trace[d]
        k = x - y
        came_down = k == -d or (k != d and reach.get(k - 1, -1) < reach.get(k + 1, -1))
        before_k = k + 1 if came_down else k - 1
        before_x = reach[before_k] if d else 0
        before_y = before_x - before_k if d else 0
        start_x = (before_x if came_down else before_x + 1) if d else 0
        size = x - start_x
        if size > 0:
            runs.append((i1 + start_x, j1 + (y - size), size))
        x, y = before_x, before_y
    runs.reverse()
    return runs
