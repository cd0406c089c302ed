"""``write``: a whole file, created or rewritten (docs/edits.md)."""

from __future__ import annotations

import json

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from chatls_core.edits.errors import EditError, EditErrorKind
from chatls_core.edits.lines import conform, dominant_newline, split_contents
from chatls_core.edits.omissions import refuse_placeholders
from chatls_core.edits.plan import Draft

_EXAMPLE = '{"path": "src/app.py", "content": "the whole text of the file"}'


class _Write(BaseModel):
    model_config = ConfigDict(extra="ignore")

    path: str = Field(
        min_length=1, validation_alias=AliasChoices("path", "file_path", "filePath", "filepath", "filename", "file")
    )
    content: str = Field(
        validation_alias=AliasChoices("content", "contents", "text", "file_text", "new_string", "newString")
    )


def parse(edit: str) -> _Write:
    """The path and text of an edit. Raises :class:`EditError` that shows the right form."""
    try:
        return _Write.model_validate(json.loads(edit, strict=False))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the edit"
        raise EditError(
            EditErrorKind.MALFORMED, f"{where}: {first['msg'].lower()}. A write has this form: {_EXAMPLE}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise EditError(
            EditErrorKind.MALFORMED, f"The edit is not valid JSON ({error}). A write has this form: {_EXAMPLE}"
        ) from error


def named_paths(edit: str) -> tuple[str, ...]:
    """The file an edit names."""
    return (parse(edit).path,)


def apply(draft: Draft, edit: str) -> None:
    """Set the whole text of one file; an existing file keeps its line endings."""
    write = parse(edit)
    key = draft.find_exact(write.path) or draft.place_for_new(write.path)
    before = draft.get(key)
    refuse_placeholders(key, split_contents(write.content), split_contents(before or ""))
    if not before:
        draft.write(key, write.content)
        return
    if before == write.content:
        draft.note(f"{key}: holds this text already.")
    newline = dominant_newline(before, "")
    draft.write(key, conform(write.content, before, newline) if newline else write.content)
