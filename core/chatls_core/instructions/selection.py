"""Which instructions apply, in which order, and what the caps leave out (spec/memory.md §1.2, §1.3, §2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatls_core.instructions import caps, names, pathtext
from chatls_core.instructions.assembly import fit_hierarchy, fit_whole, with_text
from chatls_core.instructions.disk import Unreadable
from chatls_core.instructions.documents import InstructionDocument
from chatls_core.instructions.folders import NOISE
from chatls_core.instructions.library import Library, Rule
from chatls_core.instructions.model import (
    BOOTSTRAP_NAMES,
    HIERARCHY_LIMIT,
    ITEM_LIMIT,
    RULES_LIMIT,
    InstructionItem,
    ItemKind,
)
from chatls_core.instructions.workspace import DEEPEST, Root

_ACTIVE = 2 * DEEPEST
"""How much nearer than everything else the active document's own instructions are."""


@dataclass(frozen=True, slots=True)
class Selected:
    """Items in prompt order, and those that apply but have no room."""

    items: tuple[InstructionItem, ...]
    left_out: tuple[InstructionItem, ...] = ()


class Selection:
    """Chooses from a :class:`Library`; holds nothing of its own."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def stable(self) -> Selected:
        """The half that no question changes: AGENTS chains, the other bootstrap files, rules that always apply."""
        agents = self._agents()
        shown = {item.id for item in agents.items}
        always = self._always()
        items = (*agents.items, *self._bootstrap(), *always.items, *_note("rules", always.left_out))
        return Selected(items, (*(i for i in agents.left_out if i.id not in shown), *always.left_out))

    def for_paths(self, active: Path | None, touched: Sequence[Path]) -> Selected:
        """The half that follows the work: nested AGENTS files, nearest and active last, then matching rules."""
        agents: dict[str, InstructionItem] = {}
        rules: dict[str, InstructionItem] = {}
        nearness: dict[str, int] = {}
        files: dict[str, str] = {}
        for root, relative, is_active in self._places(active, touched):
            bonus = _ACTIVE if is_active else 0
            chain = self._nested(root, relative)
            for depth, folder in enumerate(chain):
                item = self._folder_agents(root, folder)
                # A folder reached by two names speaks once, under its own.
                if item is not None and files.setdefault(self._library.table.real(str(item.path)), item.id) == item.id:
                    agents.pop(item.id, None)
                    agents[item.id] = self._capped(item)
                    nearness[item.id] = max(nearness.get(item.id, 0), depth + bonus)
            for depth, item in self._matching(root, relative, chain):
                rules[item.id] = item
                nearness[item.id] = max(nearness.get(item.id, 0), depth + bonus)
        agent_items, rule_items = list(agents.values()), [rules[key] for key in sorted(rules)]
        kept, cut = fit_whole(agent_items, [nearness[i.id] for i in agent_items], HIERARCHY_LIMIT)
        kept_rules, cut_rules = fit_whole(rule_items, [nearness[i.id] for i in rule_items], RULES_LIMIT)
        return Selected((*kept, *_note("files", cut), *kept_rules, *_note("rules", cut_rules)), (*cut, *cut_rules))

    def chain(self, path: Path) -> list[tuple[Root, str]]:
        """The nested folders on the way to ``path``, outermost first, each with its opened folder."""
        return [(root, folder) for root, relative in self._aliases(path) for folder in self._nested(root, relative)]

    def _places(self, active: Path | None, touched: Sequence[Path]) -> Iterator[tuple[Root, str, bool]]:
        """Where the paths lie, as written and with links resolved; the active document's last."""
        last = self._aliases(active) if active is not None else []
        seen = set(last)
        for path in touched:
            for place in self._aliases(path):
                if place not in seen:
                    seen.add(place)
                    yield (*place, False)
        for place in last:
            yield (*place, True)

    def _aliases(self, path: Path) -> list[tuple[Root, str]]:
        workspace = self._library.workspace
        if not workspace.roots:
            return []
        written = pathtext.normal(pathtext.join(workspace.roots[0].path, path))
        if "\0" in written:
            return []
        places = [workspace.locate(pathtext.real(written)), workspace.locate(written)]
        return list(dict.fromkeys(place for place in places if place is not None))

    def _nested(self, root: Root, relative: str) -> list[str]:
        """The folders below ``root`` on the way to ``relative`` that may speak, outermost first."""
        parts = relative.split("/") if relative else []
        if parts and not pathtext.is_folder(pathtext.join(root.path, relative)):
            parts = parts[:-1]
        folders: list[str] = []
        folder = root.path
        for part in parts[:DEEPEST]:
            folder = pathtext.join(folder, part)
            if part in NOISE or not pathtext.is_folder(folder):
                break
            if not self._library.workspace.boundary.admits(pathtext.real(folder)):
                break
            if folder != self._library.global_folder:
                folders.append(folder)
        return folders

    def _folder_agents(self, root: Root | None, folder: str) -> InstructionItem | None:
        """The AGENTS file of one folder with its companion appended, whole."""
        found = self._library.folder(folder)
        pieces: list[str] = []
        size = full = 0
        first: str | None = None
        for path in (found.agents, found.local):
            document = self._library.document(path, folder, "agents") if path is not None else None
            if path is None or not isinstance(document, InstructionDocument) or not document.text:
                continue
            comment = f"<!-- {pathtext.base(path)} -->\n" if path == found.local else ""
            pieces.append(comment + document.text)
            size += document.size_bytes
            full += document.full_bytes + caps.size(comment) + (2 if first else 0)
            first = first or path
        if first is None:
            return None
        item = names.agents_item(root, folder, first, trusted=root is None or self._library.trusted)
        return with_text(names.sized(item, size, full), "\n\n".join(pieces))

    def _capped(self, item: InstructionItem) -> InstructionItem:
        return with_text(item, caps.cut(item.text, ITEM_LIMIT, caps.hierarchy_note(item.title, item.full_bytes)))

    def _agents(self) -> Selected:
        library = self._library
        fitted: list[InstructionItem] = []
        whole: list[InstructionItem] = []
        longest = 0
        seen = {library.global_folder}
        for root in library.workspace.roots:
            chain: list[InstructionItem] = []
            for folder in (*root.parents, root.path):
                if folder not in seen:
                    seen.add(folder)
                    if (item := self._folder_agents(root, folder)) is not None:
                        chain.append(item)
            kept, used = fit_hierarchy(chain, HIERARCHY_LIMIT)
            fitted.extend(kept)
            whole.extend(chain)
            longest = max(longest, used)
        top = self._folder_agents(None, library.global_folder)
        if top is not None:
            kept, _ = fit_hierarchy([top], max(0, HIERARCHY_LIMIT - longest - 2))
            return Selected((*kept, *fitted), (top, *whole))
        return Selected(tuple(fitted), tuple(whole))

    def _bootstrap(self) -> list[InstructionItem]:
        """For each name the opened folder's own file, else the nearest parent's, else the global one."""
        library = self._library
        items: list[InstructionItem | None] = []
        for name in BOOTSTRAP_NAMES:
            found: set[str] = set()
            for root in library.workspace.roots:
                for folder in (root.path, *reversed(root.parents)):
                    path = dict(library.folder(folder).bootstrap).get(name)
                    if path is not None:
                        if path not in found:
                            items.append(self._bootstrap_item(root, folder, name, path))
                        found.add(path)
                        break
            if not found:
                path = dict(library.folder(library.global_folder).bootstrap).get(name)
                if path is not None:
                    items.append(self._bootstrap_item(None, library.global_folder, name, path))
        return [item for item in items if item is not None]

    def _bootstrap_item(self, root: Root | None, folder: str, name: str, path: str) -> InstructionItem | None:
        document = self._library.document(path, folder, "bootstrap")
        if isinstance(document, Unreadable) or not document.text:
            return None
        item = names.bootstrap_item(root, name, path, trusted=root is None or self._library.trusted)
        return with_text(names.sized(item, document.size_bytes, document.full_bytes), document.text)

    def _always(self) -> Selected:
        items: list[InstructionItem] = []
        nearness: list[int] = []
        library = self._library
        seen = {library.global_folder}
        for rule in self._global_rules():
            if rule.applies.when == "always" and not self._shadowed_everywhere(rule):
                items.extend(self._rule_items(None, library.global_folder, rule))
        nearness += [0] * len(items)
        for root in library.workspace.roots:
            for depth, folder in enumerate((*root.parents, root.path), 1 + DEEPEST - len(root.parents)):
                if folder in seen:
                    continue
                seen.add(folder)
                for rule in library.rules(folder):
                    if rule.active and rule.applies.when == "always":
                        items.extend(self._rule_items(root, folder, rule))
                nearness += [depth] * (len(items) - len(nearness))
        kept, cut = fit_whole(items, nearness, RULES_LIMIT)
        return Selected(tuple(kept), tuple(cut))

    def _global_rules(self) -> list[Rule]:
        folder = self._library.global_folder
        return [rule for rule in self._library.rules(folder) if rule.active]

    def _shadowed_everywhere(self, rule: Rule) -> bool:
        roots = self._library.workspace.roots
        return bool(roots) and all(rule.file.name in self._library.rule_names(root) for root in roots)

    def _matching(self, root: Root, relative: str, chain: Sequence[str]) -> Iterator[tuple[int, InstructionItem]]:
        """Rules that ``relative`` brings in, each with its depth (0: global, then outermost first)."""
        library = self._library
        taken = library.rule_names(root)
        for rule in self._global_rules():
            if rule.applies.when == "paths" and rule.file.name not in taken and rule.patterns.matches(relative):
                yield from ((0, item) for item in self._rule_items(None, library.global_folder, rule))
        full = pathtext.join(root.path, relative.replace("/", pathtext.SEP))
        for depth, folder in enumerate((*root.parents, root.path, *chain), 1 + DEEPEST - len(root.parents)):
            if folder == library.global_folder:
                continue
            below = pathtext.below(full, folder)
            for rule in library.rules(folder):
                if rule.active and (rule.patterns.matches(below) if rule.applies.when == "paths" else folder in chain):
                    yield from ((depth, item) for item in self._rule_items(root, folder, rule))

    def _rule_items(self, root: Root | None, folder: str, rule: Rule) -> list[InstructionItem]:
        """The item of a rule that applies, as a list of at most one: a rule of comments only says nothing."""
        document = self._library.document(rule.file.path, folder, "rule")
        if isinstance(document, Unreadable) or not document.text:
            return []
        item = names.rule_item(
            root,
            folder,
            rule.file.name,
            rule.file.path,
            rule.applies.patterns,
            trusted=root is None or self._library.trusted,
        )
        return [with_text(names.sized(item, document.size_bytes, document.full_bytes), document.text)]


def _note(what: str, left_out: Sequence[InstructionItem]) -> list[InstructionItem]:
    """One item that names what has no room, so that the model can read it when it needs it."""
    if not left_out:
        return []
    lines = [f"- {item.title} ({item.full_bytes:,} bytes): {caps.shown(str(item.path))}" for item in left_out]
    text = caps.cut(
        "These apply too but do not fit here; read the file before you work on what it is about:\n" + "\n".join(lines),
        2048,
        f"<!-- {len(left_out)} in all -->",
    )
    kind: ItemKind = "rule" if what == "rules" else "agents"
    item = InstructionItem(f"{kind}://left-out", kind, f"Instruction {what} left out", left_out[0].path, "", "")
    return [with_text(item, text)]
