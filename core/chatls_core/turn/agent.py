"""The agent: sessions, their turns and what they share. Front ends talk to this and to nothing above it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from chatls_core.config import Settings
from chatls_core.contexts import Context
from chatls_core.events import Ended, Queued, TurnEvent, payload
from chatls_core.host import Host
from chatls_core.instructions import Instructions
from chatls_core.llm.events import ModelError, Usage
from chatls_core.llm.keychain import SystemKeychain
from chatls_core.llm.messages import Message, Role, TextPart
from chatls_core.llm.model import Model
from chatls_core.llm.models import Models
from chatls_core.mcp import McpServers
from chatls_core.memory import Memory
from chatls_core.prompt.compaction import Compacted, CompactionError
from chatls_core.sessions import Conversation, Journal, SessionError, SessionStore
from chatls_core.sessions.checkpoints import Checkpoints
from chatls_core.store.clock import Clock, system_clock
from chatls_core.tools.base import Mode
from chatls_core.tools.catalogue import tools_for
from chatls_core.tools.edit_journal import EditJournal, UndoneEdits, undo
from chatls_core.tools.policy import Policy
from chatls_core.turn.compacting import on_request
from chatls_core.turn.costs import Costs, costs
from chatls_core.turn.exchange import ChatRequest, ChatResult, QueueFullError, TurnFailedError
from chatls_core.turn.forwarding import Forwarding
from chatls_core.turn.graph_neighbours import GraphNeighbours
from chatls_core.turn.habits import Habits
from chatls_core.turn.learning import BackgroundLearning
from chatls_core.turn.live import MAX_WAITING, LiveSession, NumberedEvent, Turn
from chatls_core.turn.preview import PromptPreview, preview
from chatls_core.turn.run import ToolFactory, TurnRun, asked_model
from chatls_core.turn.saving import save, save_or_tell
from chatls_core.turn.services import Services

log = logging.getLogger(__name__)


def random_id() -> str:
    """A short random id, 80 bits."""
    return secrets.token_hex(10)


class Agent:
    """One agent per editor window. Create it off the event loop: opening the stores reads the disk."""

    def __init__(
        self,
        home: Path,
        settings: Settings,
        environment: Mapping[str, str],
        *,
        clock: Clock = system_clock,
        new_id: Callable[[], str] = random_id,
    ) -> None:
        self._environment = environment
        self._secrets: Mapping[str, str] = {}
        self._roots: tuple[Path, ...] = ()
        self._trusted = True
        self._sessions: dict[str, LiveSession] = {}
        self._opening = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing: set[asyncio.Future[None]] = set()
        self._reading: set[asyncio.Future[None]] = set()
        self._preferred = ("", "")
        self._ready: asyncio.Future[None] | None = None
        self._housekeeping: asyncio.Future[None] | None = None
        self._servers: asyncio.Future[None] | None = None
        self._on_state: list[Callable[[], None]] = []
        self._last_usage = Usage()
        self.services = Services(
            home=home,
            settings=settings,
            clock=clock,
            new_id=new_id,
            models=Models(settings, environment, home=home, keychain=SystemKeychain()),
            instructions=Instructions(
                (), self._global_folder(home, settings), settings=settings.instructions, trusted=True
            ),
            memory=Memory(
                home / "memory",
                settings=settings.memory,
                clock=clock,
                environment=environment,
                neighbours=GraphNeighbours(lambda: self.services, lambda: self._roots),
            ),
            sessions=SessionStore(home / "sessions", clock=clock, settings=settings.sessions),
            journal=Journal(home / "chatls" / "journal"),
            checkpoints=Checkpoints(home / "chatls" / "checkpoints", clock=clock),
            policy=Policy(home, (), True),
            edits=EditJournal(home / "chatls" / "edits"),
            mcp=McpServers(
                home,
                environment,
                lambda: self.services.settings.mcp,
                allow_http=lambda: self.services.settings.allow_http,
            ),
        )
        self.learning = BackgroundLearning(self.services, environment, lambda: self._preferred)
        self.learning.on_result.append(lambda _: self._changed())
        self.forwarding = Forwarding(self.services)
        self._habits = Habits(self.services)

    @staticmethod
    def _global_folder(home: Path, settings: Settings) -> Path:
        return Path(settings.instructions.global_folder).expanduser() if settings.instructions.global_folder else home

    async def ready(self) -> None:
        """Look once for services on this machine and load the catalogue; the first turn waits for it."""
        if self._ready is None:
            self._ready = asyncio.ensure_future(self.services.models.refresh())
            self._housekeeping = asyncio.ensure_future(asyncio.to_thread(self._expire))
            self._servers = asyncio.ensure_future(self.services.mcp.refresh())
        self.learning.start()
        self.forwarding.start()
        await asyncio.shield(self._ready)

    async def prepare(self) -> None:
        """The user is about to ask: load what the first answer needs, the vendor's SDK above all. Never raises."""
        await self.ready()
        try:
            await self.services.models.select(*self._preferred).load()
        except ModelError as error:
            log.info("nobody could be prepared to answer: %s", error)

    def read_ahead(self, context: Context) -> asyncio.Future[None]:
        """A context was attached: read it into the index while the user writes; done when the future is."""
        reading = asyncio.ensure_future(asyncio.to_thread(self.services.curation.contexts.searching.read, context))
        self._reading.add(reading)
        reading.add_done_callback(self._reading.discard)
        return reading

    def _expire(self) -> None:
        """Let machine-named conversations go that are past their time (spec/memory.md §15.1); read memory ahead."""
        try:
            self.services.sessions.expire(keep_ids=frozenset(self._sessions))
            self.services.spending.expire()
        except OSError as error:
            log.warning("old sessions could not be tidied: %s", error)
        memory = self.services.settings.memory
        if memory.enabled and memory.mode != "off":
            self.services.memory.read_ahead()

    def on_state(self, callback: Callable[[], None]) -> None:
        """Have ``callback`` called on the event loop when :meth:`status` may have changed."""
        self._on_state.append(callback)

    def status(self) -> dict[str, object]:
        """What a status bar shows (PROTOCOL.md ``chatls/status``)."""
        answering = any(live.running is not None for live in self._sessions.values())
        memory = self.services.settings.memory
        shown: dict[str, object] = {"memory": memory.mode if memory.enabled else "off", **self.learning.status()}
        if self._ready is None or not self._ready.done():
            # Who answers is known once the catalogue is loaded, and that must not happen on the event loop.
            return {**shown, "state": "answering" if answering else "starting"}
        try:
            model = self.services.models.select(*self._preferred)
        except ModelError as error:
            return {**shown, "state": "error", "message": f"{error} {error.hint}".strip()}
        state = "answering" if answering else "offline" if model.provider == "local" else "ready"
        usage = self._last_usage
        used = usage.prompt_tokens
        return {
            **shown,
            "state": state,
            "provider": model.provider,
            "model": model.model,
            "window": model.info.window,
            "used": used,
            "cachedShare": round(usage.cache_read_tokens / used, 3) if used else 0.0,
        }

    def _changed(self) -> None:
        for callback in self._on_state:
            callback()

    def prefer(self, provider: str, model: str) -> None:
        """The user's choice of who answers from now on, over the settings."""
        self._preferred = (provider, model)

    async def costs(self, session_id: str | None = None) -> Costs:
        """What a session cost, or the day so far; budgets and the cache's lifetime beside it."""
        live = self._sessions.get(session_id) if session_id is not None else None
        model = None
        if live is not None:
            with contextlib.suppress(ModelError):
                model = self.model_of(live)
        return await asyncio.to_thread(costs, self.services, live.conversation if live else None, model)

    async def preview(self, request: ChatRequest, host: Host, *, count: bool = False) -> PromptPreview:
        """The exact prompt ``request`` would send now; no model answers and nothing changes. With ``count`` the
        provider is asked how many tokens it has, which sends it the text."""
        wanted = request.session_id
        known = wanted is not None and (self.is_live(wanted) or await asyncio.to_thread(self._saved, wanted))
        live = await self.session(wanted) if known else LiveSession(await asyncio.to_thread(self._open, None))
        turn = Turn(self.services.new_id(), live.conversation.id, request, host)
        tools = self._tools_for(request.mode)
        return await preview(self.services, live, request, turn, tools, self._preferred, count=count)

    def _tools_for(self, mode: Mode) -> ToolFactory:
        services = self.services
        return lambda model: tools_for(mode, services.settings, services.memory, services.sessions, model)

    async def compact(self, live: LiveSession, instruction: str = "") -> Compacted:
        """Compact a conversation because the user asked; ``instruction`` says what to keep in particular.

        Raises :class:`CompactionError` (also while an answer is being written), :class:`ModelError` or
        :class:`OSError`; the conversation is then as it was.
        """
        if live.running is not None:
            raise CompactionError("An answer is being written; wait for it or stop it, then compact.")
        model = self.model_of(live)
        done = await on_request(
            self.services, live.conversation, model, "chat", instruction, lambda: live.running is None
        )
        await asyncio.to_thread(self.services.spending.flush)
        await save(self.services, live)
        return done

    async def keep(self, live: LiveSession) -> None:
        """Bring to disk what the user chose for a conversation, so that a restart before its next turn loses nothing. A
        disk that refuses is logged only: the choice holds, and the next turn tells that nothing can be saved."""
        try:
            await save(self.services, live)
        except (OSError, SessionError) as error:
            log.error("what was chosen for %s is not saved yet: %s", live.conversation.id, error)

    def model_of(self, live: LiveSession) -> Model:
        """Who answers in this conversation. Raises :class:`ModelError` when nobody could."""
        return self.services.models.select(*asked_model(live.conversation, self._preferred))

    def _saved(self, session_id: str) -> bool:
        return self.services.sessions.get(session_id) is not None

    def configure(self, settings: Settings) -> None:
        """Take new settings; they hold from the next request on."""
        services, before = self.services, self.services.settings
        services.settings = settings
        services.models.configure(settings, self._secrets)
        services.memory.settings = settings.memory
        services.sessions.settings = settings.sessions
        if settings.instructions != before.instructions:
            self._open_instructions()

    def set_secrets(self, keys: Mapping[str, str]) -> None:
        """Take the editor's keys (provider name -> key); never logged, never stored."""
        self._secrets = {**self._secrets, **keys}
        self.services.models.configure(self.services.settings, self._secrets)

    def set_workspace(self, roots: Sequence[Path], trusted: bool) -> None:
        """Which folders are open and whether the user trusts them."""
        if (tuple(roots), trusted) != (self._roots, self._trusted):
            self._roots, self._trusted = tuple(roots), trusted
            self.services.policy = Policy(self.services.home, self._roots, trusted)
            self.services.mcp.set_workspace(self._roots, trusted)
            self.services.curation.personas.set_workspace(self._roots, trusted)
            self._open_instructions()

    def _open_instructions(self) -> None:
        settings = self.services.settings
        self.services.instructions = Instructions(
            self._roots,
            self._global_folder(self.services.home, settings),
            settings=settings.instructions,
            trusted=self._trusted,
        )

    async def session(self, session_id: str | None) -> LiveSession:
        """The live session of an id or name; an unknown id creates it, none creates and names one."""
        async with self._opening:
            if session_id is not None and session_id in self._sessions:
                return self._sessions[session_id]
            conversation = await asyncio.to_thread(self._open, session_id)
            live = self._sessions.setdefault(conversation.id, LiveSession(conversation))
            if session_id is not None:
                self._sessions[session_id] = live
            return live

    def is_live(self, session_id: str) -> bool:
        """Whether the session of this id or name is in memory."""
        return session_id in self._sessions

    def adopt(self, conversation: Conversation) -> LiveSession:
        """Take a conversation that was just made into memory."""
        return self._sessions.setdefault(conversation.id, LiveSession(conversation))

    def release(self, live: LiveSession) -> None:
        """Let a session go; the next use reads it from disk."""
        self._sessions = {key: value for key, value in self._sessions.items() if value is not live}

    async def undo_edits(self, host: Host, turn_ids: Sequence[str], call_id: str | None = None) -> UndoneEdits:
        """Put back the files that turns, or one call, changed. Itself undoable by its token."""
        done = await undo(self.services.edits, host, turn_ids, call_id, f"undo-{self.services.new_id()}")
        for live in self._sessions.values():
            for file in done.files:
                live.files.read.pop(file.uri, None)
        return done

    def _open(self, session_id: str | None) -> Conversation:
        sessions = self.services.sessions
        conversation = sessions.create(session_id)
        if session_id is not None:
            self._recover(conversation)
        return conversation

    def _recover(self, conversation: Conversation) -> None:
        """Bring what a killed server had streamed back into history, marked as cut off (PROTOCOL.md "Chat")."""
        for turn in self.services.journal.open_turns(conversation.id):
            events = self.services.journal.read(conversation.id, turn_id=turn.turn_id)
            answer = "".join(str(e.get("delta", "")) for e in events if e.get("kind") == "text")
            known = any(m.turn_id == turn.turn_id for m in conversation.messages)
            if not known and turn.text:
                conversation.messages.append(self._message("user", turn.text, turn.turn_id))
            if answer and not any(m.turn_id == turn.turn_id and m.role == "assistant" for m in conversation.messages):
                conversation.messages.append(self._message("assistant", answer, turn.turn_id, cut=True))
            ended = Ended("cancelled", error={"kind": "interrupted"})
            self.services.journal.append(
                conversation.id, {"turnId": turn.turn_id, "seq": turn.last_seq + 1, **payload(ended)}
            )

    def _message(self, role: Role, text: str, turn_id: str, *, cut: bool = False) -> Message:
        return Message(
            role,
            (TextPart(text),),
            id=self.services.new_id(),
            time=self.services.clock(),
            turn_id=turn_id,
            cut=cut,
        )

    async def submit(self, request: ChatRequest, host: Host) -> Turn:
        """Start, queue or steer. Raises :class:`QueueFullError` when too many requests wait."""
        session = await self.session(request.session_id)
        if session.running is not None and request.steer and not session.running.closing:
            session.running.steering.append(request.text)
            return session.running
        turn = Turn(self.services.new_id(), session.conversation.id, request, host)
        turn.record = self._recorder(session.conversation.id, turn.id)
        if session.running is not None:
            if len(session.waiting) >= MAX_WAITING:
                raise QueueFullError(f"{MAX_WAITING} requests are waiting already; wait for an answer or stop it.")
            session.waiting.append(turn)
            turn.on_stop(lambda: self._drop(session, turn))
            asyncio.get_running_loop().call_soon(turn.emit, Queued(len(session.waiting)))
            return turn
        self._start(session, turn)
        return turn

    def _start(self, session: LiveSession, turn: Turn) -> None:
        session.running = turn
        task = asyncio.create_task(self._run(session, turn), name=f"turn {turn.id}")
        turn.on_stop(lambda: _cancel(task))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, session: LiveSession, turn: Turn) -> None:
        outcome: ChatResult | BaseException
        ended: TurnEvent
        services = self.services
        self._changed()
        try:
            await self.ready()
            run = TurnRun(services, session, turn, self._tools_for(turn.request.mode), self._preferred)
            result = await run.run()
            outcome, ended = result, Ended("completed", result.stop_reason)
        except asyncio.CancelledError as error:
            outcome, ended = error, Ended("cancelled")
        except ModelError as error:
            outcome = error
            ended = Ended("failed", error={"kind": error.kind, "hint": error.hint, "message": str(error)})
        except Exception as error:
            log.exception("turn %s failed", turn.id)
            outcome = TurnFailedError(f"ChatLS failed inside ({type(error).__name__}); the log has the details.")
            ended = Ended("failed", error={"kind": "internal", "message": str(outcome)})
        # A second cancellation must not keep the history from reaching the disk.
        closing = asyncio.ensure_future(self._close(session, turn, outcome, ended))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        await asyncio.shield(closing)

    async def _close(
        self, session: LiveSession, turn: Turn, outcome: ChatResult | BaseException, ended: TurnEvent
    ) -> None:
        turn.closing = True
        conversation, workspace = session.conversation, str(self._roots[0]) if self._roots else ""
        # What was said is saved and queued before the answer counts as given: then it cannot be lost, and its writing
        # does not compete with the next question.
        await asyncio.gather(
            save_or_tell(self.services, session, turn),
            self.learning.said(conversation, turn.id, workspace),
            self.forwarding.said(conversation, turn.id),
            self._habits.count(turn, conversation),
        )
        turn.record(NumberedEvent(0, ended))
        session.running = None
        if isinstance(outcome, ChatResult):
            self._last_usage = outcome.usage
        turn.finish(outcome)
        self._next(session)
        self._changed()

    def _next(self, session: LiveSession) -> None:
        if session.running is not None or not session.waiting:
            return
        turn = session.waiting.pop(0)
        for position, waiting in enumerate(session.waiting, 1):
            waiting.emit(Queued(position))
        self._start(session, turn)

    def _drop(self, session: LiveSession, turn: Turn) -> None:
        if turn in session.waiting:
            session.waiting.remove(turn)
            turn.record(NumberedEvent(0, Ended("cancelled")))
            turn.finish(asyncio.CancelledError())
            for position, waiting in enumerate(session.waiting, 1):
                waiting.emit(Queued(position))

    def _recorder(self, session_id: str, turn_id: str) -> Callable[[NumberedEvent], None]:
        last = 0

        def record(numbered: NumberedEvent) -> None:
            nonlocal last
            last = numbered.seq or last + 1
            try:
                self.services.journal.append(session_id, {"turnId": turn_id, "seq": last, **payload(numbered.event)})
            except OSError as error:
                log.error("journal of %s: %s", session_id, error)

        return record

    async def close(self) -> None:
        """Stop every turn and close the models; what streamed is saved."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.2)
        if self._closing:  # turns that were ending already: their tail goes to the disk first
            await asyncio.wait(set(self._closing), timeout=0.3)
        await self.forwarding.close()
        await self.learning.close()
        await self.services.meaning.close()
        await self.services.models.aclose()
        await asyncio.to_thread(self._release)
        # Last, because a server that will not go takes seconds; whoever ends the process kills what is left.
        await self.services.mcp.close()

    def _release(self) -> None:
        self._habits.close()
        self.services.spending.flush()
        self.services.sessions.close()
        self.services.curation.contexts.searching.close()
        self.services.journal.close()


def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
