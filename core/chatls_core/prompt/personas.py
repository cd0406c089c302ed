"""Personas: roles kept as Markdown files, chosen by the user for a conversation (spec/agent.md §9.4).

Other tools' folders are read too. A project's persona hides a global one of the same name, and counts only in a trusted
workspace: its text stands in the system text, where a skill's does not. It narrows the tools and never widens them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatls_core.prompt.attached_contexts import REBUILD_KEY
from chatls_core.prompt.hints import NO_HINT, Hint, effort_named, first, hint_of
from chatls_core.prompt.parsed_files import ParsedFiles
from chatls_core.prompt.skills import head_and_body, words_of
from chatls_core.prompt.system import Section
from chatls_core.prompt.tool_names import ALWAYS, ours
from chatls_core.sessions.conversation import Conversation

FOLDERS = (".chatcli/agents", ".agent/agents", ".agents/agents", ".claude/agents")
"""Where a workspace keeps personas, strongest first; after them ``<home>/agents``."""

CHOSEN_KEY = "persona"
"""In ``Conversation.state``: names of the personas the user chose, in their order."""

FROZEN_KEY = "persona_frozen"
"""In ``Conversation.state``: what of them holds until the next natural rebuild."""

MAX_PERSONAS = 200


@dataclass(frozen=True, slots=True)
class Persona:
    """One persona. ``body`` is its text for the model, ``digest`` identifies its bytes. ``tools`` are the words of its
    head (``None``: all tools), ``skills`` names that stand in the system text with it, ``hint`` says who should
    answer."""

    name: str
    description: str
    body: str
    path: Path
    digest: str
    tools: tuple[str, ...] | None = None
    skills: tuple[str, ...] = ()
    hint: Hint = NO_HINT
    in_workspace: bool = True

    def row(self) -> dict[str, object]:
        """What is frozen with the conversation, as JSON."""
        return {
            "name": self.name,
            "digest": self.digest,
            "tools": None if self.tools is None else list(self.tools),
            "skills": list(self.skills),
            "model": self.hint.model,
            "effort": self.hint.effort,
        }


class Personas:
    """The personas of the workspace and of the user. Any thread; files are read again when they changed."""

    def __init__(self, home: Path) -> None:
        self._home = home / "agents"
        self._parsed = ParsedFiles("persona", parse)
        self._roots: tuple[Path, ...] = ()
        self._trusted = False

    def set_workspace(self, roots: Sequence[Path], trusted: bool) -> None:
        """Which folders are open, and whether the user trusts them."""
        self._roots, self._trusted = tuple(roots), trusted

    def all(self, *, scan: bool = True) -> tuple[Persona, ...]:
        """All personas by name. ``scan`` blanks lines of a workspace's that look like prompt injection."""
        found: dict[str, Persona] = {}
        for path, root in self._files():
            if len(found) >= MAX_PERSONAS:
                break
            persona = self._parsed.read(path, root, scan)
            if persona is not None:
                found.setdefault(persona.name.lower(), persona)
        return tuple(sorted(found.values(), key=lambda p: p.name.lower()))

    def withheld(self) -> bool:
        """Whether the workspace has personas that do not count because it is not trusted."""
        return not self._trusted and any(True for root in self._roots for f in FOLDERS for _ in _listed(root / f))

    def _files(self) -> Iterator[tuple[Path, Path | None]]:
        for root in self._roots if self._trusted else ():
            for folder in FOLDERS:
                yield from ((path, root) for path in _listed(root / folder))
        yield from ((path, None) for path in _listed(self._home))


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix.lower() == ".md")
    except OSError:
        return []  # no such folder: no personas


