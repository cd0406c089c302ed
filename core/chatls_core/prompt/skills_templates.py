"""Slash templates: prompts kept as Markdown or TOML files and called as ``/name arguments`` (spec/agent.md §9.5).

Folders of other tools are read too. Shell insertions (``! command`` lines, ``!{command}``, ``!`command` ``) outside
code fences are only found here; whether they run is for the turn, its policy and the user to say.
"""

from __future__ import annotations

import logging
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatls_core.prompt.allowed_tools import allowed_words
from chatls_core.prompt.hints import NO_HINT, Hint, hint_of
from chatls_core.prompt.parsed_files import MAX_FILE_BYTES, within
from chatls_core.prompt.skills import head_and_body, words_of

log = logging.getLogger(__name__)

FOLDERS = (
    ".chatcli/commands",
    ".claude/commands",
    ".cursor/commands",
    ".opencode/commands",
    ".gemini/commands",
    ".qwen/commands",
    ".devin/workflows",
    ".windsurf/workflows",
    ".github/prompts",
)
"""Where a workspace keeps templates, strongest first; after them ``<home>/commands``, then those of other tools."""

USER_FOLDERS = (".claude/commands", ".codex/prompts", ".gemini/commands", ".qwen/commands")
"""Where other tools keep the user's own, below the user's home folder."""

NOT_RUN = "[The commands this template asks for were not run: an answer was being written when it was called.]"
MAX_COMMANDS = 10
_PLACEHOLDER = re.compile(r"\$\$|\$ARGUMENTS\b|\{\{\s*args\s*\}\}|\$([1-9])(?!\d)|\$([A-Z][A-Z0-9_]*)\b")
_SHELL = re.compile(r"!\{([^}\n]+)\}|!`([^`\n]+)`|^!\s*([\w./~][^\n]*)$", re.M)
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.S | re.M)


@dataclass(frozen=True, slots=True)
class Expanded:
    """A template's text with its placeholders filled, and the command lines whose output it asks for."""

    text: str
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """One template; ``mode`` is empty where it leaves that to the user, ``hint`` is who should answer,
    ``allowed_tools`` what the model may use in its turn (``None``: all)."""

    name: str
    description: str
    body: str
    argument_hint: str = ""
    mode: str = ""
    hint: Hint = NO_HINT
    allowed_tools: tuple[str, ...] | None = None


def templates(roots: Sequence[Path], home: Path, user: Path | None = None) -> tuple[Template, ...]:
    """All templates by name; a folder below makes part of the name (``git:commit``). Reads the disk.

    ``home`` is the data folder, ``user`` the user's home folder, where other tools' templates are looked for.
    """
    found: dict[str, Template] = {}
    folders: list[tuple[Path, Path | None]] = [(root / f, root) for root in roots for f in FOLDERS]
    folders += [(home / "commands", None), *((user / f, None) for f in USER_FOLDERS if user is not None)]
    for folder, inside in folders:
        for path in _files(folder, inside):
            name = ":".join(path.relative_to(folder).with_suffix("").parts).lower().removesuffix(".prompt")
            try:
                found.setdefault(name, _read(name, path))
            except (OSError, ValueError) as error:
                log.warning("The template %s could not be read: %s", path, error)
    return tuple(sorted(found.values(), key=lambda t: t.name))


def expand(template: Template, arguments: str) -> Expanded:
    """The template with its placeholders filled: ``$ARGUMENTS``, ``{{args}}``, ``$1`` to ``$9``, ``$KEY`` from
    ``KEY=value``, ``$$``. Arguments that no placeholder takes follow at the end. In commands each argument is quoted:
    it stays one word of the shell."""
    values = _Values(arguments.strip())
    text = _PLACEHOLDER.sub(values.fill, template.body)
    if values.all and not values.used:
        text += f"\n\n{values.all}"
    found = [next(filter(None, match.groups())) for match in _SHELL.finditer(_FENCED.sub("", template.body))]
    lines = [_PLACEHOLDER.sub(values.fill_quoted, line).strip() for line in dict.fromkeys(found)]
    return Expanded(text, tuple(line for line in lines if line)[:MAX_COMMANDS])


class _Values:
    """What the placeholders of one call stand for."""

    def __init__(self, arguments: str) -> None:
        self.all = arguments
        self.used = False
        try:
            self._words = shlex.split(arguments)
        except ValueError:
            self._words = arguments.split()  # an apostrophe in a sentence is no open quote
        self._named = dict(word.split("=", 1) for word in self._words if re.match(r"[A-Za-z_]\w*=", word))

    def fill(self, match: re.Match[str]) -> str:
        """The text for a placeholder."""
        value = self._value(match)
        return match.group(0) if value is None else self.all if value is self._words else " ".join(value)

    def fill_quoted(self, match: re.Match[str]) -> str:
        """The same as words of a shell."""
        value = self._value(match)
        return match.group(0) if value is None else "$" if match.group(0) == "$$" else shlex.join(value)

    def _value(self, match: re.Match[str]) -> list[str] | None:
        """The words a placeholder stands for; ``None`` where it is none."""
        number, key = match.group(1), match.group(2)
        if match.group(0) == "$$":
            return ["$"]
        if key is not None and key != "ARGUMENTS":
            if key not in self._named:
                return None
            self.used = True
            return [self._named[key]]
        self.used = True
        if number is None:
            return self._words
        return self._words[int(number) - 1 : int(number)]


def _read(name: str, path: Path) -> Template:
    """Raises :class:`OSError`, or :class:`ValueError` for a TOML file without a prompt."""
    text = path.read_text("utf-8-sig", errors="replace")
    head: Mapping[str, object]
    if path.suffix.lower() == ".toml":
        head = tomllib.loads(text)
        prompt = head.get("prompt")
        if not isinstance(prompt, str):
            raise ValueError("it has no text under 'prompt'")
        body = prompt
    else:
        head, body = head_and_body(text)
    head = {str(key).lower(): value for key, value in head.items()}
    mode = str(head.get("mode") or head.get("agent") or "").strip().lower()
    return Template(
        name=name,
        description=" ".join(str(head.get("description") or "").split()),
        body=body,
        argument_hint=" ".join(words_of(head.get("argument-hint"))),
        mode=mode if mode in ("chat", "agent", "coder") else "",
        hint=hint_of(head),
        allowed_tools=allowed_words(head.get("allowed-tools")),
    )


def _files(folder: Path, inside: Path | None) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for path in sorted(p for p in folder.rglob("*") if p.suffix.lower() in (".md", ".toml")):
        try:
            if within(path, inside) and path.is_file() and path.stat().st_size <= MAX_FILE_BYTES:
                yield path
        except OSError as error:
            log.warning("The template %s could not be looked at: %s", path, error)
