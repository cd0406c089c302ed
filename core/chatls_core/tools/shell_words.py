"""Command lines, read whole: every command of a line, wrappers taken off, redirects seen as writes.

Policy judges each :class:`Command`; a line this module cannot read whole is never allowed without asking
(spec/agent.md §5, §12 rows 11 and 12).
"""

from __future__ import annotations

from dataclasses import dataclass

WRAPPERS = frozenset({"env", "sudo", "doas", "xargs", "nohup", "time", "nice", "timeout", "stdbuf", "command", "exec",
                      "setsid", "ionice", "builtin", "watch", "unbuffer", "busybox", "toybox", "chronic"})  # fmt: skip
_OPTIONS_WITH_VALUE = {
    "sudo": frozenset(["-u", "-g", "-h", "-p", "-C", "-T", "-D", "-R"]),
    "doas": frozenset(["-u", "-C"]),
    "env": frozenset(["-u", "-C", "--unset", "--chdir"]),
    "xargs": frozenset(["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a"]),
    "nice": frozenset(["-n"]),
    "ionice": frozenset(["-c", "-n", "-p"]),
    "timeout": frozenset(["-k", "-s"]),
    "stdbuf": frozenset(["-i", "-o", "-e"]),
    "watch": frozenset(["-n"]),
    "exec": frozenset(["-a"]),
}
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish"})
MAX_DEPTH = 6
_SPLIT = ("-S", "--split-string")


