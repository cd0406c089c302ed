"""Syntax: only errors the edit brought in are told, in every language; outlines name what a file defines."""

from __future__ import annotations

import pytest

from chatls_core.edits import syntax

SOUND = {
    "a.py": "class A:\n    def run(self):\n        return [1, 2]\n",
    "a.pyi": "def f(x: int) -> str: ...\n",
    "a.js": "export const run = () => { return 1; };\n",
    "a.jsx": "const A = () => <div>{1}</div>;\n",
    "a.ts": "interface I { a: number }\nclass B<T> { run(): T { return null as T; } }\n",
    "a.tsx": "export const C = (p: { a: string }) => <A {...p}>{1}</A>;\n",
    "a.go": "package a\n\ntype T struct{ A int }\n\nfunc (t *T) Run() int { return 1 }\n",
    "a.rs": "struct S { a: i32 }\nimpl S { fn run(&self) -> i32 { 1 } }\n",
    "A.java": "package a;\npublic class A {\n  void run() { int x = 1; }\n}\n",
    "a.c": "#include <stdio.h>\nint main(int argc) { return 0; }\n",
    "a.cpp": "namespace n { class A { public: void run() { } }; }\n",
    "a.cs": "namespace N { class A { int P { get; set; } void Run() { } } }\n",
    "a.rb": "class A\n  def run\n    1\n  end\nend\n",
    "a.php": "<?php\nclass A { function run() { return 1; } }\n",
    "a.json": '{"a": [1, {"b": null}]}\n',
    "a.yaml": "a: 1\nb:\n  - c: 2\n",
    "a.toml": "[a]\nx = [1, 2]\n",
    "a.html": '<!DOCTYPE html><html><body><p id="x">a</p></body></html>\n',
    "a.css": "a { color: red; }\n",
    "a.sh": 'for i in 1 2; do\n  echo "$i"\ndone\n',
}
BROKEN = {
    "a.py": "class A:\n    def run(self:\n        return [1, 2]\n",
    "a.pyi": "def f(x: int -> str: ...\n",
    "a.js": "export const run = () => { return 1; ;\n",
    "a.jsx": "const A = () => <div>{1}</div;\n",
    "a.ts": "interface I { a: number \nclass B<T> { run(): T { return null as T; } }\n",
    "a.tsx": "export const C = (p: { a: string }) => <A {...p}>{1};\n",
    "a.go": "package a\n\nfunc (t *T) Run( int { return 1 }\n",
    "a.rs": "struct S { a: i32 }\nimpl S { fn run(&self -> i32 { 1 } }\n",
    "A.java": "package a;\npublic class A {\n  void run() { int x = ; }\n}\n",
    "a.c": "int main(int argc { return 0; }\n",
    "a.cpp": "namespace n { class A { public: void run( { } }; }\n",
    "a.cs": "namespace N { class A { int P { get; set; } void Run( { } } }\n",
    "a.rb": "class A\n  def run\n    1\n  end\n",
    "a.php": "<?php\nclass A { function run( { return 1; } }\n",
    "a.json": '{"a": [1, {"b": }]}\n',
    "a.yaml": "a: [1\nb: }\n",
    "a.toml": "[a\nx = [1, 2]\n",
    "a.html": "<html><body><p>a</p></body></html\n",
    "a.css": "a { color: red;\n",
    "a.sh": 'if true; then\n  echo "$i"\n',
}


@pytest.mark.parametrize("path", SOUND)
def test_a_sound_file_has_no_errors_and_a_broken_one_has(path: str) -> None:
    assert syntax.errors(path, SOUND[path]) == ()
    findings = syntax.new_errors(path, SOUND[path], BROKEN[path])
    assert findings
    rows = BROKEN[path].split("\n")
    assert all(0 <= f.line < len(rows) and 0 <= f.column <= len(rows[f.line]) and f.message for f in findings)


def test_an_error_is_told_with_its_place_and_what_is_missing() -> None:
    (finding,) = syntax.new_errors("a.c", "int f(int a) { return a; }\n", "int f(int a) { return a }\n")
    assert str(finding) == "line 1, column 24: missing ';'"


def test_columns_count_code_points_and_lines_end_as_in_an_editor() -> None:
    (finding,) = syntax.errors("a.c", 'int x;\rchar *s = "\U0001f600é"\r')
    assert (finding.line, finding.column) == (1, 14)


