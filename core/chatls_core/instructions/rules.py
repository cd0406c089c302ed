"""Rules: which folders hold them, in which dialect, and when one applies (spec/memory.md §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chatls_core.instructions import frontmatter
from chatls_core.instructions.globs import PatternSet

Dialect = Literal["global", "copilot", "cursor", "claude", "chatcli"]

RULE_FOLDERS: tuple[tuple[str, str, Dialect, str], ...] = (
    (".github", "instructions", "copilot", ".instructions.md"),
    (".cursor", "rules", "cursor", ".mdc"),
    (".claude", "rules", "claude", ".md"),
    (".chatcli", "rules", "chatcli", ".md"),
)
"""Folder, subfolder, dialect and ending, weakest first: a rule of the same name in a later one stands in its place."""

GLOBAL_RULES = ("rules", ".md")

RULE_DEPTH = 4
"""Folders below a rules folder that are read too."""


@dataclass(frozen=True, slots=True)
class Applies:
    """When a rule applies: always, to ``patterns``, or not at all with the reason why."""

    when: Literal["always", "paths", "manual", "broken"]
    patterns: tuple[str, ...] = ()
    reason: str = ""


def applies(head: frontmatter.Head, dialect: Dialect) -> Applies:
    """When the rule with this head applies.

    A rule whose head cannot be read applies nowhere: to apply it everywhere would be worse (spec §18.1 row 34).
    """
    if head.present and head.problem:
        return Applies("broken", reason=head.problem)
    patterns = tuple(p.text for p in head.patterns)
    if head.always:
        return Applies("always", patterns)
    if patterns:
        return Applies("always" if PatternSet(patterns).everything else "paths", patterns)
    if head.always is False:
        return Applies("manual", reason="alwaysApply is false and no pattern is given")
    if dialect == "copilot":
        return Applies("manual", reason="Copilot applies instructions without applyTo only by hand")
    if dialect == "cursor":
        return Applies("manual", reason="Cursor applies rules without globs or alwaysApply only by hand")
    if head.has_patterns:
        return Applies("manual", reason="the list of patterns is empty")
    return Applies("always")


def rule_name(relative: str, ending: str) -> str:
    """The name of the rule file ``relative`` (slash-separated, below its rules folder)."""
    return relative[: -len(ending)]
