"""Which files may hold secrets: no model reads them, and no command shows them unasked (spec/agent.md §5.5).

A project's ``.env`` is between the two: a model may need it, but its keys go to a vendor only when the user says so.
"""

from __future__ import annotations

from pathlib import Path, PurePath

_SYSTEM_FILES = frozenset({"/etc/shadow", "/etc/gshadow", "/etc/master.passwd", "/etc/shadow-", "/etc/gshadow-"})
_HOME_FOLDERS = (".ssh", ".gnupg", ".aws", ".gcloud", ".azure", ".config/gcloud")
_HOME_FILES = (
    ".netrc",
    ".npmrc",
    ".docker/config.json",
    ".pypirc",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
)
_KUBECONFIG = ".kube/config"
_KEY_SUFFIXES = frozenset({".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".p8", ".der"})

_NO_KEYS = frozenset({"example", "sample", "template", "dist", "defaults", "schema"})


def is_dotenv(path: Path | PurePath) -> bool:
    """Whether a file is a ``.env`` of real values, as ``.env.local`` is and ``.env.example`` is not."""
    name = path.name.lower()
    return name == ".env" or (name.startswith(".env.") and name.rpartition(".")[2] not in _NO_KEYS)


def may_hold_secrets(path: Path, user_home: Path, *, allow_kubeconfig: bool = False) -> bool:
    """Whether ``path`` (absolute) is a file of secrets, or lies in a folder of them. ``user_home`` is resolved."""
    text = path.as_posix()
    if text in _SYSTEM_FILES or (text.startswith("/proc/") and path.name == "environ"):
        return True
    if path.suffix.lower() in _KEY_SUFFIXES:
        return True
    if not path.is_relative_to(user_home):
        return False
    inside = path.relative_to(user_home).as_posix()
    if inside in _HOME_FILES or (inside == _KUBECONFIG and not allow_kubeconfig):
        return True
    return any(inside == folder or inside.startswith(folder + "/") for folder in _HOME_FOLDERS)
