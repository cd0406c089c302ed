"""How fast edits are planned, how that grows with the file, and how often a slightly wrong edit ends right.

Run: ``python -m tests.bench.edits_bench [--lines 1000 10000] [--edits 400] [--codex PATH] [--aider PYTHON] [--corpus
FILE]``. Files are made up. The
latency table gives processor time per call (best of several) beside a baseline of the same run: cutting the same text
into lines and joining it again, the least an editor of lines does.

The accuracy table takes the modules of Python's own library, changes one to eight lines of each, writes the change in
every format with the slips models make (blanks, indentation, curly quotes, tabs), and counts plans that give the wanted
text, other texts and refusals. ``--codex`` (a Codex binary) and ``--aider`` (a Python with aider-chat) put the same
edits through those engines, beside them the milliseconds of the median and the slowest; ``--corpus`` does all of that
for a file of recorded edits, one JSON object with ``format``, ``original``, ``edit`` and ``expected`` a line.
"""

from __future__ import annotations

import argparse
import difflib
import json
import random
import statistics
import sysconfig
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from chatls_core.edits import EditError, hunks, preview, rebase
from tests.bench.rival_engines import Aider, Codex, Rival

SLIPS = ("none", "line ends", "dedented", "curly quotes", "tabs")
FORMATS = ("str_replace", "search_replace", "apply_patch", "udiff")


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--edits", type=int, default=400, help="edits per format and slip in the accuracy table")
    parser.add_argument("--codex", help="a Codex binary to run the same patches through")
    parser.add_argument("--aider", help="a Python with aider-chat, to run the same blocks and diffs through")
    parser.add_argument("--corpus", type=Path, help="a file of recorded edits")
    options = parser.parse_args()
    print(f"{'call':36}" + "".join(f"{count:>9} lines  x baseline" for count in options.lines))
    tables = [_latency(count) for count in options.lines]
    for name in tables[0]:
        cells = (table[name] for table in tables)
        print(f"{name:36}" + "".join(f"{own:12.2f} ms {own / base:11.1f}" for own, base in cells))
    print(f"\n{'format, slip':36}    right    other   refused")
    for format in FORMATS:
        for slip in SLIPS:
            _print_counts(f"{format}, {slip}", *_accuracy(format, slip, options.edits, OURS))
    rivals: list[Rival] = [Codex(options.codex)] if options.codex else []
    rivals += [Aider(options.aider)] if options.aider else []
    for rival in rivals:
        for format in rival.formats:
            for slip in SLIPS:
                edits = min(options.edits, 60)
                _print_counts(f"{format}, {slip}, {rival.name}", *_accuracy(format, slip, edits, rival))
                _print_counts(f"{format}, {slip}, ours on the same", *_accuracy(format, slip, edits, OURS))
    if options.corpus:
        _print_corpus(options.corpus, rivals)


class Ours:
    """Our engine in the form of its rivals; the milliseconds are processor time."""

    name = "ours"
    formats = FORMATS

    def apply(self, format: str, files: Mapping[str, str], edit: str) -> tuple[dict[str, str] | None, float]:
        """See :class:`Rival`."""
        began = time.process_time()
        try:
            after = preview(format, dict(files), edit).after
        except EditError:
            return None, (time.process_time() - began) * 1000
        taken = (time.process_time() - began) * 1000
        return {path: text for path, text in after.items() if text is not None}, taken


OURS = Ours()


def _print_corpus(corpus: Path, rivals: Sequence[Rival]) -> None:
    cases = [json.loads(line) for line in corpus.read_text(encoding="utf-8").splitlines() if line.strip()]
    print(f"\n{corpus.name:36}    right    other   refused")
    for engine in (OURS, *rivals):
        for format in engine.formats:
            counts, times = Counter[str](), []
            for case in (c for c in cases if c["format"] == format):
                after, taken = engine.apply(format, case["original"], case["edit"])
                times.append(taken)
                counts[_judged(after, case["original"], case["expected"])] += 1
            _print_counts(f"{format}, {engine.name}", counts, times)


def _judged(after: Mapping[str, str] | None, before: Mapping[str, str], wanted: Mapping[str, str] | None) -> str:
    if after is None or wanted is None:
        return "right" if after is None and wanted is None else "refused" if after is None else "other"
    # Engines differ in whether they name files they left alone, and the final newline is no content.
    kept = {path: text for path, text in after.items() if before.get(path) != text}
    return "right" if all(kept.get(p, before.get(p, "")).rstrip() == t.rstrip() for p, t in wanted.items()) else "other"


def _print_counts(name: str, counts: Counter[str], times: list[float]) -> None:
    speed = f"{statistics.median(times):10.2f} ms, slowest {max(times):.2f}" if times else ""
    print(f"{name:36}{counts['right']:9}{counts['other']:9}{counts['refused']:10}{speed}")


