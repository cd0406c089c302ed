"""``allowed-tools`` of what the user calls: it tightens one turn, and costs the cached prompt no byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatls_core.prompt.allowed_tools import AllowedTools, allowed_words
from chatls_core.prompt.skills_templates import templates
from tests.core.prompt.test_skills import write
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, Reply


def results(desk: Desk) -> list[tuple[str, bool]]:
    """The latest results: text, and whether it is an error."""
    message = desk.models.requests[-1].json["messages"][-1]
    found = (block for block in message["content"] if block["type"] == "tool_result")
    return [(str(b["content"]), bool(b.get("is_error"))) for b in found]


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("Read, Grep", ("Read", "Grep")),
        ("Bash(git add:*), Bash(git status:*)", ("Bash(git add:*)", "Bash(git status:*)")),
        ("Bash(git:*) Bash(jq:*) Read", ("Bash(git:*)", "Bash(jq:*)", "Read")),
        (["Read", "Bash(npm test)"], ("Read", "Bash(npm test)")),
        ("@coder read, @coder git-diff", ("@coder read", "@coder git-diff")),
        ("mcp__github__create_issue", ("mcp__github__create_issue",)),
        ([], ()),
        ("*", None),
        ("Read, *", None),
        ("", None),
        (None, None),
    ],
)
def test_a_head_is_read_as_people_write_it(head: object, words: tuple[str, ...] | None) -> None:
    assert allowed_words(head) == words


@pytest.mark.parametrize(
    ("words", "tool", "subject", "allowed"),
    [
        ("Read", "read_file", "a.py", True),
        ("read", "git_diff", "", True),
        ("Read", "search", "", False),
        ("Grep", "search", "", True),
        ("Read", "edit_file", "a.py", False),
        ("Edit", "edit_file", "a.py", True),
        ("read_file", "read_file", "a.py", True),
        ("@coder read", "read_file", "a.py", True),
        ("@coder read", "list_dir", "", False),
        ("@coder", "edit_file", "a.py", True),
        ("@coder", "move_file", "a.py", False),
        ("@search", "search", "", True),
        ("Read(src/**)", "read_file", "src/a/b.py", True),
        ("Read(src/**)", "read_file", "/ws/src/a.py", True),
        ("Read(src/**)", "read_file", "/elsewhere/src/a.py", False),
        ("Read(src/**)", "read_file", "src/../secret.py", False),
        ("Read(src/**)", "read_file", "lib/a.py", False),
        ("Edit(docs/*.md)", "write_file", "docs/a.md", False),
        ("Write(docs/**)", "move_file", "docs/a.md", False),
        ("Bash", "run_command", "rm x", True),
        ("Bash(*)", "run_command", "rm x", True),
        ("Bash(git add:*)", "run_command", "git add a.py", True),
        ("Bash(git add:*)", "run_command", "git add", True),
        ("Bash(git add *)", "run_command", "git add a.py", True),
        ("Bash(git add:*)", "run_command", "git address", False),
        ("Bash(git add:*)", "run_command", "git add a && rm b", False),
        ("Bash(git add:*), Bash(git commit:*)", "run_command", "git add a && git commit -m x", True),
        ("Bash(git add:*)", "run_command", "git add $(rm b)", False),
        ("Bash(git log:*)", "run_command", "git log > a.txt", False),
        ("Bash(git log:*)", "run_command", "git log 2> /dev/null", True),
        ("Bash(git log:*)", "run_command", "sudo git log", False),
        ("Bash(git log:*)", "run_command", "git log <<EOF\nx\nEOF", False),
        ("Bash(npm test)", "run_command", "npm test", True),
        ("Bash(npm test)", "run_command", "npm test -- --all", False),
        ("Bash(npm run test:*)", "run_command", "npm run test:unit", False),
        ("Bash(npm * test)", "run_command", "npm run test", True),
        ("Bash(git status:*)", "git_status", "", True),
        ("Bash(git:*)", "git_log", "", True),
        ("Bash(git add:*)", "git_log", "", False),
        ("mcp__github__create_issue", "mcp_create_issue", "github", True),
        ("mcp__github__create_issue", "mcp_create_issue", "gitlab", False),
        ("mcp__github", "mcp_create_issue", "github", True),
        ("mcp__github__*", "mcp_create_issue", "github", True),
        ("mcp_create_issue", "mcp_create_issue", "github", True),
        ("Read", "ask_user", "", True),
        ("Read", "recall_archive", "", True),
        ("Read", "knowledge", "", True),
    ],
)
def test_a_name_covers_what_it_means_and_no_more(words: str, tool: str, subject: str, allowed: bool) -> None:
    found = AllowedTools("/x", allowed_words(words) or ())
    also = (f"mcp_{subject}_create_issue",) if tool.startswith("mcp_") else ()
    refusal = found.refusal(tool, also, subject, (Path("/ws"),))
    assert (refusal == "") is allowed
    assert allowed or "/x" in refusal


async def test_other_tools_are_refused_in_the_turn_of_a_called_skill_only(desk: Desk) -> None:
    root = desk.host.root
    (root / "a.py").write_text("one = 1\n")
    write(root / ".chatcli/skills", "look", "description: only looks\nallowed-tools: Read, Grep", "Look closely.")
    edit: dict[str, Any] = {"path": "b.py", "content": "two = 2\n"}

    async def work(text: str) -> None:
        desk.models.script(
            Reply(tool_calls=(Call("read_file", {"path": "a.py"}), Call("write_file", edit))),
            Reply(text="done"),
        )
        await desk.ask(text, mode="coder")

    await work("hello")
    before = desk.models.requests[-1].json
    written = desk.host.uri("b.py")
    assert desk.host.buffers.pop(written)
    await work("/look at it")
    after = desk.models.requests[-1].json
    assert written not in desk.host.buffers
    (read, failed), (text, is_error) = results(desk)
    assert not failed and "one = 1" in read
    assert is_error and "/look allows these tools only: read_file" in text and "search" in text
    assert after["tools"] == before["tools"] and after["system"] == before["system"]
    assert "/look names the tools for this turn: read_file" in str(after["messages"][-3])
    await work("and now write it")
    assert written in desk.host.buffers


async def test_a_skill_that_only_fires_leaves_the_tools(desk: Desk) -> None:
    skills = desk.host.root / ".chatcli/skills"
    write(skills, "look", "description: only looks\ntriggers: closely\nallowed-tools: Read", "Look closely.")
    call = Call("write_file", {"path": "b.py", "content": "two = 2\n"})
    desk.models.script(Reply(tool_calls=(call,)), Reply(text="done"))
    await desk.ask("look closely and write", mode="coder")
    assert desk.host.uri("b.py") in desk.host.buffers


async def test_what_is_allowed_is_still_judged_by_policy(desk: Desk) -> None:
    skills = desk.host.root / ".chatcli/skills"
    write(skills, "tidy", "description: tidies\nallowed-tools: Bash", "Tidy up.")
    desk.agent.services.policy.set_rule("run_command touch", "deny")
    desk.models.script(Reply(tool_calls=(Call("run_command", {"command": "touch x"}),)), Reply(text="done"))
    await desk.ask("/tidy", mode="coder")
    assert "a rule denies it" in results(desk)[0][0] and not (desk.host.root / "x").exists()


def test_a_template_names_its_tools(tmp_path: Path) -> None:
    folder = tmp_path / "ws/.claude/commands"
    folder.mkdir(parents=True)
    (folder / "commit.md").write_text("---\nallowed-tools: Bash(git add:*), Bash(git commit:*)\n---\nCommit it.")
    (folder / "free.md").write_text("Do it.")
    found = {t.name: t.allowed_tools for t in templates((tmp_path / "ws",), tmp_path / "home")}
    assert found == {"commit": ("Bash(git add:*)", "Bash(git commit:*)"), "free": None}
