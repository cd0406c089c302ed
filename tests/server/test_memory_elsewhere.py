"""Two windows, and a person with a text editor, change one memory: each window hears of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.lsp_client import PLAIN, LspClient, ResponseError

pytestmark = pytest.mark.timeout(180)  # the tests start real servers; a busy machine takes its time


@pytest.fixture
async def windows(tmp_path: Path) -> AsyncIterator[tuple[LspClient, LspClient]]:
    root = tmp_path / "ws"
    root.mkdir()
    home = tmp_path / "home"
    async with (
        LspClient(home=home, root=root, capabilities=PLAIN) as one,
        LspClient(home=home, root=root, capabilities=PLAIN) as two,
    ):
        for window in (one, two):
            await window.command("chatls.memory.stats")
            await window.wait_for("chatls/status")
        yield one, two


async def heard(window: LspClient, **wanted: Any) -> dict[str, Any]:
    """The next change from elsewhere with these values."""

    def fits(message: dict[str, Any]) -> bool:
        params = message.get("params") or {}
        is_it = message.get("method") == "chatls/memoryChanged" and params.get("elsewhere")
        return bool(is_it) and all(params.get(k) == v for k, v in wanted.items())

    return dict((await window.wait_for(fits))["params"])


async def test_what_one_window_does_the_other_hears_and_can_take_back(windows: tuple[LspClient, LspClient]) -> None:
    one, two = windows
    kept = (await one.command("chatls.memory.remember", {"content": "We deploy on Thursdays"}))["data"]
    await heard(two, added=[kept["id"]])
    await two.command("chatls.memory.pin", {"id": kept["id"], "pinned": True})
    await heard(one, changed=[kept["id"]])
    forgotten = (await one.command("chatls.memory.forget", {"ids": [kept["id"]]}))["data"]
    await heard(two, removed=[kept["id"]])
    with pytest.raises(ResponseError, match="Nothing is remembered under the id"):
        await two.command("chatls.memory.edit", {"id": kept["id"], "content": "We deploy on Fridays"})
    undo = {"undoToken": forgotten["undoToken"]}
    assert "brought back 1 item." in (await two.command("chatls.memory.undo", undo))["markdown"]
    await heard(one, added=[kept["id"]])
    assert "nothing to undo" in (await one.command("chatls.memory.undo", undo))["markdown"]
    (back,) = (await one.command("chatls.memory.facts"))["data"]["facts"]
    assert (back["content"], back["pinned"]) == ("We deploy on Thursdays", True)
    told = two.notifications("chatls/memoryChanged")
    assert sum(change["elsewhere"] and kept["id"] in change["added"] for change in told) == 1, "its own undo is not"


async def test_a_hand_edit_and_what_waits_for_review_are_heard_of(
    windows: tuple[LspClient, LspClient], tmp_path: Path
) -> None:
    one, two = windows
    folder = tmp_path / "home" / ".chatcli" / "memory"
    (folder / "topics.json").write_text(json.dumps([{"name": "caching", "mentions": 3}]))
    await heard(one, added=["topic:caching"])
    await heard(two, added=["topic:caching"])
    (folder / "memory_review.json").write_text(json.dumps({"items": {}}))
    await heard(two, added=[], changed=[], removed=[])
