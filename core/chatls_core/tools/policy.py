"""May this call be made? Rules of ``coder_policy.json``, safety-immune patterns, read-only commands (spec/agent.md §5).

A rule's pattern is matched as a prefix at a word boundary against ``<tool> <what it acts on>``: for ``run_command``
each command of the line is judged on its own and the strictest verdict wins. ChatCLI's ``@coder …`` patterns are read
as ours by :data:`CHATCLI_NAMES`. A project's file counts only in a trusted workspace, and only where it tightens.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from chatls_core.store import JsonStore
from chatls_core.tools.read_only import only_reads
from chatls_core.tools.secret_files import is_dotenv
from chatls_core.tools.shell_words import SHELLS, Command, UnreadableCommandError, commands

log = logging.getLogger(__name__)

Action = Literal["allow", "ask", "deny"]
_STRICTNESS: Mapping[Action, int] = {"allow": 0, "ask": 1, "deny": 2}
FILE_NAME = "coder_policy.json"
_SHOWING = frozenset({"read_file", "search", "outline"})
"""Tools whose results hold the text of the file they are asked about."""

MAX_PATTERN = 500

CHATCLI_NAMES: Mapping[str, tuple[str, ...]] = {
    "read": ("read_file",),
    "tree": ("list_dir", "find_files"),
    "search": ("search",),
    "write": ("write_file",),
    "patch": ("edit_file", "apply_patch"),
    "multipatch": ("edit_file", "apply_patch"),
    "exec": ("run_command",),
    "test": ("run_command",),
    "git-status": ("git_status",),
    "git-diff": ("git_diff",),
    "git-log": ("git_log",),
    "rollback": ("write_file",),
    "clean": ("delete_file",),
}

_IMMUNE = [
    (re.compile(pattern, re.I), why)
    for pattern, why in (
        (r"^rm\b(?=.*\s-\w*[rR])(?=.*\s-\w*f|.*--force)", "it deletes recursively by force"),
        (r"^rm\b.*--recursive.*--force|^rm\b.*--force.*--recursive", "it deletes recursively by force"),
        (r"^(mkfs\S*|shred|fdisk|parted|wipefs)\b|^dd\b.*\bof=/dev/", "it overwrites disks or files beyond recovery"),
        (r"^(shutdown|reboot|poweroff|halt|init)\b", "it stops the machine"),
        (r"^chmod\b.*(\b0?777\b|\+s\b|[246][0-7]{3}\b)|^chown\b.*\broot\b", "it changes rights dangerously"),
        (
            r"^(insmod|rmmod|modprobe|iptables|nft)\b|^sysctl\b.*\s-w|^systemctl\b.*\b(stop|disable|mask)\b",
            "it changes the system",
        ),
        (r"/dev/tcp/|^(nc|ncat|netcat)\b.*\s-\w*[lec]", "it opens a network shell"),
        (r"(^|/|~)\.(ssh|gnupg)(/|\b)|\.aws/credentials|\.kube/config", "it touches keys"),
        (
            r"\b(drop\s+(table|database|schema)|truncate\s+table)\b|\bdelete\s+from\b.*\bwhere\s+1\s*=\s*1",
            "it deletes data",
        ),
        (
            r"^git\b.*\bpush\b.*(\s--force\b|\s-f\b|\s--force-with-lease|\s\+\S)|^git\b.*\breset\b.*--hard|^git\b.*\bclean\b.*\s-\w*f",
            "it rewrites or discards version history",
        ),
        (r"^kill\b.*\s-(9|kill|sigkill)\b|^killall\b|^pkill\b", "it kills processes"),
        (r"^(crontab|at)\b|authorized_keys", "it makes something run later"),
        (r"^(sh|bash|zsh|dash|ksh|fish)$", "it runs what comes in through a pipe"),
        (r"^find\b.*\s-(delete|exec|execdir|ok)\b.*\brm\b|^find\b.*\s-delete\b", "it deletes what it finds"),
    )
]
_SYSTEM_FOLDERS = re.compile(r"/(etc|boot|sys|proc|dev|usr|bin|sbin|lib\w*|var)(/|$)")
_HARMLESS = frozenset(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"])

_WRITERS = frozenset(
    ["tee", "cp", "mv", "install", "ln", "rsync", "touch", "mkdir", "rm", "rmdir", "truncate", "sed", "dd"]
)
"""Programs that change the files they are given."""


class PolicyRule(BaseModel):
    """One rule as the file has it."""

    model_config = ConfigDict(extra="allow")
    pattern: str
    action: Action


class PolicyFile(BaseModel):
    """``coder_policy.json``; unknown fields survive."""

    model_config = ConfigDict(extra="allow")
    rules: list[PolicyRule] = []


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may happen, why, and the pattern "always allow" would write (empty: not offered)."""

    action: Action
    why: str = ""
    always: str = ""
    default: bool = False
    """Whether no rule and no danger led to this."""


