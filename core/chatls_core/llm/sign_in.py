"""Signing in to a provider in the browser, where it has no key to copy: the device-code flow (RFC 8628)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from chatls_core.llm.secret import Secret


@dataclass(frozen=True)
class DeviceCode:
    """What the user must do: open ``url`` and type ``code`` within ``expires_in`` seconds."""

    url: str
    code: str
    expires_in: float
    interval: float
    device: Secret


class SignIn(Protocol):
    """One attempt to sign in."""

    async def start(self) -> DeviceCode:
        """Ask for a code. Raises ``ModelError``."""

    async def wait(self, code: DeviceCode) -> Secret:
        """The long-lived key, once the user has agreed; cancel the task to give up. Raises ``ModelError``."""

    async def aclose(self) -> None:
        """Drop all connections."""


SignInFactory = Callable[[Mapping[str, str]], SignIn]
"""Makes an attempt from the provider's options (``option_env``)."""
