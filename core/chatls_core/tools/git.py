"""Looking at version control: git_status, git_diff, git_log. They only read."""

from __future__ import annotations

import os

from pydantic import Field

from chatls_core.text import cut
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolOutcome
from chatls_core.tools.exec import MAX_KEPT_BYTES, clean_environment, run_process, save_edited

SECONDS = 60


async def _git(context: ToolContext, *arguments: str) -> ToolOutcome:
    root = context.root()
    if root is None:
        raise ToolError("No folder is open.")
    if not context.host.trusted:
        raise ToolError("The workspace is not trusted, so git does not run in it.", denied=True)
    note = await save_edited(context)
    # A repository's own configuration must not make reading it run programs.
    safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "diff.external=", "--no-pager"]
    output, code = await run_process(
        ["git", *safe, *arguments], root, clean_environment(os.environ), SECONDS, MAX_KEPT_BYTES
    )
    if code != 0:
        raise ToolError(f"git failed: {cut.by_chars(output.strip(), 2000)}")
    return ToolOutcome((output or "(nothing)") + note, "")


class GitStatusArguments(ToolArguments):
    pass


class GitStatus(Tool[GitStatusArguments]):
    name = "git_status"
    description = "Branch and changed files of the workspace folder's repository."
    kind = "read"
    arguments = GitStatusArguments
    read_only = True

    async def run(self, arguments: GitStatusArguments, context: ToolContext) -> ToolOutcome:
        return await _git(context, "status", "--short", "--branch")


class GitDiffArguments(ToolArguments):
    staged: bool = Field(False, description="What is staged instead of what is not.")
    path: str = Field("", description="Only this path.")
    stat: bool = Field(False, description="Only a summary per file.")


class GitDiff(Tool[GitDiffArguments]):
    name = "git_diff"
    description = "Uncommitted changes of the workspace folder's repository."
    kind = "read"
    arguments = GitDiffArguments
    read_only = True

    async def run(self, arguments: GitDiffArguments, context: ToolContext) -> ToolOutcome:
        options = ["diff", "--no-ext-diff", "--no-textconv"]
        options += ["--cached"] if arguments.staged else []
        options += ["--stat"] if arguments.stat else []
        return await _git(context, *options, "--", *([arguments.path] if arguments.path else []))


class GitLogArguments(ToolArguments):
    limit: int = Field(20, ge=1, le=200, description="How many commits.")
    path: str = Field("", description="Only commits that touched this path.")


class GitLog(Tool[GitLogArguments]):
    name = "git_log"
    description = "Recent commits of the workspace folder's repository."
    kind = "read"
    arguments = GitLogArguments
    read_only = True

    async def run(self, arguments: GitLogArguments, context: ToolContext) -> ToolOutcome:
        options = ["log", f"--max-count={arguments.limit}", "--date=short", "--format=%h %ad %an: %s"]
        return await _git(context, *options, "--", *([arguments.path] if arguments.path else []))
