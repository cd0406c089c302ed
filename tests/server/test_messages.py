"""Every request is answered, every name arrives, nothing that is malformed takes the server down."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from chatls_server.lsp.frames import MAX_FRAME_BYTES
from tests.fakes.lsp_client import LspClient, ResponseError

PROBE = ("-m", "tests.server.probe")

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(home: Path) -> AsyncIterator[LspClient]:
    async with LspClient(home=home, arguments=PROBE) as client:
        yield client
        assert client.process.returncode is None, client.stderr


@pytest.fixture
def client(shared: LspClient) -> LspClient:
    shared.received.clear()
    return shared


async def error_of(client: LspClient, method: str, params: Any = None) -> ResponseError:
    with pytest.raises(ResponseError) as caught:
        await client.request(method, params)
    return caught.value


async def test_names_that_are_keywords_or_no_identifiers_arrive(client: LspClient) -> None:
    params = {"from": 1, "class": 2, "_x": 3, "a.b": 4, "type_name": 5, "jsonrpc": "9", "ü": None}
    assert await client.request("chatls/test/echo", params) == params


async def test_a_nested_jsonrpc_key_is_data(client: LspClient) -> None:
    params = {"inner": {"jsonrpc": "2.0", "id": 1, "method": "x"}}
    assert await client.request("chatls/test/echo", params) == params


async def test_models_carry_their_wire_names(client: LspClient) -> None:
    answer = await client.request("chatls/test/named", {"from": "f", "count": 1, "unknown": True})
    assert answer == {"from": "f", "count": 1, "items": []}


@pytest.mark.parametrize(
    ("params", "named"),
    [
        (None, "from"),
        ({"from": "f", "count": "many"}, "count"),
        ({"from": "f", "count": 1, "items": [{"uri": "a"}, {"uri": 5}]}, r"items[1].uri"),
        ([1], "an object was expected"),
        ("text", "an object was expected"),
    ],
)
async def test_bad_parameters_are_answered_naming_the_field(client: LspClient, params: Any, named: str) -> None:
    error = await error_of(client, "chatls/test/named", params)
    assert error.code == -32602
    assert named in error.message
    with pytest.raises(ResponseError) as caught:
        await client.request(
            "workspace/executeCommand", {"command": "chatls.test.named", "arguments": [params] if params else []}
        )
    assert caught.value.code == -32602


async def test_the_value_of_a_bad_parameter_is_not_repeated(client: LspClient) -> None:
    error = await error_of(client, "chatls/test/named", {"from": "f", "count": "hunter2-secret"})
    assert "hunter2" not in error.message


@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        {"command": 3},
        {"command": "chatls.test.unknown"},
        {"command": "chatls.test.named", "arguments": [1, 2]},
    ],
)
async def test_a_malformed_command_is_answered(client: LspClient, params: Any) -> None:
    assert (await error_of(client, "workspace/executeCommand", params)).code == -32602


async def test_unknown_requests_are_answered(client: LspClient) -> None:
    assert (await error_of(client, "chatls/nothing", {})).code == -32601
    assert (await error_of(client, "textDocument/rename", {"textDocument": 1})).code == -32601


async def test_unknown_and_malformed_notifications_leave_the_server_alive(client: LspClient) -> None:
    client.notify("$/whatever", {"x": 1})
    client.notify("chatls/unheard", {"x": 1})
    client.notify("textDocument/didChange", {"textDocument": 7})
    client.notify("textDocument/didOpen", None)
    client.notify("$/cancelRequest", {"id": "no such request"})
    client.notify("$/cancelRequest", None)
    assert await client.request("chatls/test/echo", {"still": "here"}) == {"still": "here"}
    assert client.notifications("window/showMessage") == []


async def test_malformed_json_is_answered_and_forgotten(client: LspClient) -> None:
    client.send_bytes(b'{"jsonrpc": "2.0", "id": 4711, "method": "x", "params": {')
    answer = await client.wait_for(lambda m: m.get("error", {}).get("code") == -32700)
    assert answer["id"] == 4711
    client.send_bytes(b"\xff\xfe")
    await client.wait_for(lambda m: m.get("error", {}).get("code") == -32700 and m["id"] is None)
    client.send_bytes(b"[" * 100_000)
    assert await client.request("chatls/test/echo", {"still": 1}) == {"still": 1}
    assert client.notifications("window/showMessage") == []


@pytest.mark.parametrize(
    "message",
    [
        [],
        [{"jsonrpc": "2.0", "id": 1, "method": "a"}],
        7,
        {"id": 5, "method": "x"},
        {"jsonrpc": "1.0", "id": 5, "method": "x"},
        {"jsonrpc": "2.0", "id": 5, "method": 5},
        {"jsonrpc": "2.0", "id": {"a": 1}, "method": "x"},
        {"jsonrpc": "2.0", "id": None, "method": "x"},
        {"jsonrpc": "2.0"},
    ],
)
async def test_what_is_no_message_is_answered(client: LspClient, message: Any) -> None:
    client.send(message)
    await client.wait_for(lambda m: m.get("error", {}).get("code") == -32600)
    assert await client.request("chatls/test/echo", {"still": 1}) == {"still": 1}


async def test_headers_in_any_case_and_blank_blocks_are_read(client: LspClient) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": "low", "method": "chatls/test/echo", "params": {"a": 1}}).encode()
    client.send_bytes(b"", b"X-Nothing: 1\r\n\r\n")
    client.send_bytes(b"", b"garbage without a colon\r\nContent-Length: many\r\n\r\n")
    client.send_bytes(body, b"content-type: application/vscode-jsonrpc\r\ncontent-length:%d\r\n\r\n" % len(body))
    answer = await client.wait_for(lambda m: m.get("id") == "low")
    assert answer["result"] == {"a": 1}


async def test_a_frame_above_the_limit_is_refused_by_its_id_and_skipped(client: LspClient) -> None:
    head = b'{"jsonrpc":"2.0","id":"big","method":"chatls/test/echo","params":{"x":"'
    client.send_bytes(head + b"x" * (MAX_FRAME_BYTES - len(head) + 1))
    answer = await client.wait_for(lambda m: m.get("id") == "big", seconds=30)
    assert answer["error"]["code"] == -32600
    assert await client.request("chatls/test/echo", {"still": 1}) == {"still": 1}


async def test_a_large_message_arrives_whole(client: LspClient) -> None:
    mentions = [{"uri": f"file:///w/{number}.py"} for number in range(20_000)]
    assert await client.request("chatls/test/size", {"mentions": mentions}) == {"items": 20_000}


async def test_lone_surrogates_survive_the_round_trip(client: LspClient) -> None:
    assert await client.request("chatls/test/echo", {"text": "\ud800 é 😀"}) == {"text": "\ud800 é 😀"}


async def test_an_internal_error_is_one_sentence_for_the_client_and_a_traceback_in_the_log(
    client: LspClient, home: Path
) -> None:
    error = await error_of(client, "chatls/test/fail")
    assert error.code == -32603
    assert "chatls/test/fail" in error.message
    assert "Traceback" not in json.dumps([error.message, error.data])
    assert "a1a1" not in error.message
    log = (home / ".chatcli" / "logs" / "chatls.log").read_text()
    assert "Traceback" in log
    assert "ZeroDivisionError" in log
    assert "a1a1a1" not in log


async def test_a_result_that_is_no_json_is_an_error_not_silence(client: LspClient) -> None:
    assert (await error_of(client, "chatls/test/unsendable")).code == -32603


async def test_a_models_failure_carries_kind_provider_wait_and_hint(client: LspClient) -> None:
    error = await error_of(client, "chatls/test/model")
    assert error.code == -32010
    assert error.data == {
        "kind": "rate_limit",
        "provider": "anthropic",
        "retryAfterSeconds": 7,
        "hint": "Wait a minute.",
    }


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("chatls/test/sleep", {}, "request"),
        ("workspace/executeCommand", {"command": "chatls.test.sleep", "arguments": [{}]}, "command"),
    ],
)
async def test_cancelling_stops_the_work_itself(client: LspClient, method: str, params: Any, name: str) -> None:
    running = client.send_request(method, params)
    await client.wait_for("chatls/test/sleeping")
    client.cancel(running)
    with pytest.raises(ResponseError) as caught:
        await client.result(running, seconds=2)
    assert caught.value.code == -32800
    assert name in (await client.request("chatls/test/cancelled"))["names"]


async def test_requests_run_side_by_side(client: LspClient) -> None:
    slow = client.send_request("chatls/test/sleep", {"seconds": 0.3})
    assert await client.request("chatls/test/echo", {"quick": 1}, seconds=0.25) == {"quick": 1}
    assert await client.result(slow) == {"slept": True}


async def test_an_id_in_use_is_refused(client: LspClient) -> None:
    running = client.send_request("chatls/test/sleep", {"seconds": 0.2})
    client.send({"jsonrpc": "2.0", "id": running, "method": "chatls/test/echo", "params": {}})
    with pytest.raises(ResponseError) as caught:
        await client.result(running)
    assert caught.value.code == -32600


async def test_noise_on_standard_output_does_not_reach_the_client(client: LspClient) -> None:
    assert await client.request("chatls/test/print") == {"printed": True}
    assert await client.request("chatls/test/echo", {"still": 1}) == {"still": 1}


async def test_a_late_answer_is_withdrawn_and_then_ignored(client: LspClient) -> None:
    answered = asyncio.Event()

    async def answer_late(_params: Any) -> str:
        await client.wait_for("$/cancelRequest")
        answered.set()
        return "too late"

    client.handlers["test/question"] = answer_late
    assert await client.request("chatls/test/ask", {"seconds": 0.05}) == {"answer": "late"}
    await answered.wait()
    asked = next(m for m in client.requests_received if m["method"] == "test/question")
    assert client.notifications("$/cancelRequest")[0] == {"id": asked["id"]}
    assert await client.request("chatls/test/echo", {"still": 1}) == {"still": 1}
    assert client.notifications("window/showMessage") == []


async def test_cancelling_a_request_withdraws_what_it_asked(client: LspClient) -> None:
    client.handlers["test/question"] = lambda _params: asyncio.get_running_loop().create_future()
    running = client.send_request("chatls/test/ask", {"seconds": 60})
    await client.wait_for("test/question")
    client.cancel(running)
    with pytest.raises(ResponseError) as caught:
        await client.result(running)
    assert caught.value.code == -32800
    await client.wait_for("$/cancelRequest")


@pytest.mark.parametrize("answer", [None, 5, {"applied": "?"}, []])
async def test_any_answer_of_the_client_resolves_our_question(client: LspClient, answer: Any) -> None:
    client.handlers["test/question"] = lambda _params: answer
    assert await client.request("chatls/test/ask", {"seconds": 5}) == {"answer": answer}


async def test_traces_are_sent_when_asked_for_and_hold_no_secrets(client: LspClient) -> None:
    client.notify("$/setTrace", {"value": "verbose"})
    client.notify("chatls/secrets", {"anthropic": "sk-ant-api03-" + "Zz9" * 20})
    await client.request("chatls/test/echo", {"seen": "yes", "password": "hunter2hunter2"})
    client.notify("$/setTrace", {"value": "off"})
    await client.request("chatls/test/echo", {})
    traces = json.dumps(client.notifications("$/logTrace"))
    assert "chatls/test/echo" in traces
    assert "seen" in traces
    assert "Zz9Zz9" not in traces
    before = len(client.notifications("$/logTrace"))
    await client.request("chatls/test/echo", {})
    assert len(client.notifications("$/logTrace")) == before


async def test_logs_are_redacted_in_the_file_and_in_the_editor(client: LspClient, home: Path) -> None:
    await client.request("chatls/test/log")
    shown = await client.wait_for("window/logMessage")
    assert "the key is" in shown["params"]["message"]
    assert "Ab1Ab1" not in json.dumps(shown)
    assert "Ab1Ab1" not in (home / ".chatcli" / "logs" / "chatls.log").read_text()