class UnreadableCommandError(ValueError):
    """The line uses shell grammar that is not read here (or is not closed); ``str()`` says what."""


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command: its words without wrappers, the wrappers, files it writes by redirect."""

    words: tuple[str, ...]
    wrappers: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    dynamic: bool = False
    """Whether a word depends on a variable, a glob of braces or a substitution, so that its text is not final."""


def commands(line: str) -> tuple[Command, ...]:
    """Every command a shell would run for ``line``, those inside ``$( )``, backticks, ``( )``, ``{ }``,
    ``sh -c '…'`` and ``eval`` included. Raises :class:`UnreadableCommandError`."""
    return tuple(_Reader(line, 0).read())


class _Reader:
    def __init__(self, line: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise UnreadableCommandError("commands are nested too deeply")
        self._line = line
        self._at = 0
        self._depth = depth
        self._found: list[Command] = []

    def read(self) -> list[Command]:
        words: list[tuple[str, bool]] = []
        writes: list[str] = []
        reads: list[str] = []
        while self._at < len(self._line):
            c = self._line[self._at]
            if c in " \t":
                self._at += 1
            elif c == "#" and (self._at == 0 or self._line[self._at - 1] in " \t\n;"):
                end = self._line.find("\n", self._at)
                self._at = len(self._line) if end < 0 else end
            elif c in ";\n|&(){}" and not (c in "{}" and self._glued(c)):
                if self._line.startswith("&>", self._at):
                    self._at += 2
                    self._at += self._line.startswith(">", self._at)
                    writes.append(self._target())
                    continue
                self._at += 1
                self._close(words, writes, reads)
                words, writes, reads = [], [], []
            elif c in "<>" or (c.isdigit() and self._redirect_follows()):
                self._redirect(writes, reads)
            else:
                words.append(self._word())
        self._close(words, writes, reads)
        return self._found

    def _glued(self, c: str) -> bool:
        """A brace inside or beside a word is brace expansion, not a group."""
        before = self._line[self._at - 1] if self._at else " "
        after = self._line[self._at + 1] if self._at + 1 < len(self._line) else " "
        return before not in " \t\n;|&(" if c == "}" else after not in " \t\n"

    def _redirect_follows(self) -> bool:
        at = self._at
        while at < len(self._line) and self._line[at].isdigit():
            at += 1
        before = self._line[self._at - 1] if self._at else " "
        return at < len(self._line) and self._line[at] in "<>" and before in " \t\n;|&("

    def _redirect(self, writes: list[str], reads: list[str]) -> None:
        while self._line[self._at].isdigit():
            self._at += 1
        rest = self._line[self._at :]
        if rest.startswith("<<") and not rest.startswith("<<<"):
            raise UnreadableCommandError("a here-document")
        if rest.startswith(("<(", ">(")):
            raise UnreadableCommandError("process substitution")
        for operator in ("<<<", ">>", ">|", ">&", "<&", "<>", ">", "<"):
            if rest.startswith(operator):
                self._at += len(operator)
                break
        target = self._target()
        if operator in (">&", "<&") and (target.isdigit() or target == "-"):
            return
        (reads if operator in ("<", "<<<") else writes).append(target)

    def _target(self) -> str:
        while self._at < len(self._line) and self._line[self._at] in " \t":
            self._at += 1
        if self._at >= len(self._line) or self._line[self._at] in ";\n|&()<>":
            raise UnreadableCommandError("a redirect without a file")
        return self._word()[0]

    def _word(self) -> tuple[str, bool]:
        out: list[str] = []
        dynamic = False
        while self._at < len(self._line):
            c = self._line[self._at]
            if c in " \t\n;|&()<>":
                break
            if c == "\\":
                out.append(self._line[self._at + 1 : self._at + 2].replace("\n", ""))
                self._at += 2
            elif c == "'":
                end = self._line.find("'", self._at + 1)
                if end < 0:
                    raise UnreadableCommandError("a quote is not closed")
                out.append(self._line[self._at + 1 : end])
                self._at = end + 1
            elif c == '"':
                dynamic |= self._double_quoted(out)
            elif c in "$`":
                dynamic = True
                self._expansion(out)
            else:
                dynamic |= c in "{*?["
                out.append(c)
                self._at += 1
        return "".join(out), dynamic

    def _double_quoted(self, out: list[str]) -> bool:
        self._at += 1
        dynamic = False
        while self._at < len(self._line):
            c = self._line[self._at]
            if c == '"':
                self._at += 1
                return dynamic
            if c == "\\" and self._line[self._at + 1 : self._at + 2] in ("$", "`", '"', "\\", "\n"):
                out.append(self._line[self._at + 1].replace("\n", ""))
                self._at += 2
            elif c in "$`":
                dynamic = True
                self._expansion(out)
            else:
                out.append(c)
                self._at += 1
        raise UnreadableCommandError("a quote is not closed")

    def _expansion(self, out: list[str]) -> None:
        if self._line[self._at] == "`":
            end = self._line.find("`", self._at + 1)
            if end < 0:
                raise UnreadableCommandError("a backtick is not closed")
            self._inner(self._line[self._at + 1 : end])
            out.append("`…`")
            self._at = end + 1
        elif self._line.startswith("$((", self._at):
            end = self._line.find("))", self._at)
            if end < 0 or "$(" in self._line[self._at + 3 : end] or "`" in self._line[self._at : end]:
                raise UnreadableCommandError("arithmetic")
            out.append("$((…))")
            self._at = end + 2
        elif self._line.startswith("$(", self._at):
            end = self._matching(self._at + 1)
            self._inner(self._line[self._at + 2 : end])
            out.append("$(…)")
            self._at = end + 1
        elif self._line.startswith("${", self._at):
            end = self._line.find("}", self._at)
            body = self._line[self._at : end + 1] if end > 0 else ""
            if end < 0 or "$(" in body or "`" in body:
                raise UnreadableCommandError("a nested expansion")
            out.append(body)
            self._at = end + 1
        elif self._line.startswith("$'", self._at):
            raise UnreadableCommandError("an ANSI-C quoted string")
        else:
            out.append("$")
            self._at += 1

    def _matching(self, at: int) -> int:
        """Index of the parenthesis that closes the one at ``at``."""
        depth, quote = 0, ""
        while at < len(self._line):
            c = self._line[at]
            if c == "\\" and quote != "'":
                at += 1
            elif quote:
                quote = "" if c == quote else quote
            elif c in "'\"":
                quote = c
            elif c == "(":
                depth += 1
            elif c == ")":
                depth -= 1
                if depth == 0:
                    return at
            at += 1
        raise UnreadableCommandError("a parenthesis is not closed")

    def _inner(self, text: str) -> None:
        self._found += _Reader(text, self._depth + 1).read()

    def _close(self, words: list[tuple[str, bool]], writes: list[str], reads: list[str]) -> None:
        if not words and not writes:
            return
        plain = [w for w, _ in words]
        while plain and plain[0] in ("if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "time"):
            plain.pop(0)
        if plain and plain[0] in ("for", "case", "select", "function", "esac", "in"):
            raise UnreadableCommandError(f"the shell keyword {plain[0]!r}")
        plain, wrappers = _unwrap(plain)
        command = Command(tuple(plain), wrappers, tuple(writes), tuple(reads), any(d for _, d in words))
        self._found.append(command)
        if plain and _name(plain[0]) in SHELLS and (script := _script(plain)) is not None:
            self._inner(script)
        elif plain and plain[0] == "eval":
            self._inner(" ".join(plain[1:]))
        elif plain and plain[0] == "trap" and len(plain) > 2:
            self._inner(plain[1])
        elif "env" in wrappers and plain and plain[0].startswith(_SPLIT):
            self._inner(_split_string(plain))


def _name(word: str) -> str:
    return word.rsplit("/", 1)[-1]


def _split_string(words: list[str]) -> str:
    """The command line that ``env -S`` makes of its argument."""
    option, *rest = words
    for name in _SPLIT:
        option = option.removeprefix(name)
    return " ".join([option.removeprefix("="), *rest])


def _script(words: list[str]) -> str | None:
    for index, word in enumerate(words[1:], 1):
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            return words[index + 1] if index + 1 < len(words) else ""
    return None


def _unwrap(words: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Take assignments and wrappers such as ``env A=1`` and ``sudo -u x`` off the front."""
    wrappers: list[str] = []
    while words:
        head = words[0]
        if "=" in head and head.split("=", 1)[0].replace("_", "a").isalnum() and not head[0].isdigit():
            wrappers.append(head)
            words = words[1:]
            continue
        name = _name(head)
        if name not in WRAPPERS:
            break
        wrappers.append(name)
        words = words[1:]
        valued = _OPTIONS_WITH_VALUE.get(name, frozenset())
        while words and words[0].startswith("-") and words[0] != "--":
            if name == "env" and words[0].startswith(_SPLIT):
                return words, tuple(wrappers)
            words = words[2:] if words[0] in valued else words[1:]
        if words and words[0] == "--":
            words = words[1:]
        if name == "timeout" and words:
            words = words[1:]
    return words, tuple(wrappers)
