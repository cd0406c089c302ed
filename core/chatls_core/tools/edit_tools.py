"""Tools that change files: edit_file, write_file, apply_patch, move_file, delete_file."""

from __future__ import annotations

import asyncio
import json
from typing import ClassVar

from pydantic import Field

from chatls_core.edits import EditError, named_paths, preview
from chatls_core.host import Location
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolOutcome
from chatls_core.tools.editing import WantedFile, current_text, make_change
from chatls_core.tools.files import numbered, split_lines

PATH = "File path, relative to the workspace folder or absolute inside it."


async def _base(context: ToolContext, uri: str) -> str | None:
    """The text the model knows: what it last read, else what the user sees now."""
    known = context.files.read.get(uri)
    return known if known is not None else await current_text(context.host, uri)


class EditFileArguments(ToolArguments):
    path: str = Field(description=PATH)
    old_text: str = Field(description="Exact text to replace, with enough lines around it to be unique in the file.")
    new_text: str = Field(description="The text that takes its place.")
    replace_all: bool = Field(False, description="Replace every occurrence instead of exactly one.")


class EditFile(Tool[EditFileArguments]):
    name = "edit_file"
    description = (
        "Replace text in a file: old_text must match exactly one place (or all with replace_all). The edit goes "
        "through the editor; the user may review it. To create a file use write_file."
    )
    kind = "edit"
    arguments = EditFileArguments
    modes = frozenset({"agent", "coder"})
    aliases: ClassVar[dict[str, str]] = {
        "file": "path", "file_path": "path", "old_string": "old_text", "new_string": "new_text", "old_str": "old_text",
        "new_str": "new_text", "search": "old_text", "replace": "new_text", "old": "old_text", "new": "new_text",
    }  # fmt: skip

    def label(self, arguments: EditFileArguments) -> str:
        return f"edit {arguments.path}"

    def locations(self, arguments: EditFileArguments, context: ToolContext) -> tuple[Location, ...]:
        return (Location(context.resolve(arguments.path)),)

    async def run(self, arguments: EditFileArguments, context: ToolContext) -> ToolOutcome:
        uri = context.resolve(arguments.path)
        base = await _base(context, uri)
        if base is None:
            raise ToolError(f"{arguments.path} does not exist. Use write_file to create it, find_files to look for it.")
        body = {
            "path": arguments.path,
            "old_string": arguments.old_text,
            "new_string": arguments.new_text,
            "replace_all": arguments.replace_all,
        }
        try:
            plan = await asyncio.to_thread(preview, "str_replace", {arguments.path: base}, json.dumps(body))
        except EditError as error:
            now = await current_text(context.host, uri)
            if now is None or now == base:
                raise ToolError(str(error)) from error
            context.files.read[uri] = base = now
            try:
                plan = await asyncio.to_thread(preview, "str_replace", {arguments.path: now}, json.dumps(body))
            except EditError as again:
                raise ToolError(f"{again} (The file changed since you read it.)") from again
        after = plan.after.get(arguments.path, base)
        return await make_change(context, f"Edit {arguments.path}", [WantedFile(uri, base, after)])


class WriteFileArguments(ToolArguments):
    path: str = Field(description=PATH)
    content: str = Field(description="The whole text of the file.")


class WriteFile(Tool[WriteFileArguments]):
    name = "write_file"
    description = (
        "Create a file, or replace a whole file you have read. For changes to part of a file use edit_file. Write the "
        "complete text: no placeholders for omitted parts."
    )
    kind = "edit"
    arguments = WriteFileArguments
    aliases: ClassVar[dict[str, str]] = {"file": "path", "file_path": "path", "text": "content", "contents": "content"}

    def label(self, arguments: WriteFileArguments) -> str:
        return f"write {arguments.path}"

    def locations(self, arguments: WriteFileArguments, context: ToolContext) -> tuple[Location, ...]:
        return (Location(context.resolve(arguments.path)),)

    async def run(self, arguments: WriteFileArguments, context: ToolContext) -> ToolOutcome:
        uri = context.resolve(arguments.path)
        now = await current_text(context.host, uri)
        known = context.files.read.get(uri)
        if now is not None and now != known:
            context.files.read[uri] = now
            lines = split_lines(now)
            why = "You have not read it" if known is None else "It changed since you read it"
            raise ToolError(
                f"{arguments.path} exists. {why}; writing over it would lose this text. Use edit_file, or write_file "
                f"again if the whole file really must be replaced:\n{numbered(lines[:400], 1)}"
                + (f"\n[{len(lines) - 400} more lines]" if len(lines) > 400 else "")
            )
        body = json.dumps({"path": arguments.path, "content": arguments.content})
        files = {} if now is None else {arguments.path: now}
        try:
            plan = await asyncio.to_thread(preview, "write", files, body)
        except EditError as error:
            raise ToolError(str(error)) from error
        after = plan.after.get(arguments.path, arguments.content)
        title = f"{'Create' if now is None else 'Replace'} {arguments.path}"
        return await make_change(context, title, [WantedFile(uri, now, after)])


