"""A search that takes a line break with it which its replacement lacks: two lines would become one.

``old_string`` "total = 1⏎" and ``new_string`` "total = 2" leave "total = 2return total". Joining lines is a proper edit
too (a bracket moved up, a broken sentence mended), so only what nobody would write is refused.
"""

from __future__ import annotations

import re

from chatls_core.edits.diagnosis import quote
from chatls_core.edits.errors import EditError, EditErrorKind

_MERGED = re.compile(r"""[\w)\]}'"`]\w|\S(?: {2}|\t)""")
"""Two words, a closing mark and a word, or text and an indentation."""


def refuse_joining(path: str, text: str, span: tuple[int, int], old: str, new: str) -> None:
    """Raise :class:`EditError` when ``new`` at ``span`` of ``text`` would run into the line beside it."""
    if not new.strip():
        return
    start, stop = span
    before, after = text[max(0, start - 1) : start], text[stop : stop + 2]
    for lost, joint, edge, there in (
        (old[:1] in "\r\n" and new[:1] not in "\r\n", before + new[:2], "begins", "above"),
        (old[-1:] in "\r\n" and new[-1:] not in "\r\n", new[-1:] + after, "ends", "below"),
    ):
        if lost and _MERGED.match(joint) and (before if there == "above" else after).strip("\r\n"):
            raise EditError(
                EditErrorKind.MALFORMED,
                f"old_string {quote(old)} {edge} with a line break and new_string does not, so in {path} the new text "
                f"would run into the line {there}: nothing was changed. Let both {edge[:-1]} alike; to join the lines, "
                "put both of them into old_string.",
                path,
            )
