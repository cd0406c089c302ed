"""A search that begins or ends inside a line, with new text that repeats the rest of that line.

``old_string`` lost a word at its edge and still stands in the file, but putting ``new_string`` there would give that
word twice (``importimport``).
"""

from __future__ import annotations

import re

from chatls_core.edits.diagnosis import quote
from chatls_core.edits.errors import EditError, EditErrorKind

_WORD = re.compile(r"\w{3}")


def refuse_doubling(path: str, text: str, span: tuple[int, int], old: str, new: str) -> None:
    """Raise :class:`EditError` when a search of several lines would double what stands beside it on its line.

    A short search inside one line is left alone: wrapping ``x`` into ``f(x)`` is an everyday edit.
    """
    if "\n" not in old:
        return
    start, stop = span
    head = text[max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1 : start].lstrip()
    tail = re.split(r"[\r\n]", text[stop : stop + 2000], maxsplit=1)[0].rstrip()
    for there, again, before in (
        (head, new.lstrip().startswith(head) and not old.lstrip().startswith(head), True),
        (tail, new.rstrip().endswith(tail) and not old.rstrip().endswith(tail), False),
    ):
        if again and _WORD.search(there):
            raise EditError(
                EditErrorKind.NOT_FOUND,
                f"old_string {quote(old)} stands in {path} {'behind' if before else 'before'} {quote(there)} on the "
                f"same line, and new_string has {quote(there)} again, so it would stand there twice: nothing was "
                "changed. Copy whole lines into old_string.",
                path,
            )
