"""A key that cannot be printed by accident."""

from __future__ import annotations


class Secret:
    """Holds a key. Its ``repr`` and ``str`` never show it; :meth:`reveal` is called where a request is built."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value.strip()

    def reveal(self) -> str:
        """The key itself."""
        return self._value

    def scrub(self, text: str) -> str:
        """``text`` without the key: some gateways repeat it in their error messages."""
        return text.replace(self._value, "***") if len(self._value) > 3 else text

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "Secret(***)" if self._value else "Secret()"

    __str__ = __repr__
