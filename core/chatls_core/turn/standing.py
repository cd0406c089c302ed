"""How a conversation stands: what fills the window, what attached contexts cost (spec/agent.md §1.11, §2.4)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatls_core.contexts import Context
from chatls_core.contexts.model import WARN_ATTACHED_TOKENS, WARN_BYTES, WARN_FILES, WARN_TOKENS
from chatls_core.llm.messages import Message, ModelRequest, TextPart
from chatls_core.llm.model import Model
from chatls_core.prompt.attached_contexts import FOLDED_KEY, attachments, prefix_budget
from chatls_core.prompt.cache_record import cache_record
from chatls_core.prompt.cache_standing import CacheStanding, cache_standing
from chatls_core.prompt.compaction_trim import count_recoverable
from chatls_core.prompt.context_passages import told_chars
from chatls_core.prompt.service_edits import unread_tokens
from chatls_core.prompt.window import START_KEY, is_small, room
from chatls_core.sessions.conversation import Conversation
from chatls_core.text.tokens import DEFAULT_RATIO, estimate
from chatls_core.turn.compacting import SHARES
from chatls_core.turn.services import Services
from chatls_core.turn.spending import SUMMARY, TURN


@dataclass(frozen=True, slots=True)
class AttachedCost:
    """An attached context: tokens per turn, estimated and, where it was asked, as the provider counts them; US dollars
    for them cold and cached (``None``: unknown); whether it is ``folded``, and whether the user wants it so (``fold``).
    ``told_tokens`` are those of its passages in the history that is sent; ``readable`` says whether the model can read
    the rest by a tool, ``rides`` whether passages ride with questions. A ``small`` model is told of no context at all.
    """

    name: str
    tokens: int
    cold_usd: float | None
    cached_usd: float | None
    folded: bool
    fold: bool = False
    counted: int | None = None
    told_tokens: int = 0
    readable: bool = True
    rides: bool = True
    small: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the prompt: a section, or the messages of one kind."""

    name: str
    chars: int
    tokens: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class Standing:
    """What the next request would hold; all tokens are estimates at ``chars_per_token``."""

    provider: str
    model: str
    window: int
    chars_per_token: float
    learned: bool
    sections: tuple[Share, ...]
    history: tuple[Share, ...]
    summaries: int
    recoverable: int
    folded: tuple[str, ...]
    tokens: int
    used_share: float
    prefix_budget_chars: int
    compaction_tokens: int
    cache_hit_share: float | None
    """Share of all prompt tokens of this conversation so far that were read from the provider's cache."""
    cache: CacheStanding
    last_prompt_tokens: int = 0
    """Prompt tokens of the latest request as the provider counted them; 0 before the first."""
    unread_tokens: int = 0
    """Tokens of the latest request that the service itself left out, where it edits contexts."""
    tool_tokens: int = 0
    counted: int | None = None
    """Tokens of the next request, tools included, by the provider's own count."""
    not_counted: str = ""

    @property
    def markdown(self) -> str:
        """The same for people."""
        how = "learned" if self.learned else "default"
        lines = [
            f"**{self.provider}** {self.model}, window {self.window:,} tokens, "
            f"{self.chars_per_token:.2f} characters per token ({how})",
            "",
            "| part | size | ≈tokens |",
            "| --- | ---: | ---: |",
        ]
        lines += [f"| ● {s.name} | {s.chars:,} | {s.tokens:,} |" for s in self.sections]
        lines += [f"| {s.count} × {s.name} | {s.chars:,} | {s.tokens:,} |" for s in self.history]
        lines += ["", f"≈{self.tokens:,} tokens, {self.used_share:.0%} of the window; compacted at "
                  f"{self.compaction_tokens:,}. ● stands in the cached prefix."]  # fmt: skip
        if self.summaries or self.recoverable:
            lines.append(f"{self.summaries} summaries; {self.recoverable} cuts can be looked up.")
        if self.folded:
            lines.append(f"Folded: {', '.join(self.folded)}.")
        if self.cache_hit_share is not None:
            lines.append(f"{self.cache_hit_share:.0%} of the prompt so far was read from the cache.")
        if self.tool_tokens:
            lines.append(f"Tool definitions: ≈{self.tool_tokens:,} tokens.")
        if self.last_prompt_tokens:
            lines.append(f"The provider counted {self.last_prompt_tokens:,} tokens in the latest request.")
        if self.unread_tokens:
            lines.append(f"The service left ≈{self.unread_tokens:,} tokens of it out; the model can look them up.")
        if self.counted is not None:
            lines.append(f"The provider counts {self.counted:,} tokens in the next one, tools included.")
        elif self.not_counted:
            lines.append(f"Only estimated: {self.not_counted}.")
        lines.append(self.cache.markdown)
        return "\n".join(lines)


