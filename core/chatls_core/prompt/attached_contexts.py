"""Attached contexts as sections of the system text (spec/agent.md §1.2, §1.3, §2).

A context is whole in the prompt where its mode and the prefix budget allow; otherwise a card names its files and the
call that reads them. Nothing is dropped without such a card.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from chatls_core.contexts.model import DEFAULT_PRIORITY, Attachment, Context, ContextFile
from chatls_core.contexts.reading import MAX_ENTRIES, chunks, shown_paths
from chatls_core.prompt.knowledge_tool import recovery_call
from chatls_core.prompt.system import Section
from chatls_core.sessions.conversation import Conversation
from chatls_core.text.fence import fence
from chatls_core.text.redaction import redact

STATE_KEY = "contexts"
KNOWLEDGE_KEY = "knowledge_offered"
"""In ``Conversation.state``: whether the ``knowledge`` tool is there, so that contexts may fold."""

FOLDED_KEY = "folded"
"""In ``Conversation.state``: names of the contexts, and sections of skills, that stand shorter than they would."""

PARTIAL_KEY = "partial_contexts"
"""In ``Conversation.state``: names of the contexts of which files may be missing in the system text."""

REBUILD_KEY = "rebuild"
"""In ``Conversation.state``: the user changed what stands in the system text; the next turn builds it afresh."""

PREFIX_SHARE = 0.5
PREFIX_FLOOR_CHARS = 24_000
PREFIX_RESERVE_CHARS = 6_000


@dataclass(frozen=True, slots=True)
class RenderedContext:
    """A context as it stands in the prompt; ``folded``: shorter than its mode shows it, as it would not fit or the user
    wants it so; ``partial``: not all of its files stand there."""

    name: str
    section: Section
    folded: bool = False
    partial: bool = False


def attachments(conversation: Conversation) -> tuple[Attachment, ...]:
    """What is attached, in the order of the prompt."""
    stored = conversation.state.get(STATE_KEY)
    rows = [row for row in stored if isinstance(row, dict)] if isinstance(stored, list) else []
    found = [
        Attachment(str(row.get("name", "")), _priority(row.get("priority")), row.get("fold") is True) for row in rows
    ]
    return tuple(sorted(found, key=lambda a: (a.priority, a.name.lower())))


def attach(conversation: Conversation, name: str, priority: int = DEFAULT_PRIORITY, *, fold: bool = False) -> None:
    """Attach a context from the next turn on; attaching it again sets its priority and whether only its card stands."""
    rest = [a for a in attachments(conversation) if a.name.lower() != name.lower()]
    _store(conversation, [*rest, Attachment(name, priority, fold)])


def detach(conversation: Conversation, name: str) -> bool:
    """Detach a context from the next turn on; says whether it was attached."""
    before = attachments(conversation)
    rest = [a for a in before if a.name.lower() != name.strip().lower()]
    if len(rest) == len(before):
        return False
    _store(conversation, rest)
    return True


def prefix_budget(window: int, ratio: float) -> int:
    """Characters the system text may have in all; ``window`` is tokens."""
    return max(PREFIX_FLOOR_CHARS, int(window * PREFIX_SHARE * ratio) - PREFIX_RESERVE_CHARS)


def rendered(
    contexts: Sequence[Context], budget_chars: int, *, calls: bool = True, folded: Collection[str] = ()
) -> tuple[RenderedContext, ...]:
    """Contexts in order within ``budget_chars`` (spec/agent.md §1.3): first cards lose their lists of files, then whole
    contexts become cards, at last these lose their lists too; the largest first, however many it takes.

    What is left always stands, so a budget below that is exceeded. ``folded`` are lower-case names of those the user
    wants one step shorter in any case. Without ``calls`` there is no tool that reads a context: then none is named, and
    only what outgrows the budget becomes a card.
    """
    forms = [_forms(context, calls) for context in contexts]
    chosen = [int(calls and c.name.lower() in folded and len(f) > 1) for c, f in zip(contexts, forms, strict=True)]

    def size(index: int) -> int:
        return len(forms[index][chosen[index]])

    total = sum(map(size, range(len(forms))))
    for whole, step in ((False, 1), (True, 1), (True, 2)):
        stage = [i for i, c in enumerate(contexts) if _whole(c) is whole and chosen[i] < step < len(forms[i])]
        for index in sorted(stage, key=size, reverse=True):
            if total <= budget_chars:
                break
            before = size(index)
            chosen[index] = step
            total += size(index) - before
    return tuple(
        RenderedContext(
            c.name,
            Section(
                f"context {c.name}",
                _without_secrets(forms[i][chosen[i]]),
                recovery=recovery_call(c.name) if calls else "",
            ),
            chosen[i] > 0,
            c.mode != "full" or chosen[i] > 0,
        )
        for i, c in enumerate(contexts)
    )


@lru_cache(maxsize=16)
def _without_secrets(text: str) -> str:
    """The text without keys and passwords. Kept, because it takes half a second for a million characters."""
    return redact(text)


def _whole(context: Context) -> bool:
    """Whether a context's files stand in the prompt, all or a part of them."""
    return context.mode in ("full", "chunked")


