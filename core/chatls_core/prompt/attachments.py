"""What the user points at: mentions and selections, read from the editor's buffers (PROTOCOL.md "Chat")."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from chatls_core.events import ContextItem
from chatls_core.host import Host, HostError, HostErrorKind, Range
from chatls_core.text import cut
from chatls_core.text.fence import fence
from chatls_core.text.redaction import redact
from chatls_core.tools.files import numbered, split_lines
from chatls_core.tools.paths import ignored, path_of

MAX_ITEM_CHARS = 40_000
MAX_TOTAL_CHARS = 120_000
MAX_ITEM_LINES = 2_000
MAX_DIRECTORY_ENTRIES = 200


@dataclass(frozen=True, slots=True)
class Mention:
    """A document, or a part of one, the user attached; ``range`` in code-point columns."""

    uri: str
    range: Range | None = None
    selection: bool = False


@dataclass(frozen=True, slots=True)
class Attached:
    """Rendered attachments: blocks for the turn context and what the user sees rode along."""

    blocks: tuple[str, ...] = ()
    items: tuple[ContextItem, ...] = ()
    problems: tuple[str, ...] = ()


async def attach(host: Host, mentions: Sequence[Mention]) -> Attached:
    """Read every mention through the host; each is capped, all together are capped, and cut parts are named."""
    blocks: list[str] = []
    items: list[ContextItem] = []
    problems: list[str] = []
    left = MAX_TOTAL_CHARS
    for mention in dict.fromkeys(mentions):
        name = label(host, mention.uri)
        try:
            body, span = await _body(host, mention)
            body = await asyncio.to_thread(redact, body)
        except HostError as error:
            problems.append(f"{name} could not be attached: {error}")
            blocks.append(f"Attached {name}: not readable ({error})")
            continue
        shown = cut.by_chars(body, min(MAX_ITEM_CHARS, max(0, left)), f"\n[the rest of {name} is cut]")
        left -= len(shown)
        title = f"{name}{span}"
        blocks.append(f"{'Selected in' if mention.selection else 'Attached'} {title}:\n{fence(title, shown)}")
        items.append(ContextItem(mention.uri, title, mention.uri))
    return Attached(tuple(blocks), tuple(items), tuple(problems))


def label(host: Host, uri: str) -> str:
    """A short name of a document: its path in the workspace folder, else the URI."""
    path = path_of(uri)
    if path is None:
        return uri
    for root in host.roots:
        if path.is_relative_to(root):
            relative = path.relative_to(root).as_posix()
            return relative if len(host.roots) == 1 else f"{root.name}/{relative}"
    return str(path)


async def _body(host: Host, mention: Mention) -> tuple[str, str]:
    try:
        document = await host.read(mention.uri)
    except HostError as error:
        path = path_of(mention.uri)
        if error.kind is not HostErrorKind.IS_DIRECTORY or path is None:
            raise
        names = await asyncio.to_thread(
            lambda: sorted(f"{p.name}/" if p.is_dir() else p.name for p in path.iterdir() if not ignored(p.name))
        )
        more = f"\n[{len(names) - MAX_DIRECTORY_ENTRIES} more]" if len(names) > MAX_DIRECTORY_ENTRIES else ""
        return "\n".join(names[:MAX_DIRECTORY_ENTRIES]) + more, "/"
    lines = split_lines(document.text)
    if mention.range is None:
        first, last = 1, len(lines)
        span = " (unsaved)" if document.dirty else ""
    else:
        first = min(mention.range.start.line + 1, len(lines))
        end = mention.range.end
        last = min(end.line + (1 if end.character > 0 or end.line == mention.range.start.line else 0), len(lines))
        last = max(first, last)
        span = f" lines {first}–{last}" if last > first else f" line {first}"
    cut = last - first + 1 > MAX_ITEM_LINES
    body = numbered(lines[first - 1 : min(last, first - 1 + MAX_ITEM_LINES)], first)
    if cut:
        body += f"\n[lines {first + MAX_ITEM_LINES}–{last} are cut]"
    return body, span
