"""Other projects' edit engines, driven as they are, for :mod:`tests.bench.edits_bench`.

* Codex: the binary of npm's ``@openai/codex``, one process per edit (``codex --codex-run-as-apply-patch PATCH``);
* aider: a Python with ``aider-chat`` installed (its own virtual environment), one process for all edits.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

AIDER_PROGRAM = r"""
import json, sys, time
from aider.coders import editblock_coder as blocks, udiff_coder as diffs
FENCE = ("```", "```")
print("ready", flush=True)
for line in sys.stdin:
    job = json.loads(line)
    files, began, changed = job["files"], time.process_time(), {}
    try:
        if job["format"] == "udiff":
            found = [(p, h) for p, h in diffs.find_diffs("```diff\n" + job["edit"] + "\n```\n") if p or len(files) == 1]
            for path, hunk in found:
                name = path if path in files else next(iter(files))
                if "".join(hunk).strip():
                    text = diffs.do_replace(name, changed.get(name, files[name]), hunk)
                    if text is None:
                        raise ValueError("no match")
                    changed[name] = text
        else:
            names = list(files)
            for path, old, new in blocks.find_original_update_blocks(job["edit"], FENCE, names):
                name = path if path in files else names[0]
                text = blocks.do_replace(name, changed.get(name, files[name]), old, new, FENCE)
                if text is None:
                    raise ValueError("no match")
                changed[name] = text
        answer = changed or None
    except Exception:
        answer = None
    print(json.dumps({"after": answer, "ms": (time.process_time() - began) * 1000}), flush=True)
"""


class Rival(Protocol):
    """An engine. ``formats`` are those it reads."""

    name: str
    formats: tuple[str, ...]

    def apply(self, format: str, files: Mapping[str, str], edit: str) -> tuple[dict[str, str] | None, float]:
        """The texts it makes of the files it changed (``None``: it refused), and milliseconds."""


class Codex:
    """See the module; the milliseconds are wall time with the start of the process."""

    name = "codex"
    formats = ("apply_patch",)

    def __init__(self, binary: str) -> None:
        self._binary = binary

    def apply(self, format: str, files: Mapping[str, str], edit: str) -> tuple[dict[str, str] | None, float]:
        """See :class:`Rival`."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="")
            environment = {**os.environ, "CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS": "1"}
            command = [self._binary, "--codex-run-as-apply-patch", edit]
            began = time.perf_counter()
            run = subprocess.run(command, cwd=folder, capture_output=True, check=False, env=environment, timeout=30)
            taken = (time.perf_counter() - began) * 1000
            if run.returncode:
                return None, taken
            found = (path for path in Path(folder).rglob("*") if path.is_file())
            after = {p.relative_to(folder).as_posix(): p.read_bytes().decode("utf-8", "replace") for p in found}
            return after, taken


class Aider:
    """See the module; the milliseconds are processor time of the call alone."""

    name = "aider"
    formats = ("search_replace", "udiff")

    def __init__(self, python: str) -> None:
        self._folder = tempfile.TemporaryDirectory()  # aider makes files that an edit names
        self._process = subprocess.Popen(
            [python, "-c", AIDER_PROGRAM],
            cwd=self._folder.name,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        while (line := self._read()) != "ready":
            if not line:
                raise SystemExit(f"{python} cannot run aider's engine; install aider-chat there")

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def apply(self, format: str, files: Mapping[str, str], edit: str) -> tuple[dict[str, str] | None, float]:
        """See :class:`Rival`."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"format": format, "files": dict(files), "edit": edit}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._read())
        return answer["after"], float(answer["ms"])