def _forms(context: Context, calls: bool) -> list[str]:
    """A context's texts, each shorter than the one before: as its mode shows it, as a card, as one line with calls."""
    forms = [text(context, calls)]
    shorter = [card(context, "It is folded.", calls)] if _whole(context) else []
    for form in [*shorter, *([_line(context)] if calls else [])]:
        if len(form) < len(forms[-1]):
            forms.append(form)
    return forms


def _line(context: Context) -> str:
    calls = (recovery_call(context.name, "toc"), recovery_call(context.name), recovery_call(context.name, "search"))
    return "{}. It is folded. Its files: {}. Read one: {}. Search all: {}.".format(_header(context), *calls)


def text(context: Context, calls: bool = True) -> str:
    """A context as its mode shows it."""
    if context.mode == "full":
        return "\n\n".join([_header(context), *_files(context, context.files)])
    if context.mode == "chunked":
        parts = chunks(context.files)
        if len(parts) <= 1:
            return "\n\n".join([_header(context), *_files(context, context.files)])
        how = "the other files are read with the call below" if calls else "the other files are not shown"
        rest = card(context, f"This is part 1 of {len(parts)}; {how}.", calls)
        return "\n\n".join([rest, *_files(context, parts[0])])
    return card(context, "Its files are not shown here.", calls)


def card(context: Context, why: str, calls: bool = True) -> str:
    """A context's files by name and size, with the calls that read and search them."""
    files = shown_paths(context)
    rows = [f"- {name} ({file.size:,} bytes)" for name, file in list(files.items())[:MAX_ENTRIES]]
    if len(files) > MAX_ENTRIES:
        toc = f": {recovery_call(context.name, 'toc')}" if calls else ""
        rows.append(f"- and {len(files) - MAX_ENTRIES} more{toc}")
    if calls:
        rows.append(f"Read one: {recovery_call(context.name)}. Search all: {recovery_call(context.name, 'search')}.")
    return "\n".join([f"{_header(context)}. {why}", *rows])


def _header(context: Context) -> str:
    about = f": {context.description}" if context.description else ""
    count = "1 file" if len(context.files) == 1 else f"{len(context.files)} files"
    return f"Attached context “{context.name}” ({context.mode}, {count}, {context.size:,} bytes){about}"


def _files(context: Context, files: Sequence[ContextFile]) -> list[str]:
    wanted = {file.path for file in files}
    return [fence(name, file.content) for name, file in shown_paths(context).items() if file.path in wanted]


def _store(conversation: Conversation, rows: Sequence[Attachment]) -> None:
    conversation.state[STATE_KEY] = [
        {"name": a.name, "priority": a.priority, **({"fold": True} if a.fold else {})} for a in rows
    ]
    conversation.state[REBUILD_KEY] = True


def _priority(value: object) -> int:
    return value if isinstance(value, int) else DEFAULT_PRIORITY
