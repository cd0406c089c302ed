"""``udiff``: unified diffs as git and as models write them (docs/edits.md).

Line numbers may be right, wrong or missing; file headers and hunk headers may be missing where one document is at
hand. What counts is the text of context and removed lines.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from chatls_core.edits.diffhunk import DiffHunk
from chatls_core.edits.errors import EditError, EditErrorKind
from chatls_core.edits.matching import FileIndex
from chatls_core.edits.omissions import refuse_placeholders
from chatls_core.edits.placing import apply_diff
from chatls_core.edits.plan import Draft, normal
from chatls_core.edits.sole_document import sole_document

_FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})\s*(?P<language>[\w-]*)\s*$")
_NUMBERS = re.compile(r"^@@+\s*-(\d+)(?:,(\d+))?\s+\+(\d+)(?:,(\d+))?\s*@@+ ?(?P<section>.*)$")
_OLD = re.compile(r"^---[ \t]+(?P<path>\S.*?)\s*$")
_NEW = re.compile(r"^\+\+\+[ \t]+(?P<path>\S.*?)\s*$")
_GIT = re.compile(r"^diff --git (?P<paths>.+?)\s*$")
_GIT_PAIR = re.compile(r'^(?P<old>"(?:[^"\\]|\\.)*"|\S+|a/.*?) (?P<new>"(?:[^"\\]|\\.)*"|b/.*|\S+)$')
_EXTENDED = re.compile(
    r"^(?P<key>rename from|rename to|copy from|copy to|new file mode|deleted file mode|old mode|new mode"
    r"|similarity index|dissimilarity index|index)\b ?(?P<value>.*?)\s*$"
)
_BINARY = re.compile(r"^(?:GIT binary patch|Binary files .* differ)\s*$")
_NO_NEWLINE = re.compile(r"^\\ ?No newline", re.IGNORECASE)
_QUOTED = re.compile(r"\\([0-7]{3}|.)")
_NULL = "/dev/null"
_FORM = (
    "A diff has this form:\n--- a/src/app.py\n+++ b/src/app.py\n@@ -10,3 +10,3 @@\n context line\n-removed line\n"
    "+added line\n context line"
)


@dataclass(slots=True)
class _FileDiff:
    old: str = ""
    new: str = ""
    rename: tuple[str, str] | None = None
    created: bool = False
    deleted: bool = False
    hunks: list[DiffHunk] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """The files it names."""
        pair = self.rename or (self.old, self.new)
        return tuple(dict.fromkeys(name for name in pair if name and name != _NULL))


def _malformed(problem: str) -> EditError:
    return EditError(EditErrorKind.MALFORMED, f"{problem} Nothing was changed. {_FORM}")


def named_paths(edit: str) -> tuple[str, ...]:
    """The files a diff names, in order, without ``a/`` and ``b/``."""
    return tuple(dict.fromkeys(name for diff in parse(edit) for name in diff.names))


def apply(draft: Draft, edit: str) -> None:
    """Apply the diff of each file in turn."""
    diffs = parse(edit)
    names = {name for diff in diffs for name in diff.names}
    for diff in diffs:
        for hunk in diff.hunks:
            _refuse_placeholders(diff, hunk)
        if diff.rename is not None:
            _rename(draft, diff)
        elif diff.new == _NULL or (diff.deleted and not diff.new):
            _delete(draft, diff)
        elif diff.old == _NULL or diff.created:
            _create(draft, diff)
        else:
            _change(draft, _target(draft, diff, names), diff)
    draft.require_change()


def _refuse_placeholders(diff: _FileDiff, hunk: DiffHunk) -> None:
    reading = hunk.readings[0]
    name = diff.names[-1] if diff.names else "the file"
    refuse_placeholders(name, [text for op, text in reading if op == "+"], [text for op, text in reading if op != "+"])


def _target(draft: Draft, diff: _FileDiff, names: Collection[str]) -> str:
    """The file to change. Where the names differ without a rename (``diff old new``), the one that exists is meant."""
    found = list(dict.fromkeys(key for name in diff.names if (key := draft.find(name)) is not None))
    if len(found) > 1:
        raise _malformed(
            f"The diff names two files that both exist, {found[0]} and {found[1]}; a change of one file names it twice."
        )
    if found:
        if len(diff.names) > 1:
            draft.note(f"{found[0]}: changed in place; a diff that moves it says 'rename from' and 'rename to'.")
        return found[0]
    name = diff.names[0] if diff.names else ""
    sole = sole_document(draft, name, diff.hunks, set(names) - set(diff.names))
    if sole is not None:
        return sole
    if not name:
        paths = list(draft.paths())
        if len(paths) == 1:
            return paths[0]
        raise _malformed("The diff does not say which file it changes.")
    return draft.require(name)


def _change(draft: Draft, key: str, diff: _FileDiff) -> None:
    text = draft.get(key)
    assert text is not None
    if not any(hunk.changes for hunk in diff.hunks):
        raise _malformed(f"The diff for {key} has no line that begins with + or -.")
    draft.write(key, apply_diff(draft, key, text, diff.hunks, _add_at))


def _add_at(hunk: DiffHunk, index: FileIndex) -> int:
    """Lines added with no context need a header that counts them rightly (``diff -U0``), or an empty file."""
    if not len(index.lines):
        return 0
    added = sum(line.startswith("+") for line in hunk.body)
    if hunk.old_count == 0 and hunk.new_count == added and hunk.line is not None and hunk.line <= len(index.lines):
        return hunk.line
    raise _malformed(f"Hunk {hunk.number} only adds lines and shows no line next to them: add a line of context to it.")


def _create(draft: Draft, diff: _FileDiff) -> None:
    existing = draft.find_exact(diff.new)
    removes = any(line.startswith("-") for hunk in diff.hunks for line in hunk.body)
    if existing is not None and (draft.get(existing) or removes):
        if removes:
            _change(draft, existing, diff)
            return
        raise EditError(
            EditErrorKind.MALFORMED,
            f"The diff creates {diff.new}, but it exists: nothing was changed. Give the diff against its present text, "
            "or write the whole file.",
            existing,
        )
    if removes:
        draft.require(diff.new)
    added = [text for hunk in diff.hunks for op, text in hunk.readings[0] if op == "+"]
    open_end = any(hunk.new_open for hunk in diff.hunks)
    text = "\n".join(added) + ("" if open_end or not added else "\n")
    draft.write(draft.place_for_new(diff.new), text)


def _delete(draft: Draft, diff: _FileDiff) -> None:
    key = draft.require(diff.old, exact=True)
    text = draft.get(key)
    assert text is not None
    if any(hunk.changes for hunk in diff.hunks):
        left = apply_diff(draft, key, text, diff.hunks, _add_at)
        if left.strip():
            raise EditError(
                EditErrorKind.NOT_FOUND,
                f"The diff deletes {key}, but the file has lines that the diff does not remove: nothing was changed. "
                "Read the file again; to delete it whatever it holds, use delete_file.",
                key,
            )
    draft.delete(key)


def _rename(draft: Draft, diff: _FileDiff) -> None:
    assert diff.rename is not None
    old, new = diff.rename
    key = draft.require(old)
    if any(hunk.changes for hunk in diff.hunks):
        _change(draft, key, diff)
    draft.rename(key, draft.place_for_new(new))


def parse(edit: str) -> list[_FileDiff]:
    """The diffs of a text, one per file. Raises :class:`EditError` for what is no diff."""
    reader = _Reader(_diff_lines(edit))
    files = reader.read()
    if not files:
        raise _malformed("There is no diff in the edit.")
    return files


def _diff_lines(edit: str) -> list[str]:
    """The lines of the diff itself: what stands in code fences, where there are fences around diffs; else all."""
    lines = edit.replace("\r\n", "\n").removesuffix("\n").split("\n")
    fenced: list[str] = []
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        at += 1
        if opening is None:
            continue
        stop = next((i for i in range(at, len(lines)) if lines[i].rstrip() == opening["fence"]), len(lines))
        body = lines[at:stop]
        if opening["language"].lower() in ("diff", "patch", "udiff") or any(
            line.startswith("@@") or _is_header(body, i) for i, line in enumerate(body)
        ):
            fenced += body
        at = stop + 1
    return fenced or lines


def _is_header(lines: Sequence[str], at: int) -> bool:
    """A pair of file headers; without the second line ``--- x`` is a removed line ``-- x``."""
    return bool(_OLD.match(lines[at])) and at + 1 < len(lines) and bool(_NEW.match(lines[at + 1]))


class _Reader:
    """Reads file headers and hunks line by line; every step consumes a line."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0
        self._headed = any(
            line.startswith("@@") or _is_header(lines, i) or _GIT.match(line) for i, line in enumerate(lines)
        )

    def read(self) -> list[_FileDiff]:
        files: list[_FileDiff] = []
        if not self._headed:
            return self._headless()
        current: _FileDiff | None = None
        started = False
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if git := _GIT.match(line):
                current = _FileDiff()
                pair = _GIT_PAIR.match(git["paths"])
                if pair:
                    current.old, current.new = _paths(pair["old"], pair["new"])
                files.append(current)
                started = False
                self._at += 1
            elif current is not None and not started and (extended := _EXTENDED.match(line)):
                _extend(current, extended["key"], extended["value"])
                self._at += 1
            elif _BINARY.match(line):
                raise EditError(EditErrorKind.UNSUPPORTED, "A binary patch cannot be applied: nothing was changed.")
            elif _is_header(self._lines, self._at):
                if current is None or started:
                    current = _FileDiff()
                    files.append(current)
                _head(current, self._lines[self._at], self._lines[self._at + 1])
                started = True
                self._at += 2
            elif line.startswith("@@"):
                if current is None:
                    current = _FileDiff()
                    files.append(current)
                started = True
                current.hunks.append(self._hunk(len(current.hunks) + 1))
            else:
                # Prose around the diff, or a header line of no consequence.
                self._at += 1
        return [
            diff for diff in files if diff.hunks or diff.rename or diff.deleted or diff.created or diff.new == _NULL
        ]

    def _headless(self) -> list[_FileDiff]:
        """Nothing but marked lines: one hunk for the document at hand."""
        body = _trimmed(self._lines)
        hunk = _finish(DiffHunk(body=tuple(body), number=1))
        return [_FileDiff(hunks=[hunk])] if hunk.changes else []

    def _hunk(self, number: int) -> DiffHunk:
        header = self._lines[self._at]
        self._at += 1
        numbers = _NUMBERS.match(header)
        old_left = new_left = None
        hunk = DiffHunk(body=(), number=number, soft=True)
        if numbers:
            old_left = int(numbers[2][:9]) if numbers[2] else 1
            new_left = int(numbers[4][:9]) if numbers[4] else 1
            hunk = replace(
                hunk,
                # A header that counts no old lines names the line before the place.
                line=max(0, int(numbers[1][:9]) - bool(old_left)),
                old_count=old_left,
                new_count=new_left,
                anchors=(numbers["section"],) if numbers["section"].strip() else (),
            )
        else:
            section = header.strip("@ .")
            hunk = replace(hunk, anchors=(section,) if section else ())
        body: list[str] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            counted = bool((old_left and old_left > 0) or (new_left and new_left > 0))
            if line.startswith("@@") or _GIT.match(line) or (not counted and _is_header(self._lines, self._at)):
                break
            if _NO_NEWLINE.match(line):
                last = body[-1][:1] if body else " "
                hunk = replace(hunk, old_open=hunk.old_open or last != "+", new_open=hunk.new_open or last != "-")
            else:
                body.append(line)
                if old_left is not None and line[:1] != "+":
                    old_left -= 1
                if new_left is not None and line[:1] != "-":
                    new_left -= 1
            self._at += 1
        return _finish(replace(hunk, body=tuple(body)))


