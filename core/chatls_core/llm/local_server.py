"""The embedded model's process: llama.cpp's own HTTP server from the xllamacpp wheel, on loopback.

Run as ``python -m chatls_core.llm.local_server``. The first line of standard input is JSON ``{"model", "window",
"key"}`` (the key is no argument, where every user of the machine could read it); the answer on standard output is one
line ``{"url": …}`` or ``{"error": …}``. The process lives as long as its standard input: when the parent dies, however
it dies, the pipe closes and the process ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any, TextIO


def main() -> None:
    """Serve until standard input closes."""
    order = json.loads(sys.stdin.readline())
    # llama.cpp logs to both streams; standard output is ours alone.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    parent_gone = threading.Thread(target=_exit_with_parent, daemon=True)
    parent_gone.start()
    try:
        server = _serve(order["model"], int(order["window"]), order["key"])
    except Exception as error:  # noqa: BLE001 - the parent reports it, whatever it is
        _tell(answer, {"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
    _tell(answer, {"url": server.listening_address})
    parent_gone.join()


def _serve(model: str, window: int, key: str) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.n_ctx = window
    parameters.n_parallel = 1
    parameters.use_jinja = True
    parameters.warmup = False
    # More threads than idle cores make it many times slower: the threads spin at barriers.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(parameters)


def _tell(answer: TextIO, message: dict[str, str]) -> None:
    answer.write(json.dumps(message) + "\n")
    answer.flush()


def _exit_with_parent() -> None:
    while sys.stdin.read(4096):
        pass
    # No clean-up: a generation may be running, and nothing here is worth waiting for.
    os._exit(0)


if __name__ == "__main__":
    main()
