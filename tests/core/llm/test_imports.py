"""Vendors' SDKs and other heavy libraries are loaded on first use only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAVY = (
    "anthropic",
    "openai",
    "httpx",
    "httpx2",
    "genai_prices",
    "keyring",
    "xllamacpp",
    "numpy",
    "tree_sitter",
    "mcp",
)


def loaded_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*[n for n in {HEAVY!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.split())


def test_choosing_a_model_loads_no_sdk() -> None:
    code = (
        "from chatls_core.config import Settings\n"
        "from chatls_core.llm.models import Models\n"
        "import chatls_core.llm.local_setup, chatls_core.llm.keychain\n"
        "m = Models(Settings(), {'HOME': '/nonexistent', 'ANTHROPIC_API_KEY': 'k', 'OPENAI_API_KEY': 'k'})\n"
        "m.select(), m.select('openai')"
    )
    assert loaded_after(code) == set()


def test_what_is_loaded_ahead_of_a_question_is_the_sdk_of_who_would_answer(tmp_path: Path) -> None:
    code = (
        "import asyncio, pathlib\n"
        "from chatls_core.config import Settings\n"
        "from chatls_core.turn.agent import Agent\n"
        "async def main():\n"
        f"    keys = {{'HOME': {str(tmp_path)!r}, 'ANTHROPIC_API_KEY': 'k', 'ANTHROPIC_BASE_URL': 'http://127.0.0.1:9'}}\n"
        f"    agent = Agent(pathlib.Path({str(tmp_path)!r}), Settings(), keys)\n"
        "    await agent.ready()\n"
        "    assert 'anthropic' not in sys.modules\n"
        "    await agent.prepare()\n"
        "    await agent.close()\n"
        "asyncio.run(main())"
    )
    assert {"anthropic", "openai"} & loaded_after(code) == {"anthropic"}


def test_no_server_no_sdk(tmp_path: Path) -> None:
    (tmp_path / "mcp_servers.json").write_text('{"mcpServers": [{"name": "x", "command": "x"}]}')
    code = (
        "import asyncio, pathlib\n"
        "from chatls_core.config import Settings\n"
        "from chatls_core.turn.agent import Agent\n"
        "async def main():\n"
        f"    agent = Agent(pathlib.Path({str(tmp_path)!r}), Settings(), {{'HOME': {str(tmp_path)!r}}})\n"
        "    await agent.services.mcp.ready()\n"
        "    assert agent.services.mcp.status()[0].name == 'x'\n"
        "    await agent.close()\n"
        "asyncio.run(main())"
    )
    assert "mcp" not in loaded_after(code)
