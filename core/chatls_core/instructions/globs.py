"""Path patterns of rules (spec/memory.md §2.3), matched by wcmatch and bounded.

Rules come from cloned repositories, so a pattern must cost little whatever it says: brace expansion stops at
:data:`MOST_EXPANSIONS`, and the number of ``**`` that can backtrack is limited, since the regular expression engine
holds the interpreter while it searches.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

MOST_EXPANSIONS = 256
"""Patterns one pattern's braces may expand to."""

MOST_PATTERNS = 64
"""Patterns of one rule that are looked at."""

LONGEST_PATTERN = 4096
"""Characters of one pattern."""

MOST_GLOBSTARS = 3
"""``**`` one pattern may hold, a trailing one not counted."""

MOST_STEPS = 20_000
"""Ways to lay a pattern's ``**`` over a path's folders; a path so deep that there are more is not matched."""

LONGEST_PATH = 4096
"""Characters of a path that is matched at all."""

EVERYTHING = frozenset({"**", "**/*", "*/**", "**/**"})
"""Patterns that match every path."""

_ANCHOR = re.compile(r"^(?:\.?/+)+")
_GLOBSTARS = re.compile(r"(?:\*\*/)+")


class _Matcher(Protocol):
    def match(self, filename: str) -> bool: ...


def is_case_sensitive() -> bool:
    """The case rule of the platform: Windows and macOS do not tell ``A`` from ``a``."""
    return sys.platform not in ("win32", "darwin")


def normalise(pattern: str) -> str:
    """A rule's pattern as a glob relative to its folder.

    ``src/`` means everything below it, a pattern without a slash matches names at any depth (spec §2.3 step 2), a
    leading ``/`` or ``./`` anchors at the folder, backslashes before ordinary characters are Windows separators.
    """
    negated = pattern.startswith("!")
    body = pattern[1:] if negated else pattern
    body = re.sub(r"\\(?=[\w.])", "/", body.strip())
    anchored = body.startswith(("/", "./"))
    if body.endswith("/"):
        body += "**"
        anchored = True
    body = _ANCHOR.sub("", body)
    if not body:
        return "!" if negated else ""
    if "/" not in body and not anchored and body != "**":
        body = "**/" + body
    body = _GLOBSTARS.sub("**/", body)
    if negated:
        return "!" + body
    return "\\" + body if body.startswith("!") else body


def problem(pattern: str) -> str:
    """Why ``pattern`` cannot be used; empty when it can."""
    return _compiled(normalise(pattern).removeprefix("!")).problem


@dataclass(frozen=True, slots=True)
class _Glob:
    """A compiled pattern: ``globstars`` is how many ``**`` may backtrack; no matcher when there is a problem."""

    matcher: _Matcher | None
    globstars: int = 0
    problem: str = ""

    def matches(self, path: str, depth: int) -> bool:
        return self.matcher is not None and depth**self.globstars <= MOST_STEPS and self.matcher.match(path)


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> _Glob:
    if len(pattern) > LONGEST_PATTERN:
        return _Glob(None, problem=f"it is longer than {LONGEST_PATTERN} characters")
    if not pattern:
        return _Glob(None, problem="it is empty")
    if pattern.startswith("../") or "/../" in pattern:
        return _Glob(None, problem="it points outside its folder")
    import bracex
    from wcmatch import glob

    flags = glob.GLOBSTAR | glob.DOTGLOB | (glob.CASE if is_case_sensitive() else glob.IGNORECASE) | glob.FORCEUNIX
    try:
        expanded = list(bracex.iexpand(pattern, keep_escapes=True, limit=MOST_EXPANSIONS))
        globstars = max(e.removesuffix("/**").count("**") for e in expanded)
        if globstars > MOST_GLOBSTARS:
            return _Glob(None, problem=f"it has more than {MOST_GLOBSTARS} '**'")
        return _Glob(glob.compile(expanded, flags=flags, limit=MOST_EXPANSIONS), globstars)
    except bracex.ExpansionLimitException:
        return _Glob(None, problem=f"it expands to more than {MOST_EXPANSIONS} patterns")
    except (ValueError, re.error, RecursionError, OverflowError) as error:
        return _Glob(None, problem=f"it is no valid pattern ({error})")


@dataclass(frozen=True, slots=True)
class PatternSet:
    """The patterns of one rule: a path matches when one of them does and no negated one (``!…``) does.

    With negated patterns only, everything else matches. Unusable patterns match nothing.
    """

    patterns: tuple[str, ...]

    @property
    def everything(self) -> bool:
        """Whether every path matches, so that the rule applies always."""
        included, excluded = _parted(self.patterns)
        return not excluded and any(p in EVERYTHING for p in included)

    def matches(self, path: str) -> bool:
        """Whether slash-separated ``path``, relative to the rule's folder, matches."""
        return bool(self.matching((path,)))

    def matching(self, paths: Sequence[str]) -> list[str]:
        """Those of ``paths`` that match, in order."""
        included, excluded = _parted(self.patterns)
        taken = [_compiled(p) for p in included]
        barred = [_compiled(p) for p in excluded]
        found: list[str] = []
        for path in paths:
            depth = path.count("/") + 1
            if (
                len(path) <= LONGEST_PATH
                and any(g.matches(path, depth) for g in taken)
                and not any(g.matches(path, depth) for g in barred)
            ):
                found.append(path)
        return found


@lru_cache(maxsize=4096)
def _parted(patterns: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Wanted and barred globs of a rule."""
    globs = [normalise(p) for p in patterns[:MOST_PATTERNS]]
    included = tuple(dict.fromkeys(g for g in globs if not g.startswith("!")))
    excluded = tuple(dict.fromkeys(g[1:] for g in globs if g.startswith("!")))
    return included or (("**",) if excluded else ()), excluded