class Policy:
    """The rules in force. Reading is cheap; call it in a thread all the same."""

    def __init__(self, home: Path, roots: Sequence[Path], trusted: bool) -> None:
        self._store = JsonStore(home / FILE_NAME, TypeAdapter(PolicyFile), empty=PolicyFile, merge=_union)
        self._roots = tuple(roots)
        self._trusted = trusted

    def rules(self) -> list[PolicyRule]:
        """The user's own rules."""
        return self._store.read().rules

    def set_rule(self, pattern: str, action: Action | Literal["remove"]) -> list[PolicyRule]:
        """Add, replace or remove a rule of the user's file. Raises ``ValueError`` for a pattern that is too long."""
        pattern = " ".join(pattern.split())
        if not pattern or len(pattern) > MAX_PATTERN:
            raise ValueError(f"A pattern has 1 to {MAX_PATTERN} characters.")

        def change(file: PolicyFile) -> tuple[PolicyFile, list[PolicyRule]]:
            rules = [rule for rule in file.rules if rule.pattern != pattern]
            if action != "remove":
                rules.append(PolicyRule(pattern=pattern, action=action))
            return file.model_copy(update={"rules": rules}), rules

        return self._store.update(change)

    def judge(self, tool: str, subject: str, *, read_only: bool, asks: bool, also: Sequence[str] = ()) -> Verdict:
        """The verdict for a call. ``subject`` is what it acts on (path or command line); ``asks`` is the default
        where no rule speaks. ``also`` are further names of the tool: a rule may forbid it by any of them."""
        if tool == "run_command":
            return self._judge_line(subject)
        rules = self._all_rules()
        rule = self._rule([f"{tool} {subject}"], rules)
        if also and self._rule([f"{name} {subject}" for name in also], rules) == "deny":
            rule = "deny"
        if rule is None and tool in _SHOWING and is_dotenv(PurePath(subject)):
            return Verdict(
                "ask", "it may hold keys, and what is read goes to the model", f"{tool} {subject}"[:MAX_PATTERN]
            )
        default: Action = "ask" if asks and not read_only else "allow"
        return Verdict(rule or default, always=f"{tool} {subject}"[:MAX_PATTERN] if asks else "")

    def only_looks(self, line: str) -> bool:
        """Whether every command of a line can only show what stands in the folders. Reads the disk."""
        try:
            found = commands(line)
        except UnreadableCommandError:
            return False
        folder = self._roots[0] if self._roots else None
        for command in found:
            if not only_reads(command, self._roots, folder):
                return False
            if command.words[:1] == ("cd",):
                folder = self._entered(folder, command)
        return True

    def _judge_line(self, line: str) -> Verdict:
        if not self._trusted:
            return Verdict("deny", "the workspace is not trusted, so nothing runs in it")
        try:
            found = commands(line)
        except UnreadableCommandError as error:
            denied = self._rule([f"run_command {line.strip()}"], self._all_rules()) == "deny"
            return Verdict("deny" if denied else "ask", f"the command has {error}, which cannot be judged")
        rules = self._all_rules()
        whole = f"run_command {' '.join(line.split())}"
        worst = Verdict("allow", always=whole if len(whole) <= MAX_PATTERN else "")
        # The user's "always" to a line of several commands is a rule of the whole line.
        known = any(rule.pattern == whole and rule.action == "allow" for rule in rules)
        folder = self._roots[0] if self._roots else None
        for command in found:
            verdict = self._judge_command(command, rules, folder)
            if verdict.action == "ask" and verdict.default and known:
                verdict = Verdict("allow")
            if command.words[:1] == ("cd",):
                folder = self._entered(folder, command)
            if _STRICTNESS[verdict.action] > _STRICTNESS[worst.action] or (
                verdict.action == worst.action and verdict.why and not worst.why
            ):
                worst = Verdict(verdict.action, verdict.why, worst.always if not verdict.why else "")
        return worst

    def _entered(self, folder: Path | None, command: Command) -> Path | None:
        """The folder behind a ``cd``; ``None`` when it cannot be told."""
        if folder is None or command.dynamic or len(command.words) != 2:
            return None
        places = (folder / command.words[1], *(root.parent / command.words[1] for root in self._roots[1:]))
        return next((place for place in places if place.is_dir()), None)

    def _judge_command(self, command: Command, rules: Sequence[PolicyRule], folder: Path | None) -> Verdict:
        text = " ".join(command.words)
        rule = self._rule([f"run_command {form}" for form in _forms(command)], rules)
        if rule == "deny":
            return Verdict("deny", "a rule denies it")
        if danger := _danger(command, text):
            return Verdict("ask", danger)
        if rule is not None:
            return Verdict(rule)
        return Verdict("allow") if only_reads(command, self._roots, folder) else Verdict("ask", default=True)

    def _all_rules(self) -> list[PolicyRule]:
        rules = self.rules()
        if self._trusted:
            for root in self._roots:
                rules = rules + [rule for rule in _project_rules(root / FILE_NAME) if rule.action != "allow"]
        return rules

    def _rule(self, subjects: Iterable[str], rules: Sequence[PolicyRule]) -> Action | None:
        """Deny wins; between allow and ask the longer pattern wins (spec/agent.md §5.1)."""
        best: tuple[int, Action] | None = None
        for subject in subjects:
            for rule in rules:
                for pattern in _patterns(rule.pattern):
                    if not _prefix(pattern, subject):
                        continue
                    if rule.action == "deny":
                        return "deny"
                    rank = (len(pattern), _STRICTNESS[rule.action])
                    if best is None or rank > (best[0], _STRICTNESS[best[1]]):
                        best = (len(pattern), rule.action)
        return best[1] if best else None


