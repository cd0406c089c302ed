"""Writes what is derived from the wire models and the settings, so that nothing is told twice.

``python -m chatls_server.generate`` writes docs/protocol.md, the extension's TypeScript types and its settings schema;
``--check`` writes nothing and exits with 1 when a file differs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from chatls_server.generation.configuration import configuration
from chatls_server.generation.documentation import documentation
from chatls_server.generation.typescript import typescript

DOCUMENTATION = "docs/protocol.md"
TYPES = "vscode-extension/src/generated/protocol.ts"
CONFIGURATION = "vscode-extension/src/generated/configuration.json"


def generated_files() -> dict[str, str]:
    """Every generated file: path from the project's root → text."""
    return {
        DOCUMENTATION: documentation(),
        TYPES: typescript(),
        CONFIGURATION: json.dumps(configuration(), indent=2, ensure_ascii=False) + "\n",
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    root = Path(__file__).resolve().parents[2]
    drifted = []
    for name, text in generated_files().items():
        path = root / name
        if path.is_file() and path.read_text("utf-8") == text:
            continue
        drifted.append(name)
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", newline="\n")
    for name in drifted:
        done = "differs from what it is generated from" if "--check" in arguments else "written"
        sys.stdout.write(f"{name}: {done}\n")
    if drifted and "--check" in arguments:
        sys.stdout.write("Run: python -m chatls_server.generate\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
