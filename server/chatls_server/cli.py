"""The command line: ``chatls serve`` and friends.

``serve`` is started by an editor that waits for it, so it is parsed with the standard library; everything else may
take the time to import more.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from chatls_server import __version__

USAGE = """usage: chatls serve [--tcp PORT]
       chatls ask [--mode MODE] [--json] QUESTION
       chatls doctor [--json]
       chatls local install|status
       chatls mcp [--http [PORT]] [--read-only]
       chatls eval longmemeval DIR [--answer] [--json]
       chatls --version"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the console script; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    match arguments:
        case ["serve", *rest]:
            from chatls_server.serve import serve

            return serve(rest)
        case ["ask", *rest]:
            from chatls_server.terminal.ask import main as ask

            return ask(rest, os.environ)
        case ["doctor", *rest]:
            from chatls_server.terminal.doctor import main as doctor

            return doctor(rest, os.environ)
        case ["local", *rest]:
            from chatls_server.terminal.local import main as local

            return local(rest, os.environ)
        case ["eval", *rest]:
            from chatls_server.terminal.evaluate import main as evaluate

            return evaluate(rest, os.environ)
        case ["mcp", *rest]:
            from chatls_server.mcp.main import main as mcp

            return mcp(rest, os.environ)
        case ["--version" | "-V"]:
            sys.stdout.write(f"chatls {__version__}\n")
            return 0
    sys.stderr.write(USAGE + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
