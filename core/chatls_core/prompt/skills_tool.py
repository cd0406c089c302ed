"""``context_pull``: brings a skill's text that was left out of the prompt (spec/agent.md §1.8). Nothing is executed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import Field, model_validator

from chatls_core.mcp import NamedTool
from chatls_core.prompt.mcp_catalogue import described
from chatls_core.prompt.skills import Skill
from chatls_core.text.fence import fence
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolOutcome

NAME = "context_pull"
MAX_PER_TURN = 3
_ALIASES = {"skill_list": "skills", "list": "skills", "mcp": "mcp_tools", "tools": "mcp_tools"}
_EXAMPLE = '{"kind": "skill", "name": "…"}'


class ContextPullArguments(ToolArguments):
    kind: str = Field("", description="skill (one skill's text), skills (all by name), mcp_tools.")
    name: str = Field("", description="skill: its exact name. mcp_tools: words to filter by.")

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, value: Any) -> Any:
        """Kind from kind, cmd or args.kind, name from name, skill, args.name or args.skill: the first that is there."""
        if not isinstance(value, Mapping):
            return {"kind": str(value)}
        nested = value.get("args")
        inner: Mapping[str, object] = nested if isinstance(nested, Mapping) else {}
        kind = _first(value.get("kind"), value.get("cmd"), inner.get("kind"))
        name = _first(value.get("name"), value.get("skill"), inner.get("name"), inner.get("skill"))
        return {"kind": _ALIASES.get(kind.lower(), kind.lower()), "name": name}


class ContextPull(Tool[ContextPullArguments]):
    """At most three calls in a turn; ``skills`` gives the skills of this moment."""

    name = NAME
    description = (
        "Bring text that was left out of this prompt: kind=skill with a name returns that skill's full text, "
        "kind=skills lists all skills, kind=mcp_tools lists tools of connected servers. Nothing is executed."
    )
    kind = "think"
    arguments = ContextPullArguments
    modes = frozenset({"chat", "agent", "coder"})

    def __init__(self, skills: Callable[[], tuple[Skill, ...]], mcp_tools: Sequence[NamedTool] = ()) -> None:
        self._skills = skills
        self._mcp_tools = mcp_tools
        self._calls = 0

    def label(self, arguments: ContextPullArguments) -> str:
        return f"read {arguments.kind} {arguments.name}".strip()

    def subject(self, arguments: ContextPullArguments) -> str:
        return arguments.name

    async def run(self, arguments: ContextPullArguments, context: ToolContext) -> ToolOutcome:
        self._calls += 1
        if self._calls > MAX_PER_TURN:
            raise ToolError(f"{NAME} was called {MAX_PER_TURN} times in this turn already; answer with what is there.")
        skills = await asyncio.to_thread(self._skills)
        match arguments.kind:
            case "skill":
                return ToolOutcome(_one(skills, arguments.name))
            case "skills":
                rows = [f"- {s.name}: {s.description}".rstrip(": ") for s in skills]
                return ToolOutcome("\n".join([f"{len(skills)} skills", *rows, f"Read one: {NAME} {_EXAMPLE}"]))
            case "mcp_tools":
                return self._tools_of_servers(arguments.name)
        wrong = f"There is no kind {arguments.kind!r}." if arguments.kind else "Which kind?"
        raise ToolError(f'{wrong} Call {NAME} {_EXAMPLE}, or {NAME} {{"kind": "skills"}}.')

    def _tools_of_servers(self, words: str) -> ToolOutcome:
        total = len(self._mcp_tools)
        if not total:
            raise ToolError("No server with tools is connected. Skills: " + f'{NAME} {{"kind": "skills"}}')
        rows = described(self._mcp_tools, words)
        if not rows:
            call = f'{NAME} {{"kind": "mcp_tools"}}'
            raise ToolError(f"None of the {total} MCP tools has {words!r} in its name or description. All: {call}")
        listed = fence("MCP servers", "\n".join(rows))
        return ToolOutcome(f"{len(rows)} of {total} MCP tools\n{listed}\nThey run in agent and coder mode only.")


def _one(skills: tuple[Skill, ...], name: str) -> str:
    if not name:
        raise ToolError(f"Which skill? Call {NAME} {_EXAMPLE}. {_names(skills)}")
    for skill in skills:
        if skill.name.lower() == name.lower():
            version = f" {skill.version}" if skill.version else ""
            about = f"\n{skill.description}" if skill.description else ""
            return f"# {skill.name}{version}{about}\n\n{skill.body or '(This skill has no text.)'}"
    raise ToolError(f"There is no skill {name!r}. {_names(skills)} Call {NAME} {_EXAMPLE}.")


def _names(skills: tuple[Skill, ...]) -> str:
    return f"Skills: {', '.join(json.dumps(s.name, ensure_ascii=False) for s in skills) or 'none'}."


def _first(*values: object) -> str:
    return next((text for value in values if isinstance(value, str) and (text := value.strip())), "")
