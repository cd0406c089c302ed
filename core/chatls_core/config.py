"""What may be set? One settings model; every setting names its environment variables and its editor scope.

Layers, weakest first: defaults, environment, ``initializationOptions``, ``workspace/configuration`` (PROTOCOL.md
"initialize"). Keys and secrets are never settings. ``contributes.configuration`` of the extension is generated from
:class:`Settings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

OFF_WORDS = frozenset({"false", "0", "off", "no", "disabled"})
"""Words that switch a boolean environment variable off (spec/agent.md §11.1); anything else switches it on."""

Scope = Literal["machine", "resource"]


def setting(
    default: Any, description: str, *, env: Sequence[str] = (), scope: Scope = "resource", **constraints: Any
) -> Any:
    """A field of a settings section.

    ``env`` lists environment variables, first one set wins. ``scope`` "machine" keeps the setting out of a
    workspace's reach (endpoints, review, interpreters).
    """
    return Field(default, description=description, json_schema_extra={"env": list(env), "scope": scope}, **constraints)


class Section(BaseModel):
    """A group of settings; names are camelCase on the wire."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )


class ProviderOverride(Section):
    """What a user may override for one provider."""

    base_url: str = setting("", "Base URL of the service, without the endpoint's path.", scope="machine")
    model: str = setting("", "Model to use with this provider.")
    max_output_tokens: int | None = setting(None, "Most tokens an answer may have.", ge=1)


class Edits(Section):
    """How edits reach the user's files."""

    review: Literal["ask", "auto"] = setting(
        "ask", "Show every edit for review before it is applied (ask), or apply edits at once (auto).", scope="machine"
    )
    save: Literal["beforeCommands", "always", "never"] = setting(
        "beforeCommands", "When files the agent edited are saved.", scope="machine"
    )
    format: Literal["auto", "str_replace", "search_replace", "udiff", "apply_patch"] = setting(
        "auto", "Edit format offered to the model; auto picks by model family."
    )


class Memory(Section):
    """Persistent memory (spec/memory.md §16)."""

    enabled: bool = setting(True, "Remember facts across sessions.", env=["CHATCLI_MEMORY_ENABLED"])
    mode: Literal["index", "full", "off"] = setting(
        "index",
        "What of memory rides in the prompt: a short index, everything relevant, or nothing.",
        env=["CHATCLI_MEMORY_MODE"],
    )
    auto_recall: bool = setting(
        True, "Bring facts that matter to the question into the turn.", env=["CHATCLI_MEMORY_AUTORECALL"]
    )
    chat_tool: bool = setting(True, "Give the model its memory tool in chat mode.", env=["CHATCLI_CHAT_MEMORY"])
    review: Literal["auto", "ask"] = setting(
        "auto", "Keep what was learned in the background at once, or let it wait for acceptance."
    )
    max_facts: int = setting(500, "Most facts kept.", env=["CHATCLI_MEMORY_MAX_FACTS"], ge=1)
    retrieval_budget: int = setting(
        4000, "Bytes of recalled memory in full mode.", env=["CHATCLI_MEMORY_RETRIEVAL_BUDGET"], ge=1
    )
    max_size: int = setting(
        32768, "Bytes of long-term memory rendered as Markdown.", env=["CHATCLI_MEMORY_MAX_SIZE"], ge=1
    )
    retention_days: int = setting(30, "Days daily notes are kept.", env=["CHATCLI_MEMORY_RETENTION_DAYS"], ge=1)
    provider: str = setting(
        "builtin",
        "External memory service: mcp:<server> beside the built-in memory, mcp-only:<server> in place of its recall.",
        env=["CHATCLI_MEMORY_PROVIDER"],
        scope="machine",
    )
    graph: bool = setting(True, "Keep the knowledge graph.", env=["CHATCLI_MEMORY_GRAPH"])
    graph_index: bool = setting(True, "Put the graph's index card into the prompt.", env=["CHATCLI_GRAPH_INDEX"])