def test_errors_from_before_the_edit_are_not_told() -> None:
    before = "def f(:\n    pass\n\n\ndef g():\n    return 1\n"
    assert syntax.errors("a.py", before)
    assert syntax.new_errors("a.py", before, before.replace("return 1", "return 2")) == ()
    assert syntax.new_errors("a.py", before, "import os\n" + before) == ()


def test_a_new_error_beside_an_old_one_is_told() -> None:
    before = '{"a": ,\n "b": [1, 2]\n}'
    after = before.replace("2]", ",]")
    assert len(syntax.errors("a.json", before)) == 1
    assert [finding.line for finding in syntax.new_errors("a.json", before, after)] == [1]


def test_a_mended_file_has_nothing_to_tell() -> None:
    assert syntax.new_errors("a.json", '{"a": }', '{"a": 1}') == ()


@pytest.mark.parametrize("path", ["a.txt", "Makefile", "noextension", "a.unknown"])
def test_other_files_are_not_judged(path: str) -> None:
    assert syntax.new_errors(path, None, "((((") == ()
    assert syntax.outline(path, "((((") == ()


def test_very_long_texts_are_not_read() -> None:
    assert syntax.errors("a.json", "[" * 2_100_000) == ()
    assert syntax.outline("a.json", "[" * 2_100_000) == ()


def test_the_findings_are_bounded() -> None:
    assert 0 < len(syntax.new_errors("a.json", None, "{]\n" * 5000)) <= 20


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        (
            "a.py",
            "class A:\n    def run(self):\n        pass\n\n@d\nasync def f():\n    def inner(): pass\n",
            [("A", "class", 1, 3, 0), ("run", "method", 2, 3, 1), ("f", "function", 6, 7, 0)],
        ),
        (
            "a.ts",
            "namespace N {\n  interface I { f(): void }\n}\nexport class B { x = () => 1; m() {} }\n"
            "const g = () => {};\n",
            [
                ("N", "namespace", 1, 3, 0),
                ("I", "interface", 2, 2, 1),
                ("f", "method", 2, 2, 2),
                ("B", "class", 4, 4, 0),
                ("x", "method", 4, 4, 1),
                ("m", "method", 4, 4, 1),
                ("g", "function", 5, 5, 0),
            ],
        ),
        (
            "a.go",
            "package a\ntype T struct{}\nfunc (t *T) M() {}\nfunc F() {}\n",
            [("T", "struct", 2, 2, 0), ("(*T) M", "method", 3, 3, 0), ("F", "function", 4, 4, 0)],
        ),
        (
            "a.rs",
            "impl Show for S { fn f() {} }\nmod m { struct U; }\n",
            [
                ("Show for S", "impl", 1, 1, 0),
                ("f", "function", 1, 1, 1),
                ("m", "module", 2, 2, 0),
                ("U", "struct", 2, 2, 1),
            ],
        ),
        (
            "a.c",
            "int *f(void) { return 0; }\nstruct s { int a; };\nstruct s x;\n",
            [("f", "function", 1, 1, 0), ("s", "struct", 2, 2, 0)],
        ),
        ("a.json", '{"a": {"b": {"c": 1}}}', [("a", "key", 1, 1, 0), ("b", "key", 1, 1, 1)]),
        (
            "a.css",
            "a, b {\n}\n@media print { c { } }\n",
            [("a, b", "rule", 1, 2, 0), ("@media print", "media", 3, 3, 0), ("c", "rule", 3, 3, 1)],
        ),
        (
            "a.md",
            "# A\n```\n# no\n```\n## B\n# C\n",
            [("A", "heading", 1, 5, 0), ("B", "heading", 5, 5, 1), ("C", "heading", 6, 6, 0)],
        ),
    ],
)
def test_outlines(path: str, text: str, wanted: list[tuple[str, str, int, int, int]]) -> None:
    items = syntax.outline(path, text)
    assert [(i.name, i.kind, i.start_line, i.end_line, i.depth) for i in items] == wanted


@pytest.mark.parametrize("path", [p for p in SOUND if not p.endswith((".pyi", ".jsx"))])
def test_every_language_has_an_outline(path: str) -> None:
    if path == "a.sh":
        assert [item.name for item in syntax.outline(path, "run() {\n  :\n}\n")] == ["run"]
    else:
        assert syntax.outline(path, SOUND[path])
