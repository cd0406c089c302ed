"""Skills: instructions kept in ``SKILL.md`` folders, read when a turn is about them (spec/agent.md §9.3).

Other tools' folders are read too. A project's skill hides a global one of the same name.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatls_core.prompt.allowed_tools import allowed_words
from chatls_core.prompt.hints import NO_HINT, Hint, hint_of
from chatls_core.prompt.parsed_files import ParsedFiles

FOLDERS = (".chatcli/skills", ".claude/skills", ".agents/skills", ".agent/skills")
"""Where a workspace keeps skills, strongest first; after them ``<home>/skills``."""

MAX_SKILLS = 500
_HEAD = re.compile(r"\A---[ \t]*\r?\n(?P<head>.*?)^---[ \t]*(?:\r?\n|\Z)", re.S | re.M)
_PAIR = re.compile(r"^([A-Za-z][\w-]*)[ \t]*:[ \t]*(.*)$", re.M)
_OFF = frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill. ``body`` is what the model is given, ``digest`` identifies its bytes."""

    name: str
    description: str
    body: str
    path: Path
    digest: str
    triggers: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    version: str = ""
    argument_hint: str = ""
    automatic: bool = True
    """Whether it may be brought in without being asked for by name (``disable-model-invocation`` forbids it)."""
    invocable: bool = True
    """Whether the user may write ``/name``."""
    in_workspace: bool = True
    hint: Hint = NO_HINT
    allowed_tools: tuple[str, ...] | None = None
    """Where the user calls it, the tools the model may use in that turn (``None``: all)."""


class Skills:
    """The skills of the workspace and of the user. Thread-safe; files are read again when they changed."""

    def __init__(self, home: Path) -> None:
        self._home = home / "skills"
        self._parsed = ParsedFiles("skill", parse)
        self._listings: dict[str, _Listing] = {}
        self._lock = threading.Lock()

    def all(self, roots: Sequence[Path], *, scan: bool = True) -> tuple[Skill, ...]:
        """All skills by name. ``scan`` blanks lines that look like prompt injection. Reads the disk."""
        found: dict[str, Skill] = {}
        with self._lock:
            for folder, root in self._folders(roots):
                for path in self._files(folder):
                    if len(found) >= MAX_SKILLS:
                        break
                    skill = self._parsed.read(path, root, scan)
                    if skill is not None:
                        found.setdefault(skill.name.lower(), skill)
        return tuple(sorted(found.values(), key=lambda s: s.name.lower()))

    def _folders(self, roots: Sequence[Path]) -> Iterator[tuple[str, Path | None]]:
        for root in roots:
            for folder in FOLDERS:
                yield f"{root}/{folder}", root
        yield str(self._home), None

    def _files(self, folder: str) -> tuple[Path, ...]:
        """``NAME/SKILL.md`` and ``NAME.md``, sub-skills included. Every turn asks, so an unchanged folder is not
        listed again: whatever comes or goes changes the time of the folder it is in."""
        known = self._listings.get(folder)
        if known is None or any(_modified(path) != time for path, time in known.folders.items()):
            known = self._listings[folder] = _listed(folder)
        return known.files


@dataclass(frozen=True, slots=True)
class _Listing:
    """Files that may be skills, and the folders looked into with their times in nanoseconds (-1: not there)."""

    folders: Mapping[Path, int]
    files: tuple[Path, ...]


def _listed(folder: str) -> _Listing:
    top = Path(folder)
    folders = {top: _modified(top)}
    files: list[Path] = []
    for name, is_dir in _entries(top):
        path = top / name
        if not is_dir:
            files += [path] if name.lower().endswith(".md") else []
            continue
        folders[path] = _modified(path)
        files.append(path / "SKILL.md")
        for below, is_below in _entries(path):
            if is_below:
                folders[path / below] = _modified(path / below)
                files.append(path / below / "SKILL.md")
    return _Listing(folders, tuple(files))


def _entries(folder: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as found:
            return sorted((entry.name, entry.is_dir()) for entry in found)
    except OSError:
        return []  # no such folder: no skills


def _modified(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return -1


def parse(text: str, path: Path, *, in_workspace: bool = True, scan: bool = True) -> Skill:
    """A skill from its file's text. A head that is no YAML is read line by line, as people write it."""
    from chatls_core.text import injection

    head, body = head_and_body(text)
    if scan:
        body = injection.blank(body, "context")
    fallback = path.parent.name if path.name.lower() == "skill.md" else path.stem
    name = " ".join(str(head.get("name") or fallback).split())
    return Skill(
        name=name,
        description=" ".join(str(head.get("description") or "").split()),
        body=body,
        path=path,
        digest=hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        triggers=words_of(head.get("triggers")),
        paths=words_of(head.get("paths") or head.get("globs")),
        version=str(head.get("version") or ""),
        argument_hint=" ".join(words_of(head.get("argument-hint"))),
        automatic=not _true(head.get("disable-model-invocation"), False),
        invocable=_true(head.get("user-invocable"), True),
        in_workspace=in_workspace,
        hint=hint_of(head),
        allowed_tools=allowed_words(head.get("allowed-tools")),
    )


def head_and_body(text: str) -> tuple[Mapping[str, object], str]:
    """A file's YAML head with lower-case keys, empty where it has none, and the text below it."""
    match = _HEAD.match(text)
    if match is None:
        return {}, text.strip()
    return _mapping(match.group("head")), text[match.end() :].strip()


def _mapping(head: str) -> Mapping[str, object]:
    import yaml

    try:
        value = yaml.safe_load(head)
    except yaml.YAMLError:
        value = None  # globs are seldom valid YAML; the lines are still plain
    if isinstance(value, dict):
        return {str(key).lower(): item for key, item in value.items()}
    return {key.lower(): item.strip().strip("\"'") for key, item in _PAIR.findall(head)}


def words_of(value: object) -> tuple[str, ...]:
    """A head's list, written as a YAML list or as words between commas."""
    if isinstance(value, list):
        return tuple(str(item).strip() for item in value if str(item).strip())
    text = str(value or "").strip().strip("[]")
    return tuple(part.strip().strip("\"'") for part in text.split(",") if part.strip().strip("\"'"))


def _true(value: object, default: bool) -> bool:
    return default if value is None else str(value).strip().lower() not in _OFF
