"""``chatls serve``: the language server on stdio, or on a loopback port for debugging."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Sequence


def serve(arguments: Sequence[str]) -> int:
    """Serve one client until it is gone. The process ends inside."""
    parser = argparse.ArgumentParser(prog="chatls serve", description="Speak LSP to one editor.")
    parser.add_argument("--stdio", action="store_true", help="standard input and output (the default)")
    parser.add_argument("--tcp", type=int, metavar="PORT", help="one loopback connection, guarded by a token")
    # Editors append arguments of their own, such as --clientProcessId.
    options, _ = parser.parse_known_args(arguments)

    from chatls_server.logs import start_logging
    from chatls_server.lsp.server import ChatServer
    from chatls_server.lsp.transport import serve_stdio, serve_tcp

    # Importing a vendor's SDK makes hundreds of thousands of objects that stay: looking through all of them again and
    # again for garbage would hold up every other request for a fifth of a second.
    gc.set_threshold(50_000, 20, 100)
    server = ChatServer(os.environ)
    start_logging(server)
    if options.tcp is not None:
        serve_tcp(server, options.tcp)
    else:
        serve_stdio(server)
    return 0
