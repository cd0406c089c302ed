"""A named context: files the user gathered to attach to conversations (spec/agent.md §2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

ContextMode = Literal["full", "summary", "chunked", "smart", "knowledge"]
MODES: tuple[str, ...] = get_args(ContextMode)

MEGABYTE = 1024 * 1024
LIMITS: Mapping[str, tuple[int, int]] = {
    "full": (50 * MEGABYTE, 500),
    "summary": (5 * MEGABYTE, 1_000),
    "chunked": (100 * MEGABYTE, 1_000),
    "smart": (20 * MEGABYTE, 200),
    "knowledge": (100 * MEGABYTE, 5_000),
}
"""Most bytes and most files by mode (spec/agent.md §2.1)."""

MAX_STORED_BYTES = 200 * MEGABYTE
MAX_DESCRIPTION = 500
DEFAULT_PRIORITY = 100
WARN_FILES, WARN_BYTES, WARN_TOKENS = 500, 50 * MEGABYTE, 50_000
WARN_ATTACHED_TOKENS = 10_000
_NAME = re.compile(r"[\w -]{3,64}")


class ContextError(Exception):
    """A context command could not be done; ``str()`` says why and what to do."""


class ContextFile(BaseModel):
    """One file as it was gathered. ``size`` is bytes of UTF-8, ``modified`` the file's time in nanoseconds."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    path: str
    content: str
    size: int
    modified: int = 0


class Context(BaseModel):
    """A stored context; unknown fields of another version are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    id: str
    name: str
    description: str = ""
    mode: ContextMode = "full"
    tags: tuple[str, ...] = ()
    source_paths: tuple[str, ...] = ()
    watch: bool = False
    files: tuple[ContextFile, ...] = ()
    created_at: datetime
    updated_at: datetime
    skipped: tuple[str, ...] = Field(default=())

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(f.size for f in self.files)

    @property
    def chars(self) -> int:
        """Characters of all files."""
        return sum(len(f.content) for f in self.files)


class ContextHead(BaseModel):
    """What a context says of itself, without its files."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str
    name: str
    description: str = ""
    mode: ContextMode = "full"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attachment:
    """A context attached to a conversation; lower ``priority`` comes first in the prompt. With ``fold`` the user wants
    only its card there."""

    name: str
    priority: int = DEFAULT_PRIORITY
    fold: bool = False


def checked_name(name: str) -> str:
    """``name`` without surrounding space. Raises :class:`ContextError` when it cannot name a context."""
    plain = name.strip()
    if not _NAME.fullmatch(plain):
        raise ContextError("name: a context's name has 3 to 64 letters, digits, dashes, underscores or spaces.")
    return plain


def checked_mode(mode: str) -> ContextMode:
    """The mode called ``mode``. Raises :class:`ContextError` when there is none."""
    for known in get_args(ContextMode):
        if mode.strip().lower() == known:
            return known  # type: ignore[no-any-return]  # get_args is untyped
    raise ContextError(f"mode: {mode!r} is none of {', '.join(MODES)}.")
