"""Arguments of the commands that `workspace/executeCommand` runs (PROTOCOL.md, "Commands").

Every command takes one object and gives one :class:`CommandResult`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AliasChoices, Field

from chatls_server.lsp.protocol.base import Nothing, Wire
from chatls_server.lsp.protocol.chat import ActiveDocument, Mention, Mode


class CommandResult(Wire):
    """What a command answers: Markdown for a plain client, data for a rich one."""

    markdown: str
    data: Any = None


class ChatSendArgs(Wire):
    """Chat for clients without custom requests."""

    text: str
    mode: Mode | None = None
    session_id: str | None = None
    mentions: list[Mention] = Field(default_factory=list)
    active_document: ActiveDocument | None = None
    model: str | None = None


class ChatCompleteArgs(Wire):
    """What fits at ``offset`` (in UTF-16 units) of the chat box's text."""

    text: str
    offset: int = Field(ge=0)
    session_id: str | None = None


class RememberArgs(Wire):
    """Remember one fact."""

    content: str
    category: str | None = None
    scope: str | None = None


class RecallArgs(Wire):
    """Search memory, optionally as it stood at a date.

    ``typing``: a person is still at it; what contains the words so far comes first, as parts of words too.
    """

    query: str
    as_of: str | None = None
    limit: int | None = Field(None, ge=1, le=200)
    typing: bool = False


class ForgetArgs(Wire):
    """Forget by text or by ids; ``dryRun`` only tells what would go."""

    match: str | None = None
    ids: list[str] | None = None
    dry_run: bool = False


class UndoTokenArgs(Wire):
    """Undo what returned this token."""

    undo_token: str


class ProfileArgs(Wire):
    """Show the profile, or set fields of it (an empty value clears one)."""

    set: dict[str, str] | None = Field(
        None, validation_alias=AliasChoices("set", "fields"), serialization_alias="set", description="alias: fields"
    )


class FactsArgs(Wire):
    """List facts."""

    category: str | None = None
    limit: int | None = Field(None, ge=1)
    offset: int = Field(0, ge=0)


class FactIdArgs(Wire):
    """One item of memory."""

    id: str


class MemoryEditArgs(Wire):
    """Change an item's text or category; of a topic, a project or an episode one field's text."""

    id: str
    content: str | None = None
    category: str | None = None
    field: str | None = None


class MemoryPinArgs(Wire):
    """Pin an item, or unpin it."""

    id: str
    pinned: bool = True


class MemorySensitiveArgs(Wire):
    """Mark an item as sensitive, or unmark it."""

    id: str
    sensitive: bool = True


class IdsArgs(Wire):
    """Several items."""

    ids: list[str]


class TimelineArgs(Wire):
    """Episodes in a window of time."""

    query: str | None = None
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    project: str | None = None
    limit: int | None = Field(None, ge=1)
    as_of: str | None = None


class DailyArgs(Wire):
    """The notes of a day, today when left out, or of the last seven days (``week``)."""

    date: str | None = None


class DigestsArgs(Wire):
    """The weekly and monthly digests, or the one called ``name`` (``weekly/2026-W07``, ``monthly/2026-02``)."""

    name: str | None = None


class MemoryLoadArgs(Wire):
    """Bring the notes of a day into a conversation."""

    date: str
    session_id: str


class NeighborsArgs(Wire):
    """What is linked to a subject."""

    query: str


class GraphArgs(Wire):
    """The graph, around a subject when one is named."""

    subject: str | None = None


class OptionalPathArgs(Wire):
    """A file path, or the default place."""

    path: str | None = None


class PathArgs(Wire):
    """A file path."""

    path: str


class OptionalUriArgs(Wire):
    """A document, or the whole workspace."""

    uri: str | None = None


class PromptShowArgs(Wire):
    """The exact prompt of a session, as if ``text`` were asked next. With ``count`` the provider is asked for its
    tokens, which sends it the text; without, tokens are estimated."""

    session_id: str | None = None
    text: str | None = None
    active_document: ActiveDocument | None = None
    mode: Mode | None = None
    count: bool = True


class ContextArgs(Wire):
    """A named context; attached with ``fold`` only a card of it stands in the prompt."""

    name: str | None = None
    paths: list[str] | None = None
    mode: str | None = None
    watch: bool | None = None
    fold: bool | None = None
    session_id: str | None = None


class ContextStatusArgs(Wire):
    """How a session's prompt stands; ``count`` as for ``chatls.prompt.show``."""

    session_id: str | None = None
    count: bool = True


