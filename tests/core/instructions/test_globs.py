"""What a rule's pattern matches, and that no pattern costs much (spec/memory.md §2.3)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatls_core.instructions.frontmatter import split_patterns
from chatls_core.instructions.globs import MOST_EXPANSIONS, PatternSet, normalise, problem


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "deep/down/a.py", True),
        ("Makefile", "sub/Makefile", True),
        ("/Makefile", "sub/Makefile", False),
        ("./Makefile", "Makefile", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/b/a.py", False),
        ("src/*.py", "x/src/a.py", False),
        ("src/", "src/a/b.c", True),
        ("src/**", "src/a/b.c", True),
        ("src/**", "srcs/a", False),
        ("**/src/**", "a/b/src/c/d", True),
        ("**/src/**", "src/c", True),
        ("*/src/**/test/*.go", "svc/src/a/b/test/x.go", True),
        ("src/**/a/**/*.ts", "src/x/a/y/z.ts", True),
        ("**/*.{ts,tsx}", "a/b.tsx", True),
        ("**/*.{ts,tsx}", "a/b.js", False),
        ("{src,lib}/**/*.{c,h}", "lib/x/y.h", True),
        ("file{1..3}.txt", "file2.txt", True),
        (".github/**", ".github/workflows/x.yml", True),
        ("**/*", ".hidden/.file", True),
        ("[ab].md", "a.md", True),
        ("[!ab].md", "c.md", True),
        ("?.md", "x.md", True),
        ("a\\*.md", "a*.md", True),
        ("a\\*.md", "ab.md", False),
        ("src\\sub\\x.cs", "src/sub/x.cs", True),
        ("docs/my file.md", "docs/my file.md", True),
        ("ação/**", "ação/x", True),
    ],
)
def test_pattern(pattern: str, path: str, expected: bool) -> None:
    """memory.md §18.1 row 34: braces, and more than one ``**``."""
    assert PatternSet((pattern,)).matches(path) is expected


def test_negated_patterns_take_away() -> None:
    patterns = PatternSet(("src/**", "!**/*_test.py", "!src/vendor/"))

    assert patterns.matches("src/a.py")
    assert not patterns.matches("src/a_test.py")
    assert not patterns.matches("src/vendor/x.py")
    assert PatternSet(("!docs/**",)).matches("src/a.py")
    assert not PatternSet(("!docs/**",)).matches("docs/a.md")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("{a,b}" * 40, "expands"),
        ("{1..999999999}", "expands"),
        ("{" + "a," * 400 + "b}", "expands"),
        ("**/a/**/b/**/c/**/d", "'**'"),
        ("{**/,}" * 5 + "x", "'**'"),
        ("x" * 5000, "longer"),
        ("../outside/*", "outside"),
        ("a/../../b", "outside"),
    ],
)
def test_hostile_pattern_is_refused_at_once(pattern: str, why: str) -> None:
    start = time.perf_counter()

    assert why in problem(pattern)
    assert not PatternSet((pattern,)).matches("a/b/c")
    assert time.perf_counter() - start < 0.5


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 400 + "b", "a" * 255),
        ("**/*a*/**/*a*/**/*a*x", "/".join(["a" * 30] * 100)),
        ("**/?*/**/?*/**/?*x", "/".join(["ab"] * 1000)),
        ("[" * 1000, "a"),
        ("{" * 1000, "a"),
        ("*" * 1000, "a" * 4000),
    ],
)
def test_matching_never_takes_long(pattern: str, path: str) -> None:
    start = time.perf_counter()

    PatternSet((pattern,)).matches(path)

    assert time.perf_counter() - start < 0.5


def test_bound_on_expansions_is_generous_to_people() -> None:
    alternatives = ",".join(f"p{number}" for number in range(MOST_EXPANSIONS - 1))

    assert PatternSet((f"packages/{{{alternatives}}}/**",)).matches("packages/p7/x")


@given(st.text(alphabet="ab*?[]{}!,./\\-^", max_size=30), st.text(alphabet="ab./-", min_size=1, max_size=20))
@settings(max_examples=200, deadline=None)
def test_any_pattern_gives_an_answer(pattern: str, path: str) -> None:
    assert PatternSet((pattern,)).matches(path) in (True, False)
    if problem(pattern) and not pattern.startswith("!"):
        assert not PatternSet((pattern,)).matches(path)


@given(st.text(alphabet="ab*/{},.!", max_size=20))
@settings(max_examples=100, deadline=None)
def test_normal_form_is_relative_and_keeps_the_negation(pattern: str) -> None:
    normal = normalise(pattern)

    assert normal.startswith("!") == pattern.startswith("!")
    assert not normal.removeprefix("!").startswith(("/", "./"))


@given(st.lists(st.sampled_from(["*.py", "src/**", "{a,b}/*", "x[1,2].c", "docs/my file.md", "!t/**"]), max_size=5))
def test_comma_separated_patterns_come_apart_whole(patterns: list[str]) -> None:
    assert split_patterns(", ".join(patterns)) == patterns
    assert split_patterns(",".join(f'"{p}"' for p in patterns)) == patterns


@pytest.mark.parametrize("pattern", ["./", "/", "/./**"])
def test_the_folder_itself_means_everything_in_it(pattern: str) -> None:
    assert PatternSet((pattern,)).everything
