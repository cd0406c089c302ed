"""Tool calls written as text: every shape of spec/agent.md §3.7, and the texts that are none."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatls_core.llm.text_protocol import read_calls
from chatls_core.llm.text_protocol.recovery import UnreadableJsonError, recover

OFFERED = ("read_file", "write_file", "edit_file", "run_command", "search", "find_files", "list_dir", "git_status")


def calls(text: str, **options: Any) -> list[tuple[str, Any]]:
    return [(c.name, c.error or json.loads(c.arguments)) for c in read_calls(text, OFFERED, **options).calls]


READ = ("read_file", {"path": "main.go"})


@pytest.mark.parametrize(
    "text",
    [
        """<tool_call name="@coder" args='{"cmd":"read","args":{"file":"main.go"}}' />""",
        """<tool name="@coder" args='{"cmd":"read","args":{"file":"main.go"}}'/>""",
        """<TOOL_CALL name="@coder" args='{"cmd":"read","args":{"file":"main.go"}}'></TOOL_CALL>""",
        """<tool_call args='{"cmd":"read","args":{"file":"main.go"}}' name='@coder'></tool_call>""",
        """<tool\n  name="@coder"\n\targs="read --file main.go"\n></tool>""",
        """<tool_call name="@coder" args="{&quot;cmd&quot;:&quot;read&quot;,&quot;file&quot;:&quot;main.go&quot;}"/>""",
        """<tool_call name="@coder" args="{\\"cmd\\":\\"read\\",\\"args\\":{\\"file\\":\\"main.go\\"}}"/>""",
        """<tool_call name="@coder" args="{"cmd":"read","args":{"file":"main.go"}}"/>""",
        """<tool_call name="@coder" args='{"cmd":"read","args":{"file":"main.go"}} />""",
        """<tool_call name="@coder">{"cmd":"read","args":{"file":"main.go"}}</tool_call>""",
        """<tool_call>\n{"name": "@coder", "arguments": {"cmd": "read", "file": "main.go"}}\n</tool_call>""",
        """{"tool_call":"@coder","args":{"cmd":"read","args":{"file":"main.go"}}}""",
        """{"name":"coder","arguments":"{\\"cmd\\":\\"read\\",\\"file\\":\\"main.go\\"}"}""",
        """Let me look.\n{"tool":"@coder","args":"read --file main.go"}\nThen we see.""",
        """{"cmd":"read","args":{"file":"main.go"}}""",
        """{'cmd': 'read', 'args': {'file': 'main.go'},}""",
        """```json\n{"cmd":"read","args":{"file":"main.go"}}\n```""",
        """[tool: @coder {"cmd":"read","args":{"file":"main.go"}}]""",
        """[tool_call: coder {"cmd":"read","args":{"file":"main.go"}}]""",
        """[tool: @coder read --file main.go]""",
        """[tool: @coder {"cmd":"read","args":{"file":"main.go"}}\nand so on""",
    ],
)
def test_one_call_in_every_spelling(text: str) -> None:
    assert calls(text) == [READ]


@pytest.mark.parametrize(
    "text",
    [
        "<toolbox name='@coder' args='read --file main.go'/>",
        "<tools name='@coder' args='read --file main.go'/>",
        "<tool_caller name='@coder' args='read --file main.go'/>",
        "<tool_call args='read --file main.go'/>",
        "a < tool and b > tool",
        '{"url":"http://x","name":"@coder","args":{"cmd":"read","file":"a"}}',
        '{"title":"t","snippet":"s","cmd":"read","file":"a"}',
        '{"type":"x","error":"no","cmd":"read","file":"a"}',
        '{"name":"somebody","args":{"age":7}}',
        '{"name":"read_file"}',
        '{"cmd":"search","query":"deploys"}',
        '{"cmd":"sing","file":"a"}',
        "[toolbox: hammer]",
        "[tool docs]",
        "[tool: ]",
        "[tool: unknown thing]",
        "Use `read_file` to read.",
        "",
    ],
)
def test_what_is_no_call_stays_text(text: str) -> None:
    assert read_calls(text, OFFERED).text == text
    assert calls(text) == []


