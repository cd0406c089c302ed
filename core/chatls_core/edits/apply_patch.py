"""``apply_patch``: the V4A patch of Codex and the GPT models (docs/edits.md has the grammar)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from chatls_core.edits.anchors import anchor_places
from chatls_core.edits.diffhunk import DiffHunk
from chatls_core.edits.errors import EditError, EditErrorKind
from chatls_core.edits.lines import split_contents
from chatls_core.edits.matching import FileIndex
from chatls_core.edits.omissions import refuse_placeholders
from chatls_core.edits.placing import apply_diff
from chatls_core.edits.plan import Draft
from chatls_core.edits.sole_document import sole_document

_BEGIN, _END, _END_OF_FILE = "*** Begin Patch", "*** End Patch", "*** End of File"
_HEADER = re.compile(r"^\s*\*\*\* (?P<verb>Add|Update|Delete) File:\s*(?P<path>.*?)\s*$")
_MOVE = re.compile(r"^\s*\*\*\* Move to:\s*(?P<path>.*?)\s*$")
_NUMBERS = re.compile(r"^-(\d+)(?:,\d+)?\s+\+\d+(?:,\d+)?\s*(?:@@)?\s*(?P<section>.*)$")
_FORM = (
    "A patch has this form:\n*** Begin Patch\n*** Update File: src/app.py\n@@ def run():\n     context line\n"
    "-    removed line\n+    added line\n*** End Patch\n(also *** Add File: with lines that begin with +, "
    "*** Delete File:, and *** Move to: right below *** Update File:)."
)


@dataclass(slots=True)
class _Section:
    verb: str
    path: str
    move_to: str | None = None
    added: list[str] = field(default_factory=list)
    hunks: list[DiffHunk] = field(default_factory=list)


def _malformed(problem: str) -> EditError:
    return EditError(EditErrorKind.MALFORMED, f"{problem} Nothing was changed. {_FORM}")


def parse(edit: str) -> list[_Section]:
    """The file sections of a patch. Raises :class:`EditError` that says which line is wrong and shows the grammar."""
    sections: list[_Section] = []
    for body in _bodies(edit):
        sections += _sections(body)
    if not sections:
        raise _malformed("The patch changes no file.")
    return sections


def named_paths(edit: str) -> tuple[str, ...]:
    """The files a patch names, move targets included, in order."""
    paths = ((section.path, section.move_to) for section in parse(edit))
    return tuple(dict.fromkeys(path for pair in paths for path in pair if path))


def apply(draft: Draft, edit: str) -> None:
    """Apply the sections in turn. Added files replace what stands at their path; moves overwrite their target."""
    sections = parse(edit)
    names = {section.path for section in sections}
    for section in sections:
        if section.verb == "Add":
            _add(draft, section)
        elif section.verb == "Delete":
            _delete(draft, section)
        else:
            _update(draft, section, names)
    draft.require_change()


def _add(draft: Draft, section: _Section) -> None:
    key = draft.place_for_new(section.path)
    old = draft.get(key)
    refuse_placeholders(key, section.added, split_contents(old or ""))
    if old:
        draft.note(f"{key}: the file that stood there is replaced.")
    draft.write(key, "".join(line + "\n" for line in section.added))


def _delete(draft: Draft, section: _Section) -> None:
    draft.delete(draft.require(section.path, exact=True))


def _update(draft: Draft, section: _Section, names: Collection[str]) -> None:
    sole = None if draft.find(section.path) else sole_document(draft, section.path, section.hunks, names)
    key = sole or draft.require(section.path)
    text = draft.get(key)
    assert text is not None
    if section.hunks:
        for hunk in section.hunks:
            _refuse_placeholders(key, hunk)
        draft.write(key, apply_diff(draft, key, text, section.hunks, _add_at))
    if section.move_to:
        draft.rename(key, draft.place_for_new(section.move_to))


def _refuse_placeholders(path: str, hunk: DiffHunk) -> None:
    reading = hunk.readings[0]
    refuse_placeholders(path, [text for op, text in reading if op == "+"], [text for op, text in reading if op != "+"])


def _add_at(hunk: DiffHunk, index: FileIndex) -> int:
    """Lines added with no context go below the line ``@@`` names, or to the end of the file (Codex)."""
    if not hunk.at_end and any(anchor.strip() for anchor in hunk.anchors):
        anchoring = anchor_places(index, hunk.anchors)
        if len(anchoring.places) == 1:
            return anchoring.places[0] + 1
        where = "stands at several places" if anchoring.places else "is not in the file"
        raise _malformed(
            f"Hunk {hunk.number} only adds lines, and the line its @@ names {where}: add a line of context to it."
        )
    return len(index.lines)


def _bodies(edit: str) -> list[list[str]]:
    """The lines between ``*** Begin Patch`` and ``*** End Patch``, once per envelope.

    Wrappings models add are taken off: a shell here-document, a code fence, a JSON object. A patch with neither line is
    taken as it is; one with only one of them was cut off and is refused.
    """
    lines = _unwrapped(edit).replace("\r\n", "\n").split("\n")
    begins = [i for i, line in enumerate(lines) if line.strip() == _BEGIN and not line.startswith(("+", "-"))]
    ends = [i for i, line in enumerate(lines) if line.strip() == _END and not line.startswith(("+", "-"))]
    if not begins and not ends:
        # A code fence around the sections; the marks of a diff keep its own lines apart from it.
        lines = [line for line in lines if not line.startswith("```")]
        first = next((i for i, line in enumerate(lines) if line.strip()), None)
        if first is None or not _HEADER.match(lines[first]):
            raise _malformed(f"The first line of a patch is {_BEGIN!r}.")
        return [lines[first:]]
    bodies: list[list[str]] = []
    at = 0
    for begin in begins:
        if begin < at:
            continue
        # A padded end mark may be a line of the file; the last one before the next patch is the end.
        following = next((b for b in begins if b > begin), len(lines))
        inside = [end for end in ends if begin < end < following]
        if not inside:
            raise _malformed(f"The patch has no {_END!r} line: it was cut off. Send it whole, or in smaller pieces.")
        strict = [end for end in inside if lines[end].startswith("***")]
        end = strict[0] if strict else inside[-1]
        bodies.append(lines[begin + 1 : end])
        at = end
    if not bodies:
        raise _malformed(f"The first line of a patch is {_BEGIN!r}.")
    return bodies


def _unwrapped(edit: str) -> str:
    if edit.lstrip().startswith("{") and _BEGIN in edit:
        try:
            data = json.loads(edit, strict=False)
        except (ValueError, RecursionError):
            return edit
        if isinstance(data, dict):
            return next((v for k in ("patch", "input", "command") if isinstance(v := data.get(k), str)), edit)
    return edit


def _sections(lines: Sequence[str]) -> list[_Section]:
    sections: list[_Section] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.strip():
            continue
        header = _HEADER.match(line)
        if header is None:
            raise _malformed(f"The line {line.strip()[:100]!r} is none a patch has here.")
        if not header["path"]:
            raise _malformed(f"The line {line.strip()!r} names no file.")
        section = _Section(header["verb"], header["path"])
        sections.append(section)
        stop = next((i for i in range(at, len(lines)) if _is_header(lines, i)), len(lines))
        body = lines[at:stop]
        at = stop
        if section.verb == "Add":
            section.added = _added(section.path, body)
        elif section.verb == "Delete":
            if any(text.strip() for text in body):
                raise _malformed(f"Lines follow {line.strip()!r}; a deletion has none.")
        else:
            _read_update(section, body)
    return sections


def _is_header(lines: Sequence[str], at: int) -> bool:
    """A header, padded only where the line before it is none a hunk could have."""
    line = lines[at]
    return bool(_HEADER.match(line)) and (line.startswith("***") or not lines[at - 1].startswith((" ", "+", "-")))


def _added(path: str, body: Sequence[str]) -> list[str]:
    body = list(body)
    while body and not body[-1].strip():
        body.pop()
    for line in body:
        if line and not line.startswith("+"):
            raise _malformed(f"Every line below *** Add File: {path} begins with +, but not {line[:100]!r}.")
    return [line[1:] for line in body]


def _read_update(section: _Section, body: Sequence[str]) -> None:
    """Hunks begin with ``@@``; the first may go without. Several ``@@`` lines in a row narrow the place down."""
    rest = list(body)
    moved = next((i for i, line in enumerate(rest) if line.strip()), None)
    if moved is not None and (match := _MOVE.match(rest[moved])):
        section.move_to = match["path"]
        del rest[: moved + 1]
        if not section.move_to:
            raise _malformed(f"*** Move to: below *** Update File: {section.path} names no file.")
    hunk: _OpenHunk | None = None
    for line in rest:
        if line.startswith("@@"):
            if hunk is not None and not hunk.body:
                hunk.stack(line)
                continue
            if hunk is not None:
                section.hunks.append(hunk.close(len(section.hunks) + 1))
            hunk = _OpenHunk(line)
        elif line.strip() == _END_OF_FILE and not line.startswith(("+", "-")):
            if hunk is None:
                raise _malformed(f"{_END_OF_FILE!r} stands before any hunk of {section.path}.")
            hunk.at_end = True
        elif line.startswith("*** "):
            raise _malformed(f"The line {line.strip()[:100]!r} is none a patch has.")
        elif hunk is not None and hunk.at_end:
            if line.strip():
                raise _malformed(f"A line follows {_END_OF_FILE!r} in {section.path}: {line[:100]!r}.")
        else:
            if hunk is None:
                if not line.strip():
                    continue
                hunk = _OpenHunk("@@")
            hunk.body.append(line)
    if hunk is not None:
        section.hunks.append(hunk.close(len(section.hunks) + 1))
    if not any(h.changes for h in section.hunks) and not (section.move_to and not section.hunks):
        raise _malformed(f"*** Update File: {section.path} has no line that begins with + or -.")


class _OpenHunk:
    def __init__(self, header: str) -> None:
        self.body: list[str] = []
        self.at_end = False
        self._anchors: list[str] = []
        self._headers = 0
        self._line: int | None = None
        self.stack(header)

    def stack(self, header: str) -> None:
        text = header[2:].strip()
        if numbers := _NUMBERS.match(text):
            self._line = max(0, int(numbers[1][:9]) - 1)
            text = numbers["section"]
        text = text.removesuffix("@@").strip()
        if text.strip(". "):
            self._anchors.append(text)
        self._headers += 1

    def close(self, number: int) -> DiffHunk:
        return DiffHunk(
            body=tuple(self.body),
            number=number,
            anchors=tuple(self._anchors),
            stacked=bool(self._anchors) and self._headers > 1,
            line=self._line,
            at_end=self.at_end,
        )