class Instructions(Section):
    """Instruction files and path rules (spec/memory.md §1, §2)."""

    enabled: bool = setting(True, "Read AGENTS.md, its companions and rules.", env=["CHATCLI_BOOTSTRAP_ENABLED"])
    global_folder: str = setting(
        "",
        "Folder of the global instruction files; empty: the data folder.",
        env=["CHATCLI_BOOTSTRAP_DIR"],
        scope="machine",
    )
    scan: bool = setting(
        True, "Blank out lines that look like prompt injection.", env=["CHATCLI_THREATSCAN"], scope="machine"
    )


class Sessions(Section):
    """Saved conversations (spec/memory.md §15.1)."""

    autosave: bool = setting(True, "Save conversations.", env=["CHATCLI_SESSION_AUTOSAVE"])
    auto_recall: bool = setting(True, "Point to earlier conversations.", env=["CHATCLI_SESSION_AUTORECALL"])
    keep: int = setting(600, "Machine-named conversations kept.", env=["CHATCLI_SESSION_AUTOSAVE_KEEP"], ge=1)
    ttl_days: int = setting(
        90, "Days a machine-named conversation is kept; 0 keeps it for ever.", env=["CHATCLI_SESSION_TTL"], ge=0
    )


class Agent(Section):
    """The tool loop (spec/agent.md §3, §4)."""

    max_turns: int = setting(
        50, "Most model calls in one agent or coder turn.", env=["CHATCLI_AGENT_PLUGIN_MAX_TURNS"], ge=1, le=200
    )
    command_timeout_seconds: float = setting(600, "Seconds a command may run.", ge=1, scope="machine")
    max_command_output: int = setting(
        102400,
        "Characters of a command's output shown to the model at once; the rest can be recalled.",
        env=["CHATCLI_MAX_COMMAND_OUTPUT"],
        ge=1000,
    )
    tool_result_max_chars: int = setting(
        20000, "Characters of one tool result sent to the model.", env=["CHATCLI_TOOL_RESULT_MAX_CHARS"], ge=1000
    )
    stop_when_stalled: bool = setting(
        True, "Stop a turn whose model repeats the same step.", env=["CHATCLI_AGENT_EARLY_EXIT"]
    )
    stall_turns: int = setting(
        3, "How often the same step is a repetition.", env=["CHATCLI_AGENT_EARLY_EXIT_TURNS"], ge=2, le=10
    )
    max_denials_in_a_row: int = setting(
        3,
        "After how many refusals in a row a command is refused without asking for the rest of the conversation.",
        env=["CHATCLI_MAX_CONSECUTIVE_DENIALS"],
        ge=1,
        scope="machine",
    )
    max_denials: int = setting(
        20,
        "After how many refusals in a conversation every tool call is asked about.",
        env=["CHATCLI_MAX_TOTAL_DENIALS"],
        ge=1,
        scope="machine",
    )


class Retries(Section):
    """How patiently a model is asked (spec/agent.md §8.4, §8.8)."""

    max: int = setting(4, "Most attempts per request.", env=["MAX_RETRIES"], ge=1, le=20)
    initial_seconds: float = setting(0.5, "First wait in seconds, doubling.", ge=0, le=60)
    idle_timeout_seconds: float = setting(
        90,
        "Seconds without any data before a stream counts as stalled.",
        env=["CHATCLI_STREAM_IDLE_TIMEOUT_SECONDS"],
        ge=0.05,
    )
    connect_timeout_seconds: float = setting(20, "Seconds to connect.", ge=0.05)


class Fallback(Section):
    """Who answers when the first provider cannot (spec/agent.md §8.5)."""

    providers: list[str] = setting([], "Providers asked in turn.", env=["CHATCLI_FALLBACK_PROVIDERS"], scope="machine")
    cooldown_seconds: float = setting(30, "First rest of a failed provider.", env=["CHATCLI_FALLBACK_COOLDOWN_BASE"])
    cooldown_max_seconds: float = setting(300, "Longest rest.", env=["CHATCLI_FALLBACK_COOLDOWN_MAX"])


