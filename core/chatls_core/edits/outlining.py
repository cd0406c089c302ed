"""The outline of a file: its definitions by name, kind and lines, for the coder's ``outline`` tool."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chatls_core.edits.grammars import MAX_BYTES, language_of, parse
from chatls_core.edits.lines import split_contents, to_lf

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_ITEMS = 2000
_MAX_NAME = 120
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t#]*$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")

_JAVASCRIPT = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "method_definition": "method",
}
_TYPESCRIPT = {
    **_JAVASCRIPT,
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "type_alias_declaration": "type",
    "enum_declaration": "enum",
    "internal_module": "namespace",
    "module": "namespace",
    "function_signature": "function",
    "method_signature": "method",
    "abstract_method_signature": "method",
}
_C = {
    "function_definition": "function",
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
    "type_definition": "type",
}

# language: node type -> kind of item
_KINDS: dict[str, dict[str, str]] = {
    "bash": {"function_definition": "function"},
    "c": _C,
    "c_sharp": {
        "namespace_declaration": "namespace",
        "file_scoped_namespace_declaration": "namespace",
        "class_declaration": "class",
        "struct_declaration": "struct",
        "interface_declaration": "interface",
        "enum_declaration": "enum",
        "record_declaration": "record",
        "delegate_declaration": "type",
        "method_declaration": "method",
        "constructor_declaration": "constructor",
        "property_declaration": "property",
    },
    "cpp": {**_C, "class_specifier": "class", "namespace_definition": "namespace", "concept_definition": "type"},
    "css": {
        "rule_set": "rule",
        "media_statement": "media",
        "keyframes_statement": "keyframes",
        "supports_statement": "supports",
    },
    "go": {
        "function_declaration": "function",
        "method_declaration": "method",
        "type_spec": "type",
        "type_alias": "type",
    },
    "html": {"element": "element", "script_element": "element", "style_element": "element"},
    "java": {
        "class_declaration": "class",
        "interface_declaration": "interface",
        "enum_declaration": "enum",
        "record_declaration": "record",
        "annotation_type_declaration": "interface",
        "method_declaration": "method",
        "constructor_declaration": "constructor",
    },
    "javascript": _JAVASCRIPT,
    "json": {"pair": "key"},
    "php": {
        "namespace_definition": "namespace",
        "class_declaration": "class",
        "interface_declaration": "interface",
        "trait_declaration": "trait",
        "enum_declaration": "enum",
        "function_definition": "function",
        "method_declaration": "method",
    },
    "python": {"function_definition": "function", "class_definition": "class"},
    "ruby": {"class": "class", "module": "module", "method": "method", "singleton_method": "method"},
    "rust": {
        "function_item": "function",
        "function_signature_item": "function",
        "struct_item": "struct",
        "union_item": "union",
        "enum_item": "enum",
        "trait_item": "trait",
        "impl_item": "impl",
        "mod_item": "module",
        "type_item": "type",
        "macro_definition": "macro",
    },
    "toml": {"table": "table", "table_array_element": "table"},
    "tsx": _TYPESCRIPT,
    "typescript": _TYPESCRIPT,
    "yaml": {"block_mapping_pair": "key"},
}

# Definitions inside these are local; data files would list every leaf.
_CLOSED = {"function", "method", "constructor", "property", "rule"}
_MAX_DEPTH = {"json": 2, "yaml": 2, "html": 4}


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """One definition: its name, its kind (``class``, ``function``, …), 1-based first and last line, nesting depth."""

    name: str
    kind: str
    start_line: int
    end_line: int
    depth: int


def outline(path: str, text: str) -> tuple[OutlineItem, ...]:
    """The definitions of ``text`` in order, read as the language of ``path`` (Markdown: its headings), at most 2000.

    Empty for a language without a grammar and for texts above 2 MB.
    """
    if path.lower().endswith((".md", ".markdown", ".mdx")):
        return tuple(_headings(text))
    language = language_of(path)
    # tree-sitter counts lines by "\n" only.
    data = to_lf(text).encode("utf-8", "surrogatepass")
    if language is None or len(data) > MAX_BYTES:
        return ()
    items: list[OutlineItem] = []
    kinds = _KINDS[language]
    deepest = _MAX_DEPTH.get(language, 12)
    stack: list[tuple[Node, int]] = [(parse(language, data).root_node, 0)]
    while stack and len(items) < _MAX_ITEMS:
        node, depth = stack.pop()
        kind, name = _definition(language, kinds, node)
        if kind and name:
            items.append(OutlineItem(name[:_MAX_NAME], kind, node.start_point[0] + 1, _last_line(node), depth))
            depth += 1
            if kind in _CLOSED or depth >= deepest:
                continue
        stack.extend((child, depth) for child in reversed(node.named_children))
    return tuple(items)


def _last_line(node: Node) -> int:
    row, column = node.end_point
    return row + 1 if column or row == node.start_point[0] else row


def _definition(language: str, kinds: dict[str, str], node: Node) -> tuple[str, str]:
    kind = kinds.get(node.type, "")
    if not kind:
        return _assigned_function(node) if language in ("javascript", "typescript", "tsx") else ("", "")
    if not node.is_named or (node.type == "module" and node.parent is None):
        return "", ""
    name = node.child_by_field_name("name")
    if language in ("c", "cpp"):
        return _c_definition(kind, node, name)
    if language == "rust" and node.type == "impl_item":
        return kind, _impl_name(node)
    if language in ("json", "yaml"):
        key = node.child_by_field_name("key")
        return kind, _text(key).strip("\"'")
    if language == "html":
        return _html_name(kind, node)
    if language in ("css", "toml"):
        return kind, _first_line(node).split("{")[0].strip(" []")
    if language == "go":
        return _go_definition(kind, node, name)
    if kind == "function" and language == "python" and _inside(node, "class_definition"):
        kind = "method"
    return kind, _text(name)


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _first_line(node: Node) -> str:
    return _text(node).split("\n", 1)[0].strip()


def _inside(node: Node, kind: str) -> bool:
    parent = node.parent
    while parent is not None and parent.type in ("block", "decorated_definition"):
        parent = parent.parent
    return parent is not None and parent.type == kind


def _assigned_function(node: Node) -> tuple[str, str]:
    """``const run = () => …`` and fields that hold a function."""
    if node.type not in ("variable_declarator", "public_field_definition", "field_definition"):
        return "", ""
    value = node.child_by_field_name("value")
    if value is None or value.type not in ("arrow_function", "function_expression", "generator_function", "class"):
        return "", ""
    name = node.child_by_field_name("name") or node.child_by_field_name("property")
    if value.type == "class":
        return "class", _text(name)
    return ("function" if node.type == "variable_declarator" else "method"), _text(name)


def _c_definition(kind: str, node: Node, name: Node | None) -> tuple[str, str]:
    if kind in ("struct", "union", "enum", "class") and node.child_by_field_name("body") is None:
        return "", ""
    if name is not None:
        return kind, _text(name)
    declarator = node.child_by_field_name("declarator")
    while declarator is not None:
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            break
        declarator = inner
    return kind, " ".join(_text(declarator).split())


def _impl_name(node: Node) -> str:
    trait, target = _text(node.child_by_field_name("trait")), _text(node.child_by_field_name("type"))
    return f"{trait} for {target}" if trait else target


def _go_definition(kind: str, node: Node, name: Node | None) -> tuple[str, str]:
    if node.type == "method_declaration":
        receiver = _text(node.child_by_field_name("receiver")).strip("()").split()
        return kind, f"({receiver[-1]}) {_text(name)}" if receiver else _text(name)
    if node.type == "type_spec":
        shape = node.child_by_field_name("type")
        kind = {"struct_type": "struct", "interface_type": "interface"}.get(shape.type if shape else "", kind)
    return kind, _text(name)


def _html_name(kind: str, node: Node) -> tuple[str, str]:
    """Elements that carry an id, and the page's frame."""
    tag = node.named_children[0] if node.named_children else None
    if tag is None:
        return "", ""
    match = re.match(r"<([\w:-]+)", _text(tag))
    name = match[1] if match else ""
    identity = re.search(r"\bid\s*=\s*[\"']?([\w:.-]+)", _text(tag))
    if identity:
        return kind, f"{name}#{identity[1]}"
    return (kind, name) if name.lower() in ("html", "head", "body", "script", "style", "main", "nav") else ("", "")


def _headings(text: str) -> Iterator[OutlineItem]:
    """Headings of Markdown outside code fences, each up to the next of its level or above."""
    contents = split_contents(text)
    found: list[tuple[int, int, str]] = []
    fence = ""
    for number, line in enumerate(contents):
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1][:3]
            elif mark[1].startswith(fence):
                fence = ""
        elif not fence and (heading := _HEADING.match(line)):
            found.append((number, len(heading[1]), heading[2]))
    for at, (number, level, name) in enumerate(found[:_MAX_ITEMS]):
        end = next((later for later, deep, _ in found[at + 1 :] if deep <= level), len(contents))
        yield OutlineItem(name[:_MAX_NAME], "heading", number + 1, end, level - 1)