def test_calls_come_in_the_order_they_were_written_across_spellings() -> None:
    text = (
        'First.\n<tool name="read_file" args=\'{"path":"a"}\'></tool>\n'
        'Then <tool_call name="read_file" args=\'{"path":"b"}\'/> and {"tool":"@read_file","args":{"path":"c"}}\n'
        '<tool_call name="run_command" args=\'{"command":"go test"}\'></tool_call>\nDone.'
    )
    assert calls(text) == [
        ("read_file", {"path": "a"}),
        ("read_file", {"path": "b"}),
        ("read_file", {"path": "c"}),
        ("run_command", {"command": "go test"}),
    ]
    said = read_calls(text, OFFERED).text
    assert said.startswith("First.")
    assert said.endswith("Done.")
    assert "tool" not in said


def test_a_paired_tool_does_not_take_the_close_tag_of_the_other_spelling() -> None:
    text = '<tool name="read_file" args="a.go"></tool_call>\n<tool_call name="read_file" args="b.go"></tool_call>'
    assert calls(text) == [("read_file", {"file": "a.go"}), ("read_file", {"file": "b.go"})]


def test_a_tags_end_inside_quotes_is_text() -> None:
    text = """<tool_call name="run_command" args='{"command":"test 2 > 1 && echo \\"a/>b\\" > out"}' />tail"""
    assert calls(text) == [("run_command", {"command": 'test 2 > 1 && echo "a/>b" > out'})]
    assert read_calls(text, OFFERED).text == "tail"


def test_the_same_json_is_not_read_twice() -> None:
    inner = '{"tool":"@read_file","args":{"path":"a"}}'
    assert calls(f'<tool_call name="read_file">{{"path":"a"}}</tool_call>\n{inner}') == [("read_file", {"path": "a"})]
    assert calls(f"<tool_call>{inner}</tool_call>") == [("read_file", {"path": "a"})]


def test_json_in_a_fence_counts_only_when_nothing_else_is_a_call() -> None:
    fenced = '```json\n{"tool":"@run_command","args":{"command":"rm x"}}\n```'
    assert calls(fenced) == [("run_command", {"command": "rm x"})]
    assert calls(f'{fenced}\n<tool name="read_file" args="a"/>') == [("read_file", {"file": "a"})]


def test_several_bracket_forms_in_one_answer() -> None:
    text = "[tool: @read_file main.go]\n[tool_call: run_command go build ./...]\n[tool: @coder {cmd: tree, dir: src}]"
    assert calls(text) == [
        ("read_file", {"file": "main.go"}),
        ("run_command", {"cmd": "go build ./..."}),
        ("list_dir", {"path": "src"}),
    ]


def test_names_of_other_agents_mean_our_tools_and_unknown_ones_are_told() -> None:
    assert calls('<tool_call name="Bash" args="echo hello"/>') == [("run_command", {"command": "echo hello"})]
    assert calls('<tool_call name="Glob" args="**/*.go"/>') == [("find_files", {"pattern": "**/*.go"})]
    assert calls('<tool_call name="@teleport" args=\'{"to":"x"}\'/>') == [("@teleport", {"to": "x"})]


def test_what_would_lose_text_is_refused_with_a_reason() -> None:
    for args, says in [
        ('{"cmd":"write","args":{"file":"a","content":"eA==","encoding":"base64"}}', "Base64"),
        ('{"cmd":"write","args":{"file":"a","content":"more","append":true}}', "append"),
        ('{"cmd":"write","args":{"file":"a","content":"print("hi")"}}', "could not be read"),
        ('{"cmd":"write","args":{"file":"a","content":"half', "could not be read"),
        ('{"cmd":"dance"}', "There is no command"),
    ]:
        [(_, error)] = calls(f"<tool_call name='@coder'>{args}</tool_call>")
        assert says in error


