"""What is wrong with a network's Pods, from what the API server says of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A container that ended by itself."""

    pod: str
    exit_code: int
    reason: str


def ended(pods: Iterable[Document]) -> Iterator[Ended]:
    """Yield the containers that are no longer running."""
    for pod in pods:
        for status in pod["status"].get("containerStatuses", ()):
            if found := status["state"].get("terminated"):
                yield Ended(
                    pod=pod["metadata"]["name"], exit_code=found["exitCode"], reason=found.get("reason", "unknown")
                )


def describe(pods: Sequence[Document], warnings: Iterable[Document]) -> str:
    """Return a line for each Pod that does not run, and one for each warning (an Event) there is about any."""
    lines = [
        f"{pod['metadata']['name']}: {pod['status'].get('phase', 'Unknown')}{_reasons(pod)}"
        for pod in pods
        if not _runs(pod)
    ]
    told = {f"{warning['involvedObject']['name']}: {warning['reason']}: {warning['message']}" for warning in warnings}
    return "\n".join([*lines, *sorted(told)]) or "every Pod runs, and there are no warnings about any"


def _runs(pod: Document) -> bool:
    statuses = pod["status"].get("containerStatuses", ())
    return bool(statuses) and all("running" in status["state"] for status in statuses)


def _reasons(pod: Document) -> str:
    states = [state for status in pod["status"].get("containerStatuses", ()) for state in status["state"].values()]
    reasons = [" ".join(filter(None, (state.get("reason"), state.get("message")))) for state in states]
    return f" ({', '.join(filter(None, reasons))})" if any(reasons) else ""
