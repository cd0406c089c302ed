"""What the edit tests share: one-file previews and the edits in each format's spelling."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatls_core.edits import EditError, EditErrorKind, EditPlan, preview


def replace(old: str, new: str, path: str = "f.txt", **more: Any) -> str:
    """A ``str_replace`` edit."""
    return json.dumps({"path": path, "old_string": old, "new_string": new, **more})


def block(search: str, put: str, path: str = "f.txt", hint: str = "") -> str:
    """A ``search_replace`` edit of one block; the texts end with a newline or are empty."""
    return f"{path}\n<<<<<<< SEARCH\n{hint}{search}=======\n{put}>>>>>>> REPLACE\n"


def patch(body: str) -> str:
    """An ``apply_patch`` edit."""
    return f"*** Begin Patch\n{body}*** End Patch\n"


def update(body: str, path: str = "f.txt") -> str:
    """An ``apply_patch`` edit of one file."""
    return patch(f"*** Update File: {path}\n{body}")


def after(format: str, text: str, edit: str, path: str = "f.txt") -> str | None:
    """The text of the one file after the edit."""
    return preview(format, {path: text}, edit).after[path]


def plan_of(format: str, text: str, edit: str, path: str = "f.txt") -> EditPlan:
    """The plan for the one file."""
    return preview(format, {path: text}, edit)


def refusal(format: str, files: dict[str, str] | str, edit: str, kind: EditErrorKind) -> str:
    """The message of the refusal, which must be of ``kind``."""
    held = {"f.txt": files} if isinstance(files, str) else files
    with pytest.raises(EditError) as caught:
        preview(format, held, edit)
    assert caught.value.kind is kind, str(caught.value)
    return str(caught.value)
