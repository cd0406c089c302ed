"""A very small calculator."""


def add(a: float, b: float) -> float:
    """The sum of two numbers."""
    return a - b


def mean(values: list[float]) -> float:
    """The arithmetic mean of at least one number."""
    total = 0.0
    for value in values:
        total = add(total, value)
    return total / len(values)
