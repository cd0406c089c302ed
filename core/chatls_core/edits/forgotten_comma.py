"""A comma that the last item of a list needs before a new one, in a context line: a change nobody marked.

Any other context line that differs may just as well be miscopied, and its hunk is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from chatls_core.edits.diffhunk import Reading
from chatls_core.edits.indentation import indent_of

_LITERAL = re.compile(r"(?:^|[=(\[,:?>]|\breturn|\bdefault)\s*\{$")


def is_forgotten_comma(contents: Sequence[str], number: int, reading: Reading, at: int) -> bool:
    """Whether line ``at`` of a hunk is line ``number`` of the file with the comma that a new item below it needs.

    The items below must be marked as new (or as the same with commas), be indented alike and end with the bracket that
    closes the list.
    """
    in_file, in_hunk = contents[number], reading[at][1]
    if in_hunk.strip() != in_file.strip() + ",":
        return False
    rest = reading[at + 1 :]
    changed = list(takewhile(lambda marked: marked[0] != " ", rest))
    added, removed = ([text.rstrip(" ,") for op, text in changed if op == mark] for mark in "+-")
    below = next((line.strip() for op, line in rest if op == " "), "")
    return (
        bool(added)
        and bool(added[0].strip())
        and removed in ([], added)
        and indent_of(added[0]) == indent_of(in_hunk)
        and (below.startswith((")", "]")) or (below.startswith("}") and _opens_a_literal(contents, number)))
    )


def _opens_a_literal(contents: Sequence[str], number: int) -> bool:
    """Whether the line that the block of line ``number`` hangs under opens an object, not a block of statements."""
    depth = len(indent_of(contents[number]))
    above = (line.rstrip() for line in reversed(contents[:number]) if line.strip() and len(indent_of(line)) < depth)
    return bool(_LITERAL.search(next(above, "{")))
