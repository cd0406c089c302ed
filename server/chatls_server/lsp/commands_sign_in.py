"""Signing in to a provider in the browser, and where the key it brings is kept.

The editor's secret storage where it has one (capability ``secrets``), else the system's keychain, else this process's
memory: never a file of ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

from chatls_core.llm.events import ModelError
from chatls_core.llm.registry import find
from chatls_core.llm.secret import Secret
from chatls_core.llm.sign_in import DeviceCode, SignIn
from chatls_server.lsp.errors import INVALID_PARAMS, ClientError, RpcError
from chatls_server.lsp.protocol import commands as args
from chatls_server.lsp.protocol import editor as wire
from chatls_server.lsp.protocol.base import BadParams
from chatls_server.lsp.protocol.commands import CommandResult
from chatls_server.lsp.registry import command, hook

if TYPE_CHECKING:
    from chatls_server.lsp.server import ChatServer

log = logging.getLogger(__name__)

Kept = Literal["editor", "keychain", "session"]

_KEPT = {
    "editor": "The editor keeps the key.",
    "keychain": "The system's keychain keeps the key.",
    "session": "There is no keychain: the key is held in memory until this editor closes.",
}
_KEEP_SECONDS = 30.0


@dataclass(slots=True)
class _Running:
    """A sign-in that waits for the user."""

    task: asyncio.Task[Kept]
    title: str
    awaited: bool = False


_running: WeakKeyDictionary[ChatServer, dict[str, _Running]] = WeakKeyDictionary()


@command("chatls.provider.signIn", args.SignInArgs)
async def sign_in(server: ChatServer, a: args.SignInArgs) -> CommandResult:
    """Begin to sign in, or wait for the sign-in that runs, or stop it."""
    if a.cancel:
        name, title = _named(a.provider)
        await _stop(server, name)
        return CommandResult(markdown=f"{title}: the sign-in was stopped.", data={"provider": name, "title": title})
    return await (_wait(server, a.provider) if a.wait else _begin(server, a.provider))


@command("chatls.provider.signOut", args.SignOutArgs)
async def sign_out(server: ChatServer, a: args.SignOutArgs) -> CommandResult:
    """Forget the key, wherever it is kept."""
    name, title = _named(a.provider)
    await _stop(server, name)
    await _keep(server, name, Secret(""))
    return CommandResult(markdown=f"{title}: signed out.", data={"provider": name, "title": title})


@hook("exit")
async def ending(server: ChatServer) -> None:
    """Nobody waits for a sign-in any more."""
    for name in tuple(_running.get(server, ())):
        await _stop(server, name)


async def _begin(server: ChatServer, word: str) -> CommandResult:
    name, title = _named(word)
    attempt = (await server.agent()).services.models.sign_in(name)
    try:
        code = await attempt.start()
    except BaseException:
        await attempt.aclose()
        raise
    await _stop(server, name)
    task: asyncio.Task[Kept] = server.protocol.in_background(
        _finish(server, name, attempt, code), f"sign-in to {title}"
    )
    running = _running.setdefault(server, {})[name] = _Running(task, title)
    task.add_done_callback(lambda done: _tell(server, name, running, done))
    minutes = max(1, round(code.expires_in / 60))
    return CommandResult(
        markdown=f"Open {code.url} and enter the code **{code.code}** within {minutes} minutes.",
        data={
            "provider": name,
            "title": title,
            "url": code.url,
            "code": code.code,
            "expiresInSeconds": code.expires_in,
        },
    )


async def _wait(server: ChatServer, word: str) -> CommandResult:
    name, title = _named(word)
    running = _running.get(server, {}).get(name)
    if running is None:
        raise RpcError(INVALID_PARAMS, f"provider: there is no sign-in to {title} under way")
    running.awaited = True
    try:
        kept = await running.task
    except asyncio.CancelledError:
        if (current := asyncio.current_task()) is not None and current.cancelling():
            raise
        raise ModelError("auth", f"The sign-in to {title} was stopped.", provider=name) from None
    finally:
        # Also when the client gave up: a cancelled wait stops the sign-in.
        await _stop(server, name)
    return CommandResult(
        markdown=f"{title}: signed in. {_KEPT[kept]}", data={"provider": name, "title": title, "kept": kept}
    )


async def _finish(server: ChatServer, name: str, attempt: SignIn, code: DeviceCode) -> Kept:
    try:
        key = await attempt.wait(code)
    finally:
        await attempt.aclose()
    return await _keep(server, name, key)


def _tell(server: ChatServer, name: str, running: _Running, done: asyncio.Task[Kept]) -> None:
    """Say how it ended to a client that does not wait for it."""
    if running.awaited or done.cancelled():
        return
    _running.get(server, {}).pop(name, None)
    if (error := done.exception()) is None:
        server.show_message("info", f"{running.title}: signed in. {_KEPT[done.result()]}")
    else:
        hint = f" {error.hint}" if isinstance(error, ModelError) else ""
        server.show_message("error", f"{running.title}: {error}{hint}")


async def _stop(server: ChatServer, name: str) -> None:
    running = _running.get(server, {}).pop(name, None)
    if running is not None and not running.task.done():
        running.task.cancel()
        with contextlib.suppress(asyncio.CancelledError, ModelError):
            await running.task


async def _keep(server: ChatServer, name: str, key: Secret) -> Kept:
    """Use a key from now on and keep it; an empty one is forgotten everywhere."""
    agent = await server.agent()
    kept: Kept = "session"
    if server.features.secrets and await _editor_keeps(server, name, key):
        kept = "editor"
    if (kept == "session" or not key) and await agent.services.models.keep(name, key):
        kept = "keychain"
    if kept != "keychain" or not key:
        server.secrets = {n: k for n, k in {**server.secrets, name: key.reveal()}.items() if k}
        agent.set_secrets({**server.secrets, name: key.reveal()})
    await server.run_hooks("secrets")
    return kept


async def _editor_keeps(server: ChatServer, name: str, key: Secret) -> bool:
    params = wire.KeepSecretParams(provider=name, key=key.reveal())
    try:
        answer = await server.ask_client("chatls/secrets/keep", params, timeout_seconds=_KEEP_SECONDS)
        return wire.KeepSecretResult.model_validate(answer).kept
    except (ClientError, TimeoutError, ValueError) as error:
        # Not the error's text: a validation error may quote what was sent.
        log.warning("The editor did not keep a key: %s", type(error).__name__)
        return False


def _named(word: str) -> tuple[str, str]:
    spec = find(word)
    if spec is None:
        raise BadParams(f"chatls.provider: provider: {word} is not known")
    return spec.name, spec.title