def test_a_coder_call_for_several_files_or_edits_is_several_calls() -> None:
    assert calls('{"cmd":"read","args":{"file":["a","b"],"start":3}}') == [
        ("read_file", {"path": "a", "start_line": 3}),
        ("read_file", {"path": "b", "start_line": 3}),
    ]
    edits = [{"file": "a", "search": "x", "replace": "y"}, {"file": "b", "search": "-p", "replace": "-q"}]
    assert calls(json.dumps({"cmd": "multipatch", "args": {"edits": json.dumps(edits)}})) == [
        ("edit_file", {"path": "a", "old_text": "x", "new_text": "y"}),
        ("edit_file", {"path": "b", "old_text": "-p", "new_text": "-q"}),
    ]


def test_models_with_calls_of_their_own_may_write_about_tags() -> None:
    tag = """<tool_call name="read_file" args='{"path":"a"}'/>"""
    assert calls(tag, tags_only=True) == [("read_file", {"path": "a"})]
    assert calls(f"```xml\n{tag}\n```", tags_only=True) == []
    assert calls(f"Write {tag} to read.", tags_only=True) == []
    assert calls('{"cmd":"read","file":"a"}', tags_only=True) == []


@pytest.mark.parametrize(
    ("text", "tool", "meant"),
    [
        ("{'cmd':'read','args':{'file':'main.go'}}", "@coder", {"cmd": "read", "args": {"file": "main.go"}}),
        ("""{'cmd':"read",'file':"main.go"}""", "@coder", {"cmd": "read", "file": "main.go"}),
        ("{cmd: read, file: main.go}", "@coder", {"cmd": "read", "file": "main.go"}),
        ("{regex: true, term: TODO}", "@coder", {"regex": True, "term": "TODO"}),
        ('{"cmd":"read","file":"main.go",}', "@coder", {"cmd": "read", "file": "main.go"}),
        ("main.go", "read_file", {"file": "main.go"}),
        ("main.go", "read", {"file": "main.go"}),
        ("go build ./...", "exec", {"cmd": "go build ./..."}),
        ("go build ./...", "run_command", {"cmd": "go build ./..."}),
        ("echo hello", "Bash", {"command": "echo hello"}),
        ("**/*.go", "Glob", {"pattern": "**/*.go"}),
        ("TODO", "search_files", {"term": "TODO"}),
        ("/src", "list_directory", {"dir": "/src"}),
        ("cmd: read, file: main.go", "@coder", {"cmd": "read", "file": "main.go"}),
        ("{'a': 'it\\'s \"so\"', b: [1, two, None]}", "", {"a": 'it\'s "so"', "b": [1, "two", None]}),
        ('"{\\"path\\": \\"a\\"}"', "read_file", {"path": "a"}),
        ('{"command": "echo a; echo b"}', "exec", {"command": "echo a; echo b"}),
        ('echo "a" && echo "b"', "Bash", {"command": 'echo "a" && echo "b"'}),
        ("", "x", {}),
    ],
)
def test_json_is_recovered(text: str, tool: str, meant: dict[str, Any]) -> None:
    assert recover(text, tool) == meant


@pytest.mark.parametrize(
    "text", ['{"a": "b', '{"a": "b" "c"}', '{"content": "print("x")"}', "{a: {b: 1}", "plain", "[1, 2]", "{" * 500]
)
def test_what_could_mean_two_things_is_not_recovered(text: str) -> None:
    with pytest.raises(UnreadableJsonError):
        recover(text, "@coder")


@given(st.text(alphabet="<tool_cal nme=args'\"{}[]:,\\/>`\n&;@x1", max_size=120))
def test_any_text_is_read(text: str) -> None:
    reading = read_calls(text, OFFERED)
    assert isinstance(reading.text, str)
    assert reading.calls or reading.text == text


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call name="' * 20_000,
        "<tool_call name='x' args='" + '{"a":' * 50_000,
        '{"cmd": "read", "file": [' * 20_000,
        "{a: 1, " * 50_000,
        "[tool: @coder " * 20_000,
        "```\n{" * 30_000,
    ],
)
def test_long_rubbish_is_read_in_bounded_time(text: str) -> None:
    began = time.perf_counter()
    read_calls(text, OFFERED)
    assert time.perf_counter() - began < 5
