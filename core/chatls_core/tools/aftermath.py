"""What comes of an edit: what the editor changed while saving, and what other language servers say of it since.

The model is told both without asking, in bounded form and only once (PROTOCOL.md ``chatls/save``,
``chatls/diagnostics``). An editor that hands on neither is not asked, and nothing waits for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Sequence

from chatls_core.host import Diagnostic, HostError
from chatls_core.text import cut
from chatls_core.tools.base import ToolContext
from chatls_core.tools.paths import display, path_of
from chatls_core.tools.review import review_hunks

log = logging.getLogger(__name__)

SETTLE_MS = 500
"""How long the other servers must be silent before their findings about fresh edits are taken."""
PATIENCE_SECONDS = 5.0
MAX_FINDINGS = 20
MAX_MESSAGE_CHARS = 300
MAX_CHANGED_LINES = 60
MAX_CHANGED_CHARS = 3000


async def save_files(context: ToolContext, uris: Collection[str]) -> str:
    """Save documents through the editor; what it changed on the way (a formatter), as lines for the model."""
    before = {uri: await _text(context, uri) for uri in uris}
    await context.host.save(list(uris))
    notes = []
    for uri, old in before.items():
        new = await _text(context, uri)
        if old is not None and new is not None and old != new:
            notes.append(await asyncio.to_thread(_changed, context, uri, old, new))
    return "".join(notes)


def _changed(context: ToolContext, uri: str, old: str, new: str) -> str:
    lines: list[str] = []
    for hunk in review_hunks(old, new):
        lines.append(f"@@ line {hunk.range.start.line + 1}")
        lines += [f"-{line}" for line in hunk.old_text.splitlines()]
        lines += [f"+{line}" for line in hunk.new_text.splitlines()]
    name = _name(context, uri)
    shown = "\n".join(lines)
    if len(lines) > MAX_CHANGED_LINES or len(shown) > MAX_CHANGED_CHARS:
        return f"\n[{name} changed in {len(lines)} lines while it was saved (formatter); read_file shows it]"
    if context.files.read.get(uri) == old:
        context.files.read[uri] = new  # the model is told every difference, so it knows the new text
    return f"\n[{name} changed while it was saved (formatter):]\n{shown}"


async def note_findings(context: ToolContext, uris: Sequence[str]) -> None:
    """Remember what is said of files before they are edited, so that only what is new is told afterwards."""
    files = context.files
    wanted = [uri for uri in uris if uri not in files.unchecked]
    if wanted and (found := await _ask(context, wanted, 0)) is not None:
        for uri in wanted:
            files.findings[uri] = Counter(_key(item) for item in found if item.uri == uri)


async def new_findings(context: ToolContext) -> str:
    """Errors and warnings that were not there before this turn's edits and were not told yet; empty when none.

    Asks only in a turn that edited something; what comes late is told after a later step.
    """
    files = context.files
    fresh, files.unchecked = files.unchecked, set()
    uris = sorted(fresh | {edit.uri for edit in files.edits if edit.applied and edit.uri in files.findings})
    if not uris or (found := await _ask(context, uris, SETTLE_MS if fresh else 0)) is None:
        return ""
    lines: list[str] = []
    for uri in uris:
        known = files.findings.get(uri, Counter())
        seen: Counter[str] = Counter()
        for item in (item for item in found if item.uri == uri):
            seen[_key(item)] += 1
            if item.severity in ("error", "warning") and seen[_key(item)] > known[_key(item)]:
                lines.append(_line(context, item))
        files.findings[uri] = seen
    if not lines:
        return ""
    more = [f"[{len(lines) - MAX_FINDINGS} more: diagnostics shows them]"] if len(lines) > MAX_FINDINGS else []
    return "\n".join(["[other language servers report since your edits:]", *lines[:MAX_FINDINGS], *more])


async def _ask(context: ToolContext, uris: Sequence[str], settle_ms: int) -> tuple[Diagnostic, ...] | None:
    """What is said of files now, ``None`` where nobody can say. An editor that once kept silent is asked no more."""
    if not context.host.capabilities.diagnostics or context.files.no_findings:
        return None
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return (await context.host.diagnostics(uris, settle_ms)).items
    except TimeoutError:
        log.warning("the editor does not answer with diagnostics; it is not asked again in this conversation")
        context.files.no_findings = True
        return None


def _key(item: Diagnostic) -> str:
    """A finding without its place, which moves with every edit above it."""
    return f"{item.severity} {item.source} {item.message}"


def _line(context: ToolContext, item: Diagnostic) -> str:
    message = cut.by_chars(" ".join(item.message.split()), MAX_MESSAGE_CHARS)
    source = f" [{item.source}]" if item.source else ""
    return f"{_name(context, item.uri)}:{item.range.start.line + 1}: {item.severity}: {message}{source}"


def _name(context: ToolContext, uri: str) -> str:
    path = path_of(uri)
    return display(path, context) if path is not None else uri


async def _text(context: ToolContext, uri: str) -> str | None:
    try:
        return (await context.host.read(uri)).text
    except HostError:
        return None  # it is gone, or cannot be read: there is nothing to compare
