"""The instruction files of a workspace: what the model is told, and what changed (spec/memory.md §1, §2)."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from chatls_core.config import Instructions as Settings
from chatls_core.instructions import names
from chatls_core.instructions.assembly import fit_hierarchy, fit_whole, with_text
from chatls_core.instructions.disk import Unreadable
from chatls_core.instructions.documents import InstructionDocument
from chatls_core.instructions.folders import NOISE
from chatls_core.instructions.library import Library, Rule
from chatls_core.instructions.model import (
    BOOTSTRAP_NAMES,
    HIERARCHY_LIMIT,
    RULES_LIMIT,
    InstructionChanges,
    InstructionItem,
)
from chatls_core.instructions.workspace import DEEPEST, Root


class Instructions:
    """Instruction files of the opened folders and the global folder.

    All methods are synchronous, safe to call from several threads, and meant to be called in one. Files are read from
    disk as saved. Between two calls of :meth:`refresh` what was loaded does not change.
    """

    def __init__(self, roots: Sequence[Path], global_folder: Path, *, settings: Settings, trusted: bool) -> None:
        """``roots`` are the opened folders in the editor's order. Nothing is read yet."""
        self._enabled = settings.enabled
        self._trusted = trusted
        folders = [os.path.abspath(root) for root in roots] if self._enabled else []
        place = settings.global_folder.strip() or str(global_folder)
        self._library = Library(
            tuple(dict.fromkeys(folders)), os.path.abspath(os.path.expanduser(place)), trusted, settings.scan
        )
        self._stable: tuple[InstructionItem, ...] | None = None
        self._lock = threading.RLock()

    def refresh(self) -> InstructionChanges:
        """Compare everything loaded, and the places where a file could appear, with the disk.

        One ``stat`` each; only what differs is read again. Call it at the start of each turn.
        """
        if not self._enabled:
            return InstructionChanges()
        with self._lock:
            outcome = self._library.refresh()
            if outcome is None:
                return InstructionChanges()
            self._stable = None
            before, after = outcome
            self.stable()
        changed = sorted(p for p, digest in after.items() if before.get(p, digest) != digest)
        added = sorted(set(after) - set(before))
        removed = sorted(set(before) - set(after))
        different = [*changed, *added, *removed]
        rules = sum(1 for p in different if names.is_rule(p))
        return InstructionChanges(
            tuple(map(Path, changed)), tuple(map(Path, added)), tuple(map(Path, removed)),
            len(different) - rules, rules,
        )

    def stable(self) -> tuple[InstructionItem, ...]:
        """What does not depend on the question: the same files give the same items, byte for byte.

        Global AGENTS file, each opened folder's chain from its repository's root, the other bootstrap files, rules that
        always apply.
        """
        if not self._enabled:
            return ()
        with self._lock:
            if self._stable is None:
                self._stable = (*self._agents(), *self._bootstrap(), *self._always())
            return self._stable

    def for_paths(self, active: Path | None, touched: Sequence[Path]) -> tuple[InstructionItem, ...]:
        """What the active document and the touched paths bring in beyond :meth:`stable`.

        Nested AGENTS files, nearest last and the active document's after the others', then matching rules. Relative
        paths count from the first opened folder; paths outside the opened folders bring nothing.
        """
        if not self._enabled:
            return ()
        with self._lock:
            kept_agents, _, kept_rules, _ = self.applicable(active, touched)
            return (*kept_agents, *kept_rules)

    def applicable(self, active: Path | None, touched: Sequence[Path]) -> tuple[
        list[InstructionItem], list[InstructionItem], list[InstructionItem], list[InstructionItem]
    ]:
        """:meth:`for_paths` in parts: AGENTS items kept and left out by the cap, rule items kept and left out."""
        places = [place for path in touched if (place := self._place(path))]
        active_place = self._place(active) if active is not None else None
        if active_place is not None:
            places = [p for p in places if p != active_place] + [active_place]
        agents: dict[str, InstructionItem] = {}
        near: dict[str, int] = {}
        rules: dict[str, InstructionItem] = {}
        rule_rank: dict[str, int] = {}
        for root, relative in places:
            is_active = (root, relative) == active_place
            chain = self._nested(root, relative)
            for folder in chain:
                for item in self._folder_agents(root, folder):
                    agents.pop(item.id, None)
                    agents[item.id] = item
                    rank = -item.folder.count("/") - (1000 if is_active else 0)
                    near[item.id] = min(near.get(item.id, 0), rank)
            for depth, item in self._matching(root, relative, chain):
                rules[item.id] = item
                rank = -depth - (1000 if is_active else 0)
                rule_rank[item.id] = min(rule_rank.get(item.id, 0), rank)
        agent_items = list(agents.values())
        rule_items = sorted(rules.values(), key=lambda item: item.id)
        kept_agents, cut_agents = fit_whole(agent_items, [near[i.id] for i in agent_items], HIERARCHY_LIMIT)
        kept_rules, cut_rules = fit_whole(rule_items, [rule_rank[i.id] for i in rule_items], RULES_LIMIT)
        return kept_agents, cut_agents, kept_rules, cut_rules

    def _place(self, path: Path) -> tuple[Root, str] | None:
        roots = self._library.workspace.roots
        if not roots:
            return None
        text = os.path.normpath(os.path.join(roots[0].path, path))
        return self._library.workspace.locate(text) or self._library.workspace.locate(os.path.realpath(text))

    def _nested(self, root: Root, relative: str) -> list[str]:
        """The folders below ``root`` on the way to ``relative`` that may speak, outermost first."""
        folders: list[str] = []
        folder = root.path
        parts = relative.split("/") if relative else []
        if parts and not os.path.isdir(os.path.join(root.path, relative)):
            parts = parts[:-1]
        for part in parts[:DEEPEST]:
            if part in NOISE:
                break
            folder = os.path.join(folder, part)
            if not self._library.workspace.boundary.admits(os.path.realpath(folder)) or not os.path.isdir(folder):
                break
            folders.append(folder)
        return folders

    def _folder_agents(self, root: Root | None, folder: str) -> list[InstructionItem]:
        """The AGENTS item of one folder, its companion appended, as a list of at most one; not yet capped for nesting."""
        found = self._library.folder(folder)
        pieces: list[str] = []
        size = 0
        first: str | None = None
        for path in (found.agents, found.local):
            if path is None:
                continue
            document = self._library.document(path, folder, capped=False)
            if isinstance(document, Unreadable) or not document.text:
                continue
            size += document.size_bytes
            if path == found.local:
                pieces.append(f"<!-- {os.path.basename(path)} -->\n{document.text}")
            else:
                pieces.append(document.text)
            first = first or path
        if first is None:
            return []
        item = names.agents_item(root, folder, first, is_global=root is None, trusted=root is None or self._trusted)
        return [with_text(names.sized(item, size), "\n\n".join(pieces))]

    def _agents(self) -> list[InstructionItem]:
        library = self._library
        chains: list[list[InstructionItem]] = []
        longest = 0
        seen: set[str] = set()
        for root in library.workspace.roots:
            chain: list[InstructionItem] = []
            for folder in (*root.parents, root.path):
                if folder not in seen and folder != library.global_folder:
                    seen.add(folder)
                    chain.extend(self._folder_agents(root, folder))
            fitted, used = fit_hierarchy(chain, HIERARCHY_LIMIT)
            chains.append(fitted)
            longest = max(longest, used)
        top, _ = fit_hierarchy(self._folder_agents(None, library.global_folder), max(0, HIERARCHY_LIMIT - longest - 2))
        return [*top, *(item for chain in chains for item in chain)]

    def _bootstrap(self) -> list[InstructionItem]:
        library = self._library
        items: list[InstructionItem] = []
        for name in BOOTSTRAP_NAMES:
            found: dict[str, InstructionItem | None] = {}
            for root in library.workspace.roots:
                for folder in (root.path, *reversed(root.parents)):
                    path = dict(library.folder(folder).bootstrap).get(name)
                    if path is not None:
                        found.setdefault(path, self._bootstrap_item(root, folder, name, path))
                        break
            if not found and (path := dict(library.folder(library.global_folder).bootstrap).get(name)):
                found[path] = self._bootstrap_item(None, library.global_folder, name, path)
            items.extend(item for item in found.values() if item is not None)
        return items

    def _bootstrap_item(self, root: Root | None, folder: str, name: str, path: str) -> InstructionItem | None:
        document = self._library.document(path, folder)
        if isinstance(document, Unreadable) or not document.text:
            return None
        item = names.bootstrap_item(root, name, path, trusted=root is None or self._trusted)
        return with_text(names.sized(item, document.size_bytes), document.text)

    def _always(self) -> list[InstructionItem]:
        items: list[InstructionItem] = []
        ranks: list[int] = []
        seen: set[str] = set()
        library = self._library
        for rule in library.rules(library.global_folder):
            if rule.active and rule.applies.when == "always" and not self._shadowed_everywhere(rule):
                items.append(self._rule_item(None, library.global_folder, rule))
                ranks.append(DEEPEST + 1)
        for root in library.workspace.roots:
            for distance, folder in enumerate((*root.parents, root.path)):
                if folder in seen or folder == library.global_folder:
                    continue
                seen.add(folder)
                for rule in library.rules(folder):
                    if rule.active and rule.applies.when == "always":
                        items.append(self._rule_item(root, folder, rule))
                        ranks.append(DEEPEST - distance)
        kept, _ = fit_whole(items, ranks, RULES_LIMIT)
        return kept

    def _shadowed_everywhere(self, rule: Rule) -> bool:
        roots = self._library.workspace.roots
        return bool(roots) and all(rule.file.name in self._names(root) for root in roots)

    def _names(self, root: Root) -> set[str]:
        """Rule names of ``root`` and its parents, in whose presence a global rule of the same name stays silent."""
        return {
            rule.file.name
            for folder in (root.path, *root.parents)
            if folder != self._library.global_folder
            for rule in self._library.rules(folder)
            if rule.applies.when != "manual" and isinstance(rule.document, InstructionDocument)
        }

    def _matching(self, root: Root, relative: str, chain: Sequence[str]) -> list[tuple[int, InstructionItem]]:
        """Rules that ``relative`` brings in, each with its depth (0: global, then outermost first)."""
        library = self._library
        matched: list[tuple[int, InstructionItem]] = []
        full = f"{root.path}{os.sep}{relative.replace('/', os.sep)}"
        taken = self._names(root)
        for rule in library.rules(library.global_folder):
            if rule.active and rule.applies.when == "paths" and rule.file.name not in taken:
                if rule.patterns.matches(relative):
                    matched.append((0, self._rule_item(None, library.global_folder, rule)))
        for depth, folder in enumerate((*root.parents, root.path, *chain), 1):
            if folder == library.global_folder:
                continue
            below = full[len(folder) :].strip(os.sep).replace(os.sep, "/")
            nested = folder in chain
            for rule in library.rules(folder):
                if not rule.active:
                    continue
                if (rule.applies.when == "paths" and rule.patterns.matches(below)) or (
                    nested and rule.applies.when == "always"
                ):
                    matched.append((depth, self._rule_item(root, folder, rule)))
        return matched

    def _rule_item(self, root: Root | None, folder: str, rule: Rule) -> InstructionItem:
        assert isinstance(rule.document, InstructionDocument)
        item = names.rule_item(
            root, folder, rule.file.name, rule.file.path, rule.applies.patterns,
            trusted=root is None or self._trusted,
        )
        return with_text(names.sized(item, rule.document.size_bytes), rule.document.text)

    def is_instruction_file(self, path: Path) -> bool:
        """Whether saving ``path`` may change what the model is told: by its name, or because it was imported."""
        if not self._enabled:
            return False
        text = os.path.abspath(path)
        if names.is_instruction_name(text, self._library.global_folder):
            return True
        with self._lock:
            return text in self._library.used()

    def watch_globs(self) -> tuple[str, ...]:
        """Globs relative to each opened folder for ``workspace/didChangeWatchedFiles``."""
        return names.WATCH_GLOBS
