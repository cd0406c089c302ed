from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.core.llm.rig import WIRES, Wire
from tests.fakes.model_server import ModelServer


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture(params=WIRES, ids=lambda w: w.provider)
def wire(request: pytest.FixtureRequest) -> Wire:
    return request.param