class SessionArgs(Wire):
    """One session."""

    session_id: str


class SessionNewArgs(Wire):
    """A new session."""

    name: str | None = None
    mode: Mode | None = None


class SessionListArgs(Wire):
    """Saved sessions, newest first."""

    limit: int | None = Field(None, ge=1)
    offset: int = Field(0, ge=0)


class SessionNameArgs(Wire):
    """A session and a name for it."""

    session_id: str
    name: str | None = None


class SessionLoadArgs(Wire):
    """A session by id or name."""

    session_id: str | None = None
    name: str | None = None


class SessionForkArgs(Wire):
    """Copy a session, up to a checkpoint when one is given."""

    session_id: str
    name: str | None = None
    checkpoint_id: str | None = None


class SessionSearchArgs(Wire):
    """Search saved conversations."""

    query: str
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    as_of: str | None = None
    limit: int | None = Field(None, ge=1)


class SessionRewindArgs(Wire):
    """Back to a checkpoint; without one, list them."""

    session_id: str
    checkpoint_id: str | None = None


class SessionCompactArgs(Wire):
    """Compact a session's history."""

    session_id: str
    instruction: str | None = None


class SessionEventsArgs(Wire):
    """Journalled events after ``afterSeq`` of a turn, the latest turn when none is named."""

    session_id: str
    turn_id: str | None = None
    after_seq: int = Field(0, ge=0)


class EditsUndoArgs(Wire):
    """Undo a turn's edits, or one call's."""

    turn_id: str
    call_id: str | None = None


class NamedArgs(Wire):
    """A skill or persona, in a session."""

    name: str
    session_id: str | None = None


class SessionScopeArgs(Wire):
    """Optionally one session."""

    session_id: str | None = None


class ProviderSwitchArgs(Wire):
    """Who answers from now on."""

    provider: str
    model: str | None = None
    session_id: str | None = None


class SignInArgs(Wire):
    """Sign in to a provider in the browser; with ``wait`` the answer comes once that is done, and cancelling the
    request stops the sign-in, as ``cancel`` does."""

    provider: str
    wait: bool = False
    cancel: bool = False


class SignOutArgs(Wire):
    """Forget a provider's key."""

    provider: str


class McpServerArgs(Wire):
    """An MCP server, all when left out."""

    name: str | None = None


class McpServerNameArgs(Wire):
    """One MCP server."""

    name: str = Field(min_length=1)


class PolicySetArgs(Wire):
    """One rule of the tool policy."""

    pattern: str = Field(min_length=1)
    action: Literal["allow", "deny", "ask", "remove"]


