"""What did the user attach?"""

from __future__ import annotations

from chatls_core.contexts.model import MODES, Attachment, Context, ContextError
from chatls_core.contexts.store import ContextStore

__all__ = ["MODES", "Attachment", "Context", "ContextError", "ContextStore"]
