"""File names of sessions (spec/memory.md §15.1): letters, digits, ``_ - .``, the first a letter or digit."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import UTC, datetime

_VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_DATED = re.compile(r"(?:autosave|chatls)-(\d{8})-(\d{6})(?!\d)")
_MACHINE = re.compile(r"(?:autosave|chatls)-\d{8}-\d{6}|mcp-")
_WINDOWS_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))})

_LONGEST = 120
"""Characters of a name we make: short enough for every file system with suffixes of locks and temporary files."""

_LONGEST_FOREIGN = 250
"""Characters of a name another program made: ``.json`` and 255 bytes."""


def is_valid(name: str) -> bool:
    """Whether ``name`` can be a session's file stem as it is, on every platform, with no path in it."""
    return (
        len(name) <= _LONGEST_FOREIGN
        and _VALID.match(name) is not None
        and not name.endswith(".")
        and name.split(".")[0].lower() not in _WINDOWS_DEVICES
    )


def from_id(session_id: str) -> str:
    """The file stem for a client's session id: the id itself where it is a valid name, else one derived from it."""
    if is_valid(session_id) and len(session_id) <= _LONGEST:
        return session_id
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    name = f"{_slug(session_id)[:60].rstrip('-.') or 'session'}-{digest}"
    return name if is_valid(name) else f"session-{name}"


def from_person(wanted: str) -> str:
    """The file stem for a name a person typed: accents folded, other characters dashes; empty if nothing is left."""
    if is_valid(wanted) and len(wanted) <= _LONGEST:
        return wanted
    slug = _slug(wanted)[:_LONGEST].rstrip("-.")
    return slug if not slug or is_valid(slug) else f"session-{slug}"


def machine_made(now: datetime, random: str) -> str:
    """A name for a conversation nobody named; carries its date, so that the date survives every program."""
    return f"chatls-{now.astimezone(UTC):%Y%m%d-%H%M%S}-{random[:6]}"


def is_machine_made(name: str) -> bool:
    """Whether a program made the name up: such a session may expire."""
    return _MACHINE.match(name) is not None


def date_in(name: str) -> datetime | None:
    """The date in a machine-made name (UTC), where there is one."""
    if (found := _DATED.match(name)) is None:
        return None
    try:
        return datetime.strptime("".join(found.groups()), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _slug(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", folded).strip("-._")