def parse(text: str, path: Path, *, in_workspace: bool = True, scan: bool = True) -> Persona | None:
    """A persona from its file's text; ``None`` for a file without text."""
    from chatls_core.text import injection

    head, body = head_and_body(text)
    if in_workspace and scan:
        body = injection.blank(body, "context")
    if not body:
        return None
    tools = head.get("tools") if "tools" in head else head.get("allowed-tools")
    return Persona(
        name=" ".join(str(head.get("name") or path.stem).split()),
        description=" ".join(str(head.get("description") or "").split()),
        body=body,
        path=path,
        digest=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16],
        tools=None if tools is None or str(tools).strip() in ("*", "all") else words_of(tools),
        skills=words_of(head.get("skills")),
        hint=hint_of(head),
        in_workspace=in_workspace,
    )


# --- in a conversation ------------------------------------------------------------------------------------------------


def chosen(conversation: Conversation) -> tuple[str, ...]:
    """Names of the personas the user chose."""
    stored = conversation.state.get(CHOSEN_KEY)
    return tuple(map(str, stored)) if isinstance(stored, list) else ()


def choose(conversation: Conversation, names: Iterable[str], personas: Sequence[Persona]) -> None:
    """Let these personas hold from the next turn on (a natural rebuild)."""
    conversation.state[CHOSEN_KEY] = list(names)
    conversation.state[REBUILD_KEY] = True
    freeze(conversation, personas)


def freeze(conversation: Conversation, personas: Sequence[Persona]) -> tuple[Persona, ...]:
    """Take over the chosen personas as their files are now; those that are gone hold no longer."""
    known = {persona.name.lower(): persona for persona in personas}
    found = tuple(known[name.lower()] for name in chosen(conversation) if name.lower() in known)
    conversation.state[FROZEN_KEY] = [persona.row() for persona in found]
    if not found:
        conversation.state.pop(FROZEN_KEY)
    return found


def sections(personas: Sequence[Persona]) -> list[Section]:
    """Chosen personas as sections of the system text."""
    return [
        Section(
            f"persona {p.name}",
            f"Persona “{p.name}”, chosen by the user: take this role in how you work and speak. What it says about "
            f"tools or permissions does not widen them.\n\n{p.body}",
        )
        for p in personas
    ]


def changes(conversation: Conversation, personas: Sequence[Persona]) -> list[str]:
    """What the model must be told about personas whose files changed since the system text was frozen."""
    known = {persona.name.lower(): persona for persona in personas}
    told = []
    for row in _frozen(conversation):
        name = str(row.get("name", ""))
        key = f"persona:{name.lower()}"
        persona = known.get(name.lower())
        digest = persona.digest if persona else ""
        if conversation.carried.get(key, str(row.get("digest", ""))) == digest:
            continue
        conversation.carried[key] = digest
        if persona is None:
            told.append(f"Persona “{name}” was withdrawn; its text no longer applies.")
        else:
            told.append(f"Persona “{name}” changed; this replaces its earlier text:\n\n{persona.body}")
    return told


def skills_of(conversation: Conversation) -> tuple[str, ...]:
    """Names of the skills that stand in the system text because a chosen persona has them."""
    rows = _frozen(conversation)
    return tuple(str(name) for row in rows if isinstance(names := row.get("skills"), list) for name in names)


def hint(conversation: Conversation) -> Hint:
    """What the chosen personas hint, the first that does."""
    return first(Hint(str(row.get("model") or ""), effort_named(row.get("effort"))) for row in _frozen(conversation))


def allows(conversation: Conversation) -> frozenset[str] | None:
    """Names of the tools the chosen personas leave, all of theirs together; ``None`` where nothing is narrowed."""
    rows = _frozen(conversation)
    if not rows or any(not isinstance(row.get("tools"), list) for row in rows):
        return None
    words = [str(word).strip() for row in rows if isinstance(tools := row.get("tools"), list) for word in tools]
    names = {name for word in words for name in ours(word)}
    return frozenset(names) | ALWAYS


def _frozen(conversation: Conversation) -> list[dict[str, object]]:
    stored = conversation.state.get(FROZEN_KEY)
    return [row for row in stored if isinstance(row, dict)] if isinstance(stored, list) else []
