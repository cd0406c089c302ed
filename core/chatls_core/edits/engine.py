"""One entry for every edit format: files and an edit in, a plan or a teaching error out. Never writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from chatls_core.edits import apply_patch, search_replace, str_replace, udiff, write
from chatls_core.edits.errors import EditError, EditErrorKind
from chatls_core.edits.plan import Draft, EditPlan
from chatls_core.edits.typography import throughout

_FORMATS: dict[str, tuple[Callable[[Draft, str], None], Callable[[str], tuple[str, ...]]]] = {
    "str_replace": (str_replace.apply, str_replace.named_paths),
    "search_replace": (search_replace.apply, search_replace.named_paths),
    "udiff": (udiff.apply, udiff.named_paths),
    "apply_patch": (apply_patch.apply, apply_patch.named_paths),
    "write": (write.apply, write.named_paths),
}

FORMATS = tuple(_FORMATS)


def preview(format: str, files: Mapping[str, str], edit: str) -> EditPlan:
    """What ``edit`` would make of ``files``.

    ``format`` is one of :data:`FORMATS`; ``files`` maps paths (any spelling, ``/`` or ``\\``) to texts with their own
    line endings; every file the edit names (:func:`named_paths`) should be there if it exists. Total and pure: ends
    in a plan or in :class:`EditError`, whose message teaches the next correct call; an error means that nothing of
    the edit may be applied.
    """
    apply, _ = _lookup(format)
    draft = Draft(files)
    apply(draft, edit)
    if draft.slips:
        # What one search shows of the edit's characters holds for the new text of all of them.
        draft = Draft(files, {path: throughout(table, files.get(path, "")) for path, table in draft.slips.items()})
        apply(draft, edit)
    return draft.plan()


def named_paths(format: str, edit: str) -> tuple[str, ...]:
    """The paths an edit names as its model wrote them, in order, new files and move targets included.

    What has to be read before :func:`preview`. Raises :class:`EditError` for an edit that cannot be read.
    """
    _, paths = _lookup(format)
    return paths(edit)


def _lookup(format: str) -> tuple[Callable[[Draft, str], None], Callable[[str], tuple[str, ...]]]:
    try:
        return _FORMATS[format]
    except KeyError:
        raise EditError(
            EditErrorKind.UNSUPPORTED, f"There is no edit format {format!r}: use one of {', '.join(_FORMATS)}."
        ) from None