def _forms(command: Command) -> tuple[str, ...]:
    """A command as rules may name it: as written, and by its program's name without the folder and git's options."""
    words = list(command.words)
    if not words:
        return ("",)
    plain = [words[0].rsplit("/", 1)[-1], *words[1:]]
    while plain[0] == "git" and len(plain) > 1 and plain[1].startswith("-"):
        del plain[1 : 3 if plain[1] in ("-C", "-c", "--git-dir", "--work-tree", "--namespace") else 2]
    return (" ".join(words), " ".join(plain)) if plain != words else (" ".join(words),)


def _patterns(pattern: str) -> tuple[str, ...]:
    words = pattern.split()
    if words[:1] == ["@coder"]:
        if len(words) == 1:
            return tuple({name for names in CHATCLI_NAMES.values() for name in names})
        rest = [w for w in words[2:] if w not in ("--file", "--cmd", "--dir", "--term", "--path")]
        return tuple(" ".join([name, *rest]) for name in CHATCLI_NAMES.get(words[1], (words[1],)))
    return (pattern.strip().lstrip("@"),)


def _prefix(pattern: str, subject: str) -> bool:
    return subject == pattern or (
        subject.startswith(pattern) and (pattern.endswith(" ") or subject[len(pattern)] in " /=")
    )


def _danger(command: Command, text: str) -> str:
    if any(w in ("sudo", "doas") for w in command.wrappers) or command.words[:1] == ("su",):
        return "it runs with other rights"
    first = command.words[0].rsplit("/", 1)[-1] if command.words else ""
    written = (*command.writes, *(w.removeprefix("of=") for w in command.words[1:] if first in _WRITERS))
    if any(_SYSTEM_FOLDERS.match(target) and target not in _HARMLESS for target in written):
        return "it writes to a system folder"
    if command.dynamic and (first in SHELLS or first in ("eval", "source", ".")) and len(command.words) > 1:
        return "it runs a text that is put together only when it runs"
    plain = " ".join([first, *command.words[1:], *command.writes, *command.reads])
    return next((why for pattern, why in _IMMUNE if pattern.search(plain) or pattern.search(text)), "")


def _project_rules(path: Path) -> list[PolicyRule]:
    try:
        return PolicyFile.model_validate_json(path.read_bytes()).rules
    except FileNotFoundError:
        return []
    except (OSError, ValidationError) as error:
        log.warning("%s is not usable: %s", path, error)
        return []


def _union(mine: PolicyFile, disk: PolicyFile) -> PolicyFile:
    known = {rule.pattern for rule in mine.rules}
    return mine.model_copy(update={"rules": [*mine.rules, *(r for r in disk.rules if r.pattern not in known)]})
