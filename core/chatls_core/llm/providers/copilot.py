"""GitHub Copilot: the chat-completions wire behind a short-lived token, and the device-code sign-in for it.

The long-lived GitHub token (from the sign-in, kept in the keychain, or ``GITHUB_COPILOT_TOKEN``) is exchanged for a
token that lives half an hour; it is renewed before it ends.
"""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from chatls_core.llm.backend import Listed
from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.errors import VendorError
from chatls_core.llm.events import ModelError, ModelEvent
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.providers.http import HttpService
from chatls_core.llm.providers.openai_chat import OpenAIChatBackend
from chatls_core.llm.quirks import Quirks
from chatls_core.llm.secret import Secret
from chatls_core.llm.sign_in import DeviceCode

CLIENT_ID = "Iv1.b507a08c87ecfe98"
"""The public id of GitHub's own Copilot client for editors; a device-code sign-in has no secret."""

_RENEW_BEFORE = 120.0  # seconds
_HEADERS = {
    "Editor-Version": "ChatLS/1",
    "Copilot-Integration-Id": "vscode-chat",
    "Openai-Intent": "conversation-panel",
}
_QUIRKS = Quirks(effort={"low": "low", "medium": "medium", "high": "high", "max": "high"})


class CopilotBackend:
    """Exchanges the GitHub token and asks with the result."""

    def __init__(self, endpoint: Endpoint, clock: Callable[[], float] = time.time) -> None:
        self._endpoint = replace(endpoint, default_headers={**_HEADERS, **endpoint.default_headers})
        api = endpoint.options.get("github_api", "https://api.github.com")
        github = replace(endpoint, base_url=api)
        self._github = HttpService(github, {"Authorization": f"token {endpoint.key.reveal()}"})
        self._clock = clock
        self._chat: OpenAIChatBackend | None = None
        self._retired: list[OpenAIChatBackend] = []
        self._until = 0.0
        self._renewing = asyncio.Lock()

    async def _connected(self) -> OpenAIChatBackend:
        async with self._renewing:
            if self._chat is None or self._clock() > self._until - _RENEW_BEFORE:
                answer = await self._github.json("GET", "/copilot_internal/v2/token")
                if not isinstance(answer, dict) or not isinstance(answer.get("token"), str):
                    raise VendorError("auth", "GitHub gave no Copilot token for this account.", provider="copilot")
                if self._chat is not None:
                    self._retired.append(self._chat)  # a stream may still run on it
                self._until = float(answer.get("expires_at") or self._clock() + 600)
                endpoint = replace(self._endpoint, key=Secret(answer["token"]))
                self._chat = OpenAIChatBackend(endpoint, _QUIRKS)
            return self._chat

    async def load(self) -> None:
        """Load the SDK; a token is only asked for with a question. See :class:`Backend`."""
        await asyncio.to_thread(importlib.import_module, "openai")

    async def stream(self, request: ModelRequest, model: str, info: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """Ask once; see :class:`Backend`."""
        stream = (await self._connected()).stream(request, model, info)
        try:
            async for event in stream:
                yield event
        finally:
            await stream.aclose()

    async def count_tokens(self, request: ModelRequest, model: str, info: ModelInfo) -> int | None:
        """``None``: not offered."""
        return None

    async def list_models(self) -> Sequence[Listed]:
        """The account's models."""
        return await (await self._connected()).list_models()

    async def aclose(self) -> None:
        """Drop all connections."""
        for chat in (*self._retired, *([self._chat] if self._chat else [])):
            await chat.aclose()
        self._retired.clear()
        self._chat = None
        await self._github.aclose()


class DeviceSignIn:
    """GitHub's device-code flow. ``sleep`` and ``github`` are what a test replaces."""

    def __init__(
        self,
        github: str = "https://github.com",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._http = HttpService(Endpoint("github", github), {"Accept": "application/json"})
        self._sleep = sleep
        self._clock = clock

    async def start(self) -> DeviceCode:
        """Ask for a code. Raises ``ModelError``."""
        body = {"client_id": CLIENT_ID, "scope": "read:user"}
        answer = await self._http.json("POST", "/login/device/code", body)
        try:
            return DeviceCode(
                str(answer["verification_uri"]),
                str(answer["user_code"]),
                float(answer["expires_in"]),
                float(answer.get("interval", 5)),
                Secret(answer["device_code"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise VendorError("server", "GitHub did not start the sign-in.", provider="copilot") from error

    async def wait(self, code: DeviceCode) -> Secret:
        """The GitHub token, once the user has agreed; cancel the task to give up. Raises ``ModelError``."""
        interval = code.interval
        deadline = self._clock() + code.expires_in
        while self._clock() < deadline:
            await self._sleep(interval)
            try:
                answer: Any = await self._http.json(
                    "POST",
                    "/login/oauth/access_token",
                    {
                        "client_id": CLIENT_ID,
                        "device_code": code.device.reveal(),
                        "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
                    },
                )
            except ModelError as error:
                # The user is in the browser, typing: one lost connection must not cost them the code.
                if error.kind not in ("network", "timeout", "server", "overloaded"):
                    raise
                continue
            if token := answer.get("access_token"):
                return Secret(token)
            match answer.get("error"):
                case "authorization_pending":
                    continue
                case "slow_down":
                    interval = float(answer.get("interval", interval + 5))
                case "access_denied":
                    raise VendorError("auth", "The sign-in was refused on GitHub's page.", provider="copilot")
                case "expired_token":
                    break
                case other:
                    raise VendorError("auth", f"GitHub did not sign in ({other}).", provider="copilot")
        hint = "Start the sign-in again."
        raise VendorError("auth", "The code was not entered in time.", hint=hint, provider="copilot")

    async def aclose(self) -> None:
        """Drop all connections."""
        await self._http.aclose()
