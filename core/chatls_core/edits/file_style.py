"""How a new file is written: line ending, encoding and final newline from ``.editorconfig`` and ``.gitattributes``."""

from __future__ import annotations

import codecs
import io
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from chatls_core.edits.lines import to_lf

_log = logging.getLogger(__name__)

_NEWLINES = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}
_CHARSETS = {
    "utf-8": ("utf-8", False),
    "utf-8-bom": ("utf-8", True),
    "latin1": ("latin-1", False),
    "utf-16le": ("utf-16-le", True),
    "utf-16be": ("utf-16-be", True),
}


@dataclass(frozen=True, slots=True)
class FileStyle:
    """How to write a file. ``final_newline`` is ``None`` where nothing asks for one or forbids it."""

    newline: str = "\n"
    encoding: str = "utf-8"
    bom: bool = False
    final_newline: bool | None = None

    def apply(self, text: str) -> str:
        """``text`` in this style's line endings, with or without a final newline where the style says so."""
        lf = to_lf(text)
        if self.final_newline is True and lf and not lf.endswith("\n"):
            lf += "\n"
        elif self.final_newline is False:
            lf = lf.rstrip("\n")
        return lf if self.newline == "\n" else lf.replace("\n", self.newline)


def new_file_style(
    path: str,
    editorconfigs: Mapping[str, str] | None = None,
    gitattributes: Mapping[str, str] | None = None,
    default: FileStyle | None = None,
) -> FileStyle:
    """The style of the new file ``path`` (relative to the workspace, ``/`` between its parts).

    ``editorconfigs`` and ``gitattributes`` hold the texts of those files keyed by the folder they stand in (relative
    like ``path``; ``""`` is the workspace's own folder); folders that do not hold ``path`` are ignored.
    ``.editorconfig`` outranks ``.gitattributes`` (the editor is asked first on every save); what neither says comes
    from ``default``. A file that does not parse is skipped and logged.
    """
    style = default or FileStyle()
    options = _editorconfig(path, editorconfigs or {})
    newline = _NEWLINES.get(options.get("end_of_line", "").lower()) or _git_newline(path, gitattributes or {})
    encoding, bom = _CHARSETS.get(options.get("charset", "").lower(), (style.encoding, style.bom))
    final = {"true": True, "false": False}.get(options.get("insert_final_newline", "").lower(), style.final_newline)
    return FileStyle(newline or style.newline, encoding, bom, final)


def _folders(path: str) -> list[str]:
    """The folders that hold ``path``, nearest first, the workspace's own (``""``) last."""
    return ["" if str(parent) == "." else str(parent) for parent in PurePosixPath(path).parents]


def _editorconfig(path: str, texts: Mapping[str, str]) -> dict[str, str]:
    """The options for ``path``, nearer files first, up to the first one that says ``root = true``."""
    from editorconfig.exceptions import EditorConfigError
    from editorconfig.ini import EditorConfigParser

    class TextParser(EditorConfigParser):
        """The library's parser, fed a text: its public ``read`` opens the file itself."""

        def read_text(self, text: str, name: str) -> None:
            data = io.BytesIO(text.encode("utf-8", "replace"))
            self._read(codecs.StreamReaderWriter(data, codecs.getreader("utf-8"), codecs.getwriter("utf-8")), name)

    merged: dict[str, str] = {}
    for folder in _folders(path):
        text = texts.get(folder)
        if text is None:
            continue
        # The parser matches globs against absolute paths; a made-up root stands for the workspace's folder.
        parser = TextParser(f"/{path}")
        try:
            parser.read_text(text, f"/{folder}/.editorconfig" if folder else "/.editorconfig")
        except EditorConfigError as error:
            _log.warning("skipped .editorconfig of %r: %s", folder or ".", error)
            continue
        merged = {**parser.options, **merged}
        if parser.root_file:
            break
    return merged


def _git_newline(path: str, texts: Mapping[str, str]) -> str | None:
    """The line ending ``eol=`` asks for: the nearest file decides, and in it the last line that matches."""
    from pathspec import GitIgnoreSpec

    for folder in _folders(path):
        text = texts.get(folder)
        if text is None:
            continue
        relative = path[len(folder) + 1 :] if folder else path
        decided: str | None = None
        for line in text.splitlines():
            pattern, *attributes = line.split() or [""]
            if not attributes or pattern.startswith(("#", "[attr]", "!")):
                continue
            eol = next((a.split("=", 1)[1] for a in reversed(attributes) if a.startswith("eol=")), None)
            unset = any(a in ("-text", "binary", "!eol", "-eol") for a in attributes)
            if (eol or unset) and GitIgnoreSpec.from_lines([pattern]).match_file(relative):
                decided = _NEWLINES.get(eol.lower()) if eol else None
        if decided:
            return decided
    return None
