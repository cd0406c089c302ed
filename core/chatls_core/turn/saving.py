"""A conversation's way to disk while it goes on."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from chatls_core.events import Notice
from chatls_core.sessions.conversation import Conversation, SessionError
from chatls_core.turn.live import LiveSession, Turn
from chatls_core.turn.services import Services

log = logging.getLogger(__name__)


async def save(services: Services, session: LiveSession) -> None:
    """Bring a conversation to disk, in order, without blocking the loop. Raises :class:`OSError`."""
    if not services.settings.sessions.autosave:
        return
    async with session.saving:
        conversation = session.conversation
        copy = copy_of(conversation)
        await asyncio.to_thread(services.sessions.save, copy)
        conversation.name, conversation.title, conversation.updated = copy.name, copy.title, copy.updated


async def save_or_tell(services: Services, session: LiveSession, turn: Turn) -> None:
    """Save; what keeps the disk from taking it is told to the user once per conversation, and the turn goes on."""
    try:
        await save(services, session)
    except (OSError, SessionError) as error:
        log.error("conversation %s could not be saved: %s", session.conversation.id, error)
        if not session.unsaved:
            turn.emit(Notice("error", f"This conversation could not be saved: {error}"))
        session.unsaved = True
    else:
        session.unsaved = False


def copy_of(conversation: Conversation) -> Conversation:
    """A conversation another thread may read while this one goes on; messages are immutable."""
    return replace(
        conversation,
        messages=list(conversation.messages),
        carried=dict(conversation.carried),
        state=dict(conversation.state),
    )
