"""What rides along follows from what is asked, not from what a log says."""

from __future__ import annotations

import pytest

from chatls_core.events import ContextAdded
from chatls_core.memory import Source
from chatls_core.turn.question import MAX_CHARS, asked_of
from tests.core.turn.conftest import Desk
from tests.fakes.model_server import Call, Reply

DEPLOY = "Deploys of the billing service use a blue-green strategy"
LOG = "\n".join(
    f"2026-02-28 12:{n // 60:02d}:{n % 60:02d} {level} warehouse worker {n}: connection to queue refused, retry {n % 7}"
    for n, level in enumerate(("INFO", "WARN", "ERROR") * 60)
)
FACTS = (
    DEPLOY,
    "The warehouse worker talks to its queue over RFC",
    "A refused connection of the warehouse worker is retried seven times",
    "The test test_upload_retries is flaky on macOS",
    "CI runs on Buildkite",
    "The staging cluster lives in Frankfurt",
)
QUESTION = "How do we deploy billing?"


async def riding(desk: Desk, text: str) -> list[str]:
    """The facts that ride with ``text``."""
    _, events = await desk.ask(text)
    return [fact.title for e in events if isinstance(e, ContextAdded) for fact in e.facts]


@pytest.fixture(autouse=True)
def _known(desk: Desk) -> None:
    for fact in FACTS:
        desk.agent.services.memory.remember(fact, source=Source("user"))


async def test_a_long_log_in_the_last_messages_takes_no_place_from_the_question(desk: Desk) -> None:
    """memory.md §18.1 row 13: tool output is no hint."""
    (desk.host.root / "worker.log").write_text(LOG)
    read = Call("read_file", {"path": "worker.log"})
    desk.models.script(Reply(tool_calls=(read,)), Reply(text="The log says: " + LOG[:1500]))
    await desk.ask("have a look at it", mode="agent")
    assert await riding(desk, QUESTION) == [DEPLOY]


@pytest.mark.parametrize(
    "message",
    [
        f"{QUESTION}\n\n{LOG}",
        f"{LOG}\n\n{QUESTION}",
        f"{QUESTION} This came:\n```\n{LOG}\n```",
        f"I ran it.\n~~~ text\n{LOG}\n~~~\n{QUESTION}\n",
        f"{QUESTION}\n"
        + "```python\ndef warehouse_worker(queue):\n    return queue.connection(refused=True)\n```\n" * 4,
    ],
)
async def test_a_log_pasted_beside_the_question_does_not_drown_it(desk: Desk, message: str) -> None:
    """memory.md §18.1 row 13: nor is what the user pasted."""
    assert await riding(desk, message) == [DEPLOY]


async def test_what_is_pasted_may_remind_of_something_where_nothing_else_is_known(desk: Desk) -> None:
    pasted = (
        "tests/test_upload.py::test_upload_retries FAILED\nE   AssertionError: assert 3 == 2\nFAILED 1 of 80\n\nwhy?"
    )
    assert await riding(desk, pasted) == ["The test test_upload_retries is flaky on macOS"]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("", ""),
        ("fix main.go:12: it fails", "fix main.go:12: it fails"),
        ("x = 1;", "x = 1;"),
        (f"{LOG}\nwhy?", "why?"),
        ("```\n" + "all of it\n" * 40, "```\n" + "all of it\n" * 40),
        ("First, a longer story.\n" * 30, "\n".join(["First, a longer story."] * 6)),
        (f"Look:\n\n    at Foo.bar(Foo.java:3)\n\tat x\n$ ls -la\n| a | b |\n{LOG}", "Look:"),
    ],
)
def test_what_is_asked(text: str, asked: str) -> None:
    assert asked_of(text) == asked


def test_a_log_alone_is_searched_for_by_its_beginning_and_end() -> None:
    assert len(LOG) > MAX_CHARS
    assert asked_of(LOG) == f"{LOG[: MAX_CHARS // 2]}\n{LOG[-MAX_CHARS // 2 :]}"
