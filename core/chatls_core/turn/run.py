"""How one exchange runs: prepare the prompt, stream the model, run its tools, until it has answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from chatls_core.events import Notice, Reasoning, Started, StopReason, Text, UsageSoFar
from chatls_core.llm.events import (
    Answering,
    ContextCleared,
    ModelEnds,
    ModelError,
    ModelStop,
    ReasoningDelta,
    ReasoningDone,
    Stopped,
    TextDelta,
    ToolCallDone,
    Usage,
    UsageReport,
)
from chatls_core.llm.messages import (
    Message,
    MessageKind,
    ModelRequest,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from chatls_core.llm.model import Model
from chatls_core.prompt import cache_lifetime, cache_telemetry, service_edits, skills_midrun
from chatls_core.prompt.attached_contexts import REBUILD_KEY
from chatls_core.prompt.compaction import CARRIES_KEY
from chatls_core.prompt.request import breakpoints, prompt_chars
from chatls_core.prompt.turn_context import tell_later
from chatls_core.prompt.window import START_KEY, history_start
from chatls_core.sessions.checkpoints import CHOICES
from chatls_core.sessions.conversation import Conversation
from chatls_core.text.tokens import estimate
from chatls_core.tools.base import ToolSet
from chatls_core.tools.edit_journal import RecordedFile
from chatls_core.turn import budget
from chatls_core.turn.calls import CallRunner
from chatls_core.turn.compacting import fit
from chatls_core.turn.exchange import ChatResult
from chatls_core.turn.execute_blocks import execute_calls
from chatls_core.turn.live import LiveSession, Turn
from chatls_core.turn.planning import Planning
from chatls_core.turn.preparation import Preparation
from chatls_core.turn.saving import copy_of, save_or_tell
from chatls_core.turn.services import Services
from chatls_core.turn.spending import TURN
from chatls_core.turn.stalls import Failures, Repeats

log = logging.getLogger(__name__)

MAX_OVERFLOWS = 3
CHECKPOINT_SECONDS = 0.05
"""From the first word of an answer to the beginning of its checkpoint."""


ToolFactory = Callable[[str], ToolSet]
"""Makes the tools of a turn for a model's name."""


@dataclass(frozen=True, slots=True)
class BuiltRequest:
    """A request and the model it is for."""

    model: Model
    request: ModelRequest


