"""What drives a service, and the figures one run of it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from tare.services import Deployment

if TYPE_CHECKING:
    from tare.stats.histogram import Histogram

Loop = Literal["open", "closed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult:
    """One measured round, from what the generator kept of every request.

    ``loop`` is open when requests are sent at ``offered_rate`` (per second), whatever comes back, and closed
    when each connection waits for its answer: then no rate is offered. ``metrics`` are in base units, by the
    names that the load declares in its module; one that could not be measured is absent.
    ``began_at`` and ``ended_at`` (Unix time, seconds) bound the round: resource use is cut to them.
    ``latency`` and ``latencies_seconds`` (raw, in the order of sending, where the tool has them) are those
    of the successes unless a note says otherwise. ``completed_per_second`` counts successes by whole seconds
    from the beginning, while it was sending; empty where the tool does not tell. ``failures`` counts by reason.

    The generator's checks of itself: ``late`` requests, which it sent behind its schedule or not at all (None
    where there is no schedule); ``generator_cpu_cores``; ``client_bound``, that the generator and not the
    service set the figures. ``notes`` say why.
    """

    load: str
    loop: Loop
    offered_rate: float | None
    metrics: Mapping[str, float]
    succeeded: int
    failed: int
    late: int | None
    began_at: float
    ended_at: float
    latency: Histogram | None
    failures: Mapping[str, int]
    generator_cpu_cores: float
    client_bound: bool
    latencies_seconds: tuple[float, ...] = ()
    completed_per_second: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    raw_files: tuple[Path, ...] = field(default=())


DeploymentT_contra = TypeVar("DeploymentT_contra", bound=Deployment, contravariant=True)


class Load(Protocol[DeploymentT_contra]):
    """A load generator."""

    @property
    def name(self) -> str:
        """The name under which a lab declares it."""

    @property
    def loop(self) -> Loop: ...

    @property
    def option_names(self) -> frozenset[str]:
        """The options that ``options`` knows; a factor of such a name sets one."""

    def options(self, given: Mapping[str, object]) -> Mapping[str, object]:
        """Return every option, checked and in base units, those not given at their defaults.

        Raises UsageError, which names the load and the option and shows the right form, for an option that
        is unknown, missing or of another type.
        """

    def obstacle(self, deployment: DeploymentT_contra) -> str | None:
        """Return why the deployment cannot be driven so; None where it can."""

    def run(
        self,
        deployment: DeploymentT_contra,
        *,
        options: Mapping[str, object],
        warmup_seconds: float,
        duration_seconds: float,
        directory: Path,
    ) -> LoadResult:
        """Drive the deployment and return what came of it; ``options`` are what the method of that name returns.

        The warm-up is driven the same way and not counted. ``directory`` receives the generator's
        configuration, log and raw output. Raises TareError when the generator itself fails; failed
        requests are figures, not errors.
        """

    def stop(self) -> None:
        """End what ``run`` runs in another thread, which then raises; nothing, if it runs nothing."""


__all__ = ["Load", "LoadResult", "Loop"]
