"""The main job from a client that is not ours: pytest-lsp, with what real editors declare and nothing custom.

pytest-lsp also checks that the server asks only for what the editor declared.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.workspace import TextDocument
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import make_test_lsp_client

from tests.fakes.lsp_client import uri_of
from tests.fakes.model_server import Call, ModelServer, Reply

pytestmark = pytest.mark.timeout(180)


def editor_of(client: LanguageClient, path: Path) -> TextDocument:
    """Let the client own one buffer and apply edits to it as editors do."""
    document = TextDocument(uri_of(path), path.read_text(), version=1)

    @client.feature(types.WORKSPACE_APPLY_EDIT)
    def apply_edit(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        if params.edit.document_changes:
            (change,) = params.edit.document_changes
            assert isinstance(change, types.TextDocumentEdit)
            assert change.text_document.version == document.version
            edits: Sequence[Any] = change.edits
        else:
            edits = (params.edit.changes or {})[document.uri]
        events: list[Any] = [
            types.TextDocumentContentChangePartial(edit.range, edit.new_text) for edit in reversed(edits)
        ]
        for event in events:
            document.apply_change(event)
        document.version = (document.version or 0) + 1
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(document.version, document.uri), events
            )
        )
        return types.ApplyWorkspaceEditResult(applied=True)

    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(document.uri, "python", 1, document.source))
    )
    return document


async def run(client: LanguageClient, command: str, **arguments: Any) -> Any:
    """One command, its result as the client's library reads it."""
    return await client.workspace_execute_command_async(types.ExecuteCommandParams(command, [arguments]))


@pytest.mark.parametrize("editor", ["neovim@0.11", "emacs", "visual_studio_code"])
async def test_chat_edit_and_memory_work_from_an_editor_without_our_extension(tmp_path: Path, editor: str) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "app.py").write_text("def add(a, b):\n    return a - b\n")
    home = tmp_path / "home"
    home.mkdir()
    async with ModelServer() as models:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "CHATLS_HOME": str(home / ".chatcli"),
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": models.url,
        }
        client = make_test_lsp_client()
        await client.start_io(sys.executable, "-m", "chatls_server.cli", "serve", env=environment)
        asked: list[types.ShowMessageRequestParams] = []

        @client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
        def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem:
            asked.append(params)
            assert params.actions
            return params.actions[0]

        try:
            await client.initialize_session(
                types.InitializeParams(
                    capabilities=client_capabilities(editor),
                    process_id=os.getpid(),
                    root_uri=uri_of(root),
                    workspace_folders=[types.WorkspaceFolder(uri_of(root), "ws")],
                )
            )
            models.script(Reply(text="Hello."))
            answer = await run(client, "chatls.chat.send", text="hi")
            assert answer["markdown"] == "Hello."

            document = editor_of(client, root / "app.py")
            edit = Call("edit_file", {"path": "app.py", "old_text": "a - b", "new_text": "a + b"})
            models.script(Reply(tool_calls=(Call("read_file", {"path": "app.py"}),)), Reply(tool_calls=(edit,)))
            models.script(Reply(text="Fixed."))
            answer = await run(client, "chatls.chat.send", text="fix add", mode="coder")
            assert answer["markdown"] == "Fixed."
            assert document.source == "def add(a, b):\n    return a + b\n"
            assert any("a + b" in params.message for params in asked)

            await run(client, "chatls.memory.remember", content="The staging server is called Heron")
            found = await run(client, "chatls.memory.recall", query="staging server")
            assert "Heron" in found["markdown"]
        finally:
            await client.shutdown_session()
            await client.stop()