class TurnRun:
    """Runs one turn to its end on its session."""

    def __init__(
        self, services: Services, session: LiveSession, turn: Turn, tools: ToolFactory, preferred: tuple[str, str]
    ) -> None:
        self._services = services
        self._session = session
        self._conversation = session.conversation
        self._turn = turn
        self._host = turn.host
        self._make_tools = tools
        self._base_tools = ToolSet(())
        self._tools = self._base_tools
        self._preferred = preferred
        self._usage = Usage(cost_usd=0.0)
        self._answer: list[str] = []
        self._partial: list[Part] = []
        self._progressed = False
        self._call_ids: dict[str, int] = {}
        self._failures = Failures()
        self._planning = Planning(turn.request.mode, services.policy, turn.emit)
        turn.listen(lambda numbered: self._planning.see(numbered.event))
        self._before_turn = session.conversation
        self._checkpointing: asyncio.Task[None] | None = None
        self._soon = False
        self._prepare = Preparation(services, session, turn.request, turn.host, turn.emit, turn.id)

    async def run(self) -> ChatResult:
        """The whole turn. On failure or cancellation history keeps what was finished, or is as it was."""
        conversation = self._conversation
        await self._prepare.refresh()
        self._before_turn = copy_of(conversation)
        before = (
            list(conversation.messages),
            dict(conversation.carried),
            dict(conversation.state),
            conversation.system,
            conversation.system_key,
        )
        session_files = self._session.files
        session_files.touched.clear()
        session_files.edits = []
        session_files.changes = []
        try:
            model = self._select()
            self._turn.emit(Started(self._turn.request.text, self._turn.request.mode, model.provider, model.model))
            await self._check_budget()
            await self._open(model)
            stop = await self._steps(model)
        except BaseException:
            if self._progressed:
                self._keep_partial()
            else:
                # What the user chose while the turn ran stays.
                chosen = {k: v for k, v in conversation.state.items() if k in (*CHOICES, REBUILD_KEY)}
                (
                    conversation.messages[:],
                    conversation.carried,
                    conversation.state,
                    conversation.system,
                    conversation.system_key,
                ) = before
                conversation.state.update(chosen)
            raise
        finally:
            self._planning.close()
            await asyncio.shield(self._checkpoint())
            await asyncio.shield(asyncio.to_thread(self._services.spending.flush))
        await self._prepare.reinforce("".join(self._answer))
        return ChatResult(
            self._session.conversation.id,
            self._turn.id,
            "".join(self._answer),
            stop,
            self._usage,
            tuple(session_files.edits),
        )

    def _checkpoint(self) -> asyncio.Task[None]:
        """Begin the checkpoint of what was before the turn, once.

        The model's first word need not wait for the disk, but the turn is not over without it.
        """
        if self._checkpointing is None:
            self._checkpointing = asyncio.create_task(self._write_checkpoint(self._before_turn))
        return self._checkpointing

    def _checkpoint_soon(self) -> None:
        """Begin the checkpoint in a moment: its thread must not hold up the first words on their way out."""
        if not self._soon:
            self._soon = True
            asyncio.get_running_loop().call_later(CHECKPOINT_SECONDS, self._checkpoint)

    async def _write_checkpoint(self, conversation: Conversation) -> None:
        if not conversation.messages:
            return
        try:
            await asyncio.to_thread(self._services.checkpoints.add, conversation, self._turn.request.text)
        except OSError as error:
            log.error("no checkpoint of %s: %s", conversation.id, error)
            self._turn.emit(Notice("warning", "No checkpoint could be written, so you cannot rewind to here."))

    def _select(self) -> Model:
        provider, model = asked_model(self._conversation, self._preferred)
        if wanted := self._turn.request.model:
            provider, model = ("" if ":" in wanted else provider), wanted
        chosen = self._hinted() or self._services.models.select(provider, model)
        self._base_tools = self._make_tools(chosen.model)
        self._take_tools()
        return chosen

    def _hinted(self) -> Model | None:
        """The model that a called or pinned skill or a chosen persona asks for, where the user named none for this
        request or conversation."""
        wanted = self._prepare.hint.model
        if not wanted or self._turn.request.model or self._conversation.state.get("provider"):
            return None
        named = "" if ":" in wanted else self._preferred[0]
        try:
            model = self._services.models.select(named, wanted)
            if model.info.known:
                return model
            why = "nobody here knows it"
        except ModelError as error:
            why = str(error).rstrip(".")
        self._turn.emit(Notice("warning", f"The skill or persona asks for the model {wanted}: {why}; yours answers."))
        return None

    def _take_tools(self) -> None:
        """The mode's tools and the recovery calls this conversation needs; they change at natural rebuilds only."""
        self._tools = self._services.curation.tools(
            self._base_tools, self._conversation, self._turn.request.mode, tuple(self._host.roots)
        )

    async def _open(self, model: Model, *, only_look: bool = False) -> None:
        """Freeze the system text if a natural rebuild is due, then append the turn's context and the user's text.

        With ``only_look`` no model is asked, so a full conversation is not compacted first.
        """
        request = self._turn.request
        if not only_look:
            await self._fit(model, coming_chars=len(request.text))
        lapsed = cache_lifetime.lapsed(self._conversation, self._services.clock())
        if lapsed:
            self._conversation.forget_prefix()
            skills_midrun.let_go(self._conversation, self._services.settings.prompt.skill_age_turns)
        await self._system(model, cache_telemetry.LAPSED if lapsed else "rebuilt")
        known = dict(self._conversation.carried)
        self._append_context(await self._prepare.turn_context(), known)
        self._append("user", (*request.images, TextPart(request.text)), "text")

    async def _system(self, model: Model, why: str) -> None:
        """The system text and the tools that go with it; remembers that the prefix was written anew, and ``why``."""
        before = self._conversation.system
        await self._prepare.system(model)
        if self._conversation.system is not before:
            self._conversation.state[cache_telemetry.REBUILT_KEY] = why
        self._take_tools()

    async def _steps(self, model: Model) -> StopReason:
        agent = self._services.settings.agent
        repeats = Repeats(agent.stall_turns)
        overflows = 0
        limit = agent.max_turns
        for step in range(limit):
            if step:
                await self._check_budget()
            if await self._fit(model, overflows=overflows):
                await self._rebuild(model)
            try:
                calls, stop = await self._stream(model, self._request(model, overflows))
            except ModelError as error:
                if error.kind != "context_overflow" or self._partial or overflows >= MAX_OVERFLOWS:
                    raise
                overflows += 1
                continue
            if not calls:
                if self._turn.steering:
                    await self._take_steering()
                    continue
                self._turn.closing = True
                return "max_tokens" if stop == "max_tokens" else "refused" if stop == "refused" else "end"
            if repeats.stalled(calls) and agent.stop_when_stalled:
                self._close_calls(calls, "Not run: the same calls were repeated without progress.")
                self._turn.emit(Notice("warning", "Stopped: the model repeated the same step without progress."))
                return "stalled"
            await self._run_calls(calls)
            await self._journal_edits()
            await self._take_steering()
            await save_or_tell(self._services, self._session, self._turn)
            await asyncio.to_thread(self._services.spending.flush)
        self._turn.emit(Notice("warning", f"Stopped after {limit} steps. Say “continue” to go on."))
        return "max_turns"

    async def _fit(self, model: Model, *, overflows: int = 0, coming_chars: int = 0) -> bool:
        return await fit(
            self._services,
            self._conversation,
            model,
            self._tools,
            self._turn.request.mode,
            self._turn.emit,
            turn_id=self._turn.id,
            overflows=overflows,
            coming_chars=coming_chars,
        )

    async def _rebuild(self, model: Model) -> None:
        """After a compaction in mid-turn: a fresh system text, and again what applies to the files at hand."""
        await self._system(model, "rebuilt")
        known = dict(self._conversation.carried)
        self._append_context(await self._prepare.after_tools(again=True), known)

    def _append_context(self, text: str, known: Mapping[str, str], meta: Mapping[str, object] | None = None) -> None:
        """Append a turn context, with the record of what it tells that was not ``known`` before."""
        if text:
            carried = self._conversation.carried
            keys = [key for key, value in carried.items() if known.get(key) != value]
            self._append(
                "user",
                (TextPart(text),),
                "turn_context",
                meta={**(meta or {}), **({CARRIES_KEY: keys} if keys else {})},
            )

    async def request(self) -> BuiltRequest:
        """The first request of the turn, without asking the model."""
        await self._prepare.refresh()
        model = self._select()
        await self._open(model, only_look=True)
        return BuiltRequest(model, self._request(model, 0))

    def _request(self, model: Model, overflows: int) -> ModelRequest:
        offered = self._tools.definitions() if model.info.tools else ()
        ratio = self._services.curation.ratio.ratio(model.provider, model.model)
        before = self._conversation.state.get(START_KEY)
        engine = service_edits.engine(self._services.settings, self._turn.request.mode)
        unread = service_edits.unread_tokens(self._conversation) if engine != "builtin" else 0
        cap = self._services.settings.prompt.max_request_bytes
        start = history_start(self._conversation, model, offered, self._turn.emit, overflows, ratio, unread, cap)
        if self._conversation.state.get(START_KEY) != before:
            self._conversation.state[cache_telemetry.REBUILT_KEY] = "window"
        messages = tuple(self._conversation.messages[start:])
        return ModelRequest(
            messages=messages,
            system=self._conversation.system,
            tools=offered,
            breakpoints=breakpoints(messages),
            cache_key=self._conversation.id,
            cache_ttl=cache_lifetime.settled(
                self._conversation, model, self._services.settings, self._turn.request.mode
            ),
            effort=self._turn.request.effort or self._prepare.hint.effort or self._services.settings.effort,
            context_engine=engine,
        )

    async def _check_budget(self) -> None:
        await budget.check(self._services, self._conversation, self._turn.emit)

    async def _stream(self, model: Model, request: ModelRequest) -> tuple[tuple[ToolCallPart, ...], ModelStop]:
        emit = self._turn.emit
        parts: list[Part] = []
        self._partial = parts
        stop: ModelStop = "end"
        usage = Usage()
        cleared: ContextCleared | None = None
        async for event in model.stream(request):
            match event:
                case TextDelta(text):
                    self._progressed = True
                    _extend_text(parts, text)
                    self._answer.append(text)
                    emit(Text(text))
                    self._checkpoint_soon()
                case ReasoningDelta(text):
                    self._progressed = True
                    emit(Reasoning(text))
                case ReasoningDone(part):
                    parts.append(part)
                case ToolCallDone(call):
                    self._progressed = True
                    parts.append(self._unique(call))
                case UsageReport(report):
                    usage = report
                    emit(UsageSoFar(self._usage + usage))
                case ContextCleared():
                    cleared = event
                case ModelEnds(name, day):
                    emit(Notice("warning", f"{name} is offered only until {day}: choose another model."))
                case Stopped(reason):
                    stop = reason
                case Answering(_, _, because):
                    if because:
                        emit(Notice("warning", because))
                case _:
                    pass  # the start and growth of a call's arguments are not shown
        self._usage = self._usage + usage
        services = self._services
        services.spending.add(usage, TURN, self._conversation.id)
        self._learn_ratio(request, usage, model)
        if (
            self._answer
            and parts
            and not self._answer[-1].endswith("\n")
            and any(isinstance(p, ToolCallPart) for p in parts)
        ):
            self._answer.append("\n\n")
        self._partial = []
        self._progressed = True
        parts += self._execute_blocks(parts, stop)
        calls = tuple(p for p in parts if isinstance(p, ToolCallPart))
        if parts:
            self._append("assistant", tuple(parts), "text")
        if cleared is not None:
            await self._tell_cleared(request, cleared)
        await self._observe_cache(request, usage, model)
        return calls, stop

    def _learn_ratio(self, request: ModelRequest, usage: Usage, model: Model) -> None:
        """How many characters a token has here, where all that was sent was read."""
        ratio, who = self._services.curation.ratio, (usage.provider or model.provider, usage.model or model.model)
        chars = prompt_chars(request)
        estimated = estimate(chars, ratio.ratio(*who))
        edited = request.context_engine != "builtin" and usage.prompt_tokens > 0
        if not edited or service_edits.observe(self._conversation, estimated, usage.prompt_tokens):
            ratio.learn(*who, chars, usage.prompt_tokens)

    async def _tell_cleared(self, request: ModelRequest, cleared: ContextCleared) -> None:
        """Keep what the service cleared, and have the model told how it comes back: with the next context."""
        self._conversation.state[cache_telemetry.REBUILT_KEY] = cache_telemetry.CLEARED
        archive = self._services.curation.archive
        try:
            text = await asyncio.to_thread(service_edits.note, self._conversation, request.messages, cleared, archive)
        except OSError as error:
            log.error("what the service cleared is not in the archive: %s", error)
            self._turn.emit(Notice("warning", f"What the service cleared could not be kept for the model ({error})."))
            return
        if text:
            tell_later(self._conversation, text)
            self._turn.emit(Notice("info", text.partition(";")[0] + "; the model can look them up."))

    async def _observe_cache(self, request: ModelRequest, usage: Usage, model: Model) -> None:
        """Note what became of the cached prefix; last, so that whoever stops the turn here loses nothing of it."""
        services = self._services
        marks = await cache_telemetry.fingerprints(self._conversation, request)
        alert = cache_telemetry.observe(
            self._conversation, request, marks, usage, model, services.settings, services.clock()
        )
        if alert:
            self._turn.emit(Notice("warning", alert))

    def _execute_blocks(self, parts: Sequence[Part], stop: ModelStop) -> tuple[ToolCallPart, ...]:
        if stop == "refused" or "run_command" not in self._tools.names():
            return ()
        text = "".join(p.text for p in parts if isinstance(p, TextPart))
        return execute_calls(text, self._turn.request.mode, self._services.new_id)

    def _unique(self, call: ToolCallPart) -> ToolCallPart:
        """Some services number calls anew in every answer; results and dialogs need ids that are unique in a turn."""
        number = self._call_ids.get(call.id, 0)
        self._call_ids[call.id] = number + 1
        return call if call.id and number == 0 else replace(call, id=f"{call.id or 'call'}-{number + 1}")

    async def _run_calls(self, calls: Sequence[ToolCallPart]) -> None:
        services = self._services
        runner = CallRunner(
            services.settings,
            services.policy,
            self._session,
            self._turn,
            self._host,
            self._tools,
            services.curation.archive,
            self._failures,
            self._planning,
            self._prepare.allowed,
        )
        try:
            await runner.run(calls)
        except asyncio.CancelledError:
            await asyncio.shield(self._journal_edits())
            raise
        finally:
            self._append("user", runner.results(calls), "tool_result")
        known = dict(self._conversation.carried)
        self._append_context(await self._prepare.after_tools(), known)

    async def _journal_edits(self) -> None:
        changes, self._session.files.changes = self._session.files.changes, []
        if changes:
            files = [
                RecordedFile(call_id=call, uri=uri, before=before, after=after, new_uri=new)
                for call, uri, before, after, new in changes
            ]
            try:
                await asyncio.to_thread(self._services.edits.record, self._turn.id, files)
            except OSError as error:
                log.error("edits of turn %s are not in the journal: %s", self._turn.id, error)
                self._turn.emit(
                    Notice("warning", "The edits of this step cannot be undone: the disk refused their record.")
                )

    def _close_calls(self, calls: Sequence[ToolCallPart], why: str) -> None:
        results = tuple(ToolResultPart(c.id, c.name, why, is_error=True) for c in calls)
        self._append("user", results, "tool_result")

    async def _take_steering(self) -> None:
        """Append what the user said meanwhile, then the skills that it and the files of the step brought up."""
        texts, self._turn.steering = self._turn.steering, []
        for text in texts:
            self._append("user", (TextPart(text),), "text")
        known = dict(self._conversation.carried)
        context, meta = await self._prepare.skills_in_run("\n".join(texts))
        self._append_context(context, known, meta)

    def _keep_partial(self) -> None:
        """What streamed so far stays in history, marked as cut off; unfinished calls do not."""
        parts = tuple(p for p in self._partial if not isinstance(p, ToolCallPart))
        if parts:
            self._append("assistant", parts, "text", cut=True)

    def _append(
        self,
        role: Role,
        parts: tuple[Part, ...],
        kind: MessageKind,
        *,
        cut: bool = False,
        meta: Mapping[str, object] | None = None,
    ) -> None:
        services = self._services
        self._conversation.messages.append(
            Message(
                role=role,
                parts=parts,
                kind=kind,
                id=services.new_id(),
                time=services.clock(),
                turn_id=self._turn.id,
                cut=cut,
                meta=meta or {},
            )
        )


def asked_model(conversation: Conversation, preferred: tuple[str, str]) -> tuple[str, str]:
    """The provider and model this conversation was told to use, else the ``preferred`` ones."""
    state = conversation.state
    provider, model = str(state.get("provider") or ""), str(state.get("model") or "")
    return (provider, model) if provider else preferred


def _extend_text(parts: list[Part], text: str) -> None:
    if parts and isinstance(parts[-1], TextPart):
        parts[-1] = TextPart(parts[-1].text + text)
    else:
        parts.append(TextPart(text))