def attached_costs(services: Services, conversation: Conversation, model: Model) -> tuple[AttachedCost, ...]:
    """What each attached context costs per turn. Reads the disk. Raises :class:`OSError`."""
    ratio = services.curation.ratio.ratio(model.provider, model.model)
    other = sum(s.chars for s in _sections(conversation, ratio) if not s.name.startswith("context "))
    wanted = {attachment.name.lower() for attachment in attachments(conversation) if attachment.fold}
    contexts = {context.name: context for context in services.curation.attached(conversation)}
    small = is_small(model)
    settings = services.settings.prompt
    start = conversation.state.get(START_KEY)
    told = told_chars(conversation.messages[start if isinstance(start, int) else 0 :])
    found = []
    for shown in services.curation.rendered(conversation, model, other):
        tokens = 0 if small else estimate(shown.section.text, ratio)
        warnings = list(context_warnings(contexts[shown.name]))
        if tokens > WARN_ATTACHED_TOKENS:
            warnings.append(f"It takes more than {WARN_ATTACHED_TOKENS:,} tokens of every request.")
        prices = model.info.prices
        cold = None if prices is None else prices.cache_write or prices.input
        cached = None if prices is None else prices.cache_read or prices.input
        found.append(
            AttachedCost(
                shown.name,
                tokens,
                _usd(tokens, cold),
                _usd(tokens, cached),
                shown.folded or small,
                shown.name.lower() in wanted,
                told_tokens=estimate(told[shown.name.lower()], ratio),
                readable=model.info.tools and settings.knowledge,
                rides=settings.context_passages,
                small=small,
                warnings=tuple(warnings),
            )
        )
    return tuple(found)


async def counted(
    services: Services, conversation: Conversation, model: Model, costs: Sequence[AttachedCost]
) -> tuple[AttachedCost, ...]:
    """The same with the tokens of each context as the provider counts them, which sends it their texts."""
    other = sum(s.chars for s in _sections(conversation, 1.0) if not s.name.startswith("context "))
    shown = await asyncio.to_thread(services.curation.rendered, conversation, model, other)
    texts = {each.name: each.section.text for each in shown}
    word = Message("user", (TextPart("."),))
    bare = (await services.counts.count(model, ModelRequest((word,)))).tokens
    found = []
    for cost in costs:
        if cost.small:
            found.append(cost)  # nothing of it is sent
            continue
        request = ModelRequest((word,), (texts.get(cost.name, ""),))
        whole = (await services.counts.count(model, request)).tokens if bare is not None else None
        found.append(cost if whole is None or bare is None else replace(cost, counted=max(0, whole - bare)))
    return tuple(found)


def context_warnings(context: Context) -> tuple[str, ...]:
    """What may surprise about a context's size (spec/agent.md §2.1)."""
    warnings = []
    if len(context.files) > WARN_FILES:
        warnings.append(f"It has more than {WARN_FILES} files.")
    if context.size > WARN_BYTES:
        warnings.append("It is larger than 50 MB.")
    if estimate(context.chars) > WARN_TOKENS and context.mode in ("full", "chunked"):
        warnings.append(f"It has about {estimate(context.chars):,} tokens; mode knowledge keeps it out of the prompt.")
    return tuple(warnings)


async def standing(services: Services, conversation: Conversation, model: Model) -> Standing:
    """How the conversation stands, for ``chatls.context.status``."""
    spent = await asyncio.to_thread(services.spending.of_session, conversation.id)
    ratio = services.curation.ratio.ratio(model.provider, model.model)
    sections = _sections(conversation, ratio)
    chars: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for message in conversation.messages:
        name = message.role if message.kind == "text" else message.kind.replace("_", " ")
        chars[name] += message.chars
        counts[name] += 1
    history = tuple(Share(name, size, estimate(size, ratio), counts[name]) for name, size in chars.most_common())
    tokens = sum(s.tokens for s in (*sections, *history))
    rows = [row for name, row in spent.items() if name.startswith((f"{TURN}|", f"{SUMMARY}|"))]
    read, prompt = sum(row.cache_read_tokens for row in rows), sum(row.prompt_tokens for row in rows)
    mode = conversation.system_key.partition(":")[0]
    share = next((value for name, value in SHARES.items() if name == mode), SHARES["chat"])
    folded = [a.name for a in attachments(conversation)] if is_small(model) else conversation.state.get(FOLDED_KEY)
    return Standing(
        provider=model.provider,
        model=model.model,
        window=model.info.window,
        chars_per_token=ratio,
        learned=ratio != DEFAULT_RATIO,
        sections=sections,
        history=history,
        summaries=counts["summary"],
        recoverable=count_recoverable(conversation.messages),
        folded=tuple(map(str, folded)) if isinstance(folded, list) else (),
        tokens=tokens,
        used_share=round(tokens / model.info.window, 4),
        prefix_budget_chars=prefix_budget(model.info.window, ratio),
        compaction_tokens=room(model.info.window, share, ratio, services.settings.prompt.max_request_bytes),
        cache_hit_share=round(read / prompt, 4) if prompt else None,
        cache=cache_standing(conversation, model, services.settings, services.clock()),
        last_prompt_tokens=cache_record(conversation).prompt,
        unread_tokens=unread_tokens(conversation),
    )


def _sections(conversation: Conversation, ratio: float) -> tuple[Share, ...]:
    stored = conversation.state.get("sections")
    names = [str(name) for name in stored] if isinstance(stored, list) else []
    return tuple(
        Share(names[i] if i < len(names) else f"part {i + 1}", len(text), estimate(text, ratio))
        for i, text in enumerate(conversation.system)
    )


def _usd(tokens: int, per_million: float | None) -> float | None:
    return None if per_million is None else round(tokens * per_million / 1_000_000, 6)