class ApplyPatchArguments(ToolArguments):
    patch: str = Field(description="The patch, from '*** Begin Patch' to '*** End Patch'.")


class ApplyPatch(Tool[ApplyPatchArguments]):
    name = "apply_patch"
    description = (
        "Edit several files with one patch. Format: '*** Begin Patch', then per file '*** Update File: path' (with "
        "'@@ context' lines and lines starting with space, - or +), '*** Add File: path' (lines starting with +) or "
        "'*** Delete File: path', then '*** End Patch'. All files change together or none."
    )
    kind = "edit"
    arguments = ApplyPatchArguments
    aliases: ClassVar[dict[str, str]] = {"input": "patch", "diff": "patch", "content": "patch"}
    format = "apply_patch"

    def label(self, arguments: ApplyPatchArguments) -> str:
        return "apply patch"

    async def run(self, arguments: ApplyPatchArguments, context: ToolContext) -> ToolOutcome:
        paths = named_paths(self.format, arguments.patch)
        uris = {path: context.resolve(path) for path in paths}
        bases = {path: await _base(context, uri) for path, uri in uris.items()}
        known = {path: text for path, text in bases.items() if text is not None}
        try:
            plan = await asyncio.to_thread(preview, self.format, known, arguments.patch)
        except EditError as error:
            raise ToolError(str(error)) from error
        moved = {new: old for old, new in plan.renames.items()}
        wanted: list[WantedFile] = []
        for path, after in plan.after.items():
            uri = uris.get(path) or context.resolve(path)
            if path in moved:
                old = moved[path]
                wanted.append(WantedFile(uris[old], bases[old], after, uri))
            elif path not in plan.renames:
                wanted.append(WantedFile(uri, bases.get(path), after))
        return await make_change(context, "Apply patch", wanted)


class MoveFileArguments(ToolArguments):
    path: str = Field(description=PATH)
    new_path: str = Field(description="Where it goes; must not exist.")


class MoveFile(Tool[MoveFileArguments]):
    name = "move_file"
    description = "Rename or move a file."
    kind = "move"
    arguments = MoveFileArguments
    aliases: ClassVar[dict[str, str]] = {
        "source": "path",
        "from": "path",
        "destination": "new_path",
        "to": "new_path",
        "dest": "new_path",
    }

    def label(self, arguments: MoveFileArguments) -> str:
        return f"move {arguments.path} → {arguments.new_path}"

    async def run(self, arguments: MoveFileArguments, context: ToolContext) -> ToolOutcome:
        uri, target = context.resolve(arguments.path), context.resolve(arguments.new_path)
        text = await current_text(context.host, uri)
        if text is None:
            raise ToolError(f"{arguments.path} does not exist.")
        if await current_text(context.host, target) is not None:
            raise ToolError(f"{arguments.new_path} exists already.")
        title = f"Move {arguments.path} to {arguments.new_path}"
        return await make_change(context, title, [WantedFile(uri, text, text, target)])


class DeleteFileArguments(ToolArguments):
    path: str = Field(description=PATH)


class DeleteFile(Tool[DeleteFileArguments]):
    name = "delete_file"
    description = "Delete a file."
    kind = "delete"
    arguments = DeleteFileArguments
    aliases: ClassVar[dict[str, str]] = {"file": "path", "file_path": "path"}

    def label(self, arguments: DeleteFileArguments) -> str:
        return f"delete {arguments.path}"

    async def run(self, arguments: DeleteFileArguments, context: ToolContext) -> ToolOutcome:
        uri = context.resolve(arguments.path)
        text = await current_text(context.host, uri)
        if text is None:
            raise ToolError(f"{arguments.path} does not exist.")
        return await make_change(context, f"Delete {arguments.path}", [WantedFile(uri, text, None)])
