"""How fast instruction files load, are checked at each turn and reload, and how that grows with the monorepo.

Run: ``python -m tests.bench.instructions_bench [--packages 100 400] [--saves 10000]``.

A made-up monorepo has one AGENTS.md per package, each importing seven or eight files, and 300 rules with patterns.
"first" is what the first turn of a conversation in one package pays; the other figures are of a conversation that
touched every package. They stand beside a baseline of the same run: loading beside reading the same files, the
unchanged check beside bare ``os.stat`` calls over the files that were loaded. "turn" asks for six paths, "reload" is a
check that finds one saved file. Figures are processor time, so that a busy machine does not blur them: medians, and
for the check the best of many.

Then a real server is told of thousands of saves in a row, each of which changes what is imported and so what is
watched; what it holds (resident memory, open descriptors, threads) stands beside what it held after the first few.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from chatls_core.config import Instructions as Settings
from chatls_core.instructions import Instructions, render_stable
from tests.fakes.lsp_client import EDITOR, LspClient, uri_of
from tests.fakes.model_server import ModelServer

RULES = 300
OLD = 1_700_000_000
WARM_UP_SAVES = 500


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", type=int, nargs="+", default=[100, 400])
    parser.add_argument("--saves", type=int, default=10_000)
    options = parser.parse_args()
    print("packages  files  rules | first ms |  load ms  x read |  check ms  x stat |  turn ms |  reload ms")
    for packages in options.packages:
        with tempfile.TemporaryDirectory() as folder:
            _measure(Path(folder), packages)
    if options.saves and Path("/proc/self/statm").exists():
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(_saves(Path(folder), options.saves))


async def _saves(base: Path, saves: int) -> None:
    """Save AGENTS.md again and again; each save is told before the next one, and the last one is in the next turn."""
    root = base / "repo"
    agents = root / "AGENTS.md"
    for number in range(20):
        path = root / "docs" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text {number}\n")
    agents.write_text("@docs/0.md\n")
    async with ModelServer() as models:
        environment = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": models.url}
        editor = LspClient(home=base / "home", root=root, environment=environment, capabilities=EDITOR)
        editor.handlers["client/unregisterCapability"] = lambda _params: None
        async with editor:
            await editor.request("chatls/chat", {"text": "one", "sessionId": "s"}, seconds=60)
            document = {"textDocument": {"uri": editor.open(agents).uri}}

            async def save(number: int) -> None:
                agents.write_text(f"@docs/{number % 20}.md\nsave {number} of many\n")
                since = len(editor.received)
                editor.notify("textDocument/didSave", document)
                told = await editor.wait_for("chatls/instructionsChanged", since=since)
                assert uri_of(agents) in told["params"]["changed"]

            for number in range(WARM_UP_SAVES):
                await save(number)
            before, start = _held(editor.process.pid), time.monotonic()
            for number in range(saves):
                await save(number)
                if number % 1000 == 999:
                    editor.received.clear()
            spent = time.monotonic() - start
            after = _held(editor.process.pid)
            await editor.request("chatls/chat", {"text": "two", "sessionId": "s"}, seconds=60)
            assert any(f"save {saves - 1} " in request.body.decode() for request in models.requests)
    print(
        f"\n{saves} saves, {spent * 1000 / saves:.1f} ms each until told: "
        f"resident {before[0]:.1f} -> {after[0]:.1f} MiB, "
        f"descriptors {before[1]} -> {after[1]}, threads {before[2]} -> {after[2]}"
    )


def _held(pid: int) -> tuple[float, int, int]:
    """Resident MiB, open descriptors and threads of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return (
        pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
        len(os.listdir(f"/proc/{pid}/fd")),
        len(os.listdir(f"/proc/{pid}/task")),
    )


def _measure(base: Path, packages: int) -> None:
    root, home = base / "repo", base / "home"
    files = _build(root, home, packages)
    active = root / "packages" / "p0" / "src" / "main.py"
    touched = [root / "packages" / f"p{number}" / "src" / "main.py" for number in range(packages)]

    def load() -> Instructions:
        made = Instructions([root], home, settings=Settings(), trusted=True)
        render_stable(made.stable())
        made.for_paths(active, touched)
        return made

    def first() -> None:
        made = Instructions([root], home, settings=Settings(), trusted=True)
        render_stable(made.stable())
        made.for_paths(active, [])

    load()
    first_ms = _median(first, 5)
    load_ms = _median(load, 3)
    read_ms = _median(lambda: [path.read_text() for path in files], 3)
    loaded = load()
    # Files written a moment ago are read again until their time stamps have aged; a conversation lasts longer.
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        loaded.refresh()
    names = [str(path) for path in files]
    check_ms, stat_ms = _side_by_side(loaded.refresh, lambda: [os.stat(name) for name in names], 60)
    turn_ms = _median(lambda: loaded.for_paths(active, touched[:5]), 20)
    target = root / "packages" / "p7" / "AGENTS.md"
    text = target.read_text()

    def save_and_reload() -> None:
        nonlocal text
        text += "one more line\n"
        target.write_text(text)
        start = time.process_time()
        assert loaded.refresh().changed == (target,)
        loaded.for_paths(target.parent / "x.py", [])
        spent.append((time.process_time() - start) * 1000)

    spent: list[float] = []
    for _ in range(20):
        save_and_reload()
    reload_ms = statistics.median(spent)
    print(
        f"{packages:8} {len(files):6} {RULES:6} | {first_ms:8.1f} | {load_ms:8.1f} {load_ms / read_ms:7.1f} "
        f"| {check_ms:9.2f} {check_ms / stat_ms:7.2f} | {turn_ms:8.2f} | {reload_ms:10.2f}"
    )


def _build(root: Path, home: Path, packages: int) -> list[Path]:
    """Write the monorepo; every instruction file and import it holds."""
    files: list[Path] = []

    def write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (OLD, OLD))
        files.append(path)

    home.mkdir()
    (root / ".git").mkdir(parents=True)
    write(root / "AGENTS.md", "Be kind to the reader of this code.\n" * 20)
    for number in range(packages):
        package = root / "packages" / f"p{number}"
        (package / "src").mkdir(parents=True)
        names = [f"topic-{part}" for part in range(7 + number % 2)]
        imports = "".join(f"@docs/{name}.md\n" for name in names)
        write(package / "AGENTS.md", f"# Package {number}\n\nUse tabs in package {number}.\n{imports}")
        for name in names:
            write(package / "docs" / f"{name}.md", f"About {name} in package {number}.\n" * 3)
    for number in range(RULES):
        write(
            root / ".chatcli" / "rules" / f"rule-{number}.md",
            f"---\npaths: packages/p{number}/**/*.py\n---\nRule {number} for package {number}.\n",
        )
    return files


def _side_by_side(one: Callable[[], object], other: Callable[[], object], times: int) -> tuple[float, float]:
    """The best of each, taken in turns: on a busy machine only the best says what the work itself costs."""
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for action, times_spent in ((one, spent[0]), (other, spent[1])):
            start = time.process_time()
            action()
            times_spent.append((time.process_time() - start) * 1000)
    return min(spent[0]), min(spent[1])


def _median(action: Callable[[], object], times: int) -> float:
    spent: list[float] = []
    for _ in range(times):
        start = time.process_time()
        action()
        spent.append((time.process_time() - start) * 1000)
    return statistics.median(spent)


if __name__ == "__main__":
    main()
