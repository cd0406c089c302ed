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
"""Patterns one pattern's braces may expand to, and patterns one rule may have."""

LONGEST_PATTERN = 1024
"""Characters of one pattern."""

MOST_GLOBSTARS = 3
"""``**`` one pattern may hold, a trailing one not counted; four take seconds on a deep path made to hurt."""

LONGEST_PATH = 4096

EVERYTHING = frozenset({"**", "**/*", "*/**", "**/**"})
"""Patterns that match every path."""

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
    while body.startswith("./"):
        body = body[2:]
    body = body.lstrip("/")
    if body.endswith("/"):
        body += "**"
    elif "/" not in body and not anchored and body != "**":
        body = "**/" + body
    body = _GLOBSTARS.sub("**/", body)
    return ("!" if negated else "") + body


def problem(pattern: str) -> str:
    """Why ``pattern`` cannot be used; empty when it can."""
    return _compiled(normalise(pattern).removeprefix("!"))[1]


@lru_cache(maxsize=2048)
def _compiled(pattern: str) -> tuple[_Matcher | None, str]:
    if len(pattern) > LONGEST_PATTERN:
        return None, f"it is longer than {LONGEST_PATTERN} characters"
    if pattern in ("", "**/"):
        return None, "it is empty"
    if pattern.removesuffix("/**").count("**") > MOST_GLOBSTARS:
        return None, f"it has more than {MOST_GLOBSTARS} '**'"
    if pattern.startswith("../") or "/../" in pattern:
        return None, "it points outside its folder"
    import bracex
    from wcmatch import glob

    flags = glob.GLOBSTAR | glob.DOTGLOB | (glob.CASE if is_case_sensitive() else glob.IGNORECASE) | glob.FORCEUNIX
    try:
        expanded = list(bracex.iexpand(pattern, keep_escapes=True, limit=MOST_EXPANSIONS))
        matcher: _Matcher = glob.compile(expanded, flags=flags, limit=MOST_EXPANSIONS)
    except bracex.ExpansionLimitException:
        return None, f"it expands to more than {MOST_EXPANSIONS} patterns"
    except (ValueError, re.error, RecursionError, OverflowError) as error:
        return None, f"it is no valid pattern ({error})"
    return matcher, ""


@dataclass(frozen=True, slots=True)
class PatternSet:
    """The patterns of one rule: a path matches when one of them does and no negated one (``!…``) does."""

    patterns: tuple[str, ...]

    @property
    def everything(self) -> bool:
        """Whether every path matches, so that the rule applies always."""
        return bool(self._included & EVERYTHING) and not self._excluded

    @property
    def _normalised(self) -> tuple[str, ...]:
        return tuple(normalise(p) for p in self.patterns[:MOST_EXPANSIONS])

    @property
    def _included(self) -> frozenset[str]:
        return frozenset(p for p in self._normalised if not p.startswith("!"))

    @property
    def _excluded(self) -> frozenset[str]:
        return frozenset(p[1:] for p in self._normalised if p.startswith("!"))

    def matches(self, path: str) -> bool:
        """Whether slash-separated ``path``, relative to the rule's folder, matches. Unusable patterns match nothing."""
        return bool(self.matching((path,)))

    def matching(self, paths: Sequence[str]) -> list[str]:
        """Those of ``paths`` that match, in order."""
        included = [m for p in sorted(self._included) if (m := _compiled(p)[0])]
        if not self._included:
            included = [m] if (m := _compiled("**")[0]) and self._excluded else []
        excluded = [m for p in sorted(self._excluded) if (m := _compiled(p)[0])]
        return [
            path
            for path in paths
            if len(path) <= LONGEST_PATH
            and any(m.match(path) for m in included)
            and not any(m.match(path) for m in excluded)
        ]
