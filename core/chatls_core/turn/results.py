"""How a tool's result gets into the conversation: without secrets, capped, the whole of it one call away.

Spec/agent.md §3.10 and §3.12: what is left out of a result is first put into the archive, and the text in its place
names the call that returns it.
"""

from __future__ import annotations

import logging

from chatls_core.prompt.compaction_archive import Archive
from chatls_core.prompt.compaction_trim import shortened
from chatls_core.text import cut
from chatls_core.text.redaction import redact

log = logging.getLogger(__name__)


def fit_result(text: str, limit: int, archive: Archive | None) -> str:
    """``text`` redacted and in about ``limit`` characters, three quarters from its beginning and the rest from its end.

    The archive holds the redacted text only. Without an ``archive``, or when the disk refuses it, what is left out is
    only counted. Blocking: call it in a thread.
    """
    # What a file, a command or a service put out may hold keys: they never reach a model.
    text = redact(text)
    if len(text) <= limit:
        return text
    head, tail = limit * 3 // 4, limit // 4
    if archive is not None:
        guide = f', with "offset": {head} from here on, with "grep": "…" only such lines'
        try:
            return shortened(text, head, tail, archive, guide)
        except OSError as error:
            log.error("a long tool result could not be archived: %s", error)
    return cut.middle(text, head, tail)
