"""Does a small local model keep to the form that learning asks for? ``python -m tests.bench.extraction_format``.

Ten short conversations, each asked about in both forms: held to the JSON schema (as a model without tools is) and by
section headers. Needs the embedded model (``chatls local install``, or ``--home FOLDER`` where it is). Prints for each
form how many answers could be read, how many brought the statement that was said, how many items share no telling word
with the conversation, i.e. were invented, and what remains of all that when only what was said is kept, as the worker
does for models held to a schema. Twenty requests; no part of ``npm test`` or ``npm run bench``.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from chatls_core.config import Settings, data_folder
from chatls_core.llm.events import ModelError
from chatls_core.llm.model import Model
from chatls_core.llm.models import Models
from chatls_core.memory.worker.asking import Reply, ask
from chatls_core.memory.worker.grounding import only_said
from chatls_core.memory.worker.parsing import Learned, UnreadableReplyError, parse_reply
from chatls_core.memory.worker.request import build
from chatls_core.memory.worker.segment import Line, Segment
from chatls_core.text import tokenizer

DAY = datetime(2026, 5, 4, 10, tzinfo=UTC)

TALKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "postgres",
        (
            "The orders service keeps its data in Postgres 16.",
            "Noted. Shall I add the migration for the orders table?",
            "Yes, call it 0007_orders.",
            "I wrote migrations/0007_orders.sql and it applies cleanly.",
        ),
    ),
    (
        "thursday",
        (
            "We deploy on Thursdays only, never on Fridays.",
            "Understood; I will plan the release for Thursday.",
            "Please do.",
            "The release notes are in docs/release.md.",
        ),
    ),
    (
        "tabs",
        (
            "I prefer tabs over spaces in Makefiles and everywhere else.",
            "I will use tabs.",
            "Now format build.mk.",
            "build.mk is formatted with tabs.",
        ),
    ),
    (
        "lisboa",
        (
            "Moro em Lisboa e trabalho na Acme como engenheira de dados.",
            "Obrigado, vou lembrar.",
            "Escreve um script que carrega o CSV de vendas.",
            "O script load_sales.py carrega o ficheiro e funciona.",
        ),
    ),
    (
        "8080",
        (
            "Why does the dev server not start?",
            "Port 8080 is taken by the corporate proxy.",
            "Right, that proxy always uses 8080. Use 9090 for us.",
            "The dev server now listens on 9090.",
        ),
    ),
    (
        "login",
        (
            "The login test is flaky.",
            "The test did not wait for the redirect; I fixed it in tests/login.spec.ts.",
            "It passes ten times in a row now, thanks.",
            "Good.",
        ),
    ),
    (
        "rust",
        (
            "Our new importer is written in Rust, the old one in Perl is gone.",
            "Should I remove scripts/import.pl?",
            "Yes.",
            "Removed.",
        ),
    ),
    (
        "cache",
        (
            "O projeto atlas usa Redis como cache, com TTL de 15 minutos.",
            "Quer que eu escreva isso no README?",
            "Sim, por favor.",
            "Adicionei uma secção sobre a cache ao README.",
        ),
    ),
    (
        "",
        ("Hi!", "Hello, how can I help?", "Never mind.", "All right."),
    ),
    (
        "",
        ("What does HTTP 418 mean?", "It is the teapot status.", "Ha, thanks.", "You are welcome."),
    ),
)
"""``(a word that must come back, what was said)``; an empty word: there is nothing to learn."""


@dataclass
class Score:
    """What one form achieved."""

    readable: int = 0
    told: int = 0
    silent: int = 0
    items: int = 0
    invented: int = 0
    kept: int = 0
    kept_told: int = 0
    kept_silent: int = 0
    cut: int = 0
    seconds: list[float] = field(default_factory=list)


def segment_of(said: tuple[str, ...]) -> Segment:
    """The conversation as the worker sees it."""
    lines = tuple(
        Line("user" if n % 2 == 0 else "assistant", text, f"m{n}", DAY.replace(minute=n)) for n, text in enumerate(said)
    )
    return Segment("s", lines, "/home/me/work")


def texts(learned: Learned) -> list[str]:
    """Every item's own words."""
    return [
        *(f.content for f in learned.facts),
        *(f"{k} {v}" for k, v in learned.profile),
        *(f"{n} {s}" for n, s in learned.topics),
        *(" ".join(p.values()) for p in learned.projects),
        *(f"{e.summary} {e.outcome}" for e in learned.episodes),
        *(line for line in learned.daily.splitlines() if line.strip()),
    ]


def telling(text: str) -> frozenset[str]:
    """The words that carry what a text is about."""
    return frozenset(word.folded for word in tokenizer.topic_words(text))


def judge(score: Score, reply: Reply, word: str, said: tuple[str, ...]) -> str:
    """Count one answer; returns what to print for it."""
    score.cut += reply.cut
    try:
        learned = parse_reply(reply.text, cut=reply.cut)
    except UnreadableReplyError as error:
        return f"unreadable: {error}"
    score.readable += 1
    found = texts(learned)
    kept = texts(only_said(learned, segment_of(said)))
    score.kept += len(kept)
    score.kept_told += bool(word) and any(word in t.casefold() for t in kept)
    score.kept_silent += not word and not kept
    known = telling(" ".join(said))
    score.items += len(found)
    invented = [t for t in found if not known & telling(t)]
    score.invented += len(invented)
    if word:
        told = any(word in t.casefold() for t in found)
        score.told += told
        return f"{len(found)} items, {len(invented)} invented, {'told' if told else 'NOT told'} {word!r}"
    score.silent += not found
    return f"{len(found)} items where nothing was to be learned"


async def run(model: Model, *, structured: bool, show: bool) -> Score:
    """Ask about every conversation in one form."""
    score = Score()
    info = replace(model.info, native_tools=not structured)
    for word, said in TALKS:
        began = time.monotonic()
        segment = segment_of(said)
        try:
            reply = await ask(
                model, lambda _, s=segment: build(s, lambda _: ("(nothing yet)", ""), info, longest=32_768)
            )  # type: ignore[misc]  # the default binds the loop's segment
        except ModelError as error:
            print(f"  {word or '-':10} {error}", flush=True)
            continue
        score.seconds.append(time.monotonic() - began)
        if show:
            print(reply.text)
        print(f"  {word or '-':10} {score.seconds[-1]:5.1f} s  {judge(score, reply, word, said)}", flush=True)
    return score


async def main() -> None:
    """Ask in both forms and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, default=data_folder(os.environ))
    parser.add_argument("--show", action="store_true", help="print the answers")
    options = parser.parse_args()
    home = options.home
    models = Models(Settings(), {}, home=home)
    await models.refresh()
    model = models.select("local")
    wanted = sum(1 for word, _ in TALKS if word)
    print(f"{model.model}, window {model.info.window}, {len(TALKS)} conversations in each form")
    for name, structured in (("JSON schema", True), ("sections", False)):
        print(f"{name}:")
        s = await run(model, structured=structured, show=options.show)
        print(
            f"  readable {s.readable}/{len(TALKS)}, cut off {s.cut}, statement found {s.told}/{wanted}, "
            f"silent where nothing was said {s.silent}/{len(TALKS) - wanted}, items {s.items}, invented {s.invented}, "
            f"median {statistics.median(s.seconds or [0.0]):.1f} s"
        )
        print(
            f"  only what was said: items {s.kept}, statement found {s.kept_told}/{wanted}, "
            f"silent where nothing was said {s.kept_silent}/{len(TALKS) - wanted}"
        )


if __name__ == "__main__":
    asyncio.run(main())
