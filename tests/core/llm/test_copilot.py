"""GitHub Copilot: the sign-in by device code, the token exchange, its renewal."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.events import ModelError
from chatls_core.llm.model import ModelInfo
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
                self._send(200, answer)

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
