"""Path patterns of rules (spec/memory.md §2.3), matched by wcmatch and bounded.

Rules come from cloned repositories, so a pattern must cost little whatever it says: brace expansion stops at
:data:`MOST_EXPANSIONS`, and the number of ``**`` that can backtrack is limited, since the regular expression engine
holds the interpreter while it searches.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

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
    """A compiled pattern: ``globstars`` is how many ``**`` may backtrack; no expression when there is a problem."""

    expression: re.Pattern[str] | None
    globstars: int = 0
    problem: str = ""

    def matches(self, path: str, depth: int) -> bool:
        return (
            self.expression is not None
            and depth**self.globstars <= MOST_STEPS
            and self.expression.match(path) is not None
        )


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
        # A matcher object of wcmatch costs ten times what its expression does, and rules are many.
        expressions, _ = glob.translate(expanded, flags=flags, limit=MOST_EXPANSIONS)
        return _Glob(re.compile("|".join(expressions)), globstars)
    except bracex.ExpansionLimitException:
        return _Glob(None, problem=f"it expands to more than {MOST_EXPANSIONS} patterns")
    except (ValueError, re.error, RecursionError, OverflowError) as error:
        return _Glob(None, problem=f"it is no valid pattern ({error})")


class PatternSet:
    """The patterns of one rule: a path matches when one of them does and no negated one (``!…``) does.

    With negated patterns only, everything else matches. Unusable patterns match nothing. Patterns are compiled at the
    first question.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = tuple(patterns)
        globs = [normalise(pattern) for pattern in self.patterns[:MOST_PATTERNS]]
        self._excluded = tuple(dict.fromkeys(g[1:] for g in globs if g.startswith("!")))
        included = tuple(dict.fromkeys(g for g in globs if not g.startswith("!")))
        self._included = included or (("**",) if self._excluded else ())
        self._ready: tuple[tuple[_Glob, ...], tuple[_Glob, ...]] | None = None

    @property
    def everything(self) -> bool:
        """Whether every path matches, so that the rule applies always."""
        return not self._excluded and any(glob in EVERYTHING for glob in self._included)

    def matches(self, path: str) -> bool:
        """Whether slash-separated ``path``, relative to the rule's folder, matches."""
        if self._ready is None:
            self._ready = tuple(map(_compiled, self._included)), tuple(map(_compiled, self._excluded))
        if len(path) > LONGEST_PATH:
            return False
        depth = path.count("/") + 1
        included, excluded = self._ready
        for glob in included:
            if glob.matches(path, depth):
                return not any(barred.matches(path, depth) for barred in excluded)
        return False

    def matching(self, paths: Iterable[str]) -> list[str]:
        """Those of ``paths`` that match, in order."""
        return [path for path in paths if self.matches(path)]
