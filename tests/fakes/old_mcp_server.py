"""A server of the first protocol that falls silent when it is asked anything before ``initialize``. No SDK."""

from __future__ import annotations

import json
import sys
from typing import Any

TOOL = {"name": "greet", "description": "Greet.", "inputSchema": {"type": "object"}}


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    """The result for a request; ``None`` when there is none."""
    match message.get("method"):
        case "initialize":
            info = {"name": "old", "version": "0"}
            return {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            return {"content": [{"type": "text", "text": "good day"}]}
    return None


def main() -> None:
    greeted = False
    for line in sys.stdin:
        message = json.loads(line)
        if not greeted and message.get("method") != "initialize":
            sys.stdin.read()  # confused for good
            return
        greeted = True
        result = answer(message)
        if result is not None and "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
