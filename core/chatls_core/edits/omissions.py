"""Placeholders like ``// ... rest of the code ...``: text that stands for text, and would replace it if written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatls_core.edits.errors import EditError, EditErrorKind

# A whole line that is a comment (or nothing but dots) and says that something is left out.
_COMMENT = re.compile(r"^\s*(?://+|#+|/\*+|\*|<!--|--|;+|%+|\{/\*|\"\"\")?\s*(?P<text>.*?)\s*(?:\*/\}?|-->)?\s*$")
_LEFT_OUT = re.compile(
    r"""(?ix) ^[\[(<{]?\s*
    (?: (?:\.{3,}|…) \s* (?:the\s+)?
          (?: rest|remaining|remainder|existing|other|previous|unchanged|same|omitted|more\s+code|keep
            | code\s+(?:unchanged|omitted|here|continues)
            | (?:methods?|code|lines?|content|implementation)\s+(?:unchanged|omitted|as\s+before|remains?|stays?) )\b .*
      | (?:the\s+)? (?:rest|remainder) \s+ of \s+ (?:the\s+|your\s+|this\s+)? (?:\w+\s+){0,2}?
          (?:code|file|function|method|class|implementation|content|component|methods)\b
          (?: \s+ (?: (?:is|are)\s+(?:unchanged|the\s+same|omitted|here|below|not\s+shown|as\s+before) .*
                    | remains?\b.* | stays?\b.* | goes\s+here | unchanged|omitted|here|below|as\s+before|the\s+same )
            | \s*(?:\.{3,}|…)? )
      | (?:existing|remaining|unchanged|previous|other) \s+ (?:\w+\s+){0,2}?
          (?:code|methods?|functions?|content|implementation|lines?|imports?|fields?)\b
          (?: \s+ (?:here|unchanged|omitted|remains?.*|stays?.*|goes\s+here|as\s+before|below) | \s*(?:\.{3,}|…) )
    ) \s*[\])>}]?$"""
)
_HINT = re.compile(r"(?i)rest|remain|exist|other|previous|unchanged|same|omitted|keep|code|\.\.\.|…")
_MAX_LINE = 200


def find_placeholder(new: Sequence[str], old: Sequence[str]) -> str | None:
    """The first line of ``new`` that stands for left-out text and is no line of ``old``, stripped."""
    known: set[str] | None = None
    for line in new:
        if (
            len(line) > _MAX_LINE
            or not _HINT.search(line)
            or not (match := _COMMENT.match(line))
            or not _LEFT_OUT.match(match["text"])
        ):
            continue
        if known is None:
            known = {known_line.strip() for known_line in old}
        if line.strip() not in known:
            return line.strip()
    return None


def refuse_placeholders(path: str, new: Sequence[str], old: Sequence[str]) -> None:
    """Raise :class:`EditError` when ``new`` holds a placeholder that ``old`` does not."""
    line = find_placeholder(new, old)
    if line is not None:
        raise EditError(
            EditErrorKind.PLACEHOLDER,
            f"The new text for {path} holds the placeholder {line!r}, which would be written into the file in place of "
            "the text it stands for: nothing was changed. Write the text out in full, or edit a smaller piece.",
            path,
        )
