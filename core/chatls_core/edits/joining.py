"""A search that takes a line break with it which its replacement lacks: two lines would become one.

``old_string`` "total = 1⏎" and ``new_string`` "total = 2" leave "total = 2return total". Joining lines is a proper edit
too (a bracket moved up, a broken sentence mended), so an exact search is refused only for what nobody would write:
words run together, or a line of several that stays and would get the next one at its end.
"""

from __future__ import annotations

import re

from chatls_core.edits.diagnosis import quote
from chatls_core.edits.errors import EditError, EditErrorKind
from chatls_core.edits.lines import split_contents

_MERGED = re.compile(r"""[\w)\]}'"`]\w|\S(?: {2}|\t)""")
"""Two words, a closing mark and a word, or text and an indentation."""


def refuse_joining(path: str, text: str, span: tuple[int, int], old: str, new: str, *, exact: bool = True) -> None:
    """Raise :class:`EditError` when ``new`` at ``span`` of ``text`` would run into the line beside it.

    ``exact`` says that ``old`` stands there as it is; else no lines are joined at all.
    """
    if not new.strip():
        return
    start, stop = span
    before, after = text[max(0, start - 1) : start], text[stop : stop + 2]
    olds, news = split_contents(old.strip("\r\n")) or [""], split_contents(new.strip("\r\n"))
    several = len(olds) > 1
    for lost, joint, beside, stays, edge, there in (
        (old[:1] in "\r\n" and new[:1] not in "\r\n", before + new[:2], before, olds[0] == news[0], "begins", "above"),
        (old[-1:] in "\r\n" and new[-1:] not in "\r\n", new[-1:] + after, after, olds[-1] == news[-1], "ends", "below"),
    ):
        meant = exact and not (several and stays) and not _MERGED.match(joint)
        if lost and not meant and beside[:1].strip("\r\n"):
            raise EditError(
                EditErrorKind.MALFORMED,
                f"old_string {quote(old)} {edge} with a line break and new_string does not, so in {path} the new text "
                f"would run into the line {there}: nothing was changed. Let both {edge[:-1]} alike; to join the lines, "
                "put both of them into old_string.",
                path,
            )
