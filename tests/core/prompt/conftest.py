"""The whole agent on a loopback model server, as the turn's own tests use it."""

from __future__ import annotations

from tests.core.turn.conftest import desk as desk
