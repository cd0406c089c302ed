"""Gemini's explicit caches: the stable beginning of a prompt, kept at Google under a name (spec/agent.md §1.5).

Making, extending and deleting run beside the answers and never delay one. A cache lives five minutes, or an hour where
the user says so, and is extended while it is used; what is not deleted in time lapses by itself at Google.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any

from chatls_core.llm.events import ModelError, Usage
from chatls_core.llm.messages import ModelRequest
from chatls_core.llm.providers.http import HttpService

log = logging.getLogger(__name__)

Json = dict[str, Any]

LEAST_TOKENS = 4096
CHARS_PER_TOKEN = 4
OPERATION_SECONDS = 15.0
REST_SECONDS = 600.0
"""After a failure no cache is made for so long."""

MARGIN_SECONDS = 10.0
"""A cache that lapses so soon is not relied on: the request takes time to arrive."""

CLOSING_SECONDS = 1.0
LIFETIMES = {"5m": 300.0, "1h": 3600.0}
MAX_OWNERS = 64
REFUSALS = (400, 403, 404)
"""How Google answers a request that names a cache it no longer has or cannot use."""

TASK_NAME = "explicit cache"
_CACHED = ("systemInstruction", "tools", "toolConfig")


@dataclass(frozen=True, slots=True)
class _Cache:
    """A cache at Google: its name there, its size, its lifetime in seconds and the moment it lapses."""

    name: str
    tokens: int
    lifetime: float
    until: float


class ExplicitCaches:
    """The caches of one connection. ``clock`` gives seconds that only grow."""

    def __init__(self, http: HttpService, clock: Callable[[], float] = time.monotonic) -> None:
        self._http = http
        self._clock = clock
        self._caches: dict[str, _Cache] = {}
        self._latest: OrderedDict[str, str] = OrderedDict()
        """The prefix each conversation sent last."""
        self._busy: set[str] = set()
        self._rests_until = float("-inf")
        self._tasks: set[asyncio.Task[None]] = set()
        self._owed: dict[str, Usage] = {}
        """What caches cost that no answer has reported yet, by prefix."""

    def shortened(self, body: Json, model: str, request: ModelRequest) -> Json | None:
        """``body`` with the name of a cache in place of its stable beginning; ``None`` where there is no such cache.

        A beginning that a conversation sends for the second time in a row is put into one for the requests to come.
        """
        prefix = {name: body[name] for name in _CACHED if name in body}
        text = json.dumps(prefix, sort_keys=True)
        key = f"{model} {hashlib.sha256(text.encode()).hexdigest()}"
        before = self._latest.pop(request.cache_key, "")
        self._latest[request.cache_key] = key
        while len(self._latest) > MAX_OWNERS:
            self._latest.popitem(last=False)
        if before and before != key and before not in self._latest.values():
            self._let_go(before)
        if len(text) < LEAST_TOKENS * CHARS_PER_TOKEN:
            return None
        now, lifetime = self._clock(), LIFETIMES[request.cache_ttl]
        cache = self._caches.get(key)
        if cache is not None and cache.until - MARGIN_SECONDS <= now:
            del self._caches[key]
            cache = None
        if cache is None:
            if before == key and now >= self._rests_until:
                self._begin(key, self._make(key, model, prefix, lifetime))
            return None
        if cache.until - now < lifetime / 2:
            self._begin(key, self._extend(key, cache, lifetime))
        return {**{k: v for k, v in body.items() if k not in _CACHED}, "cachedContent": cache.name}

    def refused(self, name: str) -> None:
        """Google did not take the cache of this name; it is not named again."""
        for key in [k for k, cache in self._caches.items() if cache.name == name]:
            del self._caches[key]
        self._rests_until = self._clock() + REST_SECONDS

    def charged(self, usage: Usage, request: ModelRequest) -> Usage:
        """An answer's usage with what the conversation's cache has cost since the answer before."""
        owed = self._owed.pop(self._latest.get(request.cache_key, ""), None)
        if owed is None:
            return usage
        return replace(usage, aside_tokens=owed.aside_tokens, cache_token_hours=owed.cache_token_hours)

    async def aclose(self) -> None:
        """Delete all caches, within a second; the others lapse."""
        for task in self._tasks:
            task.cancel()
        names = [cache.name for cache in self._caches.values()]
        self._caches.clear()
        try:
            async with asyncio.timeout(CLOSING_SECONDS):
                await asyncio.gather(*(self._delete(name) for name in names))
        except TimeoutError:
            log.info("caches at Google are left to lapse")

    def _begin(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        if key in self._busy:
            work.close()
            return
        self._busy.add(key)
        task = asyncio.create_task(work, name=TASK_NAME)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: self._busy.discard(key))

    async def _make(self, key: str, model: str, prefix: Mapping[str, Any], lifetime: float) -> None:
        body = {"model": f"models/{model.removeprefix('models/')}", **prefix, "ttl": f"{lifetime:.0f}s"}
        begun = self._clock()
        answer = await self._asked("POST", "/cachedContents", body)
        name = str(answer.get("name") or "") if isinstance(answer, dict) else ""
        if not name:
            return
        tokens = int((answer.get("usageMetadata") or {}).get("totalTokenCount") or 0)
        self._caches[key] = _Cache(name, tokens, lifetime, begun + lifetime)
        self._owe(key, Usage(aside_tokens=tokens, cache_token_hours=tokens * lifetime / 3600))
        if key not in self._latest.values():
            self._let_go(key)

    async def _extend(self, key: str, cache: _Cache, lifetime: float) -> None:
        begun = self._clock()
        if await self._asked("PATCH", f"/{cache.name}?updateMask=ttl", {"ttl": f"{lifetime:.0f}s"}) is None:
            return
        if key in self._caches:
            longer = begun + lifetime - cache.until
            self._caches[key] = replace(cache, lifetime=lifetime, until=begun + lifetime)
            self._owe(key, Usage(cache_token_hours=cache.tokens * max(0.0, longer) / 3600))

    def _owe(self, key: str, usage: Usage) -> None:
        self._owed[key] = self._owed.get(key, Usage()) + usage

    def _let_go(self, key: str) -> None:
        cache = self._caches.pop(key, None)
        if cache is not None:
            self._begin(f"delete {cache.name}", self._delete(cache.name))

    async def _delete(self, name: str) -> None:
        try:
            async with asyncio.timeout(OPERATION_SECONDS):
                await self._http.json("DELETE", f"/{name}")
        except (ModelError, TimeoutError) as error:
            log.info("a cache at Google is left to lapse: %s", error)

    async def _asked(self, method: str, path: str, body: Json) -> Any:
        """The answer, or ``None`` after a failure; then no cache is made for a while."""
        try:
            async with asyncio.timeout(OPERATION_SECONDS):
                return await self._http.json(method, path, body)
        except (ModelError, TimeoutError) as error:
            log.info("prompts go to Google without an explicit cache for a while: %s", error)
            self._rests_until = self._clock() + REST_SECONDS
            return None