def _finish(hunk: DiffHunk) -> DiffHunk:
    """Without the empty lines after the hunk that its header does not count (they separate, or end a code fence)."""
    body = list(hunk.body)
    old = sum(line[:1] != "+" for line in body)
    while body and not body[-1] and (hunk.old_count is None or old > hunk.old_count):
        if hunk.old_count is None and len(body) > 1 and body[-2][:1] not in ("+", "-", ""):
            break
        body.pop()
        old -= 1
    return replace(hunk, body=tuple(body))


def _trimmed(lines: Sequence[str]) -> list[str]:
    body = list(lines)
    while body and not body[-1]:
        body.pop()
    while body and not body[0]:
        body.pop(0)
    return body


def _extend(diff: _FileDiff, key: str, value: str) -> None:
    if key == "rename from":
        diff.rename = (_unquoted(value), diff.rename[1] if diff.rename else diff.new)
    elif key == "rename to":
        diff.rename = (diff.rename[0] if diff.rename else diff.old, _unquoted(value))
    elif key.startswith("copy"):
        raise EditError(
            EditErrorKind.UNSUPPORTED, "A diff that copies a file cannot be applied: create the copy as a new file."
        )
    elif key == "new file mode":
        diff.created = True
    elif key == "deleted file mode":
        diff.deleted = True
        diff.new = _NULL


