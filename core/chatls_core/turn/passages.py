"""The passages of attached contexts that ride with a question: searched beside the rest of the turn's preparation."""

from __future__ import annotations

import asyncio
import logging

from chatls_core.contexts import ContextError
from chatls_core.llm.messages import Message
from chatls_core.prompt.attached_contexts import PARTIAL_KEY, attachments
from chatls_core.prompt.context_passages import Passage, passages, texts
from chatls_core.prompt.window import START_KEY
from chatls_core.sessions.conversation import Conversation
from chatls_core.tools.paths import path_of
from chatls_core.turn.exchange import ChatRequest
from chatls_core.turn.services import Services

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 3.0
"""How long an answer waits: a large context is read into its index first, once, for which it does not."""


async def riding_passages(
    services: Services, conversation: Conversation, request: ChatRequest, question: str, *, small: bool
) -> tuple[tuple[Passage, ...], str]:
    """What attached contexts say to the question beyond what the model sees already, and why that is nothing where it
    could not be asked (a sentence for the user). ``small``: of no context anything stands in the system text."""
    names = _partial(conversation, small=small) if services.settings.prompt.context_passages else ()
    if not names:
        return (), ""
    start = conversation.state.get(START_KEY)
    messages: tuple[Message, ...] = tuple(conversation.messages[start if isinstance(start, int) else 0 :])
    system = conversation.system

    def search() -> tuple[Passage, ...]:
        contexts = services.curation.contexts_of(names)
        index = services.curation.contexts.searching
        riding = {path for m in request.mentions if m.range is None and (path := path_of(m.uri)) is not None}
        return passages(index, contexts, question, texts(system, messages), small=small, without=riding)

    searching = asyncio.create_task(asyncio.to_thread(search))
    try:
        return await asyncio.wait_for(asyncio.shield(searching), PATIENCE_SECONDS), ""
    except TimeoutError:
        searching.add_done_callback(_log_failure)
        return (), "An attached context is still being read; this question is answered without its passages."
    except ContextError as error:
        return (), f"Attached contexts could not be searched: {error}"
    except Exception as error:
        log.exception("attached contexts could not be searched")
        return (), f"Attached contexts could not be searched ({type(error).__name__}); the log has the details."


def _partial(conversation: Conversation, *, small: bool) -> tuple[str, ...]:
    """Names of the attached contexts of which files may be missing in the system text."""
    attached = tuple(attachment.name for attachment in attachments(conversation))
    known = conversation.state.get(PARTIAL_KEY)
    if small or not isinstance(known, list):
        return attached
    partial = {str(name).lower() for name in known}
    return tuple(name for name in attached if name.lower() in partial)


def _log_failure(searching: asyncio.Task[tuple[Passage, ...]]) -> None:
    if not searching.cancelled() and (error := searching.exception()) is not None:
        log.error("an attached context could not be searched: %s", error)