class Prompt(Section):
    """What the model is told, and what may be left out because a call brings it back (spec/agent.md §1.6, §1.8)."""

    cache_ttl: Literal["auto", "5m", "1h"] = setting(
        "auto",
        "How long a provider keeps the prompt's beginning: 5m, 1h, or auto (an hour where pauses make it pay).",
        env=["CHATCLI_PROMPT_CACHE_TTL"],
    )
    cache_explicit: bool = setting(
        False,
        "Keep the stable beginning of long prompts in a cache at Google, which bills storage by the hour (Gemini).",
        env=["CHATCLI_PROMPT_CACHE_EXPLICIT"],
    )
    context_engine: Literal["builtin", "provider", "provider-compact"] = setting(
        "builtin",
        "Who makes room in long runs: we (builtin), or Claude's service too, which clears old tool results and "
        "thoughts (provider) and also summarises (provider-compact).",
        env=["CHATCLI_CONTEXT_ENGINE"],
    )
    context_pull: bool = setting(
        True,
        "Let the model fetch skills that were left out of the prompt; off: nothing is left out.",
        env=["CHATCLI_CHAT_CONTEXT_PULL"],
    )
    knowledge: bool = setting(
        True,
        "Let the model search attached contexts; off: they stand in the prompt whole.",
        env=["CHATCLI_CHAT_KNOWLEDGE"],
    )
    context_passages: bool = setting(
        True,
        "Send passages of attached contexts that are not whole in the prompt along with questions they answer.",
        env=["CHATCLI_ATTACH_AUTO_RAG"],
    )
    archive: bool = setting(
        True,
        "Compact long conversations, with all that is cut kept in an archive the model can read; off: nothing is cut.",
        env=["CHATCLI_COMPRESSION"],
    )
    max_request_bytes: int | None = setting(
        None,
        "Largest request a proxy on the way takes, in bytes; conversations are compacted to stay below 70 % of it.",
        env=["CHATCLI_MAX_PAYLOAD"],
        ge=20_000,
    )
    skill_budget: int = setting(
        24000,
        "Characters of skills in one turn before further ones are named only; 0: no limit.",
        env=["CHATCLI_SKILL_INJECT_BUDGET"],
        ge=0,
    )
    skill_rescan: bool = setting(
        True,
        "Bring skills in while a run works, when it touches files they are about.",
        env=["CHATCLI_AGENT_SKILL_RESCAN"],
    )
    skill_age_turns: int = setting(
        6,
        "Answers after which a skill brought in by a run may leave the history again; 0: never.",
        env=["CHATCLI_SKILL_AGE_TURNS"],
        ge=0,
    )


class Budget(Section):
    """Money (spec/agent.md §1.12)."""

    session_usd: float | None = setting(
        None, "US dollars one conversation may cost.", env=["CHATCLI_SESSION_BUDGET_USD"], ge=0
    )
    daily_usd: float | None = setting(None, "US dollars a day may cost.", env=["CHATCLI_DAILY_BUDGET_USD"], ge=0)
    warning_share: float = setting(
        0.8, "Share of a budget at which a warning is shown.", env=["CHATCLI_BUDGET_WARNING_PCT"], ge=0, le=1
    )
    hard_stop: bool = setting(False, "Refuse requests beyond a budget.", env=["CHATCLI_BUDGET_HARD_STOP"])


class Local(Section):
    """The embedded model."""

    enabled: Literal["auto", "off"] = setting(
        "auto", "Answer with the embedded model when no provider is configured.", scope="machine"
    )
    model: str = setting("", "Path of a GGUF file to use instead.", env=["CHATLS_LOCAL_MODEL"], scope="machine")
    window: int = setting(4096, "Context window of the embedded model in tokens.", ge=512, scope="machine")


class Mcp(Section):
    """MCP servers (spec/agent.md §9.6)."""

    enabled: bool = setting(
        False, "Start the MCP servers of mcp_servers.json.", env=["CHATCLI_MCP_ENABLED"], scope="machine"
    )
    config: str = setting("", "File to use instead of the data folder's.", env=["CHATCLI_MCP_CONFIG"], scope="machine")
    dynamic_tools: bool = setting(
        True, "Follow servers whose list of tools changes.", env=["CHATCLI_MCP_DYNAMIC_TOOLS"], scope="machine"
    )
    wait_seconds: float = setting(3, "Seconds a turn waits for servers that are starting.", ge=0, le=60)


