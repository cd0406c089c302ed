"""What curates the prompt, in one place: the archive, attached contexts, skills, and the learned size of a token."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from chatls_core.contexts import Context, ContextError, ContextStore
from chatls_core.llm.model import Model
from chatls_core.mcp import McpServers, NamedTool
from chatls_core.prompt.attached_contexts import (
    KNOWLEDGE_KEY,
    RenderedContext,
    attachments,
    detach,
    prefix_budget,
    rendered,
    text,
)
from chatls_core.prompt.compaction import ARCHIVED_KEY
from chatls_core.prompt.compaction_archive import Archive
from chatls_core.prompt.compaction_tool import RecallArchive
from chatls_core.prompt.knowledge_tool import Knowledge
from chatls_core.prompt.mcp_catalogue import MCP_PULL_KEY, frozen
from chatls_core.prompt.personas import Personas, allows
from chatls_core.prompt.skills import Skills
from chatls_core.prompt.skills_matching import PULL_KEY
from chatls_core.prompt.skills_tool import ContextPull
from chatls_core.sessions.conversation import Conversation
from chatls_core.store import Clock
from chatls_core.text.tokens import TokenRatio
from chatls_core.tools.base import Mode, ToolSet
from chatls_core.tools.mcp_tool import McpTool
from chatls_core.tools.paths import walk

log = logging.getLogger(__name__)

RATIO_KEY = "prefix_ratio"
WHOLE_SHARE = 0.9
"""Of the window, for a system text of which nothing can be read back: beyond it no request would be taken."""


class Curation:
    """The rooms' shared objects of one agent. Cheap to make: nothing is read from disk before it is needed."""

    def __init__(self, home: Path, clock: Clock, servers: McpServers) -> None:
        self.servers = servers
        self._remote_tools: dict[str, tuple[NamedTool, McpTool]] = {}
        self.archive = Archive(home / "chatls" / "archive", clock=clock)
        self.contexts = ContextStore(home / "contexts", home / "chatls" / "contexts.sqlite3", walk, clock)
        self.skills = Skills(home)
        self.personas = Personas(home)
        self.ratio = TokenRatio()

    def tools(self, tools: ToolSet, conversation: Conversation, mode: Mode, roots: Sequence[Path] = ()) -> ToolSet:
        """``tools`` with the recovery calls the conversation needs; their set changes at natural rebuilds only.

        Where commands run, any result may be longer than what is shown of it, so its recovery is always there.
        """
        chosen = [tool for name in tools.names() if (tool := tools.get(name)) is not None]
        if mode != "chat" or conversation.state.get(ARCHIVED_KEY):
            chosen.append(RecallArchive(self.archive))
        if (attached := attachments(conversation)) and conversation.state.get(KNOWLEDGE_KEY, True):
            chosen.append(Knowledge(self.contexts, [a.name for a in attached]))
        remote = frozen(conversation)
        if conversation.state.get(PULL_KEY) or (mode == "chat" and conversation.state.get(MCP_PULL_KEY)):
            chosen.append(ContextPull(lambda: self.skills.all(roots), remote))
        if mode != "chat":
            taken = {tool.name for tool in chosen}
            chosen += [self._remote(tool) for tool in remote if tool.exposed not in taken]
        left = allows(conversation)
        return ToolSet(chosen if left is None else [tool for tool in chosen if tool.name in left])

    def _remote(self, tool: NamedTool) -> McpTool:
        """The tool, made once: weighing hundreds of schemas in every turn would be felt."""
        known = self._remote_tools.get(tool.exposed)
        if known is None or known[0] != tool:
            known = self._remote_tools[tool.exposed] = (tool, McpTool(tool, self.servers))
        return known[1]

    def attached(self, conversation: Conversation) -> tuple[Context, ...]:
        """The attached contexts in the order of the prompt, watched ones fresh; deleted ones are detached."""
        found = []
        for attachment in attachments(conversation):
            try:
                found.append(self.contexts.refreshed(attachment.name))
            except ContextError as error:
                log.warning("%s is detached: %s", attachment.name, error)
                detach(conversation, attachment.name)
        return tuple(found)

    def rendered(self, conversation: Conversation, model: Model, other_chars: int) -> tuple[RenderedContext, ...]:
        """The attached contexts as sections, folded where they and ``other_chars`` of other sections outgrow the prefix
        budget; where no tool reads them, only where they outgrow the window."""
        calls = bool(conversation.state.get(KNOWLEDGE_KEY, True))
        folded = {a.name.lower() for a in attachments(conversation) if a.fold}
        budget = self.prefix_budget(conversation, model) - other_chars
        return rendered(self.attached(conversation), budget, calls=calls, folded=folded)

    def contexts_of(self, names: Iterable[str]) -> tuple[Context, ...]:
        """The contexts called so, as they were last gathered; deleted ones are left out. Reads the disk."""
        found = []
        for name in names:
            try:
                found.append(self.contexts.get(name))
            except ContextError:
                continue  # the next rebuild detaches it
        return tuple(found)

    def whole_chars(self, conversation: Conversation) -> int:
        """Characters of the attached contexts as their modes show them."""
        calls = bool(conversation.state.get(KNOWLEDGE_KEY, True))
        return sum(len(text(context, calls)) for context in self.attached(conversation))

    def prefix_budget(self, conversation: Conversation, model: Model) -> int:
        """Characters the system text may have; where no tool reads contexts, all that a request would be taken with."""
        ratio = self.frozen_ratio(conversation, model)
        if conversation.state.get(KNOWLEDGE_KEY, True):
            return prefix_budget(model.info.window, ratio)
        return int(model.info.window * WHOLE_SHARE * ratio)

    def frozen_ratio(self, conversation: Conversation, model: Model) -> float:
        """Characters per token as at the conversation's first use of ``model``: a moving one would fold and unfold
        cached sections (spec/agent.md §1.3)."""
        stored = conversation.state.get(RATIO_KEY)
        ratios = dict(stored) if isinstance(stored, dict) else {}
        name = f"{model.provider}:{model.model}"
        if not isinstance(ratios.get(name), int | float):
            ratios[name] = self.ratio.ratio(model.provider, model.model)
            conversation.state[RATIO_KEY] = ratios
        return float(ratios[name])
