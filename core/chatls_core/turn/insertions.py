"""Commands a slash template asks for: run as the model's would be, by the same policy, gate and limits (§9.5).

Their output is data in the turn context, not a part of the user's words. What may not run is named there with
the reason.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from chatls_core.events import ToolEnd, ToolStart, TurnEvent
from chatls_core.host import Host
from chatls_core.text.fence import fence
from chatls_core.tools.base import ToolContext, ToolError
from chatls_core.tools.exec import RunCommand
from chatls_core.tools.gate import permit
from chatls_core.turn.exchange import ChatRequest
from chatls_core.turn.live import LiveSession
from chatls_core.turn.results import fit_result
from chatls_core.turn.services import Services

log = logging.getLogger(__name__)


async def inserted(
    services: Services,
    session: LiveSession,
    request: ChatRequest,
    host: Host,
    emit: Callable[[TurnEvent], None],
    turn_id: str,
) -> list[str]:
    """One block for each command of the request's template, in order."""
    tool, blocks = RunCommand(), []
    limit = services.settings.agent.tool_result_max_chars
    for number, line in enumerate(request.commands, 1):
        context = ToolContext(
            host=host,
            settings=services.settings,
            mode=request.mode,
            call_id=f"template-{number}",
            files=session.files,
            emit=emit,
            session_id=session.conversation.id,
            turn_id=turn_id,
        )
        arguments = tool.parse({"command": line})
        emit(ToolStart(context.call_id, tool.name, tool.label(arguments), tool.kind, {"command": line}))
        try:
            await permit(services.policy, session.denials, tool, arguments, context)
            output = (await tool.run(arguments, context)).text
        except ToolError as error:
            emit(ToolEnd(context.call_id, "denied" if error.denied else "failed", str(error)))
            blocks.append(f"The template asks for the output of `{line}`, which did not run to its end: {error}")
            continue
        except asyncio.CancelledError:
            emit(ToolEnd(context.call_id, "failed", "stopped"))
            raise
        shown = await asyncio.to_thread(fit_result, output, limit, None)
        emit(ToolEnd(context.call_id, "completed", shown))
        blocks.append(f"Output of `{line}`, which the template asks for:\n{fence(line, shown)}")
    return blocks
