"""Signing in to GitHub Copilot from an editor: a code is shown, and the key is kept where keys belong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.lsp_client import PLAIN, RICH, LspClient, ResponseError
from tests.fakes.model_server import ModelServer

pytestmark = pytest.mark.timeout(180)  # each test starts a real server; a busy machine takes its time

KEEPS_KEYS = {**RICH, "experimental": {"chatls": {**RICH["experimental"]["chatls"], "secrets": {}}}}
TOKEN = "gho_0123456789abcdefghij"


class GitHub:
    """GitHub's pages for the device code; the user agrees once ``agreed`` is set."""

    def __init__(self) -> None:
        self.agreed = asyncio.Event()
        self.answer: dict[str, Any] = {"access_token": TOKEN}
        self.polled = asyncio.Event()
        self.url = ""

    async def __aenter__(self) -> GitHub:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(line for line in head.lower().split("\r\n") if line.startswith("content-length"))
        await reader.readexactly(int(length.partition(":")[2]))
        if "/login/device/code" in head:
            answer: dict[str, Any] = {
                "device_code": "device",
                "user_code": "AB-12",
                "verification_uri": "https://github.test/login/device",
                "expires_in": 900,
                "interval": 0.01,
            }
        else:
            self.polled.set()
            answer = self.answer if self.agreed.is_set() else {"error": "authorization_pending"}
        body = json.dumps(answer).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n")
        writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()


@pytest.fixture
async def github() -> AsyncIterator[GitHub]:
    async with GitHub() as running:
        yield running


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


def client(tmp_path: Path, github: GitHub, models: ModelServer, capabilities: Any) -> LspClient:
    environment = {
        "GITHUB_SERVER_URL": github.url,
        "GITHUB_API_URL": models.url,
        "COPILOT_BASE_URL": models.url,
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "MAX_RETRIES": "1",
    }
    return LspClient(home=tmp_path / "home", environment=environment, capabilities=capabilities)


async def row(editor: LspClient) -> dict[str, Any]:
    found = await editor.command("chatls.provider.list")
    return next(p for p in found["data"]["providers"] if p["name"] == "copilot")


async def test_signing_in_shows_a_code_and_the_editor_keeps_the_key(
    tmp_path: Path, github: GitHub, models: ModelServer
) -> None:
    kept: list[Any] = []
    editor = client(tmp_path, github, models, KEEPS_KEYS)

    def keep(params: Any) -> dict[str, bool]:
        kept.append(params)
        return {"kept": True}

    editor.handlers["chatls/secrets/keep"] = keep
    async with editor:
        before = await row(editor)
        assert (before["available"], before["signsIn"], before["reason"]) == (False, True, "nobody is signed in")

        shown = await editor.command("chatls.provider.signIn", {"provider": "copilot"})
        assert shown["data"]["code"] == "AB-12"
        assert shown["data"]["url"] == "https://github.test/login/device"
        assert shown["data"]["expiresInSeconds"] == 900
        assert "AB-12" in shown["markdown"]
        listing = (await editor.command("chatls.provider.list"))["markdown"]
        assert "(`copilot`) gpt-6.1-sol — nobody is signed in" in listing

        waiting = editor.send_request(
            "workspace/executeCommand",
            {"command": "chatls.provider.signIn", "arguments": [{"provider": "copilot", "wait": True}]},
        )
        github.agreed.set()
        done = await editor.result(waiting)
        assert done["data"] == {"provider": "copilot", "title": "GitHub Copilot", "kept": "editor"}
        assert kept == [{"provider": "copilot", "key": TOKEN}]
        assert (await row(editor))["available"]
        listing = (await editor.command("chatls.provider.list"))["markdown"]
        (line,) = (line for line in listing.splitlines() if "`copilot`" in line)
        assert all(fact in line for fact in ("key from the editor", " tokens", "per million", "tools")), line
        answer = await editor.request("chatls/chat", {"text": "hi", "model": "copilot:gpt-6.1-sol"}, seconds=60)
        assert answer["usage"]["provider"] == "copilot"
        assert models.requests[-1].headers["authorization"] == f"Bearer {TOKEN}"
        told = json.dumps([m for m in editor.received if m.get("method") != "chatls/secrets/keep"])
        assert TOKEN not in told + editor.stderr

        await editor.command("chatls.provider.signOut", {"provider": "copilot"})
        assert kept[-1] == {"provider": "copilot", "key": ""}
        assert not (await row(editor))["available"]


async def test_a_client_that_only_runs_commands_is_told_when_it_is_done(
    tmp_path: Path, github: GitHub, models: ModelServer
) -> None:
    async with client(tmp_path, github, models, PLAIN) as editor:
        await editor.command("chatls.provider.signIn", {"provider": "copilot"})
        await github.polled.wait()
        github.agreed.set()
        told = await editor.wait_for("window/showMessage", seconds=30)
        assert "GitHub Copilot" in told["params"]["message"]
        assert "until this editor closes" in told["params"]["message"], "no keychain here, and none of ours in a file"
        assert (await row(editor))["available"]
    assert all(TOKEN not in f.read_text(errors="replace") for f in (tmp_path / "home").rglob("*") if f.is_file())


async def test_a_refused_sign_in_says_why_and_a_cancelled_one_stops(
    tmp_path: Path, github: GitHub, models: ModelServer
) -> None:
    async with client(tmp_path, github, models, KEEPS_KEYS) as editor:
        wait = {"command": "chatls.provider.signIn", "arguments": [{"provider": "copilot", "wait": True}]}
        with pytest.raises(ResponseError, match="no sign-in"):
            await editor.request("workspace/executeCommand", wait)
        with pytest.raises(ResponseError, match="has no sign-in"):
            await editor.command("chatls.provider.signIn", {"provider": "anthropic"})

        await editor.command("chatls.provider.signIn", {"provider": "copilot"})
        waiting = editor.send_request("workspace/executeCommand", wait)
        await github.polled.wait()
        editor.cancel(waiting)
        with pytest.raises(ResponseError) as cancelled:
            await editor.result(waiting)
        assert cancelled.value.code == -32800
        with pytest.raises(ResponseError, match="no sign-in"):
            await editor.request("workspace/executeCommand", wait)

        await editor.command("chatls.provider.signIn", {"provider": "copilot"})
        waiting = editor.send_request("workspace/executeCommand", wait)
        github.polled.clear()
        await github.polled.wait()
        await editor.command("chatls.provider.signIn", {"provider": "copilot", "cancel": True})
        with pytest.raises(ResponseError, match="was stopped"):
            await editor.result(waiting)

        github.answer = {"error": "access_denied"}
        github.agreed.set()
        await editor.command("chatls.provider.signIn", {"provider": "copilot"})
        with pytest.raises(ResponseError, match="refused") as refused:
            await editor.request("workspace/executeCommand", wait)
        assert refused.value.data["kind"] == "auth"
