"""Lists of CPUs as the kernel writes them. Pure."""

from __future__ import annotations


def cpu_list(text: str) -> tuple[int, ...]:
    """Return the CPUs of a list as the kernel writes it: "0-2,5" is (0, 1, 2, 5), nothing is (). Raises ValueError."""
    found: set[int] = set()
    for part in text.split(",") if text.strip() else ():
        first, _, last = part.strip().partition("-")
        begin, end = int(first), int(last or first)
        if begin > end:
            raise ValueError(f"{part!r} runs backwards")
        found.update(range(begin, end + 1))
    return tuple(sorted(found))