def _latency(count: int) -> dict[str, tuple[float, float]]:
    """Milliseconds of each call and of the baseline, for a file of ``count`` lines."""
    lines = [f"    value_{i} = call({i % 13}, name)" for i in range(count)]
    text = "\n".join(lines) + "\n"
    middle = count // 2
    block = lines[middle : middle + 6]
    dedented = [line.strip() for line in block]
    body = "".join(f"@@\n {lines[i]}\n-{lines[i + 1]}\n+    other()\n" for i in range(0, count - 2, count // 20))
    changed = "\n".join("    other()" if i % 100 == 7 else line for i, line in enumerate(lines)) + "\n"
    typed = "\n".join(line + "  # typed" if i % 100 == 50 else line for i, line in enumerate(lines)) + "\n"
    base = _best(lambda: "\n".join(text.split("\n")))
    calls: dict[str, Callable[[], object]] = {
        "str_replace, exact": _call("str_replace", text, _replacement(block, ["    new()"])),
        "str_replace, other indentation": _call("str_replace", text, _replacement(dedented, ["new()"])),
        "str_replace, not there": _call("str_replace", text, _replacement([*block, "gone()"], ["new()"])),
        "search_replace, exact": _call("search_replace", text, _block(block, ["    new()"])),
        "apply_patch, 20 hunks": _call("apply_patch", text, _patch(body)),
        "udiff, 20 hunks": _call("udiff", text, f"--- f.py\n+++ f.py\n{body}"),
        "hunks, every hundredth line": lambda: hunks(text, changed),
        "rebase, every hundredth line twice": lambda: rebase(text, changed, typed),
    }
    return {name: (_best(call), base) for name, call in calls.items()}


def _call(format: str, text: str, edit: str) -> Callable[[], object]:
    def call() -> None:
        try:
            preview(format, {"f.py": text}, edit)
        except EditError as error:
            str(error)

    return call


def _best(call: Callable[[], object]) -> float:
    """Processor milliseconds of the fastest of several calls."""
    times: list[float] = []
    for _ in range(7):
        start = time.process_time()
        call()
        times.append((time.process_time() - start) * 1000)
    return max(min(times), 0.001)


def _replacement(old: list[str], new: list[str]) -> str:
    return json.dumps({"path": "f.py", "old_string": "\n".join(old), "new_string": "\n".join(new)})


def _block(old: list[str], new: list[str]) -> str:
    both = ("".join(line + "\n" for line in side) for side in (old, new))
    return "f.py\n<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n".format(*both)


def _patch(body: str) -> str:
    return f"*** Begin Patch\n*** Update File: f.py\n{body}*** End Patch\n"


def _accuracy(format: str, slip: str, edits: int, engine: Rival) -> tuple[Counter[str], list[float]]:
    dice = random.Random(f"{format} {slip}")
    library = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    counts: Counter[str] = Counter()
    times: list[float] = []
    while sum(counts.values()) < edits:
        lines = dice.choice(library).read_text(encoding="utf-8", errors="replace").split("\n")
        if len(lines) < 40:
            continue
        start = dice.randrange(len(lines) - 10)
        size = dice.randint(1, 8)
        block = lines[start : start + size]
        spot = dice.randrange(size)
        if not block[spot].strip():
            continue
        indent = block[spot][: len(block[spot]) - len(block[spot].lstrip())]
        new = [*block[:spot], f"{indent}changed_line(1)", *block[spot + 1 :]]
        wanted = "\n".join([*lines[:start], *new, *lines[start + size :]])
        edit = _written(format, slip, lines, block, new, wanted)
        after, taken = engine.apply(format, {"f.py": "\n".join(lines)}, edit)
        times.append(taken)
        made = None if after is None else after.get("f.py", "").rstrip("\n")
        counts["refused" if made is None else "right" if made == wanted.rstrip("\n") else "other"] += 1
    return counts, times


def _written(format: str, slip: str, lines: list[str], block: list[str], new: list[str], wanted: str) -> str:
    if format in ("str_replace", "search_replace"):
        depth = min((len(line) - len(line.lstrip()) for line in (*block, *new) if line.strip()), default=0)
        old, put = ([_slipped(line, slip, depth) for line in side] for side in (block, new))
        return _replacement(old, put) if format == "str_replace" else _block(old, put)
    diff = list(difflib.unified_diff(lines, wanted.split("\n"), lineterm="", n=3))[3:]
    depth = min((len(line[1:]) - len(line[1:].lstrip()) for line in diff if line[1:].strip()), default=0)
    body = "".join(f"{line[0]}{_slipped(line[1:], slip, depth)}\n" for line in diff)
    return _patch(f"@@\n{body}") if format == "apply_patch" else f"--- f.py\n+++ f.py\n@@ ... @@\n{body}"


def _slipped(line: str, slip: str, depth: int) -> str:
    indent = len(line) - len(line.lstrip(" "))
    if slip == "line ends":
        return line + "  " if line.strip() and "changed_line" not in line else line
    if slip == "dedented":
        return line[depth:]
    if slip == "curly quotes":
        return line.replace("'", "\u2019")
    if slip == "tabs":
        return "\t" * (indent // 4) + " " * (indent % 4) + line[indent:]
    return line


if __name__ == "__main__":
    main()
