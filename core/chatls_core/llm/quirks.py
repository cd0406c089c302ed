"""How services that speak OpenAI's chat-completions wire differ from one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Quirks:
    """Differences of one service; the defaults suit an unknown one.

    ``output_limit`` names the field for the answer's longest length. ``cache_key`` sends ``prompt_cache_key``.
    ``usage_option`` asks for usage with ``stream_options``. ``effort`` maps our effort words to ``reasoning_effort``
    (empty: never sent). ``thinking_switch`` uses ``{"thinking": {"type": …}}`` instead. ``repeat_reasoning`` sends
    reasoning back (``reasoning_content`` or ``reasoning_details``), as services want that lose the thread without it.
    ``cache_markers`` puts Anthropic's cache markers on Claude models. ``developer_role`` replaces ``system``.
    ``extra`` is merged into every body. ``path`` is the endpoint's path.
    """

    output_limit: str = "max_tokens"
    cache_key: bool = False
    usage_option: bool = True
    effort: Mapping[str, str] = field(default_factory=dict)
    thinking_switch: bool = False
    repeat_reasoning: str = ""
    cache_markers: bool = False
    extra: Mapping[str, object] = field(default_factory=dict)
    path: str = "/chat/completions"
