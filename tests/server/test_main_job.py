"""The main job over stdio: chat, edit, obey, remember, as any LSP client drives it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.lsp_client import PLAIN, RICH, Buffer, LspClient, ResponseError, split_lines, uri_of
from tests.fakes.model_server import Call, ErrorReply, ModelServer, Reply

pytestmark = pytest.mark.timeout(180)  # each test starts a real server; a busy machine takes its time


def progress(kind: str, delta: str = "") -> Callable[[dict[str, Any]], bool]:
    """Accepts a progress event of that kind whose delta begins so."""

    def accepts(message: dict[str, Any]) -> bool:
        value = message.get("params", {}).get("value", {}) if message.get("method") == "$/progress" else {}
        return value.get("kind") == kind and str(value.get("delta", "")).startswith(delta)

    return accepts


def retype(editor: LspClient, buffer: Buffer, text: str) -> None:
    """The user's buffer now holds ``text``."""
    last = len(split_lines(buffer.text)) - 1
    end = {"line": last, "character": len(split_lines(buffer.text)[last])}
    editor.type(buffer, text, line=0, character=0, end=end)


def system_of(body: Any) -> str:
    return "".join(part["text"] for part in body["system"])


def last_words(body: Any) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else "\n".join(str(p.get("text", p)) for p in content)


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    root.mkdir()
    return root


def client(tmp_path: Path, workspace: Path, models: ModelServer, **more: Any) -> LspClient:
    environment = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": models.url, "MAX_RETRIES": "1"}
    return LspClient(
        home=tmp_path / "home",
        root=workspace,
        environment={**environment, **more.pop("environment", {})},
        settings=more.pop("settings", {"edits": {"review": "auto"}}),
        **more,
    )


