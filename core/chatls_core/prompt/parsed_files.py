"""Files of users and workspaces that are parsed once and kept until they change: skills, personas."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Generic, Protocol, TypeVar

log = logging.getLogger(__name__)

MAX_FILE_BYTES = 512 * 1024

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Parse(Protocol[T_co]):
    """Makes something of a file's text; ``scan`` blanks lines that look like prompt injection."""

    def __call__(self, text: str, path: Path, /, *, in_workspace: bool, scan: bool) -> T_co | None: ...


def within(path: Path, root: Path | None) -> bool:
    """Whether a file lies in ``root`` once links are followed; outside a workspace (``None``) any does."""
    return root is None or path.resolve().is_relative_to(root.resolve())


class ParsedFiles(Generic[T]):
    """What stands in files of one ``kind``. Any thread; two that ask for one file at once may both read it."""

    def __init__(self, kind: str, parse: Parse[T]) -> None:
        self._kind = kind
        self._parse = parse
        self._known: dict[Path, tuple[tuple[int, int, int, bool], T | None]] = {}

    def read(self, path: Path, root: Path | None, scan: bool) -> T | None:
        """What a file holds; ``None`` where there is no such file, or a link leads out of ``root``."""
        try:
            stat = path.stat()
            signature = (stat.st_mtime_ns, stat.st_size, stat.st_ino, scan)
            known = self._known.get(path)
            if known is not None and known[0] == signature:
                return known[1]
            found = None
            if stat.st_size > MAX_FILE_BYTES:
                log.warning("The %s %s is larger than 512 KiB and is not read", self._kind, path)
            elif within(path, root):
                text = path.read_text("utf-8-sig", errors="replace")
                found = self._parse(text, path, in_workspace=root is not None, scan=scan)
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("The %s %s could not be read: %s", self._kind, path, error)
            return None
        self._known[path] = (signature, found)
        return found
