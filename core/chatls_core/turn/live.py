"""A turn while it lives: who listens, how it is stopped. The turn owns its task; a request is a view on it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from chatls_core.events import TurnEvent
from chatls_core.host import Host
from chatls_core.sessions.conversation import Conversation
from chatls_core.tools.base import TurnFiles
from chatls_core.tools.gate import Denials
from chatls_core.turn.exchange import ChatRequest, ChatResult

log = logging.getLogger(__name__)

MAX_WAITING = 10


@dataclass(frozen=True, slots=True)
class NumberedEvent:
    """An event with its place in the turn, counting from 1."""

    seq: int
    event: TurnEvent


Listener = Callable[[NumberedEvent], None]


class Turn:
    """One exchange: queued, running or over."""

    def __init__(self, turn_id: str, session_id: str, request: ChatRequest, host: Host) -> None:
        self.id = turn_id
        self.session_id = session_id
        self.request = request
        self.host = host
        self.steering: list[str] = []
        self.closing = False
        """Whether the turn has taken its last step, so that nothing can steer it any more."""
        self.outcome: asyncio.Future[ChatResult] = asyncio.get_running_loop().create_future()
        self.outcome.add_done_callback(_seen)
        self._seq = 0
        self._listeners: list[Listener] = []
        self._stop: Callable[[], None] | None = None
        self.record: Callable[[NumberedEvent], None] = lambda _: None

    def emit(self, event: TurnEvent) -> None:
        """Number an event, journal it, tell every listener."""
        self._seq += 1
        numbered = NumberedEvent(self._seq, event)
        self.record(numbered)
        for listener in tuple(self._listeners):
            try:
                listener(numbered)
            except Exception:
                log.exception("an event of turn %s could not be passed on", self.id)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have ``listener`` told of every event at once, before the model's next word is read; it must not block.

        Returns how to end it.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def events(self) -> AsyncIterator[NumberedEvent]:
        """Events from now on, until the turn is over. Subscribes at once, not at the first ``anext``."""
        view: asyncio.Queue[NumberedEvent | None] = asyncio.Queue()
        self.outcome.add_done_callback(lambda _: view.put_nowait(None))
        return _drain(view, self.listen(view.put_nowait))

    def on_stop(self, stop: Callable[[], None]) -> None:
        """How to stop the turn; set by whoever runs or queues it."""
        self._stop = stop

    def cancel(self) -> None:
        """Stop the turn: model stream, tools, open questions; a waiting turn leaves the queue."""
        if self._stop is not None and not self.outcome.done():
            self._stop()

    def finish(self, result: ChatResult | BaseException) -> None:
        """End the turn for everybody who waits for it."""
        if self.outcome.done():
            return
        if isinstance(result, asyncio.CancelledError):
            self.outcome.cancel()
        elif isinstance(result, BaseException):
            self.outcome.set_exception(result)
        else:
            self.outcome.set_result(result)


async def _drain(view: asyncio.Queue[NumberedEvent | None], end: Callable[[], None]) -> AsyncIterator[NumberedEvent]:
    try:
        while (item := await view.get()) is not None:
            yield item
    finally:
        end()


def _seen(future: asyncio.Future[ChatResult]) -> None:
    """A turn nobody waits for any more must not be reported as a forgotten exception."""
    if not future.cancelled():
        future.exception()


@dataclass(slots=True)
class LiveSession:
    """A conversation in memory with its running and waiting turns."""

    conversation: Conversation
    files: TurnFiles = field(default_factory=TurnFiles)
    denials: Denials = field(default_factory=Denials)
    running: Turn | None = None
    waiting: list[Turn] = field(default_factory=list)
    unsaved: bool = False
    saving: asyncio.Lock = field(default_factory=asyncio.Lock)