def _head(diff: _FileDiff, old_line: str, new_line: str) -> None:
    old, new = _OLD.match(old_line), _NEW.match(new_line)
    assert old and new
    diff.old, diff.new = _paths(old["path"], new["path"])


def _paths(old: str, new: str) -> tuple[str, str]:
    """Both paths of a header: no timestamp, no quotes, and no ``a/`` and ``b/`` where git put them."""
    first, second = (_unquoted(raw.split("\t")[0].strip()) for raw in (old, new))
    first, second = (path if path == _NULL else normal(path) for path in (first, second))
    if first.startswith(("a/", _NULL)) and second.startswith(("b/", _NULL)):
        first, second = (path if path == _NULL else path[2:] for path in (first, second))
    return first, second


def _unquoted(raw: str) -> str:
    """A path as git quotes it (C escapes, octal bytes of UTF-8)."""
    if len(raw) < 2 or not (raw[0] == raw[-1] == '"'):
        return raw
    escapes = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
    data = bytearray()
    at = 0
    text = raw[1:-1]
    for match in _QUOTED.finditer(text):
        data += text[at : match.start()].encode("utf-8", "surrogatepass")
        code = match[1]
        data += bytes([int(code, 8) & 255]) if len(code) == 3 else escapes.get(code, code).encode("utf-8", "replace")
        at = match.end()
    data += text[at:].encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "replace")
