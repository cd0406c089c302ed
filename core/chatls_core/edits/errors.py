"""What an edit that cannot be made says (issue 5, "The engine"): one message that teaches the next correct call."""

from __future__ import annotations

from enum import StrEnum


class EditErrorKind(StrEnum):
    """Why an edit was refused; lets a caller react (for instance: read the file again before the next try)."""

    MALFORMED = "malformed"
    NO_SUCH_FILE = "no_such_file"
    NOT_FOUND = "not_found"
    AMBIGUOUS = "ambiguous"
    EMPTY_SEARCH = "empty_search"
    NO_CHANGE = "no_change"
    OVERLAP = "overlap"
    PLACEHOLDER = "placeholder"
    UNSUPPORTED = "unsupported"


class EditError(Exception):
    """An edit was refused and nothing of it may be applied.

    ``str()`` is written for the model that sent the edit: what was looked for, what the file holds instead (with
    1-based line numbers) and what the next call should look like. ``path`` is the file it is about, when one is.
    """

    def __init__(self, kind: EditErrorKind, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.path = path
