"""Document URIs: one canonical key per document, and the way between URIs and paths (PROTOCOL.md, end)."""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:")
_DRIVE = re.compile(r"/[A-Za-z]:(?:/|\Z)")
_SAFE = "/!$&'()*+,;=:@~-._"


def has_scheme(text: str) -> bool:
    """Whether ``text`` is a URI; a single letter before the colon is a Windows drive."""
    return _SCHEME.match(text) is not None


def scheme_of(uri: str) -> str:
    """The lower-case scheme, empty when there is none."""
    found = _SCHEME.match(uri)
    return found[0][:-1].lower() if found else ""


@lru_cache(maxsize=4096)
def document_key(uri: str) -> str:
    """The same text for every spelling of one document.

    Editors differ in what they percent-encode and in the case of drive letters; ``file:`` URIs are compared decoded,
    other schemes too, but with their query and fragment.
    """
    scheme = scheme_of(uri)
    if scheme != "file":
        return f"{scheme}:{unquote(uri[len(scheme) + 1 :], errors='surrogateescape')}" if scheme else uri
    authority, path = _split_file(uri)
    return f"file://{authority}{path}"


def path_of(uri: str) -> Path | None:
    """The file's path, or ``None`` for documents that are no files."""
    if scheme_of(uri) != "file":
        return None
    authority, path = _split_file(uri)
    if "\0" in path:
        return None
    if authority:
        return Path(f"//{authority}{path}")
    if sys.platform == "win32" and _DRIVE.match(path):
        path = path[1:]
    return Path(path)


def uri_of(path: str | os.PathLike[str]) -> str:
    """The ``file:`` URI of an absolute path."""
    text = os.fspath(path)
    if sys.platform == "win32":
        text = text.replace("\\", "/")
        if not text.startswith("/"):
            text = "/" + text
    if text.startswith("//"):
        return "file:" + quote(text.encode("utf-8", "surrogateescape"), safe=_SAFE)
    if _DRIVE.match(text):
        text = text[0] + text[1].lower() + text[2:]
    return "file://" + quote(text.encode("utf-8", "surrogateescape"), safe=_SAFE)


def _split_file(uri: str) -> tuple[str, str]:
    """Authority (lower case) and decoded path of a ``file:`` URI; query and fragment have no meaning there."""
    rest = uri[len("file:") :]
    rest = re.split(r"[?#]", rest, maxsplit=1)[0]
    authority = ""
    if rest.startswith("//"):
        authority, slash, tail = rest[2:].partition("/")
        rest = slash + tail
    path = unquote(rest, errors="surrogateescape")
    if _DRIVE.match(path):
        path = path[0] + path[1].lower() + path[2:]
    authority = unquote(authority).lower()
    return "" if authority == "localhost" else authority, path or "/"
