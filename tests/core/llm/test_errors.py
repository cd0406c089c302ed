"""Failures are told apart by status, code and class; Retry-After is understood in every form."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.errors import http_error, is_retryable, retry_after_seconds
from chatls_core.llm.secret import Secret
from tests.core.llm.rig import Wire, ask, collect, models_for
from tests.fakes.model_server import ErrorReply, ModelServer, Reply

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
THERE = Endpoint("acme", "https://api.acme.test", Secret("sk-very-secret-key"))


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "7"}, None, 7.0),
        ({"retry-after": "1.5"}, None, 1.5),
        ({"retry-after": "0"}, None, 0.0),
        ({"retry-after": "-3"}, None, 0.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, None, 30.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:59:30 GMT"}, None, 0.0),
        ({"retry-after": "Sunday, 01-Mar-26 12:00:30 GMT"}, None, 30.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, None, 0.25),
        ({"retry-after": "soon"}, None, None),
        ({}, {"error": {"details": [{"@type": "x/RetryInfo", "retryDelay": "12.5s"}]}}, 12.5),
        ({}, {"error": {"details": "none"}}, None),
        ({}, "text", None),
    ],
)
def test_retry_after_forms(headers: dict[str, str], body: object, seconds: float | None) -> None:
    assert retry_after_seconds(headers, body, now=NOW) == seconds


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "2.5"}, 2.5),
        ({"retry-after-ms": "40"}, 0.04),
        ({"Retry-After": "Sun, 01 Mar 2020 12:00:00 GMT"}, 0.0),
    ],
)
async def test_the_service_decides_how_long_is_waited(
    wire: Wire, server: ModelServer, headers: dict[str, str], wait: float
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    server.script(ErrorReply(429, headers=headers), Reply(text="ok"))
    models = models_for(wire, server, sleep=sleep)
    assert (await collect(models.select(wire.provider), ask())).text == "ok"
    assert waits == [wait]


async def test_a_long_retry_after_is_told_not_slept(wire: Wire, server: ModelServer) -> None:
    server.script(ErrorReply(429, retry_after=3600))
    outcome = await collect(models_for(wire, server).select(wire.provider), ask())
    assert outcome.error is not None
    assert outcome.error.kind == "rate_limit"
    assert outcome.error.retry_after == 3600
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "body", "kind", "again"),
    [
        (429, {"error": {"code": "insufficient_quota", "message": "You exceeded your quota"}}, "rate_limit", False),
        (400, {"error": {"code": "context_length_exceeded", "message": "x"}}, "context_overflow", False),
        (400, {"error": {"code": 400, "type": "exceed_context_size_error", "message": "x"}}, "context_overflow", False),
        (400, {"error": {"message": "maximum context length is 8192 tokens"}}, "context_overflow", False),
        (400, {"error": {"message": "The input token count (9) exceeds the limit"}}, "context_overflow", False),
        (400, {"error": {"type": "invalid_request_error", "message": "max_tokens: too small"}}, "bad_request", False),
        (400, {"error": "model 'nope' not found"}, "model_not_found", False),
        (404, {"error": "model 'nope' not found"}, "model_not_found", False),
        (400, {"error": {"message": "error 500 in line 429 of your prompt, 503 more"}}, "bad_request", False),
        (200, {"error": {"message": "busy", "type": "overloaded_error"}}, "overloaded", True),
        (500, [{"error": {"status": "INTERNAL", "message": "x"}}], "server", True),
        (0, {"error": {"status": "RESOURCE_EXHAUSTED", "message": "x"}}, "rate_limit", True),
        (0, {"type": "error", "error": {"type": "api_error", "message": "x"}}, "server", True),
        (302, "", "bad_request", False),
        (418, "", "bad_request", False),
        (599, "", "server", True),
        (529, "", "overloaded", True),
        (402, "", "auth", False),
    ],
)
def test_classification(status: int, body: object, kind: str, again: bool) -> None:
    error = http_error(THERE, status, {}, body)
    assert error.kind == kind
    assert is_retryable(error) == again
    assert error.hint


def test_the_service_may_forbid_another_try() -> None:
    assert not is_retryable(http_error(THERE, 500, {"x-should-retry": "false"}, ""))


@pytest.mark.parametrize("body", [b"\xff\xfe", "", None, [], {"error": None}, {"error": {"message": {"deep": 1}}}, 7])
def test_any_body_gives_an_error_in_one_short_line(body: object) -> None:
    error = http_error(THERE, 500, {}, body)
    assert "\n" not in str(error)
    assert len(str(error)) < 400


def test_keys_in_messages_are_masked() -> None:
    body = {"error": {"message": "Key sk-very-secret-key is wrong, so is sk-ant-REDACTED"}}
    text = str(http_error(THERE, 401, {}, body))
    assert "sk-very-secret-key" not in text
    assert "api03-abcdefghij" not in text


def test_a_secret_hides_itself() -> None:
    assert "sk-very" not in f"{Secret('sk-very-secret-key')} {Secret('sk-very-secret-key')!r} {THERE}"
