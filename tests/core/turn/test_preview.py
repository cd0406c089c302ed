"""Looking at the next prompt must not hold up what else the editor asks (``chatls.prompt.show``)."""

from __future__ import annotations

import asyncio
import gc
import time

from chatls_core.llm.messages import Message, TextPart, ToolCallPart, ToolResultPart
from chatls_core.turn.exchange import ChatRequest
from tests.core.turn.conftest import Desk


async def test_others_are_served_while_a_long_conversation_is_shown(desk: Desk) -> None:
    desk.agent = desk.make_agent(contextWindow=100_000_000)
    await desk.ask("hello")
    live = await desk.agent.session("s")
    call = ToolCallPart("c", "read_file", {"path": "a.py", "lines": list(range(100))})
    live.conversation.messages += [
        Message("user" if n % 2 else "assistant", (ToolResultPart("c", "read_file", "text"),) if n % 2 else (call,))
        for n in range(20_000)
    ]
    live.conversation.messages.append(Message("assistant", (TextPart("Done."),)))
    gaps: list[float] = []

    async def others() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0)
            gaps.append(time.perf_counter() - last)
            last += gaps[-1]

    beat = asyncio.create_task(others())
    await asyncio.sleep(0)
    gc.disable()  # its pauses hold up every thread
    begun = time.perf_counter()
    try:
        shown = await desk.agent.preview(ChatRequest("and now?", "s"), desk.host)
        taken = time.perf_counter() - begun
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    finally:
        gc.enable()
        beat.cancel()
    assert len(shown.messages) > 20_000
    assert max(gaps) < taken / 2
