"""``str_replace``: JSON with the text to find and the text to put there (docs/edits.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from chatls_core.edits.diagnosis import ambiguous, not_found, quote
from chatls_core.edits.diffing import opcodes
from chatls_core.edits.doubling import refuse_doubling
from chatls_core.edits.errors import EditError, EditErrorKind
from chatls_core.edits.joining import refuse_joining
from chatls_core.edits.lines import Lines, conform, dominant_newline, split_contents, to_lf
from chatls_core.edits.matching import MAX_PLACES, FileIndex, Match
from chatls_core.edits.omissions import refuse_placeholders
from chatls_core.edits.plan import Draft, Rung
from chatls_core.edits.replacement import fit, ladder_for, refuse_lost_blank
from chatls_core.edits.spans import apart, find_spans, line_numbers, typographic_spans
from chatls_core.edits.typography import plain_where_the_file_is
from chatls_core.edits.unnumber import new_unnumbered, unnumbered

_EXAMPLE = '{"path": "src/app.py", "old_string": "text as it stands in the file", "new_string": "text to put there"}'
_MAX_REPORTED = 200
_FENCE = re.compile(r"\A\s*```[\w-]*\n(.*?)\n?```\s*\Z", re.DOTALL)


def _names(*names: str) -> AliasChoices:
    return AliasChoices(*names)


class _Replacement(BaseModel):
    model_config = ConfigDict(extra="ignore")

    path: str | None = Field(None, validation_alias=_names("path", "file_path", "filePath", "filepath", "file"))
    old: str = Field(validation_alias=_names("old_string", "oldString", "old_str", "old_text", "oldText"))
    new: str = Field(validation_alias=_names("new_string", "newString", "new_str", "new_text", "newText"))
    all: bool = Field(False, validation_alias=_names("replace_all", "replaceAll", "allow_multiple"))


class _Many(BaseModel):
    model_config = ConfigDict(extra="ignore")

    path: str | None = Field(None, validation_alias=_names("path", "file_path", "filePath", "filepath", "file"))
    edits: list[_Replacement] = Field(min_length=1, validation_alias=_names("edits", "replacements"))


def parse(edit: str) -> list[tuple[str, _Replacement]]:
    """The replacements of an edit, each with its path. Raises :class:`EditError` that shows the right form."""
    fenced = _FENCE.match(edit)
    try:
        data = json.loads(fenced[1] if fenced else edit, strict=False)
    except (ValueError, RecursionError) as error:
        raise EditError(
            EditErrorKind.MALFORMED, f"The edit is not valid JSON ({error}). It has this form: {_EXAMPLE}"
        ) from error
    try:
        if isinstance(data, list):
            many = _Many(edits=[_Replacement.model_validate(item) for item in data])
        elif isinstance(data, dict) and ("edits" in data or "replacements" in data):
            many = _Many.model_validate(data)
        else:
            many = _Many(edits=[_Replacement.model_validate(data)])
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the edit"
        raise EditError(
            EditErrorKind.MALFORMED, f"{where}: {first['msg'].lower()}. An edit has this form: {_EXAMPLE}"
        ) from error
    pairs: list[tuple[str, _Replacement]] = []
    for item in many.edits:
        path = item.path or many.path
        if not path or not path.strip():
            raise EditError(EditErrorKind.MALFORMED, f"The edit names no file. It has this form: {_EXAMPLE}")
        pairs.append((path, item))
    return pairs


def named_paths(edit: str) -> tuple[str, ...]:
    """The files an edit names, in order."""
    return tuple(dict.fromkeys(path for path, _ in parse(edit)))


def apply(draft: Draft, edit: str) -> None:
    """Make the replacements in turn: a later one sees the text as the earlier ones left it."""
    for path, item in parse(edit):
        _replace(draft, path, item)


def _replace(draft: Draft, path: str, item: _Replacement) -> None:
    if not item.old:
        _fill(draft, path, item)
        return
    key = draft.require(path)
    text = draft.get(key)
    assert text is not None
    if item.old == item.new:
        raise EditError(
            EditErrorKind.NO_CHANGE,
            f"old_string and new_string are the same, so {key} would not change. Say what the text should become.",
            key,
        )
    refuse_placeholders(key, split_contents(item.new), split_contents(item.old))
    draft.write(key, replace_text(draft, key, text, item.old, item.new, replace_all=item.all))


def _fill(draft: Draft, path: str, item: _Replacement) -> None:
    """An empty search creates a file or fills an empty one; in a file with text it would fit everywhere."""
    key = draft.find_exact(path) or draft.place_for_new(path)
    text = draft.get(key)
    if text:
        raise EditError(
            EditErrorKind.EMPTY_SEARCH,
            f"old_string is empty, but {key} has text: say which text to replace. To insert, take the line next to the "
            "place as old_string and that line with the new ones as new_string; to rewrite it all, use write_file.",
            key,
        )
    refuse_placeholders(key, split_contents(item.new), ())
    draft.write(key, item.new)


def replace_text(draft: Draft, path: str, text: str, old: str, new: str, *, replace_all: bool) -> str:
    """``text`` with ``old`` replaced by ``new`` where the ladder finds it. Raises :class:`EditError`."""
    spans, rung = find_spans(text, old)
    if spans:
        if len(spans) > 1 and not replace_all:
            raise _several(path, text, old, [start for start, _ in spans])
        if len(spans) == 1:
            refuse_doubling(path, text, spans[0], old, new)
            refuse_joining(path, text, spans[0], old, new)
        return _put(draft, path, text, apart(spans), old, new, rung)
    if not replace_all:
        done = _by_lines(draft, path, text, old, new)
        if done is not None:
            return done
    raise not_found(path, f"old_string {quote(old)}", split_contents(text), split_contents(old), split_contents(new))


def _several(path: str, text: str, old: str, starts: Sequence[int]) -> EditError:
    lines = line_numbers(text, starts)
    return ambiguous(
        path,
        f"old_string {quote(old)}",
        lines,
        "Add the lines around the one you mean until it is the only one, or set replace_all to change all of them.",
    )


def _put(draft: Draft, path: str, text: str, spans: Sequence[tuple[int, int]], old: str, new: str, rung: Rung) -> str:
    newline = dominant_newline(text, "")
    literal = not newline or (rung is Rung.EXACT and "\r" in old) or ("\r" in new and "\r\n" not in new)
    parts: list[str] = []
    done = 0
    put: dict[str, str] = {}
    for start, stop in spans:
        block = text[start:stop]
        if block not in put:
            put[block] = draft.plain(path, new if literal else conform(new, block, newline))
        parts += (text[done:start], put[block])
        done = stop
    for line in line_numbers(text, [start for start, _ in spans[:_MAX_REPORTED]]):
        draft.report(path, line, rung)
    parts.append(text[done:])
    return "".join(parts)


def _by_lines(draft: Draft, path: str, text: str, old: str, new: str) -> str | None:
    """The tolerant rungs: whole lines, apart from blanks, indentation, typography, empty lines or a typing mistake."""
    old, new = to_lf(old), to_lf(new)
    lines = Lines.of(text)
    index = FileIndex(lines)
    attempts = [_Wanted.of(old, new)]
    if (trimmed := _without_shared_breaks(old, new)) is not None:
        attempts.append(_Wanted.of(*trimmed))
    whole = attempts[0]
    for rung in ladder_for(path)[1:]:
        if rung is Rung.TYPOGRAPHY and not (text.isascii() and old.isascii()):
            spans = typographic_spans(text, old)
            if len(spans) > 1:
                raise _several(path, text, old, [start for start, _ in spans])
            if spans:
                there = to_lf(text[spans[0][0] : spans[0][1]])
                refuse_joining(path, text, spans[0], old, new)
                draft.curled(path, plain_where_the_file_is((old,), (there,)))
                return _put(draft, path, text, spans, old, _in_the_files_characters(old, new, there), rung)
        for wanted in reversed(attempts) if rung is Rung.BLANK_LINES else attempts:
            found = index.places(wanted.block, rung)
            if found:
                if len(found) == 1:
                    shown = f"old_string {quote(old)}"
                    refuse_lost_blank(path, shown, lines, found[0], wanted.block, whole.block, whole.new)
                return _put_lines(draft, path, lines, wanted, found)
    return _unnumbered(draft, path, index, old, new)


def _in_the_files_characters(old: str, new: str, there: str) -> str:
    """``new`` with the lines it shares with ``old`` as the file has them (``there``, line by line as ``old``)."""
    plain = plain_where_the_file_is((old,), (there,))
    sent, put, kept = old.split("\n"), new.split("\n"), there.split("\n")
    lines = [line.translate(plain) for line in put]
    for tag, i1, i2, j1, j2 in opcodes(sent, put):
        if tag == "equal":
            lines[j1:j2] = kept[i1:i2]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A search by lines: the lines to find, the lines to put; ``closed``: the search ends with a line ending."""

    block: list[str]
    new: list[str]
    closed: bool

    @classmethod
    def of(cls, old: str, new: str) -> _Wanted:
        closed = old.endswith("\n")
        return cls(split_contents(old), new.split("\n"), closed)


