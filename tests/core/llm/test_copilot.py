"""GitHub Copilot: the sign-in by device code, the token exchange, its renewal."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from chatls_core.config import Settings
from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.events import ModelError
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.models import Models
from chatls_core.llm.providers.copilot import CopilotBackend, DeviceSignIn
from chatls_core.llm.secret import Secret
from tests.core.llm.rig import ask
from tests.fakes.model_server import ModelServer

INFO = ModelInfo(window=1000)


class GitHub:
    """The three GitHub endpoints, answering from lists."""

    def __init__(self) -> None:
        self.polls: list[dict[str, Any]] = []
        self.tokens: list[dict[str, Any]] = []
        self.seen: list[tuple[str, str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.seen.append((self.path, self.headers.get("authorization", ""), body))
                if self.path == "/login/device/code":
                    answer: dict[str, Any] = {
                        "device_code": "dev",
                        "user_code": "AB-12",
                        "verification_uri": "https://github.test/device",
                        "expires_in": 60,
                        "interval": 5,
                    }
                else:
                    answer = outer.polls.pop(0)
                self._send(answer.pop("status", 200), answer)

            def do_GET(self) -> None:
                outer.seen.append((self.path, self.headers.get("authorization", ""), None))
                answer = outer.tokens.pop(0)
                self._send(answer.pop("status", 200), answer)

            def _send(self, status: int, answer: dict[str, Any]) -> None:
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments: object) -> None:
                return None

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def github() -> Iterator[GitHub]:
    running = GitHub()
    yield running
    running.close()


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


async def test_signing_in_waits_for_the_user(github: GitHub) -> None:
    clock = Clock()
    github.polls = [
        {"error": "authorization_pending"},
        {"error": "slow_down", "interval": 9},
        {"access_token": "gho_1"},
    ]
    sign_in = DeviceSignIn(github.url, clock.sleep, clock)
    code = await sign_in.start()
    assert (code.url, code.code) == ("https://github.test/device", "AB-12")
    assert (await sign_in.wait(code)).reveal() == "gho_1"
    assert clock.waits == [5, 5, 9]
    assert github.seen[-1][2]["device_code"] == "dev"
    await sign_in.aclose()


@pytest.mark.parametrize(
    ("polls", "told"),
    [
        ([{"error": "access_denied"}], "refused"),
        ([{"error": "expired_token"}], "not entered in time"),
        ([{"error": "authorization_pending"}] * 20, "not entered in time"),
        ([{"error": "unsupported"}], "unsupported"),
    ],
)
async def test_a_sign_in_that_fails_says_why(github: GitHub, polls: list[dict[str, Any]], told: str) -> None:
    clock = Clock()
    github.polls = list(polls)
    sign_in = DeviceSignIn(github.url, clock.sleep, clock)
    with pytest.raises(ModelError, match=told) as caught:
        await sign_in.wait(await sign_in.start())
    assert caught.value.kind == "auth"
    await sign_in.aclose()


async def test_a_lost_connection_does_not_cost_the_code(github: GitHub) -> None:
    clock = Clock()
    github.polls = [{"status": 502}, {"access_token": "gho_1"}]
    sign_in = DeviceSignIn(github.url, clock.sleep, clock)
    assert (await sign_in.wait(await sign_in.start())).reveal() == "gho_1"
    await sign_in.aclose()


def test_the_key_goes_to_no_address_without_encryption() -> None:
    variables = {"GITHUB_COPILOT_TOKEN": "gho_secret", "GITHUB_API_URL": "http://github.example.test/api"}
    rows = {row.name: row for row in Models(Settings(), {"HOME": "/nonexistent", **variables}).list()}
    assert not rows["copilot"].available
    assert "plain http" in rows["copilot"].reason


class Keychain:
    """A keychain in memory, or none that takes keys."""

    def __init__(self, *, takes: bool) -> None:
        self.takes = takes
        self.keys: dict[str, Secret] = {}

    async def read(self, names: Sequence[str]) -> Mapping[str, Secret]:
        return dict(self.keys)

    async def store(self, name: str, key: Secret) -> bool:
        if self.takes:
            self.keys[name] = key
        return self.takes

    async def delete(self, name: str) -> bool:
        return self.keys.pop(name, None) is not None


@pytest.mark.parametrize("takes", [True, False])
async def test_a_key_from_a_sign_in_is_kept_and_forgotten(takes: bool) -> None:
    keychain = Keychain(takes=takes)
    models = Models(Settings(), {"HOME": "/nonexistent"}, keychain=keychain)

    def available() -> bool:
        return next(row for row in models.list() if row.name == "copilot").available

    assert not available()
    assert await models.keep("copilot", Secret("gho_1")) is takes
    await models.refresh()
    assert available() is takes
    assert await models.keep("copilot", Secret("")) is takes
    assert not available()
    assert not keychain.keys


async def test_the_token_is_exchanged_and_renewed(github: GitHub, server: ModelServer) -> None:
    clock = Clock()
    github.tokens = [{"token": "short-1", "expires_at": 2800}, {"token": "short-2", "expires_at": 9000}]
    endpoint = Endpoint("copilot", server.url, Secret("gho_secret"), options={"github_api": github.url})
    backend = CopilotBackend(endpoint, clock)
    for now in (1000.0, 2600.0, 2700.0):
        clock.now = now
        assert [e async for e in backend.stream(ask(), "gpt", INFO)]
    sent = [r.headers["authorization"] for r in server.requests]
    assert sent == ["Bearer short-1", "Bearer short-1", "Bearer short-2"]
    assert "copilot-integration-id" in server.requests[0].headers
    assert {seen[1] for seen in github.seen} == {"token gho_secret"}
    assert "gho_secret" not in str(server.requests[0].headers)
    await backend.aclose()


async def test_an_account_without_copilot_is_an_auth_error(github: GitHub, server: ModelServer) -> None:
    github.tokens = [{"status": 403, "message": "no access"}]
    endpoint = Endpoint("copilot", server.url, Secret("gho_secret"), options={"github_api": github.url})
    backend = CopilotBackend(endpoint)
    with pytest.raises(ModelError) as caught:
        await anext(backend.stream(ask(), "gpt", INFO))
    assert caught.value.kind == "auth"
    await backend.aclose()
