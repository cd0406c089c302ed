"""Slash templates: prompts kept as Markdown or TOML files and called as ``/name arguments`` (spec/agent.md §9.5).

Folders of other tools are read too. Shell insertions are never run: the text says so where a template has some.
"""

from __future__ import annotations

import logging
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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

NOT_RUN = "[This template asks for command output to be inserted; ChatLS does not run commands for templates.]"
_PLACEHOLDER = re.compile(r"\$\$|\$ARGUMENTS\b|\{\{\s*args\s*\}\}|\$([1-9])(?!\d)|\$([A-Z][A-Z0-9_]*)\b")
_SHELL = re.compile(r"^!\s*\S|!\{[^}\n]+\}|!`[^`\n]+`", re.M)
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.S | re.M)


@dataclass(frozen=True, slots=True)
class Template:
    """One template; ``mode`` and ``model`` are empty where it leaves them to the user."""

    name: str
    description: str
    body: str
    argument_hint: str = ""
    mode: str = ""
    model: str = ""


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


def expand(template: Template, arguments: str) -> str:
    """The template's text with its placeholders filled: ``$ARGUMENTS``, ``{{args}}``, ``$1`` to ``$9``, ``$KEY`` from
    ``KEY=value``, ``$$``. Arguments that no placeholder takes follow at the end."""
    arguments = arguments.strip()
    try:
        values = shlex.split(arguments)
    except ValueError:
        values = arguments.split()  # an apostrophe in a sentence is no open quote
    named = dict(value.split("=", 1) for value in values if re.match(r"[A-Za-z_]\w*=", value))
    used = False

    def fill(match: re.Match[str]) -> str:
        nonlocal used
        word = match.group(0)
        if word == "$$":
            return "$"
        number, key = match.group(1), match.group(2)
        if key is not None and key != "ARGUMENTS":
            if key not in named:
                return word
            used = True
            return named[key]
        used = True
        if number is not None:
            return values[int(number) - 1] if len(values) >= int(number) else ""
        return arguments

    text = _PLACEHOLDER.sub(fill, template.body)
    if arguments and not used:
        text += f"\n\n{arguments}"
    if _SHELL.search(_FENCED.sub("", template.body)):
        text += f"\n\n{NOT_RUN}"
    return text


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
    mode = str(head.get("mode") or head.get("agent") or "").strip().lower()
    model = str(head.get("model") or "").strip()
    return Template(
        name=name,
        description=" ".join(str(head.get("description") or "").split()),
        body=body,
        argument_hint=" ".join(words_of(head.get("argument-hint"))),
        mode=mode if mode in ("chat", "agent", "coder") else "",
        model="" if model.lower() == "inherit" else model,
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
