"""What a vendor's prompt cache would read and write: for the fake model server's usage, and for the bench.

* Claude: entries end at markers, four at most; a marker finds an entry of its own lifetime at most 20 blocks before it;
  five minutes or an hour, renewed by each read; nothing below 1,024 tokens; what thinks differently shares no messages.
* OpenAI: the longest beginning seen under the same ``prompt_cache_key``, in steps of 128 tokens, 1,024 at least.
* Gemini, implicit: the longest beginning seen, 1,024 tokens at least, 4,096 for Pro models.

A token is four bytes of JSON here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.fakes.replies import Tokens

BYTES_PER_TOKEN = 4
LOOK_BACK_BLOCKS = 20
MAX_MARKERS = 4
READ_PRICE = 0.1
WRITE_PRICES = {"5m": 1.25, "1h": 2.0}
LIFETIMES = {"5m": 300.0, "1h": 3600.0}
LEAST_TOKENS = 1024
LEAST_TOKENS_PRO = 4096
STEP_TOKENS = 128
IMPLICIT_SECONDS = 300.0
Rows = list[tuple[str, str]]
"""A request in cache order: each tool, system part and content block, and the lifetime of a marker that ends there."""


@dataclass(frozen=True)
class Charge:
    """Bytes of one request: read from the cache, written to it, and neither. ``write_price`` is a share of the input
    price."""

    read: int
    written: int
    fresh: int
    write_price: float = 0.0

    @property
    def cost(self) -> float:
        """What is paid, in bytes of fresh input."""
        return READ_PRICE * self.read + self.write_price * self.written + self.fresh

    @property
    def size(self) -> int:
        """The whole request."""
        return self.read + self.written + self.fresh


class RefusedError(Exception):
    """The vendor would answer 400; ``str()`` is what it would say."""


def claude_rows(body: Mapping[str, Any]) -> Rows:
    """A Messages request in cache order."""
    rows: Rows = []
    system = body.get("system") or []
    parts = [("tool", t) for t in body.get("tools") or []]
    parts += [("system", s) for s in ([{"type": "text", "text": system}] if isinstance(system, str) else system)]
    thinks = json.dumps([body.get("thinking"), body.get("output_config"), body.get("tool_choice")])
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        parts += [(message["role"], block) for block in blocks]
    first = True
    for role, block in parts:
        marker = block.get("cache_control")
        kept = {k: v for k, v in block.items() if k != "cache_control"}
        salt = thinks if first and role not in ("tool", "system") and thinks != "[null, null, null]" else ""
        first = first and role in ("tool", "system")
        rows.append((role + salt + json.dumps(kept), marker.get("ttl", "5m") if marker else ""))
    return rows


@dataclass
class CacheMeter:
    """The caches of all vendors. ``clock`` gives seconds."""

    clock: Callable[[], float] = lambda: 0.0
    least_tokens: int = LEAST_TOKENS
    _claude: dict[tuple[str, str, int], float] = field(default_factory=dict)
    _seen: dict[tuple[str, str], list[tuple[bytes, float]]] = field(default_factory=dict)

    def usage(self, dialect: str, model: str, body: Mapping[str, Any], output: int = 7) -> Tokens:
        """What the vendor would report. Raises :class:`RefusedError`."""
        if dialect == "anthropic":
            found = self.claude(model, claude_rows(body))
        elif dialect == "gemini":
            found = self._implicit(model, "", body, LEAST_TOKENS_PRO if "pro" in model else LEAST_TOKENS, 1)
        else:
            found = self._implicit(model, str(body.get("prompt_cache_key", "")), body, LEAST_TOKENS, STEP_TOKENS)
        read, written = found.read // BYTES_PER_TOKEN, found.written // BYTES_PER_TOKEN
        return Tokens(found.size // BYTES_PER_TOKEN - read - written, output, cache_read=read, cache_write=written)

    def claude(self, model: str, rows: Rows) -> Charge:
        """One request to Claude."""
        now = self.clock()
        ends: list[tuple[int, int]] = []
        key, size = 0, 0
        for text, _ in rows:
            key = hash((key, text))
            size += len(text.encode())
            ends.append((key, size))
        markers = [(index, ttl) for index, (_, ttl) in enumerate(rows) if ttl]
        if len(markers) > MAX_MARKERS:
            raise RefusedError(f"A maximum of 4 blocks with cache_control may be provided. Found {len(markers)}.")
        if any(a == "5m" and b == "1h" for (_, a), (_, b) in pairwise(markers)):
            raise RefusedError("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
        read = 0
        for index, ttl in markers:
            for at in range(index, max(-1, index - LOOK_BACK_BLOCKS - 1), -1):
                entry = (model, ttl, ends[at][0])
                if self._claude.get(entry, -1.0) >= now:
                    self._claude[entry] = now + LIFETIMES[ttl]
                    read = max(read, ends[at][1])
                    break
        written = 0
        for index, ttl in markers:
            key, size = ends[index]
            if size < self.least_tokens * BYTES_PER_TOKEN:
                continue
            self._claude[model, ttl, key] = now + LIFETIMES[ttl]
            written = max(written, size - read)
        total = ends[-1][1] if ends else 0
        price = WRITE_PRICES[markers[-1][1]] if markers else 0.0
        return Charge(read, written, total - read - written, price)

    def _implicit(self, model: str, key: str, body: Mapping[str, Any], least: int, step: int) -> Charge:
        names = ("tools", "systemInstruction", "instructions", "messages", "input", "contents")
        data = b"".join(json.dumps(body[name]).encode()[:-1] for name in names if name in body)
        now = self.clock()
        known = [(other, until) for other, until in self._seen.get((model, key), []) if until >= now]
        common = max((_common(data, other) for other, _ in known), default=0) // BYTES_PER_TOKEN
        read = common // step * step * BYTES_PER_TOKEN if common >= least else 0
        until = now + (86_400.0 if body.get("prompt_cache_retention") == "24h" else IMPLICIT_SECONDS)
        self._seen[model, key] = [*known, (data, until)]
        return Charge(read, 0, len(data) - read)


def _common(one: bytes, other: bytes) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def without_history_markers(rows: Rows) -> Rows:
    """The same request with markers on tools and system text only."""
    return [(text, marked if text.startswith(("tool", "system")) else "") for text, marked in rows]


def metered(requests: Sequence[Rows], model: str = "claude") -> list[Charge]:
    """A series of requests to Claude, sent without pauses."""
    meter = CacheMeter()
    return [meter.claude(model, rows) for rows in requests]


def share_read(charges: Sequence[Charge]) -> float:
    """The share of input read from the cache after the first request."""
    return sum(c.read for c in charges[1:]) / max(1, sum(c.size for c in charges[1:]))


def cost_share(charges: Sequence[Charge]) -> float:
    """What is paid, against sending everything without a cache."""
    return sum(c.cost for c in charges) / max(1, sum(c.size for c in charges))
