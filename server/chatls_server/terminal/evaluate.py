"""``chatls eval longmemeval DIR``: how well does it remember, by a public benchmark (docs/ranking.md)."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from chatls_core.config import Fallback
from chatls_core.evaluation.longmemeval import SPLITS, BenchmarkError, file_in
from chatls_core.evaluation.report import Report
from chatls_core.evaluation.retrieval import THROUGH
from chatls_core.evaluation.run import Plan, run
from chatls_core.llm.events import ModelError
from chatls_core.llm.keychain import SystemKeychain
from chatls_core.llm.models import Models
from chatls_server.lsp.workspace import Workspace
from chatls_server.terminal.ask import EXIT_CODES, INTERRUPTED


def parser() -> argparse.ArgumentParser:
    """The options of ``chatls eval``."""
    options = argparse.ArgumentParser(prog="chatls eval", description="Measure memory by a public benchmark.")
    benchmarks = options.add_subparsers(dest="benchmark", required=True, metavar="longmemeval")
    lme = benchmarks.add_parser("longmemeval", help="500 questions about earlier conversations")
    lme.add_argument("folder", type=Path, metavar="DIR", help="folder with longmemeval_s*.json (or one such file)")
    lme.add_argument("--split", choices=sorted(SPLITS), help="which file (default: s, then oracle, then m)")
    lme.add_argument("--limit", type=_positive, help="so many questions, drawn with the seed (default: all)")
    lme.add_argument("--seed", type=int, default=0, help="seed of every draw")
    lme.add_argument("--pool", type=_positive, default=0, help="fill haystacks up to so many sessions")
    lme.add_argument(
        "--through", choices=THROUGH, default="passages", help="the ranker over turns, or the search of saved sessions"
    )
    lme.add_argument("--answer", action="store_true", help="end to end: let a reader answer and a judge grade")
    lme.add_argument("--provider", default="", help="who answers")
    lme.add_argument("--model", default="", help="which model answers")
    lme.add_argument("--judge-provider", default="", help="who grades (default: who answers)")
    lme.add_argument("--judge-model", default="", help="which model grades")
    lme.add_argument("--reader-tokens", type=_positive, default=8000, help="room for what was found")
    lme.add_argument("--parallel", type=_positive, default=4, help="questions at a time")
    lme.add_argument("--output", type=Path, help="keep answers here (JSON lines); a second run goes on from them")
    lme.add_argument("--json", action="store_true", help="print one JSON object")
    return options


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def main(arguments: list[str], environment: Mapping[str, str]) -> int:
    """Run the benchmark. 0: measured, 1: the file is no benchmark, 2: usage; model failures as ``chatls ask``."""
    options = parser().parse_args(arguments)
    try:
        file = file_in(options.folder, options.split)
    except BenchmarkError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    try:
        report = asyncio.run(_run(options, file, environment))
    except BenchmarkError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except ModelError as error:
        sys.stderr.write(f"error: {error} {error.hint}".rstrip() + "\n")
        return EXIT_CODES.get(error.kind, 1)
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        return INTERRUPTED
    shown = json.dumps(report.payload(), ensure_ascii=False) if options.json else report.text()
    sys.stdout.write(shown + "\n")
    return 0


async def _run(options: argparse.Namespace, file: Path, environment: Mapping[str, str]) -> Report:
    plan = Plan(
        file,
        options.limit,
        options.seed,
        options.pool,
        options.through,
        reader_tokens=options.reader_tokens,
        parallel=options.parallel,
        output=options.output,
    )
    if not options.answer:
        return await run(plan, _progress)
    workspace = Workspace(environment)
    workspace.initialize({})
    # Another model that steps in would be measured under the first one's name.
    settings = workspace.settings.model_copy(update={"fallback": Fallback(providers=[])})
    models = Models(settings, workspace.environment, home=workspace.home, keychain=SystemKeychain())
    try:
        await models.refresh()
        reader = models.select(options.provider, options.model)
        judge = models.select(
            options.judge_provider or ("" if options.judge_model else options.provider),
            options.judge_model or ("" if options.judge_provider else options.model),
        )
        return await run(replace(plan, reader=reader, judge=judge), _progress)
    finally:
        await models.aclose()


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done}/{total}" + ("\n" if done == total else ""))
        sys.stderr.flush()
