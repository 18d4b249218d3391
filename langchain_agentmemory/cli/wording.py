"""Numbers of things, in words."""


def numbered(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, which is singular after 1.

    Args:
        number: How many.
        noun: What is counted, in the singular.
        plural: The plural, if it is more than an added "s".
    """
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def memories(number: int) -> str:
    """Return a number of memories in words."""
    return numbered(number, "memory", "memories")
