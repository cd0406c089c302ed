"""``chatls local``: set up the embedded model, or say whether it is there."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from chatls_core.config import data_folder
from chatls_core.llm.local_setup import LocalSetupError, install, is_installed, model_path

USAGE = "usage: chatls local install|status\n"


def main(arguments: list[str], environment: Mapping[str, str]) -> int:
    """Run the command; exit code 1 when the model is not there, or could not be set up."""
    home = data_folder(environment)
    match arguments:
        case ["install"]:
            try:
                path = install(home, _progress)
            except LocalSetupError as error:
                sys.stderr.write(f"error: {error}\n")
                return 1
            sys.stdout.write(f"The embedded model is ready: {path}\n")
            return 0
        case ["status"]:
            there = is_installed(home)
            sys.stdout.write(f"installed: {model_path(home)}\n" if there else "not installed\n")
            return 0 if there else 1
    sys.stderr.write(USAGE)
    return 2


def _progress(text: str, share: float | None) -> None:
    sys.stderr.write(f"{text}{'' if share is None else f' {share:.0%}'}\n")