def _without_shared_breaks(old: str, new: str) -> tuple[str, str] | None:
    """Both texts without the line breaks both begin or end with; ``None`` where there are none or nothing is left.

    Where one has more of them at its end than the other, those are empty lines too: none is left to join lines by.
    """
    low = 0
    while old[low : low + 1] == "\n" and new[low : low + 1] == "\n":
        low += 1
    one, other = old[low:].rstrip("\n"), new[low:].rstrip("\n")
    high = min(len(old) - low - len(one), len(new) - low - len(other))
    if not (low or high) or not one:
        return None
    if high and len(old) - low - high > len(one):
        return one, other
    return old[low : len(old) - high], new[low : len(new) - high]


def _put_lines(draft: Draft, path: str, lines: Lines, wanted: _Wanted, found: Sequence[Match]) -> str:
    shown = quote("\n".join(wanted.block))
    if len(found) > 1:
        raise ambiguous(
            path,
            f"old_string {shown}, {found[0].rung.words},",
            [match.start + 1 for match in found],
            "Copy the text exactly as it stands at the place you mean, with the lines around it.",
            capped=len(found) > MAX_PLACES,
        )
    match = found[0]
    fitted = fit(draft, path, lines, match, wanted.block, wanted.new)
    if fitted is None:
        raise EditError(
            EditErrorKind.NOT_FOUND,
            f"old_string {shown} stands at line {match.start + 1} of {path} with another indentation, and new_string "
            "is indented like neither: nothing was changed. Write both with the file's own indentation.",
            path,
        )
    draft.report(path, match.start + 1, match.rung)
    before, block, after = _cut(lines, match, closed=wanted.closed)
    put = "\n".join(fitted)
    if wanted.closed:
        span = (len(before), len(before) + len(block))
        search = "\n".join(wanted.block) + "\n"
        refuse_doubling(path, before + block + after, span, search, put)
        refuse_joining(path, before + block + after, span, search, put, exact=False)
    if wanted.closed and not lines.endings[match.stop - 1]:
        # The search asks for the line ending that the file's last line lacks, and would put it back.
        put = put.removesuffix("\n")
    return before + conform(draft.plain(path, put), block, lines.newline) + after


def _cut(lines: Lines, match: Match, *, closed: bool) -> tuple[str, str, str]:
    """The text before the match, the match (with its last line ending where ``closed``), and the text after it."""
    kept = [content + ending for content, ending in zip(lines.contents, lines.endings, strict=True)]
    block = "".join(kept[match.start : match.stop])
    after = "".join(kept[match.stop :])
    ending = lines.endings[match.stop - 1]
    if not closed and ending:
        block, after = block[: -len(ending)], ending + after
    return "".join(kept[: match.start]), block, after


def _unnumbered(draft: Draft, path: str, index: FileIndex, old: str, new: str) -> str | None:
    """A search copied with the read tool's line numbers, where they are the numbers of the lines found."""
    numbered = unnumbered(split_contents(old))
    if numbered is None:
        return None
    first, block = numbered
    found = [match for match in index.places(block, Rung.EXACT) if match.start == first - 1]
    if len(found) != 1:
        return None
    bare = new_unnumbered(new.split("\n"), split_contents(old))
    if bare is None:
        return None
    wanted = _Wanted(block, bare, old.endswith("\n"))
    draft.note(f"{path}: the line numbers in old_string were left out.")
    return _put_lines(draft, path, index.lines, wanted, found)
