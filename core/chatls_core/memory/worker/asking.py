"""One question to a model, the whole answer back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from chatls_core.llm.events import ModelError, ModelEvent, Stopped, TextDelta, Usage, UsageReport
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import Model

logger = logging.getLogger(__name__)

CALL_SECONDS = 180.0
"""How long one provider may take (spec/memory.md §10.1)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that ended. ``cut``: it hit its length limit; ``held``: the model was held to a JSON schema."""

    text: str
    cut: bool
    usage: Usage
    held: bool = False


async def ask(model: Model, build: Callable[[Model], ModelRequest], *, seconds: float = CALL_SECONDS) -> Reply:
    """Ask one model. Raises :class:`ModelError`; a call that takes too long is one of kind ``timeout``."""
    text: list[str] = []
    usage = Usage()
    stop = None
    request = build(model)
    try:
        async with asyncio.timeout(seconds):
            stream = cast("AsyncGenerator[ModelEvent, None]", model.stream(request))
            async with aclosing(stream) as events:
                async for event in events:
                    match event:
                        case TextDelta(more):
                            text.append(more)
                        case UsageReport(so_far):
                            usage = so_far
                        case Stopped(reason):
                            stop = reason
    except TimeoutError as error:
        raise ModelError("timeout", f"No answer within {seconds:g} s.", provider=model.provider) from error
    if stop is None:
        raise ModelError("network", "The answer broke off.", provider=model.provider)
    if stop == "refused":
        raise ModelError("refused", "The model refused to answer.", provider=model.provider)
    return Reply("".join(text), stop == "max_tokens", usage, request.json_schema is not None)


async def ask_any(
    models: Sequence[Callable[[], Model]], build: Callable[[Model], ModelRequest], *, seconds: float = CALL_SECONDS
) -> Reply:
    """Ask models in turn; the first answer counts. Raises the first one's :class:`ModelError`, naming all."""
    errors: list[ModelError] = []
    for choose in models:
        try:
            return await ask(choose(), build, seconds=seconds)
        except ModelError as error:
            logger.info("Not answered: %s", error)
            errors.append(error)
    first = errors[0]
    if len(errors) == 1:
        raise first
    raise ModelError(
        first.kind, "; ".join(str(e) for e in errors), hint=first.hint, provider=first.provider
    ) from errors[-1]
