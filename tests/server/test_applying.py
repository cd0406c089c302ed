"""Edits reach the user's files whole, verified, or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatls_core.host import ChangeResult, FileChange, WorkspaceChange
from chatls_server.lsp import verifying
from tests.fakes.lsp_client import EDITOR, PLAIN, RICH, Buffer, path_of, uri_of
from tests.fakes.lsp_loop import LoopClient

NEOVIM: dict[str, Any] = {
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create", "rename", "delete"]},
    }
}
EGLOT: dict[str, Any] = {"workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}}}
CHANGES_ONLY: dict[str, Any] = {"workspace": {"applyEdit": True}}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "OPEN_SECONDS", 0.3)
    monkeypatch.setattr(verifying, "CLOSED_SECONDS", 0.15)
    monkeypatch.setattr(verifying, "SETTLE_SECONDS", 0.05)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "a.py").write_text("one\ntwo\nthree\n")
    (folder / "b.py").write_text("b\n")
    return folder.resolve()


@pytest.fixture
async def editor(tmp_path: Path, root: Path) -> AsyncIterator[LoopClient]:
    async with LoopClient(home=tmp_path / "home", root=root, capabilities=RICH) as client:
        yield client


def client_with(tmp_path: Path, root: Path, capabilities: dict[str, Any]) -> LoopClient:
    return LoopClient(home=tmp_path / "home", root=root, capabilities=capabilities)


async def apply(client: LoopClient, *files: FileChange) -> ChangeResult:
    return await client.server.host.apply(WorkspaceChange("test", files))


def edit(path: Path, before: str, after: str) -> FileChange:
    return FileChange(uri_of(path), before, after)


async def sent(client: LoopClient) -> list[Any]:
    return [m["params"]["edit"] for m in client.requests_received if m["method"] == "workspace/applyEdit"]


# --- through the editor --------------------------------------------------------------------------------------------


async def test_an_open_document_gets_a_minimal_versioned_annotated_edit(editor: LoopClient, root: Path) -> None:
    buffer = editor.open(root / "a.py")
    await editor.settle()
    result = await apply(editor, edit(root / "a.py", "one\ntwo\nthree\n", "one\n2\nthree\n"))
    assert result.applied, result
    assert buffer.text == "one\n2\nthree\n"
    assert (root / "a.py").read_text() == "one\ntwo\nthree\n"
    (workspace_edit,) = await sent(editor)
    (change,) = workspace_edit["documentChanges"]
    assert change["textDocument"] == {"uri": buffer.uri, "version": 1}
    (text_edit,) = change["edits"]
    assert text_edit["newText"] == "2"
    assert text_edit["range"] == {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}
    assert workspace_edit["changeAnnotations"][text_edit["annotationId"]]["needsConfirmation"] is False


async def test_a_closed_file_is_changed_through_the_editor_and_read_from_its_buffer(
    editor: LoopClient, root: Path
) -> None:
    result = await apply(editor, edit(root / "a.py", "one\ntwo\nthree\n", "1\ntwo\nthree\n"))
    assert result.applied, result
    assert (root / "a.py").read_text() == "one\ntwo\nthree\n"
    document = await editor.server.host.read(uri_of(root / "a.py"))
    assert document.text == "1\ntwo\nthree\n"
    assert document.dirty
    assert uri_of(root / "a.py") in editor.server.host.dirty_documents()


async def test_several_files_are_one_edit_where_the_editor_undoes_them_together(editor: LoopClient, root: Path) -> None:
    result = await apply(
        editor,
        edit(root / "a.py", "one\ntwo\nthree\n", "x\n"),
        edit(root / "b.py", "b\n", "y\n"),
        FileChange(uri_of(root / "new" / "c.py"), None, "c\n"),
    )
    assert result.applied, result
    assert len(await sent(editor)) == 1
    assert editor.buffers[uri_of(root / "new" / "c.py")].text == "c\n"


async def test_files_go_one_by_one_to_an_editor_without_annotations(tmp_path: Path, root: Path) -> None:
    async with client_with(tmp_path, root, NEOVIM) as client:
        result = await apply(client, edit(root / "a.py", "one\ntwo\nthree\n", "x\n"), edit(root / "b.py", "b\n", "y\n"))
        assert result.applied, result
        assert [len(e["documentChanges"]) for e in await sent(client)] == [1, 1]
        assert all("changeAnnotations" not in e for e in await sent(client))


async def test_an_editor_without_document_changes_gets_plain_changes(tmp_path: Path, root: Path) -> None:
    async with client_with(tmp_path, root, CHANGES_ONLY) as client:
        result = await apply(client, edit(root / "b.py", "b\n", "bb\n"))
        assert result.applied, result
        assert list((await sent(client))[0]) == ["changes"]


async def test_rename_with_an_edit_and_delete(editor: LoopClient, root: Path) -> None:
    editor.open(root / "a.py")
    await editor.settle()
    moved = FileChange(uri_of(root / "a.py"), "one\ntwo\nthree\n", "one\n2\nthree\n", uri_of(root / "z.py"))
    result = await apply(editor, moved, FileChange(uri_of(root / "b.py"), "b\n", None))
    assert result.applied, result
    assert editor.buffers[uri_of(root / "z.py")].text == "one\n2\nthree\n"
    assert not (root / "a.py").exists()
    assert not (root / "b.py").exists()


async def test_operations_an_editor_does_not_know_are_done_on_disk(tmp_path: Path, root: Path) -> None:
    async with client_with(tmp_path, root, EGLOT) as client:
        result = await apply(
            client,
            edit(root / "a.py", "one\ntwo\nthree\n", "x\n"),
            FileChange(uri_of(root / "n.py"), None, "new\n"),
            FileChange(uri_of(root / "b.py"), "b\n", None),
        )
        assert result.applied, result
        assert (root / "n.py").read_text() == "new\n"
        assert not (root / "b.py").exists()
        assert client.buffers[uri_of(root / "a.py")].text == "x\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.lists(st.sampled_from(["a", "é", "😀", "\n", "\r\n", "b", "\t"]), max_size=20).map("".join),
    after=st.lists(st.sampled_from(["a", "é", "😀", "\n", "\r\n", "c", "\t"]), max_size=20).map("".join),
)
async def test_any_edit_arrives_whole_in_every_position_encoding(
    tmp_path: Path, root: Path, encoding: str, before: str, after: str
) -> None:
    # The client's own editor counts UTF-16; for the others the server's documents judge what is sent.
    capabilities = {**EDITOR, "general": {"positionEncodings": [encoding]}}
    async with client_with(tmp_path, root, capabilities) as client:
        buffer = client.open(root / "a.py", before)

        def editor_counts_units(params: Any) -> dict[str, Any]:
            (change,) = params["edit"]["documentChanges"]
            content = [{"range": e["range"], "text": e["newText"]} for e in reversed(change["edits"])]
            client.notify(
                "textDocument/didChange",
                {"textDocument": {"uri": buffer.uri, "version": 2}, "contentChanges": content},
            )
            return {"applied": True}

        if encoding != "utf-16":
            client.handlers["workspace/applyEdit"] = editor_counts_units
        await client.settle()
        result = await apply(client, edit(root / "a.py", before, after))
        assert result.applied, result
        assert (await client.server.host.read(buffer.uri)).text == after


# --- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [None, {"applied": False}, {"applied": False, "failureReason": "no"}, {}, 5])
async def test_anything_but_a_clear_yes_is_a_refusal(editor: LoopClient, root: Path, answer: Any) -> None:
    editor.open(root / "a.py")
    editor.handlers["workspace/applyEdit"] = lambda _params: answer
    await editor.settle()
    result = await apply(editor, edit(root / "a.py", "one\ntwo\nthree\n", "x\n"))
    assert not result.applied
    assert not result.stale
    assert result.reason


async def test_an_error_as_answer_is_a_refusal(tmp_path: Path, root: Path) -> None:
    async with client_with(tmp_path, root, EDITOR) as client:
        del client.handlers["workspace/applyEdit"]
        result = await apply(client, edit(root / "a.py", "one\ntwo\nthree\n", "x\n"))
        assert not result.applied
        assert "workspace/applyEdit" in result.reason


async def test_a_text_that_changed_before_is_stale_and_comes_with_its_text(editor: LoopClient, root: Path) -> None:
    buffer = editor.open(root / "a.py")
    editor.type(buffer, "zero\n", line=0, character=0)
    await editor.settle()
    result = await apply(editor, edit(root / "a.py", "one\ntwo\nthree\n", "x\n"))
    assert result.stale
    assert result.files[0].current == "zero\none\ntwo\nthree\n"
    assert await sent(editor) == []


async def test_typing_between_sending_and_applying_is_stale_and_nothing_typed_is_lost(
    editor: LoopClient, root: Path
) -> None:
    buffer = editor.open(root / "a.py")

    def type_first(params: Any) -> Any:
        editor.type(buffer, "typed\n", line=0, character=0)
        return editor.apply_edit(params)

    editor.handlers["workspace/applyEdit"] = type_first
    await editor.settle()
    result = await apply(editor, edit(root / "a.py", "one\ntwo\nthree\n", "one\n2\nthree\n"))
    assert result.stale
    assert result.files[0].current == buffer.text == "typed\none\ntwo\nthree\n"


async def test_typing_right_after_the_edit_is_no_failure(editor: LoopClient, root: Path) -> None:
    buffer = editor.open(root / "a.py")

    def type_after(params: Any) -> Any:
        answer = editor.apply_edit(params)
        editor.type(buffer, "typed\n", line=3, character=0)
        return answer

    editor.handlers["workspace/applyEdit"] = type_after
    await editor.settle()
    result = await apply(editor, edit(root / "a.py", "one\ntwo\nthree\n", "one\n2\nthree\n"))
    assert result.applied, result
    assert buffer.text == "one\n2\nthree\ntyped\n"


async def test_a_yes_without_a_change_is_noticed(editor: LoopClient, root: Path) -> None:
    editor.open(root / "a.py")
    editor.handlers["workspace/applyEdit"] = lambda _params: {"applied": True}
    await editor.settle()
    result = await apply(editor, edit(root / "a.py", "one\ntwo\nthree\n", "x\n"))
    assert not result.applied
    assert result.reason


async def test_an_edit_put_in_the_wrong_place_is_noticed_and_taken_back(editor: LoopClient, root: Path) -> None:
    buffer = editor.open(root / "a.py")
    calls = 0

    def misplace(params: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            change = params["edit"]["documentChanges"][0]
            for text_edit in change["edits"]:
                for end in text_edit["range"].values():
                    end["line"] += 1
                    end["character"] = min(end["character"], 2)
        return editor.apply_edit(params)

    editor.handlers["workspace/applyEdit"] = misplace
    await editor.settle()
    result = await apply(editor, edit(root / "a.py", "one\ntwo\nthree\n", "1\ntwo\nthree\n"))
    assert not result.applied
    assert buffer.text == "one\ntwo\nthree\n"


async def test_half_of_a_transaction_is_rolled_back(editor: LoopClient, root: Path) -> None:
    buffer = editor.open(root / "a.py")
    calls = 0

    def half(params: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            params["edit"]["documentChanges"] = params["edit"]["documentChanges"][:1]
            editor.apply_edit(params)
            return {"applied": False, "failureReason": "the second one failed"}
        return editor.apply_edit(params)

    editor.handlers["workspace/applyEdit"] = half
    await editor.settle()
    result = await apply(
        editor, edit(root / "a.py", "one\ntwo\nthree\n", "x\n"), FileChange(uri_of(root / "n.py"), None, "n\n")
    )
    assert not result.applied
    assert buffer.text == "one\ntwo\nthree\n"
    assert not (root / "n.py").exists()


async def test_a_failing_later_file_undoes_the_earlier_ones_and_keeps_typing(tmp_path: Path, root: Path) -> None:
    async with client_with(tmp_path, root, NEOVIM) as client:
        buffer = client.open(root / "a.py")

        def second_fails(params: Any) -> Any:
            (change,) = params["edit"]["documentChanges"]
            if change["textDocument"]["uri"].endswith("b.py"):
                client.type(buffer, "typed\n", line=3, character=0)
                return None
            return client.apply_edit(params)

        client.handlers["workspace/applyEdit"] = second_fails
        await client.settle()
        result = await apply(
            client,
            edit(root / "a.py", "one\ntwo\nthree\n", "one\n2\nthree\n"),
            edit(root / "b.py", "b\n", "y\n"),
        )
        assert not result.applied
        assert buffer.text == "one\ntwo\nthree\ntyped\n"


async def test_a_hidden_buffer_is_believed_until_the_disk_says_otherwise(tmp_path: Path, root: Path) -> None:
    async with client_with(tmp_path, root, NEOVIM) as client:
        client.handlers["workspace/applyEdit"] = lambda _params: {"applied": True}
        result = await apply(client, edit(root / "a.py", "one\ntwo\nthree\n", "x\n"))
        assert result.applied
        assert "looked at" in result.files[0].reason
        host = client.server.host
        assert (await host.read(uri_of(root / "a.py"))).text == "x\n"
        assert uri_of(root / "a.py") in host.dirty_documents()
        (root / "a.py").write_text("saved by somebody else\n")
        assert (await host.read(uri_of(root / "a.py"))).text == "saved by somebody else\n"
        assert host.dirty_documents() == {}


# --- preflight -----------------------------------------------------------------------------------------------------


async def test_nothing_is_sent_when_one_file_cannot_be_changed(editor: LoopClient, root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("o\n")
    (root / "link.py").symlink_to(outside)
    (root / "ro.py").write_text("r\n")
    (root / "ro.py").chmod(0o444)
    (root / "bin").write_bytes(b"a\0b")
    (root / "latin").write_bytes(b"caf\xe9")
    good = edit(root / "a.py", "one\ntwo\nthree\n", "x\n")
    for bad, reason in [
        (edit(outside, "o\n", "x\n"), "outside"),
        (edit(root / "link.py", "o\n", "x\n"), "outside"),
        (edit(root / ".." / "outside.py", "o\n", "x\n"), "outside"),
        (edit(root / "ro.py", "r\n", "x\n"), "read-only"),
        (edit(root / "gone.py", "g\n", "x\n"), "does not exist"),
        (FileChange(uri_of(root / "b.py"), None, "x\n"), "exists"),
        (edit(root / "bin", "a", "b"), "binary"),
        (edit(root / "latin", "a", "b"), "utf-8"),
        (edit(root / "key.pem", "a", "b"), "secrets"),
        (FileChange(uri_of(root / "b.py"), "b\n", "b\n", uri_of(root / "ro.py")), "exists"),
        (FileChange(uri_of(root / "b.py"), "b\n", "b\n", uri_of(tmp_path / "moved.py")), "outside"),
        (FileChange("untitled:Untitled-1", "a", "b"), "not open"),
        (edit(root / "n.ipynb", "a", "b"), "notebook"),
        (edit(root / "a.py" / "below.py", "a", "b"), "does not exist"),
        (edit(root, "a", "b"), "folder"),
        (good, "twice"),
    ]:
        result = await apply(editor, good, bad)
        assert not result.applied, bad
        assert reason in result.reason, (reason, result.reason)
        assert result.files[0].status in ("refused", "failed")
    assert await sent(editor) == []
    assert outside.read_text() == "o\n"


async def test_an_untitled_document_is_edited_while_it_is_open(editor: LoopClient) -> None:
    buffer = editor.open("untitled:Untitled-1", "hello\n")
    await editor.settle()
    result = await apply(editor, FileChange(buffer.uri, "hello\n", "bye\n"))
    assert result.applied, result
    assert buffer.text == "bye\n"


# --- on disk -------------------------------------------------------------------------------------------------------


async def test_without_apply_edit_files_keep_encoding_mark_ends_and_mode(tmp_path: Path, root: Path) -> None:
    path = root / "u16.txt"
    path.write_bytes(b"\xff\xfe" + "één\r\ntwo".encode("utf-16-le"))
    path.chmod(0o754)
    async with client_with(tmp_path, root, PLAIN) as client:
        before = (await client.server.host.read(uri_of(path))).text
        result = await apply(client, edit(path, before, before.replace("two", "deux")))
        assert result.applied, result
    written, mode, names = path.read_bytes(), path.stat().st_mode, sorted(os.listdir(root))
    assert written == b"\xff\xfe" + "één\r\ndeux".encode("utf-16-le")
    assert stat.S_IMODE(mode) == 0o754
    assert names == ["a.py", "b.py", "u16.txt"]


async def test_on_disk_all_files_or_none(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with client_with(tmp_path, root, PLAIN) as client:
        result = await apply(
            client,
            edit(root / "a.py", "one\ntwo\nthree\n", "x\n"),
            FileChange(uri_of(root / "deep" / "er" / "n.py"), None, "n\n"),
            FileChange(uri_of(root / "b.py"), "b\n", None),
            FileChange(uri_of(root / "bad.py"), None, "lone \ud800 surrogate"),
        )
        assert not result.applied
        assert "surrogate" in result.reason or "U+D800" in result.reason
        assert (root / "a.py").read_text() == "one\ntwo\nthree\n"
        assert (root / "b.py").read_text() == "b\n"
        assert not (root / "deep").exists()


async def test_on_disk_a_failure_in_the_middle_is_put_back(tmp_path: Path, root: Path) -> None:
    async with client_with(tmp_path, root, PLAIN) as client:
        blocked = root / "file"
        blocked.write_text("")
        # The preflight cannot see that both want the same folder: one makes it a file.
        result = await apply(
            client,
            edit(root / "a.py", "one\ntwo\nthree\n", "x\n"),
            FileChange(uri_of(root / "b.py"), "b\n", None),
            FileChange(uri_of(root / "made"), None, "a file\n"),
            FileChange(uri_of(root / "made" / "below.py"), None, "n\n"),
        )
        assert not result.applied
        assert (root / "a.py").read_text() == "one\ntwo\nthree\n"
        assert (root / "b.py").read_text() == "b\n"
        assert not (root / "made").exists()


async def test_on_disk_an_open_document_is_read_as_written_and_unsaved_text_is_not_overwritten(
    tmp_path: Path, root: Path
) -> None:
    async with client_with(tmp_path, root, PLAIN) as client:
        buffer: Buffer = client.open(root / "a.py")
        await client.until_clean(buffer.uri)
        result = await apply(client, edit(root / "a.py", "one\ntwo\nthree\n", "x\n"))
        assert result.applied, result
        assert (await client.server.host.read(buffer.uri)).text == "x\n"
        client.type(buffer, "typed ", line=0, character=0)
        await client.settle()
        now = (await client.server.host.read(buffer.uri)).text
        assert now == "typed one\ntwo\nthree\n"
        result = await apply(client, edit(root / "a.py", now, "y\n"))
        assert not result.applied
        assert "unsaved" in result.reason
        assert path_of(buffer.uri).read_text() == "x\n"


async def test_a_new_file_on_disk_has_the_users_default_mode(tmp_path: Path, root: Path) -> None:
    async with client_with(tmp_path, root, PLAIN) as client:
        assert (await apply(client, FileChange(uri_of(root / "n.sh"), None, "n\n"))).applied
        (root / "plain").write_text("")
        assert (root / "n.sh").stat().st_mode == (root / "plain").stat().st_mode
