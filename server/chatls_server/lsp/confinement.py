"""Where a model may reach: the opened folders, symlinks resolved at the moment of use, and never a secret's file.

Sensitive paths follow spec/agent.md §5.5.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from chatls_core.host import HostError, HostErrorKind
from chatls_core.tools.secret_files import may_hold_secrets

_ON = frozenset({"1", "true", "yes", "on"})


class Confinement:
    """Decides about paths. ``environment`` may widen reading (``CHATCLI_AGENT_EXTRA_READ_PATHS``)."""

    def __init__(self, roots: Sequence[Path], home: Path, environment: Mapping[str, str]) -> None:
        self._roots = tuple(roots)
        self._keys = {home / ".env", Path(os.path.realpath(home)) / ".env"}
        user = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - never raises, unlike Path.home
        self._user_home = Path(os.path.realpath(user))
        self._allow_kubeconfig = environment.get("CHATCLI_AGENT_ALLOW_KUBECONFIG", "").strip().lower() in _ON
        self._extra = tuple(
            Path(os.path.realpath(os.path.expanduser(part)))  # noqa: PTH111 - the same
            for part in environment.get("CHATCLI_AGENT_EXTRA_READ_PATHS", "").split(os.pathsep)
            if part.strip()
        )

    @property
    def has_roots(self) -> bool:
        """Whether a folder is open."""
        return bool(self._roots)

    def candidate(self, path: str) -> Path:
        """The absolute path a model means: ``~``, absolute, or relative to the folder that has it, else the first.

        With several folders open a leading folder name chooses its folder. Raises :class:`HostError` (``OUTSIDE``)
        when a relative path has no folder to start from.
        """
        if not path.strip() or "\0" in path:
            raise HostError(HostErrorKind.NOT_FOUND, "An empty path names no file.")
        expanded = Path(os.path.expanduser(path))  # noqa: PTH111 - the same
        if expanded.is_absolute():
            return expanded
        if not self._roots:
            raise HostError(
                HostErrorKind.OUTSIDE, f"No folder is open, so the relative path {path} leads nowhere; name it in full."
            )
        for root in self._roots:
            if os.path.lexists(root / expanded):
                return root / expanded
        if len(self._roots) > 1 and len(expanded.parts) > 1:
            for root in self._roots:
                if root.name == expanded.parts[0]:
                    return root.joinpath(*expanded.parts[1:])
        return self._roots[0] / expanded

    def check(self, path: Path, *, write: bool = False) -> Path:
        """The real path, if a model may go there; raises :class:`HostError` (``SENSITIVE`` or ``OUTSIDE``)."""
        real = Path(os.path.realpath(path))
        if self._sensitive(real) or self._sensitive(path.absolute()):
            raise HostError(HostErrorKind.SENSITIVE, f"{path} may hold secrets and is never read or changed.")
        allowed = self._roots if write else (*self._roots, *self._extra)
        if not any(real.is_relative_to(root) for root in allowed):
            where = f"{path} leads to {real}, which" if real != path else str(path)
            raise HostError(HostErrorKind.OUTSIDE, f"{where} lies outside the opened folders.")
        return real

    def is_sensitive(self, path: Path) -> bool:
        """Whether the path, symlinks resolved, may hold secrets."""
        return self._sensitive(Path(os.path.realpath(path)))

    def _sensitive(self, path: Path) -> bool:
        return path in self._keys or may_hold_secrets(path, self._user_home, allow_kubeconfig=self._allow_kubeconfig)
