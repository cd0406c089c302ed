"""What a model learned, read from its answer with much leniency (spec/memory.md §10.3, §10.4, §18.1)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chatls_core.memory.identity import CATEGORIES, split_category
from chatls_core.memory.worker.cut_json import whole_items


class UnreadableReplyError(Exception):
    """The answer is none of the forms asked for: a refusal, an error text, broken JSON. Nothing of it is kept."""


@dataclass(frozen=True, slots=True)
class LearnedFact:
    """A statement; ``category`` is known or empty."""

    content: str
    category: str = ""


@dataclass(frozen=True, slots=True)
class LearnedEpisode:
    """Finished work."""

    summary: str
    outcome: str = ""
    refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Learned:
    """Everything one answer holds, in its order. ``profile`` pairs may repeat a key, ``topics`` have a summary."""

    daily: str = ""
    facts: tuple[LearnedFact, ...] = ()
    profile: tuple[tuple[str, str], ...] = ()
    topics: tuple[tuple[str, str], ...] = ()
    projects: tuple[Mapping[str, str], ...] = ()
    episodes: tuple[LearnedEpisode, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.daily or self.facts or self.profile or self.topics or self.projects or self.episodes)


_HEADER = re.compile(
    r"[ \t]*(?:>[ \t]*)?(?:(?P<hash>\#{1,6})[ \t]*\**[ \t]*|(?P<bold>\*\*|__)[ \t]*\#*[ \t]*)"
    r"(?P<name>daily|long[-_ ]?term|profile(?:[-_ ]?update)?|topics?|projects?|episodes?|skill[-_ ]?candidates)"
    r"(?![^\W_]|-|_[^\W_])(?P<rest>.*)\Z",
    re.IGNORECASE,
)
_SECTIONS = {"long": "longterm", "prof": "profile", "topi": "topics", "proj": "projects", "epis": "episodes"}
_BULLET = re.compile(r"\A\s*(?:[-*•+]|\d{1,3}[.)])\s+")
_FENCE = re.compile(r"\s*(?:```|~~~)[\w-]*\s*\Z")
_NOTHING = re.compile(
    r"(?:nothing(?:[ _-]?(?:is )?(?:really )?new)?(?: (?:to|here|worth)\b[^.!?\n]{0,60})?"
    r"|there is nothing (?:new|to)\b[^.!?\n]{0,60}|n/?a|none|null|nil|nada(?: (?:de )?novo)?|nenhum[ao]?)?",
    re.IGNORECASE,
)
_KEY = re.compile(r"[^\W\d][\w .\-/]{0,59}\Z")
_PLACEHOLDERS = frozenset(
    ("fact", "what was done", "name", "one-line summary", "key", "value", "outcome", "ref", "summary", "...", "…")
)
MIN_FACT_BYTES = 5


def is_nothing(text: str) -> bool:
    """Whether a text says that there is nothing: ``NOTHING_NEW``, ``N/A``, ``None.``, empty."""
    bare = text.strip().strip("`*_\"'()[]").rstrip(".!,;: ").strip()
    return _NOTHING.fullmatch(_BULLET.sub("", bare).strip()) is not None


def parse_reply(reply: str, *, cut: bool = False) -> Learned:
    """What an answer says. ``cut``: it hit its length limit, so its last line is not trusted.

    Raises :class:`UnreadableReplyError`.
    """
    text = _unfenced(reply)
    if text.lstrip().startswith("{"):
        return _from_json(text, cut=cut)
    sections = _sections(text, cut=cut)
    if sections is None:
        if is_nothing(text) and not cut and text.strip():
            return Learned()
        raise UnreadableReplyError("The answer has none of the sections asked for.")
    return Learned(
        daily=_daily(sections.get("daily", "")),
        facts=tuple(_facts(sections.get("longterm", ""))),
        profile=tuple(_profile(_items(sections.get("profile", "")))),
        topics=tuple(_topics(sections.get("topics", ""))),
        projects=tuple(_projects(sections.get("projects", ""))),
        episodes=tuple(_episodes(_items(sections.get("episodes", "")))),
    )


def _unfenced(reply: str) -> str:
    """The answer without thoughts written out, and without a code fence around all of it."""
    text = re.sub(r"<think(?:ing)?>.*?</think(?:ing)?>", "", reply, flags=re.DOTALL | re.IGNORECASE)
    lines = text.strip().splitlines()
    if lines and _FENCE.match(lines[0]):
        lines = lines[1:-1] if len(lines) > 1 and _FENCE.match(lines[-1]) else lines[1:]
    return "\n".join(lines)


def _header(line: str) -> tuple[str, str] | None:
    """``(section, text after the header)`` of a header line."""
    match = _HEADER.match(line)
    if match is None:
        return None
    rest = match["rest"]
    if match["bold"]:
        # "**Projects** are built with make" is a sentence, "**PROJECTS**" and "**PROJECTS:** NOTHING_NEW" are headers.
        closing = re.match(r"\s*:?\s*(?:\*\*|__)\s*:?\s*", rest)
        if closing is None or (rest[closing.end() :].strip() and not is_nothing(rest[closing.end() :])):
            return None
        rest = rest[closing.end() :]
    else:
        _, colon, after = rest.partition(":")
        rest = after if colon else (rest if is_nothing(rest.strip("*- ")) else "")
    name = match["name"].lower()
    return _SECTIONS.get(name[:4], "skills" if name.startswith("skill") else "daily"), rest.strip("*_# \t")


def _sections(text: str, *, cut: bool) -> dict[str, str] | None:
    """Bodies by section; a section given twice has both. ``None`` without any header."""
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    lines = text.splitlines()
    if cut and lines:
        lines = lines[:-1]
    for line in lines:
        if header := _header(line):
            current = found.setdefault(header[0], [])
            if header[1]:
                current.append(header[1])
        elif current is not None:
            current.append(line)
    return {name: "\n".join(body) for name, body in found.items()} if found else None


def _items(body: str) -> Iterator[str]:
    """Lines without bullets; headings, rules, fences and nothing-new words are left out."""
    for line in body.splitlines():
        text = _BULLET.sub("", line, count=1).strip()
        if not text or text.startswith("#") or set(text) <= set("-*_=") or _FENCE.match(line) or is_nothing(text):
            continue
        yield text


def _daily(body: str) -> str:
    lines = [line.rstrip() for line in body.strip().splitlines()]
    kept = [line for line in lines if not line.strip() or not (is_nothing(line) or _FENCE.match(line))]
    return "\n".join(kept).strip()


def _fact(text: str) -> LearnedFact | None:
    category, content = split_category(text)
    if not category and (match := re.match(r"\[([^\]\n]{1,30})\]\s+(?!\()", text)):
        content = text[match.end() :]  # an unknown category is dropped, its fact is not
    content = content.strip().lstrip(":-–— ").strip()
    if len(content.encode("utf-8", "surrogatepass")) < MIN_FACT_BYTES or content.strip("<>.").lower() in _PLACEHOLDERS:
        return None
    return LearnedFact(content, category) if not is_nothing(content) else None


def _facts(body: str) -> Iterator[LearnedFact]:
    for item in _items(body):
        if (fact := _fact(item)) is not None:
            yield fact


def _pair(line: str) -> tuple[str, str] | None:
    """Key and value at whichever of ``=`` and ``:`` comes first; the value may hold both."""
    places = [i for i in (line.find("="), line.find(":")) if i > 0]
    if not places:
        return None
    at = min(places)
    key = line[:at].strip().strip("`*_\"' ")
    if key.lower().startswith("project name") and len(key) == 12:
        key = "project_name"
    return (key, line[at + 1 :].strip().strip("`").strip()) if _KEY.match(key) else None


def _profile(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        pair = _pair(line)
        if pair is None:
            continue
        key, value = re.sub(r"\s+", "_", pair[0]), pair[1]
        if value and is_nothing(value):
            value = ""
        # An empty replacement clears a list (§18.1 row 24); any other empty value says nothing.
        if (value or key.lower().endswith("_replace")) and value.strip("<>").lower() not in _PLACEHOLDERS:
            yield key, value


def _topics(body: str) -> Iterator[tuple[str, str]]:
    for item in _items(body):
        # A colon ends the name only before a space: "std::vector: notes", "https://x" and "a:b" keep theirs.
        name, colon, summary = item.partition(": ")
        if colon:
            yield name.strip("*` "), summary.strip()
        elif item.endswith(":"):
            yield item.rstrip(": "), ""
        else:
            yield from ((part.strip("*` "), "") for part in item.split(",") if part.strip())


def _projects(body: str) -> Iterator[Mapping[str, str]]:
    """Several per answer: each begins with its name, or where a key comes again."""
    fields: dict[str, str] = {}
    for line in _items(body):
        pair = _pair(line)
        if pair is None or not pair[1] or is_nothing(pair[1]):
            continue
        key = re.sub(r"[\s-]+", "_", pair[0].lower()).removeprefix("project_")
        if key in fields:
            yield from _whole(fields)
            fields = {}
        fields[key] = pair[1]
    yield from _whole(fields)


def _whole(fields: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    if fields.get("name"):
        yield dict(fields)


def _episodes(lines: Iterable[str]) -> Iterator[LearnedEpisode]:
    for line in lines:
        parts = re.split(r"\s+::\s+|\s+::\Z|\A::\s+", line, maxsplit=2)
        if len(parts) == 1 and line.count("::") == 2:
            parts = line.split("::")
        summary, outcome, refs = (*(p.strip() for p in parts), "", "")[:3]
        if summary and summary.strip("<>.").lower() not in _PLACEHOLDERS:
            kept = tuple(r for part in refs.split(",") if (r := part.strip().strip("`")) and not is_nothing(r))
            yield LearnedEpisode(summary, "" if is_nothing(outcome) else outcome, kept)


# Models that are held to a JSON schema


def _from_json(text: str, *, cut: bool) -> Learned:
    try:
        tree, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except ValueError as error:
        whole = whole_items(text.lstrip()) if cut else ""
        if not whole:
            raise UnreadableReplyError(f"The answer is no JSON: {error}") from error
        tree = json.loads(whole)
    if not isinstance(tree, dict):
        raise UnreadableReplyError("The answer is no JSON object.")
    named = {k.lower(): v for k, v in tree.items() if isinstance(k, str)}
    if not named.keys() & {"daily", "longterm", "facts", "profile", "topics", "projects", "episodes"}:
        if is_nothing(str(next(iter(named.values()), ""))):
            return Learned()
        raise UnreadableReplyError("The answer has none of the keys asked for.")
    daily = named.get("daily", "")
    daily = "\n".join(f"- {_string(x)}" for x in daily if _string(x)) if isinstance(daily, list) else _string(daily)
    return Learned(
        daily=_daily(daily),
        facts=tuple(_json_facts(named.get("longterm") or named.get("facts"))),
        profile=tuple(_json_profile(named.get("profile"))),
        topics=tuple(_json_topics(named.get("topics"))),
        projects=tuple(_json_projects(named.get("projects"))),
        episodes=tuple(_json_episodes(named.get("episodes"))),
    )


def _string(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_string, value)))
    return "" if value is None or isinstance(value, dict | bool) else str(value).strip()


def _rows(value: Any) -> Iterator[Any]:
    yield from (v for v in (value if isinstance(value, list) else [value]) if v)


def _named(row: Mapping[str, Any], *names: str) -> str:
    return next((text for name in names if (text := _string(row.get(name)))), "")


def _json_facts(value: Any) -> Iterator[LearnedFact]:
    for row in _rows(value):
        if isinstance(row, dict):
            category = _named(row, "category").lower()
            fact = _fact(_named(row, "content", "fact", "text"))
            if fact is not None:
                yield LearnedFact(fact.content, category if category in CATEGORIES else fact.category)
        elif (fact := _fact(_string(row))) is not None:
            yield fact


def _json_profile(value: Any) -> Iterator[tuple[str, str]]:
    for row in _rows(value):
        if isinstance(row, dict) and "key" in row:
            yield from _profile([f"{_string(row['key'])}={_string(row.get('value'))}"])
        elif isinstance(row, dict):
            yield from _profile(f"{k}={_string(v)}" for k, v in row.items())
        else:
            yield from _profile([_string(row)])


def _json_topics(value: Any) -> Iterator[tuple[str, str]]:
    for row in _rows(value):
        if isinstance(row, dict):
            if name := _named(row, "name", "topic"):
                yield name, _named(row, "summary")
        elif name := _string(row):
            yield name, ""


def _json_projects(value: Any) -> Iterator[Mapping[str, str]]:
    for row in _rows(value):
        if isinstance(row, dict):
            fields = {str(k).lower().removeprefix("project_"): _string(v) for k, v in row.items()}
            yield from _whole({k: v for k, v in fields.items() if v and not is_nothing(v)})


def _json_episodes(value: Any) -> Iterator[LearnedEpisode]:
    for row in _rows(value):
        if isinstance(row, dict):
            refs = row.get("refs")
            kept = tuple(filter(None, map(_string, refs))) if isinstance(refs, list) else ()
            if summary := _named(row, "summary", "what"):
                yield LearnedEpisode(summary, _named(row, "outcome"), kept)
        else:
            yield from _episodes([_string(row)])
