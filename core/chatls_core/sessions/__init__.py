"""What was said before? Saved conversations, the event journal, search and checkpoints (DESIGN.md, "The rooms")."""

from __future__ import annotations

from chatls_core.sessions.checkpoints import Checkpoint, Checkpoints
from chatls_core.sessions.conversation import Conversation, SessionError, SessionPage, SessionSummary
from chatls_core.sessions.journal import END_KIND, Journal, OpenTurn
from chatls_core.sessions.search import SessionHit, Snippet
from chatls_core.sessions.store import Deleted, SessionStore

__all__ = [
    "END_KIND",
    "Checkpoint",
    "Checkpoints",
    "Conversation",
    "Deleted",
    "Journal",
    "OpenTurn",
    "SessionError",
    "SessionHit",
    "SessionPage",
    "SessionStore",
    "SessionSummary",
    "Snippet",
]
