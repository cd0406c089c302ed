"""Which tree-sitter grammar reads a file, by its name. Each wheel is imported on first use and kept."""

from __future__ import annotations

import importlib
import threading
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Tree

MAX_BYTES = 2_000_000
"""Longer texts are not parsed."""

# language: (module, the function in it that gives the grammar)
_GRAMMARS: dict[str, tuple[str, str]] = {
    "bash": ("tree_sitter_bash", "language"),
    "c": ("tree_sitter_c", "language"),
    "c_sharp": ("tree_sitter_c_sharp", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "css": ("tree_sitter_css", "language"),
    "go": ("tree_sitter_go", "language"),
    "html": ("tree_sitter_html", "language"),
    "java": ("tree_sitter_java", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "json": ("tree_sitter_json", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "python": ("tree_sitter_python", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "toml": ("tree_sitter_toml", "language"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "yaml": ("tree_sitter_yaml", "language"),
}

_SUFFIXES: dict[str, str] = {
    suffix: language
    for language, suffixes in {
        "bash": ".sh .bash",
        "c": ".c",
        "c_sharp": ".cs .csx",
        # A header of C reads as C++ too; one of C++ does not read as C.
        "cpp": ".cpp .cc .cxx .c++ .hpp .hh .hxx .h .h++ .ino .ipp",
        "css": ".css",
        "go": ".go",
        "html": ".html .htm .xhtml",
        "java": ".java",
        "javascript": ".js .mjs .cjs .jsx",
        "json": ".json .jsonc .ipynb .webmanifest .geojson",
        "php": ".php .phtml",
        "python": ".py .pyi .pyw",
        "ruby": ".rb .rake .gemspec .ru",
        "rust": ".rs",
        "toml": ".toml",
        "tsx": ".tsx",
        "typescript": ".ts .mts .cts",
        "yaml": ".yaml .yml",
    }.items()
    for suffix in suffixes.split()
}

_NAMES: dict[str, str] = {
    "rakefile": "ruby",
    "gemfile": "ruby",
    ".bashrc": "bash",
    ".bash_profile": "bash",
    ".profile": "bash",
    "pipfile": "toml",
    "cargo.lock": "toml",
    "poetry.lock": "toml",
}

# A parser holds state while it parses, and texts are checked in threads.
_parsers = threading.local()


def language_of(path: str) -> str | None:
    """The language a file is read as by its name, ``None`` for one no grammar reads."""
    name = PurePosixPath(path.replace("\\", "/")).name.lower()
    return _NAMES.get(name) or _SUFFIXES.get(PurePosixPath(name).suffix)


@cache
def _grammar(language: str) -> Language:
    from tree_sitter import Language

    module, function = _GRAMMARS[language]
    return Language(getattr(importlib.import_module(module), function)())


def parse(language: str, data: bytes) -> Tree:
    """The syntax tree of ``data`` (UTF-8; lone surrogates as three bytes)."""
    from tree_sitter import Parser

    parsers: dict[str, Parser] | None = getattr(_parsers, "by_language", None)
    if parsers is None:
        parsers = _parsers.by_language = {}
    parser = parsers.get(language)
    if parser is None:
        parser = parsers[language] = Parser(_grammar(language))
    return parser.parse(data)
