"""What other tools call the tools, and ours: names that personas, skills and templates use (spec/agent.md §9.3–9.5)."""

from __future__ import annotations

from collections.abc import Mapping

from chatls_core.tools.policy import CHATCLI_NAMES

TOOLS: Mapping[str, tuple[str, ...]] = {
    "read": ("read_file", "list_dir", "outline", "diagnostics", "git_status", "git_diff", "git_log"),
    "grep": ("search",),
    "glob": ("find_files", "list_dir"),
    "ls": ("list_dir",),
    "bash": ("run_command",),
    "write": ("write_file", "move_file", "delete_file"),
    "edit": ("edit_file",),
    "multiedit": ("edit_file",),
    "session": ("session",),
    "memory": ("memory", "graph_view"),
    "knowledge": ("knowledge",),
    "agent": (),
}
"""The names personas and Claude use for tools, and ours; any other word is the name of a tool itself."""

ALWAYS = frozenset({"ask_user", "update_plan", "context_pull", "recall_archive", "knowledge", "memory"})
"""Tools nothing takes away: they bring back what was left out of the prompt, or talk to the user."""


def ours(word: str) -> tuple[str, ...]:
    """Our tools that a name means: a persona's or Claude's, ChatCLI's ``@coder read``, or a tool's own."""
    words = word.lower().split()
    if words[:1] == ["@coder"]:
        every = tuple(dict.fromkeys(name for names in CHATCLI_NAMES.values() for name in names))
        return CHATCLI_NAMES.get(words[1], (words[1],)) if len(words) > 1 else every
    plain = word.strip().lstrip("@")
    return TOOLS.get(plain.lower(), (plain,))
