"""ChatCLI's fenced ``execute:<type>`` blocks: agent mode's commands, run as ``run_command`` (spec/agent.md §3.5).

They pass the same policy as every other command. A block whose fence is not closed was cut off and is not run.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from chatls_core.llm.messages import ToolCallPart
from chatls_core.tools.base import Mode

TYPES = ("shell", "git", "docker", "kubectl")
_BLOCK = re.compile(r"^[ \t]*(`{3,}|~{3,})execute:([\w-]+)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.M | re.S | re.I)


def execute_calls(text: str, mode: Mode, new_id: Callable[[], str]) -> tuple[ToolCallPart, ...]:
    """The blocks of an answer as calls, in order. Outside agent mode, and for other types, they carry the reason why
    they do not run, so that the model does not wait for work nobody does; in chat mode a block is only text."""
    if mode == "chat":
        return ()
    calls = []
    for block in _BLOCK.finditer(text):
        kind, command = block.group(2).lower(), block.group(3).strip()
        error = ""
        if mode != "agent":
            error = "execute blocks are run in agent mode only; put the command into a run_command call."
        elif kind not in TYPES:
            error = f"There is no execute:{kind}; there are {', '.join(f'execute:{t}' for t in TYPES)}."
        elif not command:
            error = "The execute block is empty."
        calls.append(ToolCallPart(f"execute_{new_id()}", "run_command", {"command": command}, command, error))
    return tuple(calls)
