"""A diff for the one document at hand, under a name that fits none: taken only on strong evidence."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from chatls_core.edits.diffhunk import DiffHunk
from chatls_core.edits.lines import Lines
from chatls_core.edits.matching import FileIndex
from chatls_core.edits.plan import Draft, Rung

_MIN_LINES = 2


def sole_document(draft: Draft, path: str, hunks: Sequence[DiffHunk], names: Collection[str]) -> str | None:
    """The only file there is, where every hunk stands in it word for word, with two lines of text at least.

    Where an editor hands over the document to edit, the model's name for it does not matter; where files are named by
    the edit, a wrong name finds no file at all. ``names`` are the other files the edit names: the one it names rightly
    is not meant by another name beside it.
    """
    paths = list(draft.paths())
    if len(paths) != 1 or any(name != path and draft.find(name) for name in names):
        return None
    text = draft.get(paths[0])
    assert text is not None
    index = FileIndex(Lines.of(text))
    changing = [hunk for hunk in hunks if hunk.changes]
    for hunk in changing:
        blocks = [[line for op, line in reading if op != "+"] for reading in hunk.readings]
        if not any(
            sum(1 for line in block if line.strip()) >= _MIN_LINES and len(index.places(block, Rung.EXACT)) == 1
            for block in blocks
        ):
            return None
    if not changing:
        return None
    draft.note(f"{path or 'The edit'}: taken to mean {paths[0]}, the only document at hand.")
    return paths[0]
