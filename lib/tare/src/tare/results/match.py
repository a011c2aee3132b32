"""What must be the same for two commands to be one run, and for two runs to be compared. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from tare.errors import UsageError

# Two kernels on one machine keep different amounts of its memory for themselves.
_MEMORY_TOLERANCE = 0.02

# What a machine can do besides says nothing about how fast it is.
_NOT_COMPARED = ("capabilities",)

_LONGEST = 72


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A fact that two records do not share; None where it is not recorded."""

    fact: str
    a: Any
    b: Any

    def __str__(self) -> str:
        return f"{self.fact}: {_shown(self.a)} and {_shown(self.b)}"


class DifferentRun(UsageError):
    """A command cannot go on with a run that another one began; ``differences`` has the run's value first."""

    def __init__(self, folder: PurePath, found: Sequence[Difference]) -> None:
        self.differences = tuple(found)
        listed = "".join(f"\n  {one.fact}: {_shown(one.a)} then, {_shown(one.b)} now" for one in found)
        super().__init__(
            f"{folder} cannot be gone on with, for trials measured now would not be of one run with those in it:"
            f"{listed}\nCall it as it was called then, or begin a new run."
        )


def differences(record_a: Mapping[str, Any], record_b: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Return the facts of the host that two runs do not share, so that a ratio of their figures says little.

    Those of ``machine`` (processor, CPUs, memory within 2 %, kernel, cgroup version) and ``node_cpus``, the CPU
    set of each node of the lab.
    """
    a, b = (_host(record) for record in (record_a, record_b))
    return tuple(one for one in _walk(a, b, "") if not _nearly(one))


def identity_differences(record_a: Mapping[str, Any], record_b: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Return what keeps two commands from being one run: of what is measured, and of the host."""
    a, b = (_plain(record.get("identity", {})) for record in (record_a, record_b))
    return (*_walk(a, b, ""), *differences(record_a, record_b))


def _host(record: Mapping[str, Any]) -> dict[str, Any]:
    machine = {name: value for name, value in record.get("machine", {}).items() if name not in _NOT_COMPARED}
    return _plain({**machine, "node_cpus": record.get("node_cpus", {})})


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """As it comes back from a file: a tuple is a list."""
    plain: dict[str, Any] = json.loads(json.dumps(value))
    return plain


def _walk(a: Any, b: Any, path: str) -> Iterator[Difference]:
    """Yield what differs, as deep down as both are objects."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for name in sorted(a.keys() | b.keys()):
            yield from _walk(a.get(name), b.get(name), f"{path}.{name}" if path else str(name))
    elif a != b:
        yield Difference(fact=path, a=a, b=b)


def _nearly(one: Difference) -> bool:
    return (
        one.fact == "memory_bytes"
        and isinstance(one.a, int)
        and isinstance(one.b, int)
        and abs(one.a - one.b) <= _MEMORY_TOLERANCE * max(one.a, one.b)
    )


def _shown(value: Any) -> str:
    if value is None:
        return "not recorded"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
