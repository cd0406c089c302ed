"""Arguments of text-protocol calls: cleaned and read as spec/agent.md §3.8 shows, file texts never changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatls_core.llm.text_protocol.cleanup import clean_arguments, join_continued_lines
from chatls_core.llm.text_protocol.invocation import Invocation, read_invocation

FORMAT = r'{"cmd":"exec","args":{"cmd":"docker version --format \"{{.Server.Version}}\""}}'


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("&quot;a&quot; &gt; b", '"a" > b'),
        ("one&#10;two", "one\ntwo"),
        ("one\r\ntwo", "one\ntwo"),
        ("write --file api.go \\\n--encoding base64", "write --file api.go --encoding base64"),
        ('"linha1\\\nlinha2"', '"linha1linha2"'),
        ("'linha1\\\nlinha2'", "'linha1linha2'"),
        (r"search --term a\d+", r"search --term a\d+"),
        (r"{\"cmd\":\"exec\",\"args\":{\"cmd\":\"ls\"}}", '{"cmd":"exec","args":{"cmd":"ls"}}'),
        (r"{\\\"cmd\\\":\\\"exec\\\"}", '{"cmd":"exec"}'),
        (r"exec --cmd echo \ hello", "exec --cmd echo hello"),
        (r"exec --cmd cat my\ file", r"exec --cmd cat my\ file"),
        (FORMAT, FORMAT),
        ('exec --cmd "echo hi\\', 'exec --cmd "echo hi"'),
        ("read --file a.go \\", "read --file a.go"),
        ("read --file a.go \\\\\\", "read --file a.go"),
        ("read   --file    a.go", "read --file a.go"),
        ("write --content 'two  blanks'", "write --content 'two  blanks'"),
        (r"write --content \ cGFja2FnZQ", "write --content cGFja2FnZQ"),
        (r"patch --search \, old --replace new", "patch --search old --replace new"),
        (r"exec --cmd \; ls", "exec --cmd ls"),
    ],
)
def test_arguments_are_cleaned(written: str, meant: str) -> None:
    assert clean_arguments(written) == meant


def test_a_continued_line_is_joined_by_one_space_outside_quotes() -> None:
    assert join_continued_lines("write --file api.go \\\n--encoding x") == "write --file api.go  --encoding x"


@pytest.mark.parametrize(
    ("written", "command", "options", "positional"),
    [
        ('{"cmd":"read","args":{"file":"main.go"}}', "read", {"file": "main.go"}, ()),
        ('["read","--file","main.go"]', "read", {"file": "main.go"}, ()),
        ('{"argv":["read","--file","main.go"]}', "read", {"file": "main.go"}, ()),
        (
            r'{\"cmd\":\"write\",\"args\":{\"file\":\"main.go\",\"encoding\":\"base64\"}}',
            "write",
            {"encoding": "base64", "file": "main.go"},
            (),
        ),
        ('{"cmd":"exec","args":{"command":"mkdir -p x"}}', "exec", {"cmd": "mkdir -p x"}, ()),
        ('{"cmd":"describe","name":"graphview"}', "describe", {"name": "graphview"}, ()),
        ('{"cmd":"describe","name":"a","args":{"name":"b"}}', "describe", {"name": "b"}, ()),
        (
            r'{"args":"{\"file\":\"C:\\Users\\b\\d.yaml\",\"content\":\"x\"}","cmd":"write"}',
            "write",
            {"file": r"C:\Users\b\d.yaml", "content": "x"},
            (),
        ),
        (
            r'{"cmd":"write","args":{"file":"C:\Users\b\d.yaml","content":"x"}}',
            "write",
            {"file": r"C:\Users\b\d.yaml", "content": "x"},
            (),
        ),
        ('{"cmd":"search","regex":true,"term":"x"}', "search", {"regex": True, "term": "x"}, ()),
        ('{"cmd":"search","regex":false,"glob":null,"term":"x"}', "search", {"term": "x"}, ()),
        ('{"cmd":"search","glob":["*.go","*.md"]}', "search", {"glob": ["*.go", "*.md"]}, ()),
        ('{"cmd":"x","meta":{"a":1}}', "x", {"meta": {"a": 1}}, ()),
        ('{"cmd":"read","args":{"positional":["a.go","b.go"],"head":5}}', "read", {"head": 5}, ("a.go", "b.go")),
        ('{"cmd":"read","args":{"_":"a.go"}}', "read", {}, ("a.go",)),
        ('{"some":"thing"}', "", {}, ('{"some":"thing"}',)),
        ("read --file main.go\n --start 3 --end=9", "read", {"file": "main.go", "start": "3", "end": "9"}, ()),
        ("patch --file a --search 'two words' --replace '--dash'", "patch",
         {"file": "a", "search": "two words", "replace": "--dash"}, ()),
        ("read a.go b.go", "read", {}, ("a.go", "b.go")),
        ("tree --include-hidden --dir src", "tree", {"include-hidden": True, "dir": "src"}, ()),
        ("search --glob *.go --glob *.md", "search", {"glob": ["*.go", "*.md"]}, ()),
        ("exec --cmd it's", "exec", {"cmd": "it's"}, ()),
        ('{"cmd":"read","args":"--file main.go"}', "read", {"file": "main.go"}, ()),
        ('{"cmd":"read","args":["--file","main.go"]}', "read", {"file": "main.go"}, ()),
    ],
)  # fmt: skip
def test_every_shape_means_one_invocation(
    written: str, command: str, options: dict[str, Any], positional: tuple[str, ...]
) -> None:
    assert read_invocation(written) == Invocation(command, options, positional)


@given(st.text(max_size=80))
def test_the_text_of_a_file_comes_through_unchanged(content: str) -> None:
    written = json.dumps({"cmd": "write", "args": {"file": "a", "content": content}})
    assert read_invocation(written).options["content"] == content


@given(st.text(alphabet="ab \\\n\"'-{}[]&;", max_size=60))
def test_any_text_is_cleaned_and_cleaning_settles(text: str) -> None:
    once = clean_arguments(text)
    assert len(once) <= len(text)
