"""Keys in the system's keychain (macOS Keychain, Windows Credential Locker, Secret Service), through ``keyring``.

Every call may block on a dialog of the system: the async methods run in a thread and give up after a while.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

from chatls_core.llm.secret import Secret

log = logging.getLogger(__name__)

SERVICE = "chatls"
_PATIENCE = 5.0  # seconds


class Keychain(Protocol):
    """Where keys rest. The user name of an entry is our provider name."""

    async def read(self, names: Sequence[str]) -> Mapping[str, Secret]:
        """The keys that are there; never raises."""

    async def store(self, name: str, key: Secret) -> bool:
        """Keep a key; False when there is no keychain that takes it."""

    async def delete(self, name: str) -> bool:
        """Forget a key; False when it was not there."""


class SystemKeychain:
    """The system's keychain. Without one every read is empty and nothing is stored: never a plain file of ours."""

    async def read(self, names: Sequence[str]) -> Mapping[str, Secret]:
        """The keys that are there; never raises."""
        try:
            async with asyncio.timeout(_PATIENCE):
                return await asyncio.to_thread(_read, tuple(names))
        except TimeoutError:
            log.warning("the system keychain did not answer within %g s; its keys are not used", _PATIENCE)
            return {}

    async def store(self, name: str, key: Secret) -> bool:
        """Keep a key."""
        return await asyncio.to_thread(_store, name, key)

    async def delete(self, name: str) -> bool:
        """Forget a key."""
        return await asyncio.to_thread(_delete, name)


def _usable() -> bool:
    import keyring

    # A backend that keeps keys in a plain file, or none at all, has no or a low priority.
    return float(keyring.get_keyring().priority) >= 1


def _read(names: tuple[str, ...]) -> Mapping[str, Secret]:
    import keyring
    from keyring.errors import KeyringError

    found: dict[str, Secret] = {}
    try:
        if _usable():
            for name in names:
                if value := keyring.get_password(SERVICE, name):
                    found[name] = Secret(value)
    except (KeyringError, RuntimeError, OSError) as error:
        log.info("the system keychain is not used: %s", type(error).__name__)
    return found


def _store(name: str, key: Secret) -> bool:
    import keyring
    from keyring.errors import KeyringError

    try:
        if not _usable():
            return False
        keyring.set_password(SERVICE, name, key.reveal())
    except (KeyringError, RuntimeError, OSError) as error:
        log.warning("the system keychain refused the key of %s: %s", name, type(error).__name__)
        return False
    return True


def _delete(name: str) -> bool:
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError

    try:
        keyring.delete_password(SERVICE, name)
    except PasswordDeleteError:
        return False
    except (KeyringError, RuntimeError, OSError) as error:
        log.warning("the system keychain would not forget the key of %s: %s", name, type(error).__name__)
        return False
    return True