COMMANDS: dict[str, tuple[type[Wire], str]] = {
    "chatls.chat.send": (ChatSendArgs, "the `chatls/chat` result"),
    "chatls.chat.complete": (ChatCompleteArgs, "`items: [{label, insert, detail, kind}]` for `@` and `/`"),
    "chatls.memory.remember": (RememberArgs, "`{id, added, superseded?}`"),
    "chatls.memory.recall": (RecallArgs, "`{items: [{kind, id, text, score, why, source, date}]}`"),
    "chatls.memory.forget": (ForgetArgs, "`{items, undoToken?}`"),
    "chatls.memory.undo": (UndoTokenArgs, "what came back"),
    "chatls.memory.profile": (ProfileArgs, "the profile"),
    "chatls.memory.facts": (FactsArgs, "`{facts, total}`"),
    "chatls.memory.edit": (MemoryEditArgs, "the item, under the id it has then, and `undoToken?`"),
    "chatls.memory.pin": (MemoryPinArgs, "the item"),
    "chatls.memory.sensitive": (MemorySensitiveArgs, "the item"),
    "chatls.memory.why": (
        FactIdArgs,
        "`{fact, history}`, or of any other item or node of the graph `{kind, id, title, text, sources, facts, "
        "fields}`; a source is session, message and date; `fields` are what `edit` may change, with their values",
    ),
    "chatls.memory.pending": (Nothing, "what waits for acceptance"),
    "chatls.memory.accept": (IdsArgs, "what was accepted"),
    "chatls.memory.reject": (IdsArgs, "what was rejected"),
    "chatls.memory.timeline": (TimelineArgs, "`{episodes, window}`"),
    "chatls.memory.topics": (Nothing, "topics"),
    "chatls.memory.projects": (Nothing, "projects"),
    "chatls.memory.stats": (Nothing, "counts and sizes"),
    "chatls.memory.longterm": (Nothing, "long-term memory as Markdown"),
    "chatls.memory.list": (Nothing, "the files of memory"),
    "chatls.memory.map": (Nothing, "the memory index"),
    "chatls.memory.daily": (DailyArgs, "the notes of a day"),
    "chatls.memory.digests": (DigestsArgs, "`{digests: [{name, kind, title, start, end, text}]}`, newest first"),
    "chatls.memory.load": (MemoryLoadArgs, "what was loaded"),
    "chatls.memory.neighbors": (NeighborsArgs, "what is linked"),
    "chatls.memory.graph": (GraphArgs, "`{nodes, edges, svg}`"),
    "chatls.memory.compact": (Nothing, "what was merged"),
    "chatls.memory.export": (OptionalPathArgs, "where it was written"),
    "chatls.memory.import": (PathArgs, "what was read"),
    "chatls.instructions.show": (OptionalUriArgs, "`{files, imports, rules, cut}`"),
    "chatls.instructions.reload": (Nothing, "what changed"),
    "chatls.prompt.show": (
        PromptShowArgs,
        "`{sections: [{name, text, tokens, cached, recovery?}], messages, tokens, counted?, notCounted}`",
    ),
    "chatls.context.create": (ContextArgs, "the context"),
    "chatls.context.update": (ContextArgs, "the context"),
    "chatls.context.attach": (ContextArgs, "tokens and cost per turn, cold and cached"),
    "chatls.context.detach": (ContextArgs, "what stays attached"),
    "chatls.context.list": (Nothing, "contexts"),
    "chatls.context.attached": (ContextStatusArgs, "what is attached, with its tokens and cost per turn"),
    "chatls.context.delete": (ContextArgs, "what was deleted"),
    "chatls.context.status": (ContextStatusArgs, "what fills the window, estimated and counted; the cache's state"),
    "chatls.session.new": (SessionNewArgs, "the session"),
    "chatls.session.list": (SessionListArgs, "sessions"),
    "chatls.session.save": (SessionNameArgs, "the session"),
    "chatls.session.load": (SessionLoadArgs, "the session with its messages"),
    "chatls.session.fork": (SessionForkArgs, "the new session"),
    "chatls.session.rename": (SessionNameArgs, "the session"),
    "chatls.session.delete": (SessionArgs, "what was deleted, and `undoToken`"),
    "chatls.session.undelete": (UndoTokenArgs, "the session"),
    "chatls.session.search": (SessionSearchArgs, "hits"),
    "chatls.session.rewind": (SessionRewindArgs, "checkpoints, or the session after it"),
    "chatls.session.compact": (SessionCompactArgs, "what was compacted"),
    "chatls.session.events": (SessionEventsArgs, "`{events, turnId, status}`"),
    "chatls.edits.undo": (EditsUndoArgs, "the files, and an undo token of its own"),
    "chatls.skill.list": (SessionScopeArgs, "skills"),
    "chatls.skill.pin": (NamedArgs, "pinned skills"),
    "chatls.skill.unpin": (NamedArgs, "pinned skills"),
    "chatls.persona.list": (SessionScopeArgs, "personas"),
    "chatls.persona.attach": (NamedArgs, "the persona"),
    "chatls.persona.detach": (NamedArgs, "the persona"),
    "chatls.provider.list": (Nothing, "providers and their models"),
    "chatls.provider.switch": (ProviderSwitchArgs, "who answers now"),
    "chatls.provider.signIn": (
        SignInArgs,
        "`{provider, title, url, code, expiresInSeconds}`; with `wait`: `{provider, title, kept}`, where the key is: "
        "`editor`, `keychain` or `session`",
    ),
    "chatls.provider.signOut": (SignOutArgs, "`{provider, title}`"),
    "chatls.cost.show": (SessionScopeArgs, "tokens and cost"),
    "chatls.config.show": (Nothing, "settings and where they come from"),
    "chatls.policy.show": (Nothing, "the tool policy"),
    "chatls.policy.set": (PolicySetArgs, "the rule"),
    "chatls.mcp.list": (Nothing, "`{enabled, servers: [{name, state, tools, error}], problems}`"),
    "chatls.mcp.restart": (McpServerArgs, "the servers"),
    "chatls.mcp.start": (McpServerArgs, "the servers"),
    "chatls.mcp.stop": (McpServerNameArgs, "the servers"),
    "chatls.doctor.show": (Nothing, "what is configured and what is wrong"),
}
"""Every command of the protocol: its arguments and what ``data`` holds."""
