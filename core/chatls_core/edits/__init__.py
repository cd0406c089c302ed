"""How does text change? Edit formats, matching, plans, hunks, merging, encodings, syntax (issue 5, docs/edits.md).

Everything here is pure: texts in, texts out. Nothing reads or writes a file, nothing knows an editor.
"""

from __future__ import annotations

from chatls_core.edits import syntax
from chatls_core.edits.catalogue import edit_tool_schema, format_for_model
from chatls_core.edits.columns import PositionEncoding, column_to_units, units_to_column
from chatls_core.edits.encoding import DecodedText, DecodeError, EncodeError, decode, encode
from chatls_core.edits.engine import FORMATS, named_paths, preview
from chatls_core.edits.errors import EditError, EditErrorKind
from chatls_core.edits.file_style import FileStyle, new_file_style
from chatls_core.edits.hunking import HunkError, apply_hunks, hunks
from chatls_core.edits.lines import dominant_newline, with_newlines
from chatls_core.edits.merging import Conflict, RebaseConflict, rebase
from chatls_core.edits.plan import EditPlan, FileReport, Place, Rung

__all__ = [
    "FORMATS",
    "Conflict",
    "DecodeError",
    "DecodedText",
    "EditError",
    "EditErrorKind",
    "EditPlan",
    "EncodeError",
    "FileReport",
    "FileStyle",
    "HunkError",
    "Place",
    "PositionEncoding",
    "RebaseConflict",
    "Rung",
    "apply_hunks",
    "column_to_units",
    "decode",
    "dominant_newline",
    "edit_tool_schema",
    "encode",
    "format_for_model",
    "hunks",
    "named_paths",
    "new_file_style",
    "preview",
    "rebase",
    "syntax",
    "units_to_column",
    "with_newlines",
]
