"""The YAML head of a rule (spec/memory.md §2.2), read as people write it.

Globs are seldom valid YAML (``paths: **/*.py`` is an alias to YAML, ``{a,b}/*`` a mapping), and every tool accepts
them, so a head that is not YAML gets its glob values quoted and is parsed again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

HEAD_LIMIT = 16 * 1024
"""Characters a head may have; beyond that the file has none."""

PATTERN_KEYS = ("paths", "globs", "applyTo")
"""Keys that hold path patterns: ours and Claude Code's, Cursor's, GitHub Copilot's."""

KNOWN_KEYS = frozenset(
    {*PATTERN_KEYS, "alwaysApply", "description", "name", "title", "excludeAgent", "tags", "version"}
)
"""Keys some tool gives a meaning."""

_OPEN = re.compile(r"---[ \t]*(?:\n|\Z)")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_KEY = re.compile(r"^(?P<key>[A-Za-z][\w-]*)[ \t]*:(?P<gap>[ \t]*)(?P<value>.*)$")
_ITEM = re.compile(r"^(?P<lead>\s*-[ \t]+)(?P<value>.*)$")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One path pattern with its place: zero-based ``line`` of the file, half-open code-point columns."""

    text: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HeadKey:
    """A top-level key as written, with its place."""

    name: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before a rule's body.

    ``present`` is False for a file without a head. ``problem`` says why the head cannot be used. ``always`` is the
    value of ``alwaysApply`` (``None``: not said). ``has_patterns`` is True when a pattern key is there, even an empty
    one. ``body_line`` is the zero-based line where ``body`` starts.
    """

    body: str
    body_line: int = 0
    present: bool = False
    patterns: tuple[Pattern, ...] = ()
    has_patterns: bool = False
    always: bool | None = None
    description: str = ""
    keys: tuple[HeadKey, ...] = ()
    problem: str = ""
    problem_line: int = 0


def parse(text: str) -> Head:
    """Split ``text`` (``\\n`` line endings, no byte-order mark) into head and body. Never raises.

    The head opens with a line of three dashes, after blank lines at most, and closes with a line of three dashes or
    dots; without a closing line there is no head.
    """
    lead = len(text) - len(text.lstrip())
    start = text.rfind("\n", 0, lead) + 1
    opening = _OPEN.match(text, start)
    if opening is None:
        return Head(text)
    closing = _CLOSE.search(text, opening.end(), opening.end() + HEAD_LIMIT)
    first_line = text.count("\n", 0, opening.end())
    if closing is None:
        return Head(text, problem="the frontmatter is not closed: a line of three dashes is missing", problem_line=0)
    raw = text[opening.end() : closing.start()]
    body_start = min(len(text), closing.end() + 1)
    return _head(raw, first_line, text[body_start:], text.count("\n", 0, body_start))


def _head(raw: str, first_line: int, body: str, body_line: int) -> Head:
    keys = tuple(
        HeadKey(match["key"], first_line + number, match.start("key"), match.end("key"))
        for number, line in enumerate(raw.split("\n"))
        if (match := _KEY.match(line))
    )
    values, problem, problem_line = _load(raw)
    if values is None:
        return Head(body, body_line, True, keys=keys, problem=problem, problem_line=first_line + problem_line)
    patterns: list[Pattern] = []
    has_patterns = False
    for key in PATTERN_KEYS:
        if key not in values:
            continue
        value = values[key]
        has_patterns = True
        texts = _pattern_texts(value)
        if texts is None:
            problem = f"{key} must be a pattern or a list of patterns"
            continue
        line = next((k.line - first_line for k in keys if k.name == key), 0)
        patterns.extend(_placed(texts, raw, line, first_line))
    always = values.get("alwaysApply")
    if always is not None and not isinstance(always, bool):
        problem = problem or "alwaysApply must be true or false"
        always = None
    return Head(
        body,
        body_line,
        True,
        tuple(patterns),
        has_patterns,
        always,
        str(values.get("description") or ""),
        keys,
        problem,
        first_line,
    )


def _load(raw: str) -> tuple[Mapping[str, Any] | None, str, int]:
    import yaml

    # The same loader in C, where PyYAML was built with it: a repository may have hundreds of rules.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    problem, line = "", 0
    for attempt in (raw, _quoted(raw)):
        try:
            if "&" in attempt and any(isinstance(e, yaml.AliasEvent) for e in yaml.parse(attempt, Loader=loader)):
                raise yaml.YAMLError("aliases are not allowed")
            value = yaml.load(attempt, Loader=loader)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            line = line or (mark.line if mark is not None else 0)
            problem = problem or str(getattr(error, "problem", None) or error)
            continue
        if value is None:
            return {}, "", 0
        if isinstance(value, dict):
            return {str(k): v for k, v in value.items()}, "", 0
        problem = "the frontmatter must hold keys and values"
    return None, f"the frontmatter cannot be read: {problem}", line


def _quoted(raw: str) -> str:
    """``raw`` with every unquoted pattern in quotes."""
    out: list[str] = []
    in_patterns = False
    for line in raw.split("\n"):
        key = _KEY.match(line)
        item = _ITEM.match(line)
        if key:
            in_patterns = key["key"] in PATTERN_KEYS
            value = _uncommented(key["value"])
            if in_patterns and value.startswith("["):
                if value.endswith("]"):
                    parts = [_quote(p) for p in split_patterns(value[1:-1])]
                    line = f"{key['key']}: [{', '.join(parts)}]"
            elif in_patterns and value:
                line = f"{key['key']}: {_quote(value)}"
        elif in_patterns and item:
            line = item["lead"] + _quote(_uncommented(item["value"]))
        out.append(line)
    return "\n".join(out)


def _uncommented(value: str) -> str:
    return re.sub(r"(?:^|\s)#.*$", "", value).strip() if value[:1] not in "\"'" else value.strip()


def _quote(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value
    return "'" + value.replace("'", "''") + "'"


def _pattern_texts(value: object) -> list[str] | None:
    items = value if isinstance(value, list) else [value]
    if not all(item is None or isinstance(item, str | int | float) for item in items):
        return None
    return [text for item in items if item is not None for text in split_patterns(str(item))]


def split_patterns(value: str) -> list[str]:
    """Patterns in a comma-separated text; commas inside braces, brackets, parentheses and quotes part nothing."""
    parts: list[str] = []
    depth, quote, current = 0, "", ""
    for char in value:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and not current.strip():
            quote = char
        elif char in "{[(":
            depth += 1
        elif char in "}])":
            depth = max(0, depth - 1)
        elif char == "," and depth == 0:
            parts.append(current)
            current = ""
            continue
        current += char
    parts.append(current)
    return [p for p in (_unquoted(part.strip()) for part in parts) if p]


def _unquoted(part: str) -> str:
    return part[1:-1].strip() if len(part) > 1 and part[0] == part[-1] and part[0] in "\"'" else part


def _placed(texts: list[str], raw: str, from_line: int, first_line: int) -> list[Pattern]:
    """Where each pattern stands; patterns are searched in order, so equal ones get places of their own."""
    at = sum(len(line) + 1 for line in raw.split("\n")[:from_line])
    colon = raw.find(":", at)
    at = colon + 1 if colon >= 0 else at
    placed: list[Pattern] = []
    for text in texts:
        found = raw.find(text, at)
        if found < 0:
            placed.append(Pattern(text, first_line + from_line, 0, 0))
            continue
        line_start = raw.rfind("\n", 0, found) + 1
        line = first_line + raw.count("\n", 0, found)
        placed.append(Pattern(text, line, found - line_start, found - line_start + len(text)))
        at = found + len(text)
    return placed