class Embedding(Section):
    """Optional search by meaning (spec/memory.md §8.4); words decide first, with it or without."""

    provider: str = setting(
        "",
        "Who turns texts into vectors: openai, voyage, google, ollama, compatible, lmstudio, local; empty: nobody.",
        env=["CHATCLI_EMBED_PROVIDER"],
        scope="machine",
    )
    model: str = setting(
        "",
        "Embedding model; empty takes the provider's usual one. For local the path of an ONNX file that has its "
        "tokenizer.json beside it.",
        env=["CHATCLI_EMBED_MODEL"],
        scope="machine",
    )
    dimensions: int | None = setting(
        None, "Length of the vectors where the model lets one choose.", env=["CHATCLI_EMBED_DIMENSIONS"], ge=1
    )
    timeout_seconds: float = setting(
        1.5, "Seconds a question waits for its vector; then words alone decide.", gt=0, le=30
    )
    hyde: bool = setting(
        False,
        "Let the model guess an answer and search by its words as well: one more request per question.",
        env=["CHATCLI_QUALITY_HYDE_ENABLED"],
    )
    hyde_timeout_seconds: float = setting(
        4.0, "Seconds a question waits for the guessed answer; then it is searched for without.", gt=0, le=60
    )
    hyde_keywords: int = setting(
        5, "Words of the guessed answer that are searched for.", env=["CHATCLI_QUALITY_HYDE_NUM_KEYWORDS"], ge=1, le=50
    )


class Settings(Section):
    """All settings of ChatLS."""

    provider: str = setting(
        "",
        "Who answers: anthropic, openai, ollama, local, …; empty takes the first that is available.",
        env=["LLM_PROVIDER"],
    )
    model: str = setting("", "Model; empty takes the provider's default.", env=["LLM_MODEL"])
    effort: Literal["", "none", "low", "medium", "high", "max"] = setting("", "How hard the model thinks.")
    providers: dict[str, ProviderOverride] = setting({}, "Overrides by provider name.", scope="machine")
    context_window: int | None = setting(
        None, "Context window in tokens when the catalogue is wrong.", env=["CHATCLI_CONTEXT_WINDOW"], ge=1000
    )
    allow_http: bool = setting(
        False, "Allow plain-http endpoints beyond loopback.", env=["CHATCLI_ALLOW_HTTP_PROVIDERS"], scope="machine"
    )
    language: str = setting("", "Language of messages (en, pt); empty follows the editor.", env=["CHATCLI_LANG"])
    log_level: Literal["debug", "info", "warning", "error"] = setting("info", "How much is logged.", env=["LOG_LEVEL"])
    edits: Edits = Edits.model_construct()
    memory: Memory = Memory.model_construct()
    embedding: Embedding = Embedding.model_construct()
    instructions: Instructions = Instructions.model_construct()
    sessions: Sessions = Sessions.model_construct()
    agent: Agent = Agent.model_construct()
    retries: Retries = Retries.model_construct()
    fallback: Fallback = Fallback.model_construct()
    prompt: Prompt = Prompt.model_construct()
    budget: Budget = Budget.model_construct()
    local: Local = Local.model_construct()
    mcp: Mcp = Mcp.model_construct()


