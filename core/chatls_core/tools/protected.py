"""Files whose edits always ask, whatever the review setting says (PROTOCOL.md, last section)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chatls_core.tools.paths import path_of

FOLDERS = frozenset({".git", ".vscode", ".chatcli", ".claude", ".cursor", ".github", ".agent", ".agents", ".idea"})
NAMES = frozenset(
    {
        "agents.md", "agents.override.md", "agents.local.md", "chatcli.md", "chatcli.local.md", "claude.md",
        "claude.local.md", "soul.md", "user.md", "identity.md", "rules.md", "coder_policy.json", "mcp_servers.json",
        "hooks.json", ".gitattributes", ".gitmodules", ".gitconfig", ".envrc",
    }
)  # fmt: skip


def is_protected(uri: str, roots: Sequence[Path]) -> bool:
    """Whether an edit to ``uri`` could change what agents or tools do: it must be seen by the user first."""
    path = path_of(uri)
    if path is None:
        return False
    inside = next((path.relative_to(root) for root in roots if path.is_relative_to(root)), path)
    return path.name.lower() in NAMES or any(part.lower() in FOLDERS for part in inside.parts[:-1])
