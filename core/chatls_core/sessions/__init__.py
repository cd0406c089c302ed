"""What was said before? Saved conversations, the event journal, search and checkpoints (DESIGN.md, "The rooms")."""

from __future__ import annotations

from chatls_core.sessions.checkpoints import Checkpoint, Checkpoints
from chatls_core.sessions.conversation import Conversation, SessionError, SessionPage, SessionSummary
from chatls_core.sessions.journal import END_KIND, Journal, OpenTurn
from chatls_core.sessions.search import SearchResult, SessionHit, Snippet
from chatls_core.sessions.store import Deleted, SessionStore
from chatls_core.sessions.transcript import Excerpt, Transcript

__all__ = [
    "END_KIND",
    "Checkpoint",
    "Checkpoints",
    "Conversation",
    "Deleted",
    "Excerpt",
    "Journal",
    "OpenTurn",
    "SearchResult",
    "SessionError",
    "SessionHit",
    "SessionPage",
    "SessionStore",
    "SessionSummary",
    "Snippet",
    "Transcript",
]
