"""Who is chosen, by which names and variables, and what is told when nobody can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from chatls_core.config import Settings, load
from chatls_core.llm.events import ModelError
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.models import Models
from chatls_core.llm.registry import providers
from chatls_core.llm.secret import Secret
from tests.core.llm.rig import KEY, ask, collect, no_wait
from tests.fakes.model_server import ErrorReply, ModelServer

NOWHERE = {"HOME": "/nonexistent"}


def models(variables: Mapping[str, str] = {}, secrets: Mapping[str, str] = {}, **settings: Any) -> Models:
    return Models(Settings.model_validate(settings), {**NOWHERE, **variables}, secrets, sleep=no_wait)


def chosen(m: Models, provider: str = "", model: str = "") -> tuple[str, str]:
    found = m.select(provider, model)
    return found.provider, found.model


def test_nobody_configured_says_what_to_do() -> None:
    with pytest.raises(ModelError) as caught:
        models().select()
    assert caught.value.kind == "no_provider"
    assert "ANTHROPIC_API_KEY" in caught.value.hint


def test_an_unknown_provider_is_named_with_the_known_ones() -> None:
    with pytest.raises(ModelError, match="nonsense") as caught:
        models().select("nonsense")
    assert caught.value.kind == "no_provider"
    assert "anthropic" in caught.value.hint


def test_a_provider_without_key_names_its_variable() -> None:
    with pytest.raises(ModelError) as caught:
        models({"OPENAI_API_KEY": KEY}).select("claude")
    assert "ANTHROPIC_API_KEY" in caught.value.hint


@pytest.mark.parametrize(
    ("word", "provider"),
    [
        ("CLAUDEAI", "anthropic"),
        ("anthropic", "anthropic"),
        ("Claude", "anthropic"),
        ("OPENAI", "openai"),
        ("OPENAI_RESPONSES", "openai_responses"),
        ("GOOGLEAI", "google"),
        ("gemini", "google"),
        ("XAI", "xai"),
        ("x-ai", "xai"),
        ("ZAI", "zai"),
        ("z.ai", "zai"),
        ("MINIMAX", "minimax"),
        ("MOONSHOT", "moonshot"),
        ("OPENROUTER", "openrouter"),
        ("GITHUB_MODELS", "github_models"),
        ("OLLAMA", "ollama"),
        ("lm-studio", "lmstudio"),
    ],
)
def test_chatcli_and_vendor_names_are_accepted(word: str, provider: str) -> None:
    keys = {name: KEY for spec in providers().values() for name in spec.key_env}
    m = models({**keys, "OLLAMA_BASE_URL": "http://127.0.0.1:9", "LMSTUDIO_BASE_URL": "http://127.0.0.1:9/v1"})
    assert chosen(m, word)[0] == provider
    m.configure(Settings.model_validate({"provider": word}))
    assert chosen(m)[0] == provider


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}, ("anthropic", "claude-sonnet-5-5")),
        ({"CLAUDEAI_API_KEY": KEY, "CLAUDEAI_MODEL": "claude-x"}, ("anthropic", "claude-x")),
        ({"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_MODEL": "first", "CLAUDEAI_MODEL": "second"}, ("anthropic", "first")),
        ({"OPENAI_API_KEY": KEY, "OPENAI_MODEL": "gpt-x"}, ("openai", "gpt-x")),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, ("openai", "gpt-6-sol")),
        ({"XAI_API_KEY": KEY}, ("xai", "grok-4.7")),
        ({"GITHUB_TOKEN": KEY, "OLLAMA_HOST": "0.0.0.0:9"}, ("ollama", "gpt-oss:20b")),
        ({"OPENAI_API_KEY": KEY, "OPENAI_USE_RESPONSES": "true"}, ("openai_responses", "gpt-6-sol")),
        ({"ANTHROPIC_API_KEY": KEY, "XAI_API_KEY": KEY, "LLM_PROVIDER": "XAI", "LLM_MODEL": "m"}, ("xai", "m")),
    ],
)
def test_the_environment_chooses(variables: dict[str, str], expected: tuple[str, str]) -> None:
    settings = load(variables).settings
    assert chosen(Models(settings, {**NOWHERE, **variables})) == expected


def test_settings_beat_the_environment_and_the_caller_beats_both() -> None:
    both = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "env"}
    m = models(both, provider="openai", providers={"OPENAI": {"model": "setting"}})
    assert chosen(m) == ("openai", "setting")
    assert chosen(m, model="mine") == ("openai", "mine")
    assert chosen(m, "claude") == ("anthropic", "claude-sonnet-5-5")
    assert chosen(m, model="anthropic:claude-y") == ("anthropic", "claude-y")
    assert chosen(m, model="gpt-oss:20b") == ("openai", "gpt-oss:20b")
    assert chosen(models(both, provider="openai", model="general"), "claude")[1] == "claude-sonnet-5-5"


async def test_a_full_endpoint_is_an_address_too(server: ModelServer) -> None:
    for variables, name in (
        ({"OPENAI_API_URL": f"{server.url}/v1/chat/completions"}, "openai"),
        ({"ANTHROPIC_BASE_URL": f"{server.url}/v1/messages", "ANTHROPIC_API_KEY": KEY}, "anthropic"),
        ({"ANTHROPIC_BASE_URL": f"{server.url}/v1/", "ANTHROPIC_API_KEY": KEY}, "anthropic"),
        ({"OLLAMA_BASE_URL": f"{server.url}/v1"}, "ollama"),
    ):
        assert (await collect(models(variables).select(name), ask("hi"))).text == "Echo: hi"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://api.example.com/v1", "plain http"),
        ("ftp://x", "no http"),
        ("file:///x", "no http"),
        ("https://user:pass@api.example.com/v1", "user name or password"),
    ],
)
def test_addresses_that_would_leak_keys_are_refused(url: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason) as caught:
        models({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url}).select("openai")
    assert caught.value.kind == "no_provider"
    assert "pass@" not in str(caught.value)


def test_plain_http_is_possible_when_the_user_says_so() -> None:
    variables = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://api.example.com/v1"}
    assert chosen(models(variables, allowHttp=True), "openai")[0] == "openai"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "[::1]", "models.localhost"])
def test_loopback_needs_neither_https_nor_key(host: str) -> None:
    assert chosen(models({"OPENAI_BASE_URL": f"http://{host}:9/v1"}))[0] == "openai"


async def test_keys_of_the_editor_come_first_and_change(server: ModelServer) -> None:
    variables = {"ANTHROPIC_API_KEY": "env-key-123456", "ANTHROPIC_BASE_URL": server.url}
    m = models(variables, {"CLAUDEAI": "editor-key-123"})
    await collect(m.select(), ask())
    m.configure(Settings(), {"anthropic": "new-key-123456"})
    await collect(m.select(), ask())
    m.configure(Settings(), {})
    await collect(m.select(), ask())
    sent = [r.headers["x-api-key"] for r in server.requests]
    assert sent == ["editor-key-123", "new-key-123456", "env-key-123456"]
    await m.aclose()


async def test_a_redirect_takes_no_key_to_another_host(server: ModelServer) -> None:
    async with ModelServer() as elsewhere:
        for variables, name in (
            ({"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY}, "anthropic"),
            ({"OPENAI_BASE_URL": server.url + "/v1", "OPENAI_API_KEY": KEY}, "openai"),
            ({"GEMINI_BASE_URL": server.url, "GEMINI_API_KEY": KEY}, "google"),
        ):
            server.script(ErrorReply(307, headers={"Location": elsewhere.url + "/v1/messages"}))
            outcome = await collect(models(variables).select(name), ask())
            assert outcome.error is not None
            assert outcome.error.kind == "bad_request"
        assert elsewhere.requests == []


async def test_the_sdk_takes_nothing_from_the_process_environment(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, "from-the-process")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    m = models({"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY, "OPENAI_BASE_URL": server.url + "/v1"})
    for name in ("anthropic", "openai"):
        assert (await collect(m.select(name), ask("hi"))).text == "Echo: hi"
    assert "from-the-process" not in "".join(str(r.headers) for r in server.requests)


async def test_services_on_this_machine_are_found(server: ModelServer) -> None:
    m = models({"OLLAMA_BASE_URL": server.url})
    await m.refresh()
    assert chosen(m) == ("ollama", "claude-sonnet-5-5"), "the first model that is installed"
    status = next(s for s in m.list() if s.name == "ollama")
    assert status.available
    assert {x.name for x in status.models} == set(server.models)
    assert status.models[0].info.window == 8192
    await m.aclose()


async def test_a_service_that_is_gone_is_not_listed() -> None:
    m = models()
    await m.refresh()
    status = {s.name: s for s in m.list()}
    assert not status["compatible"].available
    assert status["compatible"].reason == "no address is configured"
    assert "ANTHROPIC_API_KEY" in status["anthropic"].reason


async def test_limits_and_effort_come_from_the_settings(server: ModelServer) -> None:
    variables = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY}
    m = models(variables, effort="low", providers={"anthropic": {"maxOutputTokens": 777}})
    await collect(m.select(), ask())
    assert server.requests[-1].json["max_tokens"] == 777
    assert server.requests[-1].json["output_config"] == {"effort": "low"}
    await collect(m.select(), ask(max_output_tokens=55, effort="high"))
    assert server.requests[-1].json["max_tokens"] == 55
    assert server.requests[-1].json["output_config"] == {"effort": "high"}
    await collect(models({**variables, "CLAUDEAI_MAX_TOKENS": "888"}).select(), ask())
    assert server.requests[-1].json["max_tokens"] == 888


async def test_a_request_may_name_another_model(server: ModelServer) -> None:
    m = models({"OPENAI_BASE_URL": server.url + "/v1"})
    await collect(m.select(), ModelRequest(ask().messages, model="tiny"))
    assert server.requests[-1].model == "tiny"


class MemoryKeychain:
    def __init__(self, keys: dict[str, str]) -> None:
        self.keys = keys

    async def read(self, names: Sequence[str]) -> Mapping[str, Secret]:
        return {n: Secret(self.keys[n]) for n in names if n in self.keys}

    async def store(self, name: str, key: Secret) -> bool:
        return False

    async def delete(self, name: str) -> bool:
        return False


async def test_the_keychain_is_asked_last(server: ModelServer) -> None:
    keychain = MemoryKeychain({"anthropic": "chain-key-123456", "openai": "chain-key-654321"})
    variables = {**NOWHERE, "ANTHROPIC_BASE_URL": server.url, "OPENAI_API_KEY": "env-key-654321"}
    m = Models(Settings(), {**variables, "OPENAI_BASE_URL": server.url + "/v1"}, keychain=keychain, sleep=no_wait)
    await m.refresh()
    await collect(m.select("anthropic"), ask())
    await collect(m.select("openai"), ask())
    assert server.requests[0].headers["x-api-key"] == "chain-key-123456"
    assert server.requests[1].headers["authorization"] == "Bearer env-key-654321"


async def test_listings_are_kept_for_a_day(server: ModelServer, tmp_path: Path) -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    variables = {**NOWHERE, "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY}

    def fresh() -> Models:
        return Models(Settings(), variables, home=tmp_path, clock=lambda: now)

    async def names() -> set[str]:
        m = fresh()
        await m.refresh_listings()
        return {x.name for x in next(s for s in m.list() if s.name == "anthropic").models}

    assert set(server.models) <= await names()
    server.models = ("claude-new",)
    assert "claude-new" not in await names()
    now += timedelta(days=1, seconds=1)
    assert "claude-new" in await names()
    server.models = ("claude-newer",)
    now -= timedelta(days=400)  # a clock that jumped back must not keep a listing for ever
    assert "claude-newer" in await names()
    assert KEY not in (tmp_path / "cache" / "models.json").read_text()


async def test_a_temperature_reaches_the_models_that_take_one(server: ModelServer) -> None:
    m = models({"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY})
    for name in ("claude-3-5-sonnet-20241022", "claude-sonnet-5-5"):
        assert (await collect(m.select("anthropic", name), ask("hi", temperature=0.3))).error is None
    assert [r.json.get("temperature") for r in server.requests] == [0.3, None]
