"""Keys in the system's keychain: kept and forgotten there, or nowhere."""

from __future__ import annotations

from collections.abc import Iterator

import keyring
import keyring.backend
import keyring.backends.fail
import keyring.errors
import pytest

from chatls_core.llm.keychain import SystemKeychain
from chatls_core.llm.secret import Secret


class Chain(keyring.backend.KeyringBackend):
    """A keychain in memory; ``locked`` refuses everything."""

    priority = 5.0

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def _check(self) -> None:
        if self.locked:
            raise keyring.errors.KeyringLocked("locked")

    def get_password(self, service: str, username: str) -> str | None:
        self._check()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        if self.kept.pop((service, username), None) is None:
            raise keyring.errors.PasswordDeleteError("not found")


class PlainFile(Chain):
    """Stands for a backend that keeps keys in a plain file."""

    priority = 0.5


@pytest.fixture
def system() -> Iterator[Chain]:
    before = keyring.get_keyring()
    chain = Chain()
    keyring.set_keyring(chain)
    yield chain
    keyring.set_keyring(before)


async def test_a_key_is_kept_found_and_forgotten(system: Chain) -> None:
    keychain = SystemKeychain()
    assert await keychain.store("openai", Secret("sk-123456"))
    assert await keychain.read(["anthropic", "openai"]) == {"openai": Secret("sk-123456")}
    assert system.kept == {("chatls", "openai"): "sk-123456"}
    assert await keychain.delete("openai")
    assert not await keychain.delete("openai")
    assert await keychain.read(["openai"]) == {}


async def test_a_locked_keychain_gives_nothing_and_logs_no_key(system: Chain, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    system.locked = True
    keychain = SystemKeychain()
    assert not await keychain.store("openai", Secret("sk-123456"))
    assert await keychain.read(["openai"]) == {}
    assert not await keychain.delete("openai")
    assert "KeyringLocked" in caplog.text
    assert "sk-123456" not in caplog.text


@pytest.mark.parametrize("backend", [PlainFile(), keyring.backends.fail.Keyring()], ids=["plain file", "none"])
async def test_without_a_real_keychain_nothing_is_written(
    system: Chain, backend: keyring.backend.KeyringBackend
) -> None:
    keyring.set_keyring(backend)
    keychain = SystemKeychain()
    assert not await keychain.store("openai", Secret("sk-123456"))
    assert await keychain.read(["openai"]) == {}
    assert not getattr(backend, "kept", {})
