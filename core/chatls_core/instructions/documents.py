"""One instruction file as the model would read it: body, imports expanded, scanned, within its own cap."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from chatls_core.instructions import caps, frontmatter
from chatls_core.instructions.boundary import Boundary
from chatls_core.instructions.disk import FileTable, FileText, Unreadable
from chatls_core.instructions.expansion import expand
from chatls_core.instructions.imports import is_silent
from chatls_core.instructions.model import HIERARCHY_LIMIT, ImportRecord
from chatls_core.text.cut import by_bytes

_HIDDEN = re.compile("[\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
"""Characters no reader sees but a model reads: they hide instructions in plain sight, and no prose needs them."""


def hidden_characters(text: str) -> list[re.Match[str]]:
    """Every invisible or direction-changing character of ``text`` that is kept from the model."""
    return list(_HIDDEN.finditer(text))


@dataclass(frozen=True, slots=True)
class InstructionDocument:
    """A file ready for the prompt.

    ``text`` is "" when it says nothing. ``full_bytes`` is the size of the whole text before a cap cut it. ``used``
    pairs every path whose text is inside with its fingerprint; ``looked_at`` holds every path the result rests on.
    """

    path: str
    text: str
    size_bytes: int
    full_bytes: int
    imports: tuple[ImportRecord, ...]
    used: tuple[tuple[str, str], ...]
    looked_at: frozenset[str]
    head: frontmatter.Head | None = None

    @property
    def digest(self) -> str:
        """Fingerprint of ``text``."""
        return digest_of(self.text)


def digest_of(text: str) -> str:
    """A short fingerprint of ``text``."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def load(
    table: FileTable, path: str, boundary: Boundary, *, scan: bool, limit: int, has_head: bool = False
) -> InstructionDocument | Unreadable:
    """Read ``path`` and prepare it. A link that leaves ``boundary`` is refused (``Unreadable`` of kind "refused")."""
    content = admitted(table, path, boundary)
    if isinstance(content, Unreadable):
        return content
    head = frontmatter.parse(content.text) if has_head else None
    body = head.body if head is not None else content.text
    expanded = expand(table, path, content, body, boundary)
    text = _HIDDEN.sub("", expanded.text).strip()
    if is_silent(text):
        text = ""
    full = caps.size(text) + (content.size_bytes - caps.size(content.text) if content.truncated else 0)
    # Twice what any cap lets through: no time is spent on text that nobody will see.
    text = by_bytes(text, 2 * HIERARCHY_LIMIT, "")
    if scan:
        from chatls_core.text import injection

        text = injection.blank(text, "context")
    text = caps.cut(text, limit, caps.file_note(path.replace("\\", "/").rpartition("/")[2], full))
    used = tuple((source, _fingerprint(table, source)) for source in sorted(expanded.sources))
    return InstructionDocument(path, text, content.size_bytes, full, expanded.imports, used, expanded.looked_at, head)


def admitted(table: FileTable, path: str, boundary: Boundary) -> FileText | Unreadable:
    """The text of ``path`` if, links resolved, it lies within ``boundary``."""
    if not boundary.admits(table.real(path)):
        return Unreadable("refused", "it is a link that leaves the workspace")
    content = table.text(path)
    if isinstance(content, FileText) and not boundary.admits(content.real):
        return Unreadable("refused", "it is a link that leaves the workspace")
    return content


def _fingerprint(table: FileTable, path: str) -> str:
    content = table.text(path)
    return content.digest if isinstance(content, FileText) else ""
