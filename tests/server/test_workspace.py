"""Settings, trust, keys, folders and the watching of instruction files, as a client sees them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chatls_server.lsp.registry import Registry
from chatls_server.lsp.server import ChatServer
from tests.fakes.lsp_client import EDITOR, PLAIN, RICH, uri_of
from tests.fakes.lsp_loop import LoopClient


class Heard:
    """Remembers which hooks were called."""

    def __init__(self) -> None:
        self.registry = Registry()
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self._news = asyncio.Condition()
        for name in ("ready", "configuration", "secrets", "workspace", "instruction_files_changed"):
            self._listen(name)

    def _listen(self, name: str) -> None:
        @self.registry.hook(name)
        async def hear(_server: ChatServer, *arguments: Any) -> None:
            async with self._news:
                self.calls.append((name, arguments))
                self._news.notify_all()

    async def wait(self, wanted: Callable[[], bool]) -> None:
        async with self._news:
            await asyncio.wait_for(self._news.wait_for(wanted), 10)

    async def wait_for(self, name: str, since: int = 0) -> tuple[Any, ...]:
        await self.wait(lambda: any(call == name for call, _ in self.calls[since:]))
        return next(arguments for call, arguments in self.calls[since:] if call == name)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    return folder.resolve()


async def test_stronger_layers_win_and_the_environment_is_the_weakest(tmp_path: Path, root: Path, heard: Heard) -> None:
    async with LoopClient(
        home=tmp_path / "h",
        root=root,
        registry=heard.registry,
        environment={"LLM_MODEL": "from-environment", "LLM_PROVIDER": "openai", "CHATCLI_MEMORY_MAX_FACTS": "7"},
        options={"settings": {"model": "from-options", "provider": "ollama"}},
        settings={"model": "from-editor"},
    ) as client:
        await heard.wait_for("ready")
        found = client.server.settings
        assert (found.model, found.provider, found.memory.max_facts) == ("from-editor", "ollama", 7)


async def test_bare_and_prefixed_settings_are_understood(tmp_path: Path, root: Path, heard: Heard) -> None:
    options = {"edits": {"review": "auto"}, "chatls.memory.maxFacts": 9}
    async with LoopClient(
        home=tmp_path / "h", root=root, registry=heard.registry, options=options, capabilities=PLAIN
    ) as client:
        assert client.server.settings.edits.review == "auto"
        assert client.server.settings.memory.max_facts == 9
        client.notify("workspace/didChangeConfiguration", {"settings": {"chatls": {"memory": {"maxFacts": 3}}}})
        await heard.wait_for("configuration")
        assert client.server.settings.memory.max_facts == 3


async def test_an_unusable_value_is_one_warning_that_names_it(tmp_path: Path, root: Path, heard: Heard) -> None:
    async with LoopClient(
        home=tmp_path / "h", root=root, registry=heard.registry, settings={"memory": {"maxFacts": "many"}}
    ) as client:
        await heard.wait_for("ready")
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        await heard.wait(lambda: sum(name == "configuration" for name, _ in heard.calls) >= 2)
        shown = [params["message"] for params in client.notifications("window/showMessage")]
        assert len(shown) == 1
        assert "memory.maxFacts" in shown[0]
        assert client.server.settings.memory.max_facts == 500


@pytest.mark.parametrize("answer", [None, {"a": 1}, [], [1, 2], ["x"]])
async def test_a_malformed_configuration_answer_leaves_settings_as_they_are(
    tmp_path: Path, root: Path, heard: Heard, answer: Any
) -> None:
    client = LoopClient(home=tmp_path / "h", root=root, registry=heard.registry, options={"model": "kept"})
    client.handlers["workspace/configuration"] = lambda _params: answer
    async with client:
        await heard.wait_for("ready")
        assert client.server.settings.model == "kept"


async def test_folders_have_settings_of_their_own_and_come_and_go(tmp_path: Path, heard: Heard) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    client = LoopClient(home=tmp_path / "h", roots=[one, two], registry=heard.registry)
    client.handlers["workspace/configuration"] = lambda params: [
        {"model": item.get("scopeUri", "none").rpartition("/")[2]} for item in params["items"]
    ]
    async with client:
        await heard.wait_for("ready")
        assert [client.server.opened.by_folder[p].model for p in client.server.roots] == ["one", "two"]
        assert client.server.settings.model == "none"
        seen = len(heard.calls)
        client.notify(
            "workspace/didChangeWorkspaceFolders",
            {"event": {"added": [], "removed": [{"uri": uri_of(one), "name": "one"}]}},
        )
        await heard.wait_for("configuration", seen)
        assert client.server.roots == (two,)
        assert client.server.settings.model == "two"


async def test_trust_comes_from_the_client_only_and_its_change_is_told(
    tmp_path: Path, root: Path, heard: Heard
) -> None:
    (root / ".env").write_text("CHATCLI_MEMORY_MAX_FACTS=11\nOPENAI_API_KEY=stolen\nOPENAI_BASE_URL=http://evil\n")
    async with LoopClient(
        home=tmp_path / "h",
        root=root,
        registry=heard.registry,
        options={"trusted": False},
        settings={"trusted": True, "logLevel": "info"},
    ) as client:
        await heard.wait_for("ready")
        assert not client.server.trusted
        assert client.server.settings.memory.max_facts == 500
        client.notify("chatls/trustChanged", {"trusted": True})
        await heard.wait_for("workspace")
        assert client.server.trusted
        assert client.server.settings.memory.max_facts == 11
        assert "OPENAI_API_KEY" not in client.server.environment
        assert "OPENAI_BASE_URL" not in client.server.environment


async def test_the_home_folders_env_file_may_set_keys_and_the_process_wins(tmp_path: Path, root: Path) -> None:
    folder = tmp_path / "h" / ".chatcli"
    folder.mkdir(parents=True)
    (folder / ".env").write_text("OPENAI_API_KEY=mine\nLLM_MODEL=weak\n")
    async with LoopClient(home=tmp_path / "h", root=root, environment={"LLM_MODEL": "strong"}) as client:
        assert client.server.environment["OPENAI_API_KEY"] == "mine"
        assert client.server.settings.model == "strong"


async def test_trust_is_assumed_for_a_client_that_sends_none(tmp_path: Path, root: Path) -> None:
    async with LoopClient(home=tmp_path / "h", root=root, capabilities=PLAIN) as client:
        assert client.server.trusted


async def test_keys_come_and_go(tmp_path: Path, root: Path, heard: Heard) -> None:
    async with LoopClient(home=tmp_path / "h", root=root, registry=heard.registry) as client:
        client.notify("chatls/secrets", {"anthropic": "k1", "openai": "k2"})
        await heard.wait_for("secrets")
        assert client.server.secrets == {"anthropic": "k1", "openai": "k2"}
        seen = len(heard.calls)
        client.notify("chatls/secrets", {"openai": ""})
        await heard.wait_for("secrets", seen)
        assert client.server.secrets == {"anthropic": "k1"}


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [(None, "utf-16"), ([], "utf-16"), (["utf-8", "utf-16"], "utf-8"), (["utf-32"], "utf-32"), (["ebcdic"], "utf-16")],
)
async def test_the_position_encoding_is_the_first_of_the_client_that_is_known(
    tmp_path: Path, offered: Any, chosen: str
) -> None:
    capabilities = {"general": {"positionEncodings": offered}}
    async with LoopClient(home=tmp_path, capabilities=capabilities) as client:
        assert client.initialize_result["capabilities"]["positionEncoding"] == chosen


async def test_what_the_server_announces(tmp_path: Path) -> None:
    async with LoopClient(home=tmp_path) as client:
        capabilities = client.initialize_result["capabilities"]
        assert capabilities["experimental"]["chatls"]["protocolVersion"] == 1
        assert capabilities["experimental"]["chatls"]["modes"] == ["chat", "agent", "coder"]
        assert capabilities["textDocumentSync"]["change"] == 2
        assert capabilities["workspace"]["textDocumentContent"] == {"schemes": ["chatls"]}
        assert capabilities["workspace"]["workspaceFolders"]["changeNotifications"] is True


@pytest.mark.parametrize(
    "params",
    [
        {"capabilities": None, "processId": None, "rootUri": None},
        {"capabilities": {"workspace": 7, "window": [], "experimental": {"chatls": {"approve": False}}}},
        {
            "capabilities": {},
            "rootPath": "/nowhere",
            "workspaceFolders": [{"uri": 5}, {"uri": "vscode-vfs://github/x"}],
        },
        {"capabilities": {}, "initializationOptions": "text", "trace": 7, "processId": "x"},
    ],
)
async def test_odd_initialize_parameters_are_answered(tmp_path: Path, params: Any) -> None:
    async with LoopClient(home=tmp_path, initialize=False) as client:
        assert (await client.request("initialize", params))["serverInfo"]["name"] == "chatls"
        assert not client.server.features.approve


# --- instruction files ---------------------------------------------------------------------------------------------


async def test_watchers_are_registered_one_request_each_as_plain_globs(
    tmp_path: Path, root: Path, heard: Heard
) -> None:
    async with LoopClient(home=tmp_path / "h", root=root, registry=heard.registry, capabilities=EDITOR) as client:
        await heard.wait_for("ready")
        requests = [m["params"] for m in client.requests_received if m["method"] == "client/registerCapability"]
        assert all(len(request["registrations"]) == 1 for request in requests)
        methods = {request["registrations"][0]["method"] for request in requests}
        assert methods == {"workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles"}
        assert "baseUri" not in json.dumps(requests)
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri_of(root / "AGENTS.md"), "type": 1}]})
        assert await heard.wait_for("instruction_files_changed") == ((root / "AGENTS.md",),)


async def test_nothing_is_registered_that_was_not_declared(tmp_path: Path, root: Path, heard: Heard) -> None:
    async with LoopClient(home=tmp_path / "h", root=root, registry=heard.registry, capabilities=PLAIN) as client:
        await heard.wait_for("ready")
        assert client.requests_received == []


async def test_without_the_editors_watcher_changes_on_disk_are_noticed(
    tmp_path: Path, root: Path, heard: Heard
) -> None:
    async with LoopClient(home=tmp_path / "h", root=root, registry=heard.registry, capabilities=PLAIN):
        await heard.wait_for("ready")
        (root / "AGENTS.md").write_text("Be brief.\n")
        (paths,) = await heard.wait_for("instruction_files_changed")
        assert paths == (root / "AGENTS.md",)


async def test_saving_an_instruction_file_is_told_and_saving_others_is_not(
    tmp_path: Path, root: Path, heard: Heard
) -> None:
    (root / "AGENTS.md").write_text("a\n")
    (root / "other.md").write_text("a\n")
    async with LoopClient(home=tmp_path / "h", root=root, registry=heard.registry, capabilities=EDITOR) as client:
        await heard.wait_for("ready")
        client.save(client.open(root / "other.md"))
        client.save(client.open(root / "AGENTS.md"))
        assert await heard.wait_for("instruction_files_changed") == ((root / "AGENTS.md",),)


async def test_an_instruction_file_has_findings_hover_links_and_a_lens(tmp_path: Path, root: Path) -> None:
    (root / "there.md").write_text("there\n")
    path = root / "AGENTS.md"
    path.write_text("@there.md\n@missing.md\n")
    async with LoopClient(home=tmp_path / "h", root=root, capabilities=RICH) as client:
        buffer = client.open(path, language_id="markdown")
        found = await client.wait_for("textDocument/publishDiagnostics")
        assert found["params"]["version"] == 1
        assert any("missing.md" in d["message"] for d in found["params"]["diagnostics"])
        about = {"textDocument": {"uri": buffer.uri}}
        place = {**about, "position": {"line": 0, "character": 3}}
        assert "there.md" in json.dumps(await client.request("textDocument/hover", place))
        assert await client.request("textDocument/definition", place) is not None
        assert len(await client.request("textDocument/documentLink", about)) >= 1
        assert len(await client.request("textDocument/codeLens", about)) == 1
        fixes = await client.request(
            "textDocument/codeAction",
            {
                **about,
                "range": {"start": {"line": 1, "character": 1}, "end": {"line": 1, "character": 1}},
                "context": {"diagnostics": found["params"]["diagnostics"]},
            },
        )
        assert any("missing.md" in action["title"] for action in fixes)
        client.close(buffer)
        cleared = await client.wait_for(
            lambda m: m.get("method") == "textDocument/publishDiagnostics" and m["params"]["diagnostics"] == []
        )
        assert cleared["params"]["uri"] == buffer.uri


async def test_other_documents_get_no_instruction_features(tmp_path: Path, root: Path) -> None:
    (root / "a.py").write_text("x\n")
    async with LoopClient(home=tmp_path / "h", root=root, capabilities=RICH) as client:
        buffer = client.open(root / "a.py")
        place = {"textDocument": {"uri": buffer.uri}, "position": {"line": 0, "character": 0}}
        assert await client.request("textDocument/hover", place) is None
        assert await client.request("textDocument/codeLens", {"textDocument": {"uri": buffer.uri}}) is None


async def test_a_selection_can_be_asked_about_edited_and_its_findings_fixed(tmp_path: Path, root: Path) -> None:
    (root / "a.py").write_text("xyz\n")
    capabilities = {"experimental": {"chatls": {"codeActions": {"ask": "my.ask"}}}}
    async with LoopClient(home=tmp_path / "h", root=root, capabilities=capabilities) as client:
        buffer = client.open(root / "a.py")
        range_ = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
        diagnostic = {"range": range_, "message": "undefined name"}
        actions = await client.request(
            "textDocument/codeAction",
            {"textDocument": {"uri": buffer.uri}, "range": range_, "context": {"diagnostics": [diagnostic]}},
        )
        ask, edit, fix = (action["command"] for action in actions)
        assert (ask["command"], ask["arguments"]) == ("my.ask", [{"uri": buffer.uri, "range": range_}])
        assert edit["command"] == fix["command"] == "chatls.chat.send"
        assert "undefined name" in fix["arguments"][0]["text"]
        assert edit["arguments"][0]["mentions"] == [{"uri": buffer.uri, "range": range_}]
        nothing = await client.request(
            "textDocument/codeAction",
            {
                "textDocument": {"uri": buffer.uri},
                "range": {"start": range_["start"], "end": range_["start"]},
                "context": {"diagnostics": []},
            },
        )
        assert nothing == []
