"""After an edit, over stdio: the editor's formatter and other servers' findings reach the model by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.lsp_client import PLAIN
from tests.fakes.model_server import Call, ModelServer, Reply
from tests.server.test_main_job import client, models, retype, workspace

__all__ = ["models", "workspace"]

pytestmark = pytest.mark.timeout(180)

EDIT = Reply(tool_calls=(Call("edit_file", {"path": "a.py", "old_text": "one", "new_text": "x=1"}),))
RUN = Reply(tool_calls=(Call("run_command", {"command": "cat a.py"}),))


async def test_formatting_that_arrives_behind_the_answer_and_findings_are_told(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    path = workspace / "a.py"
    path.write_text("one\ntwo\n")
    models.script(EDIT, RUN, Reply(text="done"))
    async with client(tmp_path, workspace, models) as editor:
        buffer = editor.open(path)

        def save(_params: Any) -> Any:
            answer = [{"uri": buffer.uri, "saved": True, "version": buffer.version + 1}]
            editor.after_answer = lambda: (retype(editor, buffer, "x = 1\ntwo\n"), editor.save(buffer))
            return answer

        def findings(_params: Any) -> Any:
            place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
            found = [{"range": place, "severity": 1, "message": "x is unused", "source": "lint"}]
            diagnostics = found if "x" in buffer.text else []
            return {"items": [{"uri": buffer.uri, "version": 1, "diagnostics": diagnostics, "complete": True}]}

        editor.handlers["chatls/save"] = save
        editor.handlers["chatls/diagnostics"] = findings
        result = await editor.request("chatls/chat", {"text": "go", "mode": "coder", "sessionId": "s"})
        assert result["text"] == "done"
    after_edit, after_run = (str(r.json["messages"][-1]) for r in models.requests[1:])
    assert "a.py:1: error: x is unused [lint]" in after_edit
    assert "a.py changed while it was saved" in after_run
    assert "+x = 1" in after_run
    assert "x is unused" not in after_run


async def test_an_editor_that_can_do_neither_works_as_ever(
    tmp_path: Path, workspace: Path, models: ModelServer
) -> None:
    path = workspace / "a.py"
    path.write_text("one\ntwo\n")
    models.script(EDIT, RUN, Reply(text="done"))
    options = {"settings": {"edits": {"review": "auto"}}}
    async with client(tmp_path, workspace, models, capabilities=PLAIN, options=options) as editor:
        result = await editor.request("chatls/chat", {"text": "go", "mode": "coder", "sessionId": "s"})
        assert result["text"] == "done"
        assert not [m for m in editor.requests_received if m["method"].startswith("chatls/")]
    assert "x=1" in str(models.requests[-1].json["messages"][-1])
    assert path.read_text() == "x=1\ntwo\n"
