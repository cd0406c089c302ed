"""The ``[TURN CONTEXT]``: what belongs to one turn, as user-role text before the user's own (DESIGN.md, shape 3).

What a conversation already carries is not sent again. Everything here is rendered to be frozen: absolute dates, no
scores, no ages. The record of what was sent lives in ``Conversation.carried`` and is saved with the session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from chatls_core.events import ContextAdded, ContextItem
from chatls_core.instructions import InstructionItem, render_item
from chatls_core.llm.messages import TextPart
from chatls_core.sessions.conversation import Conversation

if TYPE_CHECKING:
    from chatls_core.memory.views import AutoRecall
    from chatls_core.prompt.context_passages import Passage

HEADER = "[TURN CONTEXT]"
STABLE_KEY = "stable_items"
PATHS_KEY = "carried_paths"
NOTES_KEY = "loaded_notes"
"""In ``Conversation.state``: texts that wait for the next context."""

RECALL_KEY = "env:recall"
"""In ``Conversation.carried``: the model was told how recalled lines are to be read."""


@dataclass(slots=True)
class TurnContext:
    """Collects the blocks of one turn's context and what the user is told rode along."""

    conversation: Conversation
    blocks: list[str] = field(default_factory=list)
    rules: list[ContextItem] = field(default_factory=list)
    files: list[ContextItem] = field(default_factory=list)
    facts: list[ContextItem] = field(default_factory=list)
    skills: list[ContextItem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def surroundings(self, now: datetime, roots: Sequence[Path], active: str) -> None:
        """Date, workspace folders and active document, each only when it differs from what was last said."""
        lines = [
            self._changed("env:date", f"Date: {now.astimezone():%Y-%m-%d (%A)}"),
            self._changed("env:roots", _folders(roots)),
            self._changed("env:active", f"Active document: {active}" if active else "", "No document is active now."),
        ]
        if text := "\n".join(line for line in lines if line):
            self.blocks.append(text)

    def changed_stable(self, items: Sequence[InstructionItem]) -> None:
        """Instruction files of the system text that changed since it was frozen: their new text, in words that say
        which earlier text they replace or withdraw."""
        frozen = self._frozen()
        carried = self.conversation.carried
        current = {item.id: item for item in items}
        for item in items:
            known = carried.get(f"stable:{item.id}", frozen.get(item.id))
            if known == item.digest:
                continue
            verb = "was added" if known is None else "changed; this replaces its earlier text"
            self.blocks.append(f"{item.title} {verb}:\n\n{render_item(item)}")
            self._record(item, f"stable:{item.id}")
            self.notices.append(f"{item.title} changed; this answer follows it.")
        for item_id in frozen:
            if item_id not in current and carried.get(f"stable:{item_id}") != "":
                title = item_id.partition(":")[2] or item_id
                self.blocks.append(f"{title} was removed; its earlier text is withdrawn and no longer applies.")
                carried[f"stable:{item_id}"] = ""
                self.notices.append(f"{title} was removed; it no longer applies.")

    def nearer(self, items: Iterable[InstructionItem]) -> None:
        """Nearer instruction files and matched rules, nearest last, each once per conversation unless it changed."""
        for item in items:
            known = self.conversation.carried.get(item.id)
            if known == item.digest:
                continue
            head = f"{item.title} changed; this replaces its earlier text:\n\n" if known else ""
            self.blocks.append(head + render_item(item))
            self._record(item, item.id)

    def withdrawn(self, exists: Mapping[str, bool]) -> None:
        """Files sent earlier in this conversation that are gone now; ``exists`` answers for each path of
        :meth:`carried_paths`."""
        paths = self._paths()
        gone: dict[Path, list[str]] = {}
        for item_id, path in list(paths.items()):
            if exists.get(path, True) or self.conversation.carried.get(item_id, "") == "":
                continue
            gone.setdefault(Path(path).parent, []).append(Path(path).name)
            self.conversation.carried[item_id] = ""
            del paths[item_id]
        self.conversation.state[PATHS_KEY] = paths
        for folder, names in gone.items():
            if len(names) == 1:
                self.blocks.append(f"{names[0]} ({folder / names[0]}) was removed; its earlier text no longer applies.")
            else:
                listed = ", ".join(names)
                self.blocks.append(f"Removed from {folder}; their earlier text no longer applies: {listed}.")

    def carried_paths(self) -> tuple[str, ...]:
        """Paths of the instruction files this conversation was sent in turns."""
        return tuple(self._paths().values())

    def recalled(self, found: AutoRecall) -> None:
        """Facts brought in by auto-recall; ids are remembered so that none is sent twice."""
        if found.lines:
            # How these lines are to be read is said once; it is told again when compaction took it away.
            self.blocks.append(found.more if self.conversation.carried.get(RECALL_KEY) else found.text)
            self.conversation.carried[RECALL_KEY] = "1"
            self.facts += [ContextItem(item.id, item.text) for item in found.items]
            for item in found.items:
                self.conversation.carried[f"fact:{item.id}"] = "1"

    def passages(self, found: Iterable[Passage], *, calls: bool) -> None:
        """Passages of attached contexts; with ``calls`` each names the call that reads on."""
        for passage in found:
            self.blocks.append(passage.block(calls))
            title = f"{passage.context}: {passage.title}"
            self.files.append(ContextItem(f"context:{title}", title, passage.path.as_uri()))

    def external(self, text: str) -> None:
        """What an external memory service said; the same answer is not sent twice."""
        key = f"external:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        if text and key not in self.conversation.carried:
            self.blocks.append(text)
            self.conversation.carried[key] = "1"

    def carried_facts(self) -> frozenset[str]:
        """Ids of facts this conversation already carries."""
        return frozenset(k.removeprefix("fact:") for k in self.conversation.carried if k.startswith("fact:"))

    def notes(self) -> None:
        """What waited to be told."""
        waiting = self.conversation.state.pop(NOTES_KEY, [])
        self.blocks += map(str, waiting) if isinstance(waiting, list) else []

    def text(self) -> str:
        """The whole context, empty when there is nothing to say."""
        return "\n\n".join([HEADER, *self.blocks]) if self.blocks else ""

    def summary(self) -> ContextAdded:
        """What rode along, for the user."""
        return ContextAdded(tuple(self.rules), tuple(self.files), tuple(self.facts), tuple(self.skills))

    def _record(self, item: InstructionItem, key: str) -> None:
        self.conversation.carried[key] = item.digest
        if key == item.id:
            self.conversation.state[PATHS_KEY] = {**self._paths(), item.id: str(item.path)}
        shown = ContextItem(item.id, item.title, item.path.as_uri())
        (self.rules if item.kind == "rule" else self.files).append(shown)

    def _changed(self, key: str, text: str, when_empty: str = "") -> str:
        known = self.conversation.carried.get(key, "")
        if known == text:
            return ""
        self.conversation.carried[key] = text
        return text or when_empty

    def _frozen(self) -> dict[str, str]:
        return _strings(self.conversation.state.get(STABLE_KEY))

    def _paths(self) -> dict[str, str]:
        return _strings(self.conversation.state.get(PATHS_KEY))


def tell_later(conversation: Conversation, text: str) -> None:
    """Have ``text`` told with the next context, once."""
    waiting = conversation.state.get(NOTES_KEY)
    known = waiting if isinstance(waiting, list) else []
    conversation.state[NOTES_KEY] = known if text in known else [*known, text]


def is_told(conversation: Conversation, text: str) -> bool:
    """Whether ``text`` waits to be told, or stands in the conversation as it is now."""
    waiting = conversation.state.get(NOTES_KEY)
    if isinstance(waiting, list) and text in waiting:
        return True
    told = (p for m in conversation.messages if m.kind == "turn_context" for p in m.parts)
    return any(isinstance(part, TextPart) and text in part.text for part in told)


def freeze_stable(conversation: Conversation, items: Sequence[InstructionItem]) -> None:
    """Remember which instruction files the system text now holds; a natural rebuild folds every change in."""
    conversation.state[STABLE_KEY] = {item.id: item.digest for item in items}
    for key in [k for k in conversation.carried if k.startswith("stable:")]:
        del conversation.carried[key]


def _folders(roots: Sequence[Path]) -> str:
    if not roots:
        return "No folder is open."
    first = f"Workspace folder: {roots[0]}"
    others = "".join(f"\nFurther workspace folder: {root}" for root in roots[1:])
    return f"{first} (relative paths start here){others}"


def _strings(value: object) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}
