"""Running a message's tool calls: independent reads side by side, the rest in order; one failure drops no sibling."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chatls_core.config import Settings
from chatls_core.events import ToolEnd, ToolStart
from chatls_core.host import Host, Location
from chatls_core.llm.messages import ToolCallPart, ToolResultPart
from chatls_core.prompt.allowed_tools import AllowedTools
from chatls_core.prompt.compaction_archive import Archive
from chatls_core.prompt.compaction_tool import NAME as RECALL
from chatls_core.text import cut
from chatls_core.text.redaction import redact
from chatls_core.tools.aftermath import new_findings
from chatls_core.tools.base import Tool, ToolArguments, ToolContext, ToolError, ToolSet
from chatls_core.tools.gate import permit
from chatls_core.tools.policy import Policy
from chatls_core.turn.live import LiveSession, Turn
from chatls_core.turn.planning import Planning
from chatls_core.turn.results import fit_result
from chatls_core.turn.stalls import Failures

log = logging.getLogger(__name__)

MAX_PARALLEL = 8
SHOWN_OUTPUT_CHARS = 4000


class CallRunner:
    """Runs the calls of one assistant message and keeps their results, finished or not."""

    def __init__(
        self,
        settings: Settings,
        policy: Policy,
        session: LiveSession,
        turn: Turn,
        host: Host,
        tools: ToolSet,
        archive: Archive,
        failures: Failures,
        planning: Planning,
        allowed: AllowedTools | None = None,
    ) -> None:
        self._settings = settings
        self._policy = policy
        self._session = session
        self._turn = turn
        self._host = host
        self._tools = tools
        self._archive = archive if RECALL in tools.names() else None
        self._failures = failures
        self._planning = planning
        self._allowed = allowed
        self._results: dict[int, ToolResultPart] = {}
        self._limit = asyncio.Semaphore(MAX_PARALLEL)

    async def run(self, calls: Sequence[ToolCallPart]) -> None:
        """Run all calls; results are in :meth:`results` even when this is cancelled."""
        batch: list[tuple[int, ToolCallPart]] = []
        for number, call in enumerate(calls):
            tool = self._tools.get(call.name)
            if tool is not None and tool.read_only:
                batch.append((number, call))
                continue
            await self._together(batch)
            batch = []
            await self._one(number, call)
        await self._together(batch)
        await self._tell_findings(calls)

    async def _tell_findings(self, calls: Sequence[ToolCallPart]) -> None:
        """Add what other language servers found since the edits to the last edit's result, else to the last one."""
        if not calls or not (found := await new_findings(self._context(calls[-1].id))):
            return
        edits = [n for n, call in enumerate(calls) if (t := self._tools.get(call.name)) and t.kind in ("edit", "move")]
        number = edits[-1] if edits else len(calls) - 1
        if (result := self._results.get(number)) is not None:
            found = await asyncio.to_thread(redact, found)
            self._results[number] = replace(result, text=f"{result.text}\n{found}")

    def results(self, calls: Sequence[ToolCallPart]) -> tuple[ToolResultPart, ...]:
        """One result per call, in order; calls that did not run say so."""
        return tuple(
            self._results.get(n)
            or ToolResultPart(call.id, call.name, "Not run: the user stopped the turn.", is_error=True)
            for n, call in enumerate(calls)
        )

    async def _together(self, batch: Sequence[tuple[int, ToolCallPart]]) -> None:
        if not batch:
            return
        async with asyncio.TaskGroup() as group:
            for number, call in batch:
                group.create_task(self._limited(number, call))

    async def _limited(self, number: int, call: ToolCallPart) -> None:
        async with self._limit:
            await self._one(number, call)

    async def _one(self, number: int, call: ToolCallPart) -> None:
        tool = self._tools.get(call.name)
        if tool is None:
            names = ", ".join(self._tools.names())
            await self._refuse(number, call, f"There is no tool {call.name!r}. Available: {names}.")
            return
        context = self._context(call.id)
        try:
            if call.error:
                raise ToolError(f"{call.name}: {call.error} Send the call again.")
            arguments = tool.parse(call.arguments)
        except ToolError as error:
            await self._refuse(number, call, str(error))
            return
        if self._allowed is not None:
            why = self._allowed.refusal(tool.name, tool.other_names, tool.subject(arguments), self._host.roots)
            if why:
                await self._refuse(number, call, why)
                return
        await self._planning.begin(call.id, tool, arguments)
        self._turn.emit(
            ToolStart(
                call.id, tool.name, tool.label(arguments), tool.kind, call.arguments, _places(tool, arguments, context)
            )
        )
        try:
            await permit(self._policy, self._session.denials, tool, arguments, context)
            outcome = await tool.run(arguments, context)
        except ToolError as error:
            if error.external:
                self._session.conversation.state["external"] = True
            await self._finish(number, call, "denied" if error.denied else "failed", str(error), is_error=True)
            return
        except asyncio.CancelledError:
            self._turn.emit(ToolEnd(call.id, "failed", "stopped"))
            raise
        except Exception as error:
            log.exception("tool %s failed", tool.name)
            text = (
                f"{tool.name} failed inside ChatLS ({type(error).__name__}). Try another way; the log has the details."
            )
            await self._finish(number, call, "failed", text, is_error=True)
            return
        if outcome.external:
            self._session.conversation.state["external"] = True
        await self._finish(
            number, call, "completed", outcome.text, locations=outcome.locations, max_chars=outcome.max_chars
        )

    def _context(self, call_id: str) -> ToolContext:
        return ToolContext(
            host=self._host,
            settings=self._settings,
            mode=self._turn.request.mode,
            call_id=call_id,
            files=self._session.files,
            emit=self._turn.emit,
            session_id=self._session.conversation.id,
            turn_id=self._turn.id,
        )

    async def _refuse(self, number: int, call: ToolCallPart, text: str) -> None:
        self._turn.emit(ToolStart(call.id, call.name, call.name, "other", call.arguments))
        await self._finish(number, call, "failed", text, is_error=True)

    async def _finish(
        self,
        number: int,
        call: ToolCallPart,
        status: Any,
        text: str,
        *,
        is_error: bool = False,
        locations: tuple[Location, ...] = (),
        max_chars: int | None = None,
    ) -> None:
        most = self._settings.agent.tool_result_max_chars
        limit = most if max_chars is None else min(most, max_chars)
        shown = await asyncio.to_thread(fit_result, text, limit, self._archive)
        if status != "denied" and (advice := self._failures.advice(call, failed=status == "failed")):
            shown = f"{shown}\n{advice}"
        if remark := self._planning.end(call.id, self._tools.names(), done=status == "completed"):
            shown = f"{shown}\n{remark}"
        self._results[number] = ToolResultPart(call.id, call.name, shown, is_error)
        self._turn.emit(ToolEnd(call.id, status, cut.by_chars(shown, SHOWN_OUTPUT_CHARS), locations))


def _places(tool: Tool[Any], arguments: ToolArguments, context: ToolContext) -> tuple[Location, ...]:
    try:
        return tool.locations(arguments, context)
    except ToolError:
        return ()  # the call itself reports what is wrong with its path
