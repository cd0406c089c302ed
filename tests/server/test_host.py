"""The editor as the core sees it: paths, reading, questions, saving, diagnostics."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from chatls_core.host import (
    Approval,
    HostError,
    HostErrorKind,
    Hunk,
    Position,
    ProposedFile,
    Question,
    Range,
)
from chatls_server.lsp.host import LspHost
from tests.fakes.lsp_client import EDITOR, PLAIN, RICH, ResponseError, uri_of
from tests.fakes.lsp_loop import LoopClient


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("one\n")
    return folder.resolve()


@pytest.fixture
async def editor(tmp_path: Path, root: Path) -> AsyncIterator[LoopClient]:
    async with LoopClient(home=tmp_path / "home", root=root, capabilities=RICH) as client:
        yield client


@pytest.fixture
async def plain(tmp_path: Path, root: Path) -> AsyncIterator[LoopClient]:
    async with LoopClient(home=tmp_path / "home", root=root, capabilities=EDITOR) as client:
        yield client


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def kind_of(error: pytest.ExceptionInfo[HostError]) -> HostErrorKind:
    assert str(error.value)
    return error.value.kind


# --- paths ---------------------------------------------------------------------------------------------------------


async def test_relative_absolute_and_uri_paths_lead_to_the_same_document(editor: LoopClient, root: Path) -> None:
    wanted = uri_of(root / "src" / "a.py")
    host = editor.server.host
    for path in ("src/a.py", str(root / "src/a.py"), wanted, "./src/../src/a.py"):
        assert host.resolve(path) == wanted
    assert host.resolve("new/file.py") == uri_of(root / "new" / "file.py")


async def test_an_open_document_keeps_the_editors_spelling(editor: LoopClient, root: Path) -> None:
    spelled = uri_of(root / "src" / "a.py").replace("a.py", "%61.py")
    editor.open(spelled, "one\n")
    await settle()
    assert editor.server.host.resolve("src/a.py") == spelled


async def test_with_several_folders_the_one_that_has_the_file_or_is_named_is_meant(tmp_path: Path) -> None:
    for name in ("api", "web"):
        (tmp_path / name).mkdir()
    (tmp_path / "web" / "only.ts").write_text("")
    async with LoopClient(home=tmp_path / "h", roots=[tmp_path / "api", tmp_path / "web"]) as client:
        host = client.server.host
        assert host.resolve("only.ts") == uri_of(tmp_path / "web" / "only.ts")
        assert host.resolve("web/new.ts") == uri_of(tmp_path / "web" / "new.ts")
        assert host.resolve("other.ts") == uri_of(tmp_path / "api" / "other.ts")


@pytest.mark.parametrize(
    "path", ["../x.py", "/etc/passwd", "src/../../x.py", "link/x.py", "~/x.py", "file:///etc/passwd"]
)
async def test_paths_that_leave_the_folders_are_refused(
    editor: LoopClient, root: Path, tmp_path: Path, path: str
) -> None:
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(HostError) as error:
        editor.server.host.resolve(path)
    assert kind_of(error) is HostErrorKind.OUTSIDE


async def test_a_link_swapped_in_later_is_seen_at_the_moment_of_use(
    editor: LoopClient, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    uri = editor.server.host.resolve("src/b.py")
    (root / "src" / "b.py").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(HostError) as error:
        await editor.server.host.read(uri)
    assert kind_of(error) is HostErrorKind.OUTSIDE


@pytest.mark.parametrize(
    "path",
    [
        *("~/.ssh/id_rsa", "~/.aws/credentials", "~/.netrc", "~/.npmrc", "~/.kube/config", "~/.chatcli/.env"),
        *("~/.config/gcloud/x", "~/.m2/settings.xml", "server.pem", "certs/tls.KEY"),
        *("/etc/shadow", "/proc/self/environ", "/proc/1/environ"),
    ],
)
async def test_files_that_may_hold_secrets_are_refused_even_inside_the_folder(tmp_path: Path, path: str) -> None:
    async with LoopClient(home=tmp_path, root=tmp_path) as client:
        full = Path(path.replace("~", str(tmp_path)))
        for attempt in (client.server.host.resolve, client.server.host.read):
            with pytest.raises(HostError) as error:
                result = attempt(uri_of(full) if full.is_absolute() else uri_of(tmp_path / full))
                if asyncio.iscoroutine(result):
                    await result
            assert kind_of(error) is HostErrorKind.SENSITIVE


async def test_a_link_to_a_secret_is_a_secret(tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id").write_text("k")
    (tmp_path / "readme.md").symlink_to(tmp_path / ".ssh" / "id")
    async with LoopClient(home=tmp_path, root=tmp_path) as client:
        with pytest.raises(HostError) as error:
            await client.server.host.read(uri_of(tmp_path / "readme.md"))
        assert kind_of(error) is HostErrorKind.SENSITIVE


async def test_environment_widens_reading_but_not_writing(tmp_path: Path, root: Path) -> None:
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "x.txt").write_text("x")
    environment = {"CHATCLI_AGENT_EXTRA_READ_PATHS": str(extra)}
    async with LoopClient(home=tmp_path / "h", root=root, environment=environment) as client:
        assert (await client.server.host.read(uri_of(extra / "x.txt"))).text == "x"
        with pytest.raises(HostError):
            client.server.host.confinement.check(extra / "x.txt", write=True)


# --- reading -------------------------------------------------------------------------------------------------------


async def test_unsaved_text_is_read_and_counted_as_dirty(editor: LoopClient, root: Path) -> None:
    buffer = editor.open(root / "src" / "a.py", language_id="python")
    await editor.until_clean(buffer.uri)
    assert editor.server.host.dirty_documents() == {}
    editor.type(buffer, "typed ", line=0, character=0)
    await settle()
    document = await editor.server.host.read(uri_of(root / "src" / "a.py"))
    assert (document.text, document.dirty, document.version, document.language_id) == ("typed one\n", True, 2, "python")
    assert list(editor.server.host.dirty_documents()) == [buffer.uri]
    editor.save(buffer)
    await settle()
    assert editor.server.host.dirty_documents() == {}


async def test_lines_of_a_file_too_large_to_read_whole(editor: LoopClient, root: Path) -> None:
    path = root / "large.log"
    with path.open("wb") as file:
        file.write("\ufefffirst\r\n".encode())
        file.write(b"0123456789abcdef\n" * 4_000_000)
        file.write(b"y" * 200_000 + b"\nlast")
    uri, host = uri_of(path), editor.server.host
    with pytest.raises(HostError) as failure:
        await host.read(uri)
    assert failure.value.kind is HostErrorKind.TOO_LARGE
    assert await host.read_lines(uri, 1, 2) == ["first", "0123456789abcdef"]
    assert await host.read_lines(uri, 3_999_999, 4_000_000) == ["0123456789abcdef"] * 2
    long, last = await host.read_lines(uri, 4_000_002, 4_000_010)
    assert (set(long), last) == ({"y"}, "last")
    assert await host.read_lines(uri, 4_000_004, 4_000_010) == []
    with pytest.raises(HostError):
        await host.read_lines(uri_of(root.parent / "outside.log"), 1, 2)


async def test_a_buffer_is_found_through_a_symbolic_link(editor: LoopClient, root: Path) -> None:
    (root / "alias.py").symlink_to(root / "src" / "a.py")
    buffer = editor.open(root / "src" / "a.py")
    editor.type(buffer, "typed ", line=0, character=0)
    await settle()
    assert (await editor.server.host.read(uri_of(root / "alias.py"))).text == "typed one\n"


async def test_files_that_are_no_text_say_what_they_are(editor: LoopClient, root: Path) -> None:
    (root / "bin").write_bytes(b"a\0b")
    (root / "latin").write_bytes(b"caf\xe9\n")
    (root / "mark").write_bytes(b"\xef\xbb\xbfhi\n")
    os.mkfifo(root / "pipe")
    expected = {
        "bin": HostErrorKind.BINARY,
        "latin": HostErrorKind.ENCODING,
        "gone": HostErrorKind.NOT_FOUND,
        "src": HostErrorKind.IS_DIRECTORY,
        "src/a.py/x": HostErrorKind.NOT_FOUND,
        "pipe": HostErrorKind.UNSUPPORTED,
    }
    for name, kind in expected.items():
        with pytest.raises(HostError) as error:
            await editor.server.host.read(uri_of(root / name))
        assert kind_of(error) is kind, name
    document = await editor.server.host.read(uri_of(root / "mark"))
    assert (document.text, document.bom) == ("hi\n", True)


async def test_an_open_notebook_is_read_from_its_cells(editor: LoopClient, root: Path) -> None:
    notebook = root / "n.ipynb"
    notebook.write_text("{}")
    cell = {"uri": "vscode-notebook-cell:/n#1", "languageId": "python", "version": 1, "text": "print(1)"}
    editor.notify(
        "notebookDocument/didOpen",
        {
            "notebookDocument": {
                "uri": uri_of(notebook),
                "notebookType": "jupyter-notebook",
                "version": 1,
                "cells": [{"kind": 2, "document": cell["uri"]}],
            },
            "cellTextDocuments": [cell],
        },
    )
    await settle()
    assert "print(1)" in (await editor.server.host.read(uri_of(notebook))).text
    assert (await editor.server.host.read(str(cell["uri"]))).text == "print(1)"


async def test_a_document_that_is_no_file_is_read_while_it_is_open(editor: LoopClient) -> None:
    buffer = editor.open("untitled:Untitled-1", "draft")
    await settle()
    assert (await editor.server.host.read("untitled:Untitled-1")).text == "draft"
    assert "untitled:Untitled-1" in editor.server.host.dirty_documents()
    editor.close(buffer)
    await settle()
    with pytest.raises(HostError) as error:
        await editor.server.host.read("untitled:Untitled-1")
    assert kind_of(error) is HostErrorKind.NOT_OPEN


# --- approvals -----------------------------------------------------------------------------------------------------


def hunk(name: str, line: int = 0) -> Hunk:
    return Hunk(name, Range(Position(line, 0), Position(line + 1, 0)), "one\n", "1\n")


def an_edit(uri: str, name: str = "h1") -> ProposedFile:
    return ProposedFile(uri, None, (hunk(name),), "one\n", "1\n")


COMMAND = Approval("c1", "Run tests?", "execute", preview="pytest -x", allow_always=True)


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        ({"optionId": "allow"}, "allow"),
        ({"optionId": "always"}, "always"),
        ({"optionId": "deny"}, "deny"),
        ({"optionId": "something else"}, "deny"),
        ({"option": "allow"}, "deny"),
        ({"optionId": "allow", "accepted": "h1"}, "deny"),
        (None, "deny"),
        ([], "deny"),
        ("allow", "deny"),
    ],
)
async def test_only_a_clear_yes_is_a_yes(editor: LoopClient, answer: Any, decision: str) -> None:
    editor.handlers["chatls/approve"] = lambda _params: answer
    assert (await editor.server.host.approve(COMMAND)).decision == decision
    (asked,) = [m["params"] for m in editor.requests_received if m["method"] == "chatls/approve"]
    assert (asked["callId"], asked["preview"]) == ("c1", "pytest -x")
    assert [option["id"] for option in asked["options"]] == ["allow", "always", "deny"]


async def test_always_is_no_answer_where_it_was_not_offered(editor: LoopClient) -> None:
    editor.handlers["chatls/approve"] = lambda _params: {"optionId": "always"}
    assert (await editor.server.host.approve(Approval("c", "t", "execute"))).decision == "deny"


async def test_hunks_of_one_file_are_accepted_by_their_ids(editor: LoopClient, root: Path) -> None:
    uri = uri_of(root / "src" / "a.py")
    editor.handlers["chatls/approve"] = lambda _params: {"optionId": "allow", "accepted": ["h1", "h99"]}
    answer = await editor.server.host.approve(Approval("c", "t", "edit", edits=(an_edit(uri),)))
    assert answer.decision == "allow"
    assert answer.accepted == {"h1"}


async def test_hunks_of_several_files_are_kept_apart_and_their_texts_are_served(editor: LoopClient, root: Path) -> None:
    first, second = uri_of(root / "src" / "a.py"), uri_of(root / "b c.py")
    seen: list[Any] = []

    def accept_second(params: Any) -> dict[str, Any]:
        seen.append(params["edits"])
        return {"optionId": "allow", "accepted": [params["edits"][1]["hunks"][0]["id"]]}

    editor.handlers["chatls/approve"] = accept_second
    approval = Approval("c/1", "t", "edit", edits=(an_edit(first), an_edit(second)))
    answer = await editor.server.host.approve(approval)
    assert answer.accepted == {f"{second}#h1"}
    for shown in seen[0]:
        assert (await editor.request("workspace/textDocumentContent", {"uri": shown["original"]})) == {"text": "one\n"}
        assert (await editor.request("workspace/textDocumentContent", {"uri": shown["proposed"]})) == {"text": "1\n"}
    with pytest.raises(ResponseError):
        await editor.request("workspace/textDocumentContent", {"uri": "chatls:/proposed/none/0/x"})


async def test_an_approval_nobody_answers_is_denied_and_taken_back(tmp_path: Path, root: Path) -> None:
    async with LoopClient(home=tmp_path / "h", root=root) as client:
        client.handlers["chatls/approve"] = lambda _params: asyncio.get_running_loop().create_future()
        client.server.host = LspHost(client.server, patience_seconds=0.05)
        answer = await client.server.host.approve(COMMAND)
        assert (answer.decision, bool(answer.reason)) == ("deny", True)
        await client.wait_for("chatls/resolved")
        assert client.notifications("chatls/resolved") == [{"callId": "c1"}]
        await client.wait_for("$/cancelRequest")


async def test_a_review_of_edits_has_no_limit(tmp_path: Path, root: Path) -> None:
    async with LoopClient(home=tmp_path / "h", root=root) as client:
        asked = asyncio.Event()
        release = asyncio.get_running_loop().create_future()

        async def answer(_params: Any) -> Any:
            asked.set()
            return await release

        client.handlers["chatls/approve"] = answer
        client.server.host = LspHost(client.server, patience_seconds=0.01)
        approval = Approval("c", "t", "edit", edits=(an_edit(uri_of(root / "src" / "a.py")),))
        pending = asyncio.ensure_future(client.server.host.approve(approval))
        await asked.wait()
        await asyncio.sleep(0.05)
        release.set_result({"optionId": "allow"})
        assert (await pending).decision == "allow"


async def test_a_cancelled_turn_closes_its_dialog(editor: LoopClient) -> None:
    asked = asyncio.Event()

    async def never(_params: Any) -> Any:
        asked.set()
        return await asyncio.get_running_loop().create_future()

    editor.handlers["chatls/approve"] = never
    pending = asyncio.ensure_future(editor.server.host.approve(COMMAND))
    await asked.wait()
    pending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pending
    await editor.wait_for("chatls/resolved")


async def test_a_plain_editor_is_asked_by_a_message_with_the_whole_command(plain: LoopClient) -> None:
    plain.handlers["window/showMessageRequest"] = lambda params: params["actions"][1]
    assert (await plain.server.host.approve(COMMAND)).decision == "always"
    (asked,) = [m["params"] for m in plain.requests_received if m["method"] == "window/showMessageRequest"]
    assert "pytest -x" in asked["message"]
    assert [action["title"] for action in asked["actions"]] == ["Allow once", "Always allow this", "Deny"]


@pytest.mark.parametrize("answer", [None, {}, {"title": "Something"}, 7])
async def test_a_closed_message_is_a_no(plain: LoopClient, answer: Any) -> None:
    plain.handlers["window/showMessageRequest"] = lambda _params: answer
    assert (await plain.server.host.approve(COMMAND)).decision == "deny"


async def test_with_no_way_to_ask_the_answer_is_no(tmp_path: Path, root: Path) -> None:
    async with LoopClient(home=tmp_path / "h", root=root, capabilities=PLAIN) as client:
        assert (await client.server.host.approve(COMMAND)).decision == "deny"
        assert await client.server.host.ask("c", [Question("q", "Which?", ("a", "b"))]) is None
        assert not [m for m in client.requests_received if m["method"].startswith("chatls/")]


# --- questions, saving, diagnostics --------------------------------------------------------------------------------


async def test_the_models_questions_are_answered_by_id(editor: LoopClient) -> None:
    editor.handlers["chatls/ask"] = lambda _params: {"answers": {"q1": "yes", "q2": ["a", "b"], "alien": "x"}}
    questions = [Question("q1", "Sure?"), Question("q2", "Which?", ("a", "b"), multiple=True)]
    assert await editor.server.host.ask("c", questions) == {"q1": "yes", "q2": ["a", "b"]}
    editor.handlers["chatls/ask"] = lambda _params: {"answers": 5}
    assert await editor.server.host.ask("c", questions) is None


async def test_a_plain_editor_can_be_asked_where_there_are_options(plain: LoopClient) -> None:
    plain.handlers["window/showMessageRequest"] = lambda params: params["actions"][-1]
    questions = [Question("q1", "Which?", ("a", "b")), Question("q2", "Free text?")]
    assert await plain.server.host.ask("c", questions) == {"q1": "b"}


async def test_saving_goes_through_the_editor_or_tells_what_is_not_on_disk(
    editor: LoopClient, plain: LoopClient, root: Path
) -> None:
    path = root / "src" / "a.py"
    for client, saved in ((editor, True), (plain, False)):
        buffer = client.open(path)
        client.type(buffer, "typed ", line=0, character=0)
        await settle()
        (result,) = await client.server.host.save([buffer.uri])
        assert result.saved is saved
    assert path.read_text() == "typed one\n"


async def test_diagnostics_of_other_servers_come_in_code_points(editor: LoopClient, root: Path) -> None:
    path = root / "src" / "a.py"
    buffer = editor.open(path, "😀x\n")
    await settle()
    found = {
        "range": {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 3}},
        "severity": 2,
        "message": "odd",
        "source": "lint",
    }
    editor.handlers["chatls/diagnostics"] = lambda _params: {
        "items": [{"uri": buffer.uri, "version": 1, "diagnostics": [found], "complete": True}]
    }
    report = await editor.server.host.diagnostics([buffer.uri], 10)
    assert report.complete
    assert (report.items[0].range.start, report.items[0].severity) == (Position(0, 1), "warning")
    editor.handlers["chatls/diagnostics"] = lambda _params: None
    assert not (await editor.server.host.diagnostics([buffer.uri], 10)).complete
