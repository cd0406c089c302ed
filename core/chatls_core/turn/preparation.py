"""What the model is told before it answers: asks instructions, memory and sessions, each in a thread."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from chatls_core.events import ContextItem, Notice, TurnEvent
from chatls_core.host import Host
from chatls_core.instructions import InstructionChanges
from chatls_core.llm.model import Model
from chatls_core.prompt import personas
from chatls_core.prompt.allowed_tools import AllowedTools
from chatls_core.prompt.attached_contexts import FOLDED_KEY, KNOWLEDGE_KEY, PARTIAL_KEY, REBUILD_KEY
from chatls_core.prompt.attachments import MAX_TOTAL_CHARS, Attached, attach, label
from chatls_core.prompt.context_passages import Passage
from chatls_core.prompt.hints import NO_HINT, Hint, first
from chatls_core.prompt.mcp_catalogue import MCP_PULL_KEY, freeze, is_current, offered
from chatls_core.prompt.mcp_catalogue import catalogue as mcp_catalogue
from chatls_core.prompt.recovery import Recovery
from chatls_core.prompt.skills import Skill
from chatls_core.prompt.skills_matching import (
    PULL_KEY,
    ToldSkill,
    called,
    catalogue,
    command_word,
    fold_pinned,
    matching,
    pinned,
    pinned_sections,
    told,
)
from chatls_core.prompt.skills_midrun import MAX_PER_STEP, not_yet_told, room, tag
from chatls_core.prompt.system import (
    SMALL_SYSTEM,
    Section,
    memory_section,
    mode_section,
    system_parts,
)
from chatls_core.prompt.turn_context import TurnContext, freeze_stable
from chatls_core.prompt.window import is_small
from chatls_core.store import StoreReadOnlyError
from chatls_core.text.fence import fence
from chatls_core.tools.paths import path_of
from chatls_core.turn.exchange import ChatRequest
from chatls_core.turn.insertions import inserted
from chatls_core.turn.live import LiveSession
from chatls_core.turn.passages import riding_passages
from chatls_core.turn.question import asked_of, shortened
from chatls_core.turn.services import Services

log = logging.getLogger(__name__)

_PATH_WORD = re.compile(r"[\w@~.+/\\-]+")
FULL_ITEMS = 100
"""Most remembered items considered in full mode; its budget in bytes decides how many stand (spec/memory.md §8.5)."""

MAX_TEXT_PATHS = 20
MAX_PATH_CHARS = 400
MAX_SCANNED_CHARS = 20_000


class Preparation:
    """Builds the system text and the turn contexts of one turn."""

    def __init__(
        self,
        services: Services,
        session: LiveSession,
        request: ChatRequest,
        host: Host,
        emit: Callable[[TurnEvent], None],
        turn_id: str,
    ) -> None:
        self.hint = NO_HINT
        """Who should answer and how hard to think; known after :meth:`refresh`."""
        self.allowed: AllowedTools | None = request.allowed
        """The tools the called skill or template names; known after :meth:`refresh`."""
        self._turn_id = turn_id
        self._services = services
        self._session = session
        self._conversation = session.conversation
        self._request = request
        self._asked = asked_of(request.text)
        self._host = host
        self._emit = emit
        self._now = services.clock()
        self._small = False
        self._ways = Recovery(False, False, False)
        self._unannounced = False
        self._seen_paths = 0
        self._looked_for_skills = 0
        self._told_skills: list[str] = []
        self._told_skill_chars = 0
        self._shown: tuple[str, ...] = ()
        self._problems: list[str] = []

    async def refresh(self) -> None:
        """Take in what another program added to the session, and look at the instruction files."""
        changes = await asyncio.to_thread(self._refresh)
        await self._servers()
        self._unannounced = bool(changes)
        if changes:
            self._services.instructions_changed(changes)

    async def _servers(self) -> None:
        """Wait a while for MCP servers that are starting; one that failed is told once and costs nothing else."""
        try:
            await self._services.mcp.ready(looked=True)
        except Exception:
            log.exception("MCP servers could not be looked at")
        for server in self._services.mcp.news():
            self._emit(Notice("warning", f"MCP server {server.name} is not available: {server.error}."))

    async def reinforce(self, answer: str) -> None:
        """Facts that were brought in and used by the answer count as used (spec/memory.md §8.8)."""
        if not self._shown:
            return
        try:
            await asyncio.to_thread(self._services.memory.evidence, self._shown, answer)
        except (OSError, StoreReadOnlyError) as error:
            log.info("evidence could not be kept: %s", error)
        except Exception:
            log.exception("evidence could not be kept")

    def _refresh(self) -> InstructionChanges:
        self._services.sessions.refresh(self._conversation)
        self.hint = self._hint()
        self.allowed = self._request.allowed or self._allowed_by_skill()
        try:
            self._services.mcp.look()
        except Exception:
            log.exception("the configuration of MCP servers could not be read")
        return self._services.instructions.refresh()

    def _hint(self) -> Hint:
        """Who should answer, by the skill the user calls, pinned ones and the chosen personas, the first that says so.
        A workspace that is not trusted has no say."""
        skills = [s for s in self._all_skills() if self._host.trusted or not s.in_workspace]
        standing = {name.lower() for name in pinned(self._conversation)}
        by_name = called(skills, self._request.text)
        hints = [s.hint for s in (by_name, *(s for s in skills if s.name.lower() in standing)) if s is not None]
        return first([*hints, personas.hint(self._conversation)])

    def _allowed_by_skill(self) -> AllowedTools | None:
        """What the skill the user calls leaves of the tools. This only tightens, so every workspace has a say."""
        skill = called(self._all_skills(), self._request.text) if self._request.text.startswith("/") else None
        if skill is None or skill.allowed_tools is None:
            return None
        return AllowedTools(f"/{command_word(skill)}", skill.allowed_tools)

    async def system(self, model: Model) -> None:
        """Build the system text when a natural rebuild is due; else it stays as it was frozen."""
        self._small = is_small(model)
        self._ways = Recovery.of(self._services.settings, self._request.mode, tools=model.info.tools)
        key = f"{self._request.mode}{':small' if self._small else self._ways.key}"
        servers = self._services.mcp
        rebuild = self._conversation.state.pop(REBUILD_KEY, False)
        if rebuild or not (self._small or is_current(self._conversation, servers)):
            self._conversation.forget_prefix()
        if self._conversation.system and self._conversation.system_key == key:
            return
        if self._small:
            self._conversation.system = (SMALL_SYSTEM,)
        else:
            self._conversation.system = await asyncio.to_thread(self._full_system, model)
        self._conversation.system_key = key

    def _full_system(self, model: Model) -> tuple[str, ...]:
        from chatls_core.instructions import render_stable

        services = self._services
        items = services.instructions.stable()
        sections: list[Section | None] = [mode_section(self._request.mode), *self._personas()]
        if self._memory_on():
            index = services.memory.index_digest() if self._ways.memory else ""
            graph = services.memory.graph_card(promptly=True) if self._ways.memory else ""
            sections.append(memory_section(services.memory.card(), index, graph, recall=self._ways.memory))
        instructions = Section("instructions", render_stable(items))
        self._conversation.state[KNOWLEDGE_KEY] = self._ways.knowledge
        all_skills = self._all_skills()
        standing = pinned_sections(all_skills, self._standing_skills(), self._request.mode)
        others = [*self._skill_list(all_skills), *self._mcp_section(model)]
        taken = sum(len(s.text) for s in (*sections, *others, instructions) if s is not None)
        folded: tuple[str, ...] = ()
        if self._readable():
            whole = taken + services.curation.whole_chars(self._conversation) + sum(len(s.text) for s in standing)
            excess = whole - services.curation.prefix_budget(self._conversation, model)
            standing, folded = fold_pinned(standing, all_skills, excess)
        taken += sum(len(s.text) for s in standing)
        contexts = services.curation.rendered(self._conversation, model, taken)
        sections += [context.section for context in contexts]
        self._conversation.state[FOLDED_KEY] = [*folded, *(context.name for context in contexts if context.folded)]
        self._conversation.state[PARTIAL_KEY] = [context.name for context in contexts if context.partial]
        sections += [*standing, *others, instructions]
        freeze_stable(self._conversation, items)
        kept = [s for s in sections if s is not None and s.text.strip()]
        self._conversation.state["sections"] = [s.name for s in kept]
        self._conversation.state["recoveries"] = {s.name: s.recovery for s in kept if s.recovery}
        return system_parts(kept)

    def _personas(self) -> list[Section]:
        """The personas the user chose, as their files are now; a rebuild folds every change of them in."""
        conversation = self._conversation
        for key in [k for k in conversation.carried if k.startswith("persona:")]:
            del conversation.carried[key]
        return personas.sections(personas.freeze(conversation, self._all_personas()))

    def _all_personas(self) -> tuple[personas.Persona, ...]:
        if not personas.chosen(self._conversation):
            return ()
        return self._services.curation.personas.all(scan=self._services.settings.instructions.scan)

    def _standing_skills(self) -> tuple[str, ...]:
        """Names of the skills in the system text: pinned ones, and those of the chosen personas."""
        return (*pinned(self._conversation), *personas.skills_of(self._conversation))

    def _skill_list(self, skills: Sequence[Skill]) -> list[Section]:
        """The skills that do not stand in full; with skills there, the call that reads them is offered."""
        self._conversation.state[PULL_KEY] = bool(skills) and self._ways.pull
        listed = catalogue(skills, self._standing_skills()) if self._ways.pull else None
        return [listed] if listed else []

    def _mcp_section(self, model: Model) -> list[Section]:
        """Freeze which remote tools there are; in chat, where they cannot be called, list them."""
        tools = offered(self._conversation, self._services.mcp)
        freeze(self._conversation, tools)
        recoverable = model.info.tools and self._services.settings.prompt.context_pull
        chat = self._request.mode == "chat"
        self._conversation.state[MCP_PULL_KEY] = chat and recoverable and bool(tools)
        listed = mcp_catalogue(tools, recoverable=recoverable) if chat else None
        return [listed] if listed else []

    def _all_skills(self) -> tuple[Skill, ...]:
        scan = self._services.settings.instructions.scan
        return self._services.curation.skills.all(tuple(self._host.roots), scan=scan)

    def _skills(self, context: TurnContext, touched: Sequence[Path]) -> None:
        """The skills this request is about."""
        active = self._active()
        paths = [*touched, *([active] if active else [])]
        found = matching(self._all_skills(), self._request.text, paths, self._standing_skills())
        self._told_skills = [skill.name for skill in found]
        self._tell(context, found, self._services.settings.prompt.skill_budget)

    def _tell(self, context: TurnContext, skills: Sequence[Skill], budget: int) -> tuple[ToldSkill, ...]:
        """Put skills into a context within ``budget`` characters (0: no limit)."""
        pull = bool(self._conversation.state.get(PULL_KEY))
        ways = {"recoverable": pull, "readable": self._readable()}
        found = told(skills, self._conversation, self._request.mode, budget=budget, **ways)
        for one in found:
            context.blocks.append(one.text)
            context.skills.append(ContextItem(one.skill.digest, one.skill.name, one.skill.path.as_uri()))
            self._told_skill_chars += len(one.skill.body) if one.whole else 0
        return found

    def _readable(self) -> bool:
        """Whether the model can read the workspace's skills as files."""
        left = personas.allows(self._conversation)
        return self._ways.pull and (left is None or "read_file" in left)

    async def skills_in_run(self, said: str) -> tuple[str, Mapping[str, object]]:
        """Skills of the files a run touched since the last look and of what the user ``said`` meanwhile: the text of a
        context, possibly empty, and its message's meta (spec/agent.md §1.10)."""
        settings = self._services.settings.prompt
        touched = list(self._session.files.touched)
        nothing_new = not said and len(touched) == self._looked_for_skills
        if self._small or self._request.mode == "chat" or not settings.skill_rescan or nothing_new:
            return "", {}
        skills = await asyncio.to_thread(self._all_skills)
        found = matching(skills, said, touched, self._standing_skills())
        new = not_yet_told(found, self._conversation.messages, self._turn_id, self._told_skills)
        # With three told there may be more: the next step looks again.
        self._looked_for_skills = len(touched) if len(new) < MAX_PER_STEP else -1
        context = TurnContext(self._conversation)
        rows = self._tell(context, new, room(settings.skill_budget, self._told_skill_chars))
        if summary := context.summary():
            self._emit(summary)
        return context.text(), tag(rows, self._request.mode, recoverable=self._readable())

    async def turn_context(self) -> str:
        """The ``[TURN CONTEXT]`` of the turn, possibly empty."""
        context = TurnContext(self._conversation)
        attached = await attach(self._host, self._request.mentions)
        outputs = await inserted(self._services, self._session, self._request, self._host, self._emit, self._turn_id)
        for problem in attached.problems:
            self._emit(Notice("warning", problem))
        if self._small:
            context.blocks = [b[: MAX_TOTAL_CHARS // 40] for b in (*attached.blocks, *outputs)]
            context.files += attached.items
            self._tell_passages(context, await self._passages())
            return self._told(context)
        roots = tuple(self._host.roots)
        active = label(self._host, self._request.active_uri) if self._request.active_uri else ""
        context.surroundings(self._now, roots, active)
        if self._memory_on():
            await self._services.meaning.prepare(self._asked)
        asked = self._external() if self._memory_on() else _nothing()
        gathered = asyncio.to_thread(self._gather, context, roots, attached)
        _, external, found = await asyncio.gather(gathered, asked, self._passages())
        self._tell_passages(context, found)
        context.external(external)
        context.blocks += outputs
        if self.allowed is not None and self._request.mode != "chat":
            context.blocks.append(self.allowed.note)
        # A change that was announced when it happened is not announced twice.
        for notice in context.notices if self._unannounced else ():
            self._emit(Notice("info", notice))
        return self._told(context)

    def _told(self, context: TurnContext) -> str:
        """The text of a context, after the user was told what rode along and what could not."""
        for problem in self._problems:
            self._emit(Notice("warning", problem))
        if summary := context.summary():
            self._emit(summary)
        return context.text()

    async def _passages(self) -> tuple[Passage, ...]:
        found: tuple[Passage, ...] = ()
        for question in self._questions():
            found, problem = await riding_passages(
                self._services, self._conversation, self._request, question, small=self._small
            )
            self._problems += [problem] if problem else []
            if found or problem:
                break
        return found

    def _tell_passages(self, context: TurnContext, found: Sequence[Passage]) -> None:
        calls = self._ways.knowledge and self._conversation.state.get(KNOWLEDGE_KEY, True) is True
        context.passages(found, calls=calls)

    async def _external(self) -> str:
        """What an external memory service knows; a fault of ours there must not cost the answer."""
        try:
            return await self._services.external.recall(self._asked)
        except Exception:
            log.exception("the memory service could not be asked")
            return ""

    async def after_tools(self, *, again: bool = False) -> str:
        """What became relevant in mid-run: notes, and instruction files and rules of the files the tools touched.

        ``again`` looks even when no file was touched since: after a compaction, whose cut may have taken some away.
        """
        touched = self._session.files.touched
        context = TurnContext(self._conversation)
        if not self._small:
            context.notes()
        if self._small or (len(touched) == self._seen_paths and not again):
            return context.text()
        self._seen_paths = len(touched)
        items = await asyncio.to_thread(self._services.instructions.for_paths, self._active(), list(touched))
        context.nearer(items)
        if summary := context.summary():
            self._emit(summary)
        return context.text()

    def _gather(self, context: TurnContext, roots: tuple[Path, ...], attached: Attached) -> None:
        """Everything that reads the disk, in one go: each hop to a thread delays the first word of the answer."""
        touched = self._instructions(context, roots)
        context.blocks += personas.changes(self._conversation, self._all_personas())
        self._skills(context, touched)
        context.notes()
        context.blocks += attached.blocks
        context.files += attached.items
        self._recall(context)

    def _instructions(self, context: TurnContext, roots: tuple[Path, ...]) -> list[Path]:
        """Instruction files and rules; returns the files the request names."""
        instructions = self._services.instructions
        context.changed_stable(instructions.stable())
        touched = [path for m in self._request.mentions if (path := path_of(m.uri)) is not None]
        touched += _paths_in(self._request.text, roots)
        context.nearer(instructions.for_paths(self._active(), touched))
        context.withdrawn({path: instructions.is_loaded(Path(path)) for path in context.carried_paths()})
        return touched

    def _recall(self, context: TurnContext) -> None:
        """Memory and earlier sessions are a help: when one cannot be read, the question is answered without it."""
        for name, recall in (("Memory", self._recall_memory), ("Earlier sessions", self._recall_sessions)):
            try:
                recall(context)
            except Exception as error:
                log.exception("recall failed")
                self._problems.append(f"{name} could not be read ({type(error).__name__}); the log has the details.")
        if self._memory_on() and (problem := self._services.memory.news()):
            self._problems.append(problem)

    def _recall_memory(self, context: TurnContext) -> None:
        memory = self._services.settings.memory
        provider = self._services.external.provider
        if not self._memory_on() or (provider is not None and provider.only):
            return
        roots = tuple(self._host.roots)
        if memory.mode == "full" or not self._ways.memory:
            full = self._services.memory.recall(
                self._asked,
                project=roots[0] if roots else None,
                limit=FULL_ITEMS,
                budget=memory.retrieval_budget,
                private=not self._ways.memory,
            )
            if full.context:
                context.blocks.append(fence("memory", full.context))
            return
        if not memory.auto_recall:
            return
        carried = context.carried_facts()
        for query in self._questions():
            recalled = self._services.memory.auto_recall(
                query, carried=carried, project=roots[0] if roots else None, now=self._now
            )
            if recalled.ids:
                break
        self._shown = recalled.ids
        context.recalled(recalled)

    def _recall_sessions(self, context: TurnContext) -> None:
        services = self._services
        if services.settings.sessions.auto_recall:
            block = services.sessions.recall_block(self._asked, exclude=self._conversation.id, now=self._now)
            if block:
                context.blocks.append(block)

    def _questions(self) -> tuple[str, ...]:
        """What is asked, then all of the message: where nothing answers the question, what is pasted may remind of
        something."""
        return tuple(dict.fromkeys((self._asked, shortened(self._request.text))))

    def _active(self) -> Path | None:
        return path_of(self._request.active_uri) if self._request.active_uri else None

    def _memory_on(self) -> bool:
        memory = self._services.settings.memory
        return memory.enabled and memory.mode != "off"


async def _nothing() -> str:
    return ""


def _paths_in(text: str, roots: tuple[Path, ...]) -> list[Path]:
    """Paths the text names, below the workspace folders: words with a slash and a suffix, or names of files there."""
    found: list[Path] = []
    for match in _PATH_WORD.finditer(text[:MAX_SCANNED_CHARS]):
        word = match.group().rstrip(".").replace("\\", "/").lstrip("@")
        if not ("/" in word or "." in word) or len(word) > MAX_PATH_CHARS:
            continue
        for root in roots:
            path = Path(word) if word.startswith("/") else root / word
            named = "/" in word and Path(word).suffix != ""
            if ".." not in path.parts and path.is_relative_to(root) and (named or path.is_file()):
                found.append(path)
                break
        if len(found) >= MAX_TEXT_PATHS:
            break
    return found