async def test_the_answer_streams_before_the_model_is_done(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    models.script(Reply(text="one two three", hold=(2,)))
    async with client(tmp_path, workspace, models) as editor:
        request = editor.send_request("chatls/chat", {"text": "count", "partialResultToken": "t"})
        await editor.wait_for(progress("text"), seconds=60)
        await models.wait_held()
        models.release()
        result = await editor.result(request)
        assert result["text"] == "one two three"
        assert result["stopReason"] == "end"
        assert result["usage"]["provider"] == "anthropic"
        values = editor.progress("t")
        assert "".join(v["delta"] for v in values if v["kind"] == "text") == "one two three"
        assert [v["seq"] for v in values] == list(range(1, len(values) + 1))
        assert {v["turnId"] for v in values} == {result["turnId"]}


async def test_cancel_closes_the_model_connection_and_the_next_request_works(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    models.script(Reply(text="one two three", stall_after=1))
    async with client(tmp_path, workspace, models) as editor:
        request = editor.send_request("chatls/chat", {"text": "go", "sessionId": "s", "partialResultToken": 1})
        await editor.wait_for(progress("text"), seconds=60)
        editor.cancel(request)
        with pytest.raises(ResponseError) as failure:
            await editor.result(request)
        assert failure.value.code == -32800
        await asyncio.wait_for(models.requests[0].closed.wait(), 2)
        result = await editor.request("chatls/chat", {"text": "again", "sessionId": "s"})
        assert result["stopReason"] == "end"
        assert "one" in str(models.requests[-1].json["messages"])


async def test_twenty_turns_one_system_text(tmp_path: Path, workspace: Path, models: ModelServer) -> None:
    (workspace / "AGENTS.md").write_text("Answer in haiku.\n")
    async with client(tmp_path, workspace, models) as editor:
        for n in range(20):
            await editor.request("chatls/chat", {"text": f"question {n}", "sessionId": "s"})
    assert len({system_of(r.json) for r in models.requests}) == 1
    assert "Answer in haiku." in system_of(models.requests[0].json)


async def test_saving_agents_md_changes_the_next_turn_and_is_announced(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    file = workspace / "AGENTS.md"
    file.write_text("Use tabs.\n")
    async with client(tmp_path, workspace, models) as editor:
        await editor.request("chatls/chat", {"text": "one", "sessionId": "s"})
        buffer = editor.open(file)
        retype(editor, buffer, "Use spaces.\n")
        editor.save(buffer)
        change = await editor.wait_for("chatls/instructionsChanged")
        assert change["params"]["changed"] == [uri_of(file)]
        await editor.request("chatls/chat", {"text": "two", "sessionId": "s"})
        assert "Use spaces." in last_words(models.requests[-1].json)


async def test_a_change_from_outside_is_noticed_by_a_client_without_watchers(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    async with client(tmp_path, workspace, models, capabilities=PLAIN) as editor:
        await editor.request("chatls/chat", {"text": "one", "sessionId": "s"})
        (workspace / "AGENTS.md").write_text("Be brief.\n")
        await editor.wait_for("chatls/instructionsChanged")
        await editor.request("chatls/chat", {"text": "two", "sessionId": "s"})
        assert "Be brief." in last_words(models.requests[-1].json)


async def test_an_edit_reaches_the_buffer_as_a_minimal_versioned_change(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    file = workspace / "app.py"
    file.write_text("def add(a, b):\n    return a - b\n")
    edit = Call("edit_file", {"path": "app.py", "old_text": "a - b", "new_text": "a + b"})
    models.script(Reply(tool_calls=(Call("read_file", {"path": "app.py"}), edit)), Reply(text="Fixed."))
    async with client(tmp_path, workspace, models) as editor:
        buffer = editor.open(file)
        result = await editor.request("chatls/chat", {"text": "fix", "mode": "coder", "partialResultToken": "t"})
        assert buffer.text == "def add(a, b):\n    return a + b\n"
        assert file.read_text() == "def add(a, b):\n    return a - b\n"
        assert result["edits"] == [{"uri": uri_of(file), "applied": True}]
        kinds = [v["kind"] for v in editor.progress("t")]
        assert [k for k in kinds if k in ("tool_start", "tool_end", "edit")] == [
            "tool_start", "tool_end", "tool_start", "edit", "tool_end",
        ]  # fmt: skip
        sent = next(r for r in editor.requests_received if r["method"] == "workspace/applyEdit")
        change = sent["params"]["edit"]["documentChanges"][0]
        assert change["textDocument"]["version"] == 1
        assert len(change["edits"]) == 1
        assert len(change["edits"][0]["newText"]) < len("    return a + b\n")


async def test_a_plain_client_gets_its_file_on_disk(tmp_path: Path, workspace: Path, models: ModelServer) -> None:
    file = workspace / "app.py"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    file.chmod(0o754)
    edit = Call("edit_file", {"path": "app.py", "old_text": "two", "new_text": "2"})
    models.script(Reply(tool_calls=(edit,)), Reply(text="ok"))
    options = {"settings": {"edits": {"review": "auto"}}}
    async with client(tmp_path, workspace, models, capabilities=PLAIN, options=options) as editor:
        result = await editor.command("chatls.chat.send", {"text": "go", "mode": "coder"})
        assert result["data"]["edits"][0]["applied"]
    assert file.read_bytes() == b"\xef\xbb\xbfone\r\n2"
    assert file.stat().st_mode & 0o777 == 0o754


async def test_review_asks_the_client_and_a_denial_is_told(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    file = workspace / "app.py"
    file.write_text("one\n")
    edit = Call("edit_file", {"path": "app.py", "old_text": "one", "new_text": "two"})
    models.script(Reply(tool_calls=(edit,)), Reply(text="ok"), Reply(tool_calls=(edit,)), Reply(text="ok"))
    async with client(tmp_path, workspace, models, settings={}, capabilities=RICH) as editor:
        asked: list[Any] = []

        def approve(params: Any) -> Any:
            asked.append(params)
            return {"optionId": params["options"][0 if len(asked) > 1 else -1]["id"]}

        editor.handlers["chatls/approve"] = approve
        buffer = editor.open(file)
        await editor.request("chatls/chat", {"text": "go", "mode": "coder", "sessionId": "s"})
        assert buffer.text == "one\n"
        assert asked[0]["edits"][0]["uri"] == uri_of(file)
        assert "rejected" in str(models.requests[-1].json["messages"][-1])
        await editor.request("chatls/chat", {"text": "go again", "mode": "coder", "sessionId": "s"})
        assert buffer.text == "two\n"


async def test_undo_of_a_turn_restores_and_can_be_undone(tmp_path: Path, workspace: Path, models: ModelServer) -> None:
    file = workspace / "app.py"
    file.write_text("one\ntwo\nthree\n")
    edit = Call("edit_file", {"path": "app.py", "old_text": "two", "new_text": "2"})
    models.script(Reply(tool_calls=(edit,)), Reply(text="ok"))
    async with client(tmp_path, workspace, models) as editor:
        buffer = editor.open(file)
        result = await editor.request("chatls/chat", {"text": "go", "mode": "coder"})
        retype(editor, buffer, "zero\none\n2\nthree\n")
        undone = await editor.command("chatls.edits.undo", {"turnId": result["turnId"]})
        assert buffer.text == "zero\none\ntwo\nthree\n"
        await editor.command("chatls.edits.undo", {"turnId": undone["data"]["undoToken"]})
        assert buffer.text == "zero\none\n2\nthree\n"


async def test_remember_recall_restart_forget_undo(tmp_path: Path, workspace: Path, models: ModelServer) -> None:
    async with client(tmp_path, workspace, models) as editor:
        done = await editor.command("chatls.memory.remember", {"content": "The staging database is called heron"})
        assert done["data"]["added"]
        await editor.wait_for("chatls/memoryChanged")
    async with client(tmp_path, workspace, models) as editor:
        found = await editor.command("chatls.memory.recall", {"query": "staging database"})
        assert "heron" in found["data"]["items"][0]["text"]
        assert "heron" in found["markdown"]
        listed = await editor.command("chatls.memory.facts", {})
        assert listed["data"]["total"] == 1
        await editor.request("chatls/chat", {"text": "what is the staging database called?"})
        assert "heron" in last_words(models.requests[-1].json)
        gone = await editor.command("chatls.memory.forget", {"match": "heron"})
        assert len(gone["data"]["items"]) == 1
        assert (await editor.command("chatls.memory.facts", {}))["data"]["total"] == 0
        await editor.command("chatls.memory.undo", {"undoToken": gone["data"]["undoToken"]})
        assert (await editor.command("chatls.memory.facts", {}))["data"]["total"] == 1
        profile = await editor.command("chatls.memory.profile", {"set": {"name": "Ana"}})
        assert profile["data"]["name"] == "Ana"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (ErrorReply(401), "auth"),
        (ErrorReply(429, retry_after=7), "rate_limit"),
        (ErrorReply(500), "server"),
        (ErrorReply(529), "overloaded"),
    ],
)
async def test_failures_are_typed_and_history_stays_usable(
    tmp_path: Path, workspace: Path, models: ModelServer, reply: ErrorReply, kind: str
) -> None:
    models.script(reply)
    async with client(tmp_path, workspace, models) as editor:
        with pytest.raises(ResponseError) as failure:
            await editor.request("chatls/chat", {"text": "one", "sessionId": "s"})
        assert failure.value.code == -32010
        assert failure.value.data["kind"] == kind
        assert failure.value.data["hint"]
        assert "sk-test" not in str(failure.value.data) + failure.value.message
        if kind == "rate_limit":
            assert failure.value.data["retryAfterSeconds"] == 7
        assert (await editor.request("chatls/chat", {"text": "two", "sessionId": "s"}))["stopReason"] == "end"


async def test_no_provider_says_what_to_do(tmp_path: Path, workspace: Path, models: ModelServer) -> None:
    environment = {
        "ANTHROPIC_API_KEY": "",
        "ANTHROPIC_BASE_URL": "",
        "CHATLS_LOCAL_MODEL": "",
    }
    settings = {"local": {"enabled": "off"}}
    async with client(tmp_path, workspace, models, environment=environment, settings=settings) as editor:
        with pytest.raises(ResponseError) as failure:
            await editor.request("chatls/chat", {"text": "one"})
        assert failure.value.data["kind"] == "no_provider"
        assert "ANTHROPIC_API_KEY" in failure.value.data["hint"]


async def test_malformed_parameters_name_the_field(tmp_path: Path, workspace: Path, models: ModelServer) -> None:
    async with client(tmp_path, workspace, models) as editor:
        with pytest.raises(ResponseError) as failure:
            await editor.request("chatls/chat", {"text": 3})
        assert failure.value.code == -32602
        assert "text" in failure.value.message
        with pytest.raises(ResponseError) as failure:
            await editor.request("chatls/chat", {"text": "x", "mentions": [{"range": {}}]})
        assert "mentions[0].uri" in failure.value.message


async def test_mentions_and_selection_come_from_the_buffer(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    file = workspace / "app.py"
    file.write_text("old\n")
    async with client(tmp_path, workspace, models) as editor:
        buffer = editor.open(file)
        retype(editor, buffer, "α𝒳β = 1\nsecond\nthird\n")
        await editor.request(
            "chatls/chat",
            {
                "text": "what is this?",
                "mentions": [{"uri": uri_of(file)}],
                "activeDocument": {
                    "uri": uri_of(file),
                    "selection": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 6}},
                },
            },
        )
        sent = str(models.requests[-1].json["messages"])
        assert "α𝒳β = 1" in sent
        assert "old\\n" not in sent
        assert "Selected in app.py line 2" in sent


async def test_a_reloaded_window_gets_what_it_missed(tmp_path: Path, workspace: Path, models: ModelServer) -> None:
    models.script(Reply(text="one two three four", stall_after=2))
    async with client(tmp_path, workspace, models) as editor:
        editor.send_request("chatls/chat", {"text": "count", "sessionId": "s", "partialResultToken": 1})
        await editor.wait_for(progress("text", "two"), seconds=60)
        editor.process.kill()
        await editor.process.wait()
    async with client(tmp_path, workspace, models) as editor:
        missed = await editor.command("chatls.session.events", {"sessionId": "s"})
        text = "".join(e.get("delta", "") for e in missed["data"]["events"] if e["kind"] == "text")
        assert text.startswith("one two")
        assert missed["data"]["status"] == "interrupted"
        await editor.request("chatls/chat", {"text": "go on", "sessionId": "s"})
        sent = str(models.requests[-1].json["messages"])
        assert "count" in sent
        assert "one two" in sent


async def test_requests_are_answered_while_a_turn_runs(tmp_path: Path, workspace: Path, models: ModelServer) -> None:
    models.script(Reply(text="slow", hold=(0,)))
    async with client(tmp_path, workspace, models) as editor:
        request = editor.send_request("chatls/chat", {"text": "x" * 1_000_000})
        await models.wait_held()
        await editor.command("chatls.memory.facts", {})
        models.release()
        assert (await editor.result(request))["text"] == "slow"
        assert len(str(models.requests[0].json)) > 1_000_000


async def test_two_servers_on_one_folder_lose_no_fact(tmp_path: Path, workspace: Path, models: ModelServer) -> None:
    async with client(tmp_path, workspace, models) as one, client(tmp_path, workspace, models) as two:
        await asyncio.gather(
            *(
                editor.command("chatls.memory.remember", {"content": f"Gadget {name}{n} weighs {n} grams"})
                for n in range(15)
                for name, editor in (("alpha", one), ("beta", two))
            )
        )
        assert (await one.command("chatls.memory.facts", {}))["data"]["total"] == 30


async def test_every_declared_command_has_a_handler(tmp_path: Path) -> None:
    import importlib

    from chatls_server.lsp import handlers
    from chatls_server.lsp.registry import REGISTRY, Registry

    declared = Registry()
    handlers.declare(declared)
    for module in handlers.MODULES:
        importlib.import_module(f"chatls_server.lsp.{module}")
    real = {name for name, endpoint in REGISTRY.commands.items() if not endpoint.declared}
    assert set(declared.commands) == real


async def test_slash_commands_and_modes_work_in_the_chat_box(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    async with client(tmp_path, workspace, models) as editor:
        kept = await editor.request("chatls/chat", {"text": "/remember [pattern] Tests live beside the code"})
        assert kept["stopReason"] == "end"
        found = await editor.request("chatls/chat", {"text": "/recall\nwhere do tests live"})
        assert "beside the code" in found["text"]
        assert models.requests == []
        await editor.request("chatls/chat", {"text": "/coder look around"})
        body = models.requests[-1].json
        assert "edit_file" in str(body["tools"])
        assert last_words(body).endswith("look around")
        items = await editor.command("chatls.chat.complete", {"text": "/re", "offset": 3})
        assert "/remember" in [i["label"] for i in items["data"]["items"]]
        await editor.request("chatls/chat", {"text": "/etc/hosts is a file?"})
        assert last_words(models.requests[-1].json).endswith("/etc/hosts is a file?")


async def test_files_complete_after_an_at_sign(tmp_path: Path, workspace: Path, models: ModelServer) -> None:
    (workspace / "src").mkdir()
    (workspace / "src" / "app.py").write_text("")
    (workspace / "node_modules").mkdir()
    (workspace / "node_modules" / "apply.js").write_text("")
    async with client(tmp_path, workspace, models) as editor:
        items = await editor.command("chatls.chat.complete", {"text": "why @ap", "offset": 7})
        assert [i["label"] for i in items["data"]["items"]] == ["src/app.py"]


@pytest.mark.parametrize(
    ("environment", "provider"),
    [
        ({"OPENAI_API_KEY": "sk-o", "OPENAI_BASE_URL": "{url}/v1", "OPENAI_MODEL": "gpt-4o"}, "openai"),
        ({"OPENAI_API_KEY": "sk-o", "OPENAI_API_URL": "{url}/v1/chat/completions"}, "openai"),
        ({"OLLAMA_BASE_URL": "{url}"}, "ollama"),
        ({"LLM_PROVIDER": "CLAUDEAI", "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "{url}"}, "anthropic"),
    ],
)
async def test_every_first_day_provider_streams_and_edits(
    tmp_path: Path, workspace: Path, models: ModelServer, environment: dict[str, str], provider: str
) -> None:
    (workspace / "a.py").write_text("x = 1\n")
    chosen = {"ANTHROPIC_API_KEY": "", "ANTHROPIC_BASE_URL": ""} | {
        name: value.format(url=models.url) for name, value in environment.items()
    }
    edit = Call("edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": "x = 2"})
    models.script(Reply(text="one two"), Reply(tool_calls=(edit,)), Reply(text="done"))
    async with client(tmp_path, workspace, models, environment=chosen) as editor:
        buffer = editor.open(workspace / "a.py")
        result = await editor.request("chatls/chat", {"text": "hi", "sessionId": "s", "partialResultToken": 1})
        assert result["text"] == "one two"
        assert result["usage"]["provider"] == provider
        assert "".join(v["delta"] for v in editor.progress(1) if v["kind"] == "text") == "one two"
        await editor.request("chatls/chat", {"text": "edit", "mode": "coder", "sessionId": "s"})
        assert buffer.text == "x = 2\n"


async def test_a_server_that_was_told_of_a_question_ahead_asks_nothing_before_it_comes(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    models.script(Reply(text="Hello."))
    async with client(tmp_path, workspace, models) as editor:
        editor.notify("chatls/prepare", {})
        editor.notify("chatls/prepare", None)
        await editor.command("chatls.provider.list")
        assert models.requests == []
        answer = await editor.request("chatls/chat", {"text": "hi", "sessionId": "s"})
    assert answer["text"] == "Hello."


async def test_preparing_without_anybody_to_answer_is_no_error(tmp_path: Path, workspace: Path) -> None:
    async with LspClient(home=tmp_path / "home", root=workspace, environment={}) as editor:
        editor.notify("chatls/prepare", {})
        assert await editor.command("chatls.provider.list")
        assert not [m for m in editor.received if m.get("method") == "window/showMessage"]
