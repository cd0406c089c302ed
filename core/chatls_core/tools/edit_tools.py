"""Tools that change files: edit_file, write_file, move_file, delete_file, and one text format by model family."""

from __future__ import annotations

import asyncio
import json
from typing import ClassVar

from pydantic import Field

from chatls_core.edits import EditError, edit_tool_schema, named_paths, new_file_style, preview
from chatls_core.host import HostError, Location
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolOutcome
from chatls_core.tools.editing import WantedFile, current_text, make_change
from chatls_core.tools.files import numbered, split_lines
from chatls_core.tools.paths import path_of

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
        return await make_change(context, f"Edit {arguments.path}", [WantedFile(uri, base, after)], plan.notes)


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
        if now is None and after is not None:
            after = await _in_style(context, arguments.path, after)
        title = f"{'Create' if now is None else 'Replace'} {arguments.path}"
        return await make_change(context, title, [WantedFile(uri, now, after)], plan.notes)


class FormattedEditArguments(ToolArguments):
    edit: str = Field(min_length=1, description="The edit, in the format the tool describes.")


class FormattedEdit(Tool[FormattedEditArguments]):
    """A tool that takes an edit in one of the text formats (apply_patch, search_replace, udiff), for the model
    families that were taught it; all its files change together or none."""

    kind = "edit"
    arguments = FormattedEditArguments
    aliases: ClassVar[dict[str, str]] = {"input": "edit", "patch": "edit", "diff": "edit", "content": "edit"}

    def __init__(self, format: str) -> None:
        self.format = format
        name, description, _ = edit_tool_schema(format)
        self.name = name
        self.description = description

    def label(self, arguments: FormattedEditArguments) -> str:
        return f"edit {', '.join(named_paths(self.format, arguments.edit)[:3])}"

    async def run(self, arguments: FormattedEditArguments, context: ToolContext) -> ToolOutcome:
        uris = {path: context.resolve(path) for path in named_paths(self.format, arguments.edit)}
        bases = {path: await _base(context, uri) for path, uri in uris.items()}
        known = {path: text for path, text in bases.items() if text is not None}
        try:
            plan = await asyncio.to_thread(preview, self.format, known, arguments.edit)
        except EditError as error:
            raise ToolError(str(error)) from error
        moved = {new: old for old, new in plan.renames.items()}
        wanted: list[WantedFile] = []
        for path, after in plan.after.items():
            if path in moved:
                old = moved[path]
                wanted.append(WantedFile(uris[old], bases[old], after, context.resolve(path)))
            elif path not in plan.renames:
                uri = uris.get(path) or context.resolve(path)
                new = await _in_style(context, path, after) if bases.get(path) is None and after is not None else after
                wanted.append(WantedFile(uri, bases.get(path), new))
        return await make_change(context, self.label(arguments), wanted, plan.notes)


async def _in_style(context: ToolContext, path: str, text: str) -> str:
    """A new file's text as the workspace's .editorconfig and .gitattributes want it."""
    configs: dict[str, dict[str, str]] = {".editorconfig": {}, ".gitattributes": {}}
    target = path_of(context.resolve(path))
    root = next((r for r in context.host.roots if target is not None and target.is_relative_to(r)), None)
    if target is None or root is None:
        return text
    relative = target.relative_to(root)
    for folder in [relative.parent, *relative.parent.parents]:
        for name, found in configs.items():
            try:
                document = await context.host.read((root / folder / name).as_uri())
            except HostError:
                continue  # no such file there
            found["" if str(folder) == "." else folder.as_posix()] = document.text
    style = new_file_style(relative.as_posix(), configs[".editorconfig"], configs[".gitattributes"])
    return style.apply(text)


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