@dataclass(frozen=True, slots=True)
class SettingWarning:
    """A value that could not be used; the default stands in."""

    name: str
    source: str
    problem: str

    def __str__(self) -> str:
        return f"Setting {self.name} from {self.source} is not usable ({self.problem}); the default is used."


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings with what was wrong on the way."""

    settings: Settings
    warnings: tuple[SettingWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class SettingField:
    """One setting: its dotted camelCase ``name``, python ``path``, the pydantic field and its owner."""

    name: str
    path: tuple[str, ...]
    field: FieldInfo
    owner: type[Section]

    @property
    def env(self) -> tuple[str, ...]:
        """Environment variables that set it, first one set wins."""
        extra = self.field.json_schema_extra
        names = extra.get("env", []) if isinstance(extra, dict) else []
        return tuple(str(n) for n in names) if isinstance(names, list) else ()

    @property
    def scope(self) -> str:
        """Editor scope: ``machine`` or ``resource``."""
        extra = self.field.json_schema_extra
        return str(extra.get("scope", "resource")) if isinstance(extra, dict) else "resource"


def setting_fields(section: type[Section] = Settings, prefix: tuple[str, ...] = ()) -> Iterator[SettingField]:
    """Every leaf setting, in declaration order."""
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from setting_fields(kind, (*prefix, name))
        else:
            path = (*prefix, name)
            yield SettingField(".".join(to_camel(p) for p in path), path, field, section)


def data_folder(environment: Mapping[str, str]) -> Path:
    """Where state lives: ``CHATLS_HOME``, else ``~/.chatcli`` (spec/memory.md §3)."""
    explicit = environment.get("CHATLS_HOME", "").strip()
    return Path(explicit).expanduser() if explicit else Path(environment.get("HOME") or Path.home()) / ".chatcli"


def load(
    environment: Mapping[str, str],
    *layers: tuple[str, Mapping[str, Any]],
) -> Loaded:
    """Merge environment and ``(source name, nested or dotted settings)`` layers, weakest first.

    A value that does not validate is left out with one warning; the weaker layer's value stands.
    """
    values: dict[tuple[str, ...], Any] = {}
    warnings: list[SettingWarning] = []

    def take(item: SettingField, raw: Any, source: str) -> None:
        try:
            values[item.path] = _validated(item, raw)
        except ValidationError as error:
            warnings.append(SettingWarning(item.name, source, error.errors()[0]["msg"]))

    fields = list(setting_fields())
    for item in fields:
        for variable in item.env:
            if (raw := environment.get(variable, "").strip()) != "":
                take(item, _from_text(item, raw), variable)
                break
    for source, layer in layers:
        for item in fields:
            found, raw = _lookup(layer, item)
            if found and raw is not None:
                take(item, raw, source)
    tree: dict[str, Any] = {}
    for path, value in values.items():
        node = tree
        for part in path[:-1]:
            node = node.setdefault(part, {})
        node[path[-1]] = value
    return Loaded(Settings.model_validate(tree), tuple(warnings))


def _lookup(layer: Mapping[str, Any], item: SettingField) -> tuple[bool, Any]:
    for dotted in (item.name, ".".join(item.path)):
        if dotted in layer:
            return True, layer[dotted]
    node: Any = layer
    for part in item.path:
        if not isinstance(node, Mapping):
            return False, None
        if to_camel(part) in node:
            node = node[to_camel(part)]
        elif part in node:
            node = node[part]
        else:
            return False, None
    return True, node


def _validated(item: SettingField, raw: Any) -> Any:
    name = item.path[-1]
    return getattr(item.owner.model_validate({name: raw}), name)


def _from_text(item: SettingField, raw: str) -> Any:
    kind = item.field.annotation
    if kind is bool:
        lossless = item.name == "prompt.archive" and raw.lower() == "lossless"  # CHATCLI_COMPRESSION has three values
        return raw.lower() not in OFF_WORDS and not lossless
    if kind == list[str]:
        return [part.strip() for part in raw.replace(";", ",").split(",") if part.strip()]
    numeric = kind in (int, float) or any(k in (int, float) for k in get_args(kind))
    if numeric and raw[-1:] in "sSdD" and raw[:-1].replace(".", "", 1).isdigit():
        return raw[:-1]
    if item.name == "prompt.cacheTtl":
        word = raw.lower()
        return word if word == "auto" else "1h" if word in ("1h", "60m", "hour") else "5m"
    if item.name == "prompt.maxRequestBytes":
        return _bytes(raw)
    if item.name == "prompt.contextEngine" and raw.lower() in OFF_WORDS:
        return "builtin"
    if item.name in ("logLevel", "memory.mode"):
        word = raw.lower()
        return word if item.name != "memory.mode" or word in ("index", "full", "off") else "index"
    return raw


def _bytes(raw: str) -> Any:
    """Bytes of a size as ``CHATCLI_MAX_PAYLOAD`` has it: a number with B, KB, MB or GB; without a unit MB are meant."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?B)?", raw.strip(), re.IGNORECASE)
    if found is None:
        return raw
    powers = {"B": 0, "KB": 1, "MB": 2, "GB": 3}
    return int(float(found.group(1)) * 1024 ** powers[(found.group(2) or "MB").upper()])
