"""Paths as strings: the loader compares and joins thousands per turn, and ``pathlib`` is several times slower."""

from __future__ import annotations

import os

SEP = os.sep

join = os.path.join
absolute = os.path.abspath
normal = os.path.normpath
real = os.path.realpath
parent = os.path.dirname
base = os.path.basename
is_folder = os.path.isdir
expand_home = os.path.expanduser
stat = os.stat
lstat = os.lstat


def relative(path: str, start: str) -> str:
    """``path`` as seen from ``start``, slash-separated; "" for ``start`` itself."""
    found = os.path.relpath(path, start).replace(SEP, "/")
    return "" if found == "." else found


def is_within(path: str, folder: str) -> bool:
    """Whether absolute ``path`` is ``folder`` or lies below it; a name that merely starts with dots is no escape."""
    path, folder = os.path.normcase(path), os.path.normcase(folder)
    return path == folder or path.startswith(folder if folder.endswith(SEP) else folder + SEP)


def below(path: str, folder: str) -> str:
    """What follows ``folder`` in ``path``, slash-separated."""
    return path[len(folder) :].strip(SEP).replace(SEP, "/")
