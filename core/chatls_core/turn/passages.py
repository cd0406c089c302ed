"""The passages of attached contexts that ride with a question: searched beside the rest of the turn's preparation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from chatls_core.contexts import ContextError
from chatls_core.llm.messages import Message
from chatls_core.prompt.attached_contexts import attachments
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
    if not (services.settings.prompt.context_passages and attachments(conversation)):
        return (), ""
    start = conversation.state.get(START_KEY)
    messages: tuple[Message, ...] = tuple(conversation.messages[start if isinstance(start, int) else 0 :])
    system = conversation.system

    def search() -> tuple[Passage, ...]:
        return _found(services, conversation, request, question, texts(system, messages), small=small)

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


def _found(
    services: Services,
    conversation: Conversation,
    request: ChatRequest,
    question: str,
    seen: Sequence[str],
    *,
    small: bool,
) -> tuple[Passage, ...]:
    curation = services.curation
    contexts = curation.not_whole(conversation, small=small)
    if not contexts:
        return ()
    riding = {path for m in request.mentions if m.range is None and (path := path_of(m.uri)) is not None}
    return passages(curation.contexts.searching, contexts, question, seen, small=small, without=riding)


def _log_failure(searching: asyncio.Task[tuple[Passage, ...]]) -> None:
    if not searching.cancelled() and (error := searching.exception()) is not None:
        log.error("an attached context could not be searched: %s", error)
