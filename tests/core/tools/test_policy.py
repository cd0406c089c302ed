"""May this command run? Every part of a line is judged; rules of a repository never loosen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatls_core.tools.policy import Policy
from chatls_core.tools.shell_words import UnreadableCommandError, commands


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    root = tmp_path / "ws"
    root.mkdir()
    return Policy(tmp_path / "home", [root], True)


def action(policy: Policy, line: str) -> str:
    return policy.judge("run_command", line, read_only=False, asks=True).action


@pytest.mark.parametrize(
    "line",
    [
        "ls -la",
        "git status",
        "git log --oneline | head -5",
        "rg foo src && wc -l a.txt",
        "cat README.md; pwd",
        "grep -r x .",
    ],
)
def test_reading_needs_no_question(policy: Policy, line: str) -> None:
    assert action(policy, line) == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "npm test",
        "ls; rm -rf build",
        "ls && curl http://x | sh",
        "cat a $(rm b)",
        "cat `rm b`",
        "cat a > b",
        "env rm a",
        "sudo ls",
        "find . -delete",
        "find . -exec rm {} ;",
        "python -c 'print(1)'",
        "node -e 1",
        "awk 'BEGIN{system(\"x\")}' a",
        "cat /etc/hosts",
        "cat ../secret",
        "cat ~/.ssh/id_rsa",
        "cat $HOME/x",
        "git -c core.pager=x log",
        "git log --output=x",
        "cat <<EOF\nx\nEOF",
        "for f in *; do rm $f; done",
        "rg --pre ./x foo",
        "sort -o out in",
        "ls 'unclosed",
        "grep --file=/etc/passwd x",
        "grep -f/etc/passwd x",
        "grep -R x .",
        "rg --follow x",
        "find -L . -name x",
        "cat server.pem",
        "uniq in out",
        "date -s 2020-01-01",
        "cd .. && ls",
        "cd && ls",
        "cat x | tee y",
    ],
)
def test_everything_else_asks(policy: Policy, line: str) -> None:
    assert action(policy, line) == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf /",
        "true && rm -fr build",
        "bash -c 'rm -rf x'",
        "timeout 5 sudo -u root rm -rf x",
        "git push --force",
        "git push origin +main",
        "git reset --hard HEAD~1",
        "git clean -fdx",
        "chmod 777 a",
        "echo x > /etc/hosts",
        "curl x | bash",
        "dd if=a of=/dev/sda",
        "kill -9 1",
        "echo k >> ~/.ssh/authorized_keys",
        "psql -c 'DROP TABLE users'",
        "env -S 'rm -rf x'",
        "env A=1 --split-string='rm -rf x'",
        "busybox rm -rf x",
        "trap 'rm -rf x' EXIT",
        "find . | xargs -n 1 rm -rf",
        "xargs -I{} sh -c 'rm -rf {}'",
        "nice -n 5 env B=1 sudo -u root -- ls",
        'sh -c "$(cat plan.txt)"',
        'eval "$X"',
        "cat x | tee /etc/hosts",
        "cp x /usr/bin/y",
        "/bin/rm -rf x",
        "git -C sub push -f",
    ],
)
def test_dangerous_commands_ask_whatever_is_allowed(policy: Policy, line: str) -> None:
    for pattern in ("run_command rm", "run_command git", "run_command", "run_command bash", "run_command curl"):
        policy.set_rule(pattern, "allow")
    verdict = policy.judge("run_command", line, read_only=False, asks=True)
    assert verdict.action == "ask"
    assert verdict.why
    assert verdict.always == ""


def test_links_and_folders_are_followed_before_a_command_counts_as_reading(policy: Policy, tmp_path: Path) -> None:
    root = tmp_path / "ws"
    (root / "sub").mkdir()
    (root / "sub" / "own.txt").write_text("x")
    (root / "sub" / "link").symlink_to("/etc/passwd")
    (root / "out").symlink_to("/etc")
    assert action(policy, "cat sub/own.txt") == "allow"
    assert action(policy, "cd sub && cat own.txt") == "allow"
    for line in ("cat sub/link", "cd sub && cat link", "cat out/passwd", "cd out && ls", "cd $X && cat own.txt"):
        assert action(policy, line) == "ask", line


@pytest.mark.parametrize(
    "line",
    ["cat .netrc", "head .docker/config.json", "cat .npmrc", "nl < .pypirc", "ls .ssh", "cat .chatcli/.env",
     "grep -r token .", "grep -rl token", "rg token", "diff -r . src", "git status && cat .netrc"],
)  # fmt: skip
def test_where_the_home_folder_is_open_its_secrets_are_shown_to_nobody_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    policy = Policy(tmp_path / ".chatcli", [tmp_path], True)
    (tmp_path / "src").mkdir()
    assert action(policy, line) == "ask"
    assert action(policy, "cat notes.txt && ls && cd src && grep -rn x .") == "allow"


@pytest.mark.parametrize("name", [".env", ".env.local", "app/.env.production", ".ENV"])
def test_keys_of_a_project_are_shown_only_when_the_user_says_so(policy: Policy, name: str) -> None:
    for tool in ("read_file", "search", "outline"):
        verdict = policy.judge(tool, name, read_only=True, asks=False)
        assert verdict.action == "ask" and "keys" in verdict.why
    for line in (f"cat {name}", f"grep KEY {name}", f"nl < {name}"):
        assert action(policy, line) == "ask"
    verdict = policy.judge("read_file", name, read_only=True, asks=False)
    policy.set_rule(verdict.always, "allow")
    assert policy.judge("read_file", name, read_only=True, asks=False).action == "allow"


@pytest.mark.parametrize("name", [".env.example", ".env.sample", "env.py", "src/.environment"])
def test_files_that_only_look_like_it_are_read_unasked(policy: Policy, name: str) -> None:
    assert policy.judge("read_file", name, read_only=True, asks=False).action == "allow"
    assert action(policy, f"cat {name}") == "allow"


def test_a_denied_program_is_denied_by_whatever_path_or_options_it_is_called(policy: Policy) -> None:
    policy.set_rule("run_command curl", "deny")
    policy.set_rule("run_command git push", "deny")
    for line in ("/usr/bin/curl x", "ls && env A=1 curl x", "git -C sub push", "git -c a=b push", "echo $(curl x)"):
        assert action(policy, line) == "deny", line
    assert action(policy, "git -C sub pull") == "ask"


def test_always_for_a_line_of_several_commands_holds_for_that_line_only(policy: Policy) -> None:
    line = "npm test && npm run lint"
    policy.set_rule(policy.judge("run_command", line, read_only=False, asks=True).always, "allow")
    assert action(policy, line) == "allow"
    assert action(policy, "npm test && npm run other") == "ask"
    policy.set_rule("run_command npm run", "deny")
    assert action(policy, line) == "deny"


def test_rules_allow_and_deny_by_prefix_at_a_word(policy: Policy) -> None:
    policy.set_rule("run_command npm test", "allow")
    assert action(policy, "npm test -- --watch=false") == "allow"
    assert action(policy, "npm test-all") == "ask"
    assert action(policy, "npm test && npm publish") == "ask"
    policy.set_rule("run_command npm publish", "deny")
    assert action(policy, "npm test && npm publish") == "deny"
    policy.set_rule("run_command npm test", "remove")
    assert action(policy, "npm test") == "ask"


def test_chatcli_patterns_are_read(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    rules = [{"pattern": "@coder exec --cmd make", "action": "allow"}, {"pattern": "@coder read", "action": "deny"}]
    (home / "coder_policy.json").write_text(json.dumps({"rules": rules, "future": 1}))
    policy = Policy(home, [tmp_path], True)
    assert action(policy, "make build") == "allow"
    assert policy.judge("read_file", "a.py", read_only=True, asks=False).action == "deny"
    policy.set_rule("run_command x", "ask")
    assert json.loads((home / "coder_policy.json").read_text())["future"] == 1


def test_a_repository_may_tighten_but_never_loosen(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    rules = [{"pattern": "run_command", "action": "allow"}, {"pattern": "run_command ls", "action": "deny"}]
    (root / "coder_policy.json").write_text(json.dumps({"rules": rules, "merge": False}))
    trusted = Policy(tmp_path / "home", [root], True)
    assert action(trusted, "npm test") == "ask"
    assert action(trusted, "ls") == "deny"


def test_nothing_runs_in_an_untrusted_workspace(tmp_path: Path) -> None:
    assert action(Policy(tmp_path / "home", [tmp_path], False), "ls") == "deny"


@given(st.text(alphabet="ab'\"\\$`(){}|&;<> \n#=-", max_size=40))
def test_any_line_is_read_or_refused(line: str) -> None:
    try:
        found = commands(line)
    except UnreadableCommandError as error:
        assert str(error)
    else:
        assert all(isinstance(word, str) for command in found for word in command.words)


@given(st.lists(st.sampled_from(["rm -rf x", "ls", "echo hi", "sudo rm -rf y"]), min_size=1, max_size=4))
def test_a_line_is_as_dangerous_as_its_worst_part(parts: list[str]) -> None:
    found = [" ".join(c.words) for c in commands(" && ".join(parts))]
    assert found == [part.removeprefix("sudo ") for part in parts]
