"""What drives a service, and the figures one run of it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from tare.services import Deployment


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult:
    """One measured round, from raw samples. Rates are per second.

    ``duration_seconds`` reaches from the first request to the last answer, so that work which
    a service has only queued does not count as done; ``goodput`` is successes over it.
    ``sent_rate`` is what the generator really sent, over the time in which it sent.
    ``latencies_seconds`` holds one entry a success, in the order of sending.
    ``began_at`` and ``ended_at`` bound the round (Unix time, seconds): resource use is cut to them.
    ``client_bound`` says that the generator, not the service, set the figures; ``notes`` say why.
    """

    offered_rate: float
    sent_rate: float
    goodput: float
    succeeded: int
    failed: int
    duration_seconds: float
    began_at: float
    ended_at: float
    latencies_seconds: tuple[float, ...]
    failures: Mapping[str, int]
    generator_cpu_cores: float
    client_bound: bool
    notes: tuple[str, ...] = ()
    raw_files: tuple[Path, ...] = field(default=())


DeploymentT_contra = TypeVar("DeploymentT_contra", bound=Deployment, contravariant=True)


class Load(Protocol[DeploymentT_contra]):
    """A load generator."""

    def run(
        self,
        deployment: DeploymentT_contra,
        *,
        rate: float,
        warmup_seconds: float,
        duration_seconds: float,
        directory: Path,
    ) -> LoadResult:
        """Offer ``rate`` requests per second and return what came of it.

        The warm-up is sent at the same rate and not counted. ``directory`` receives the
        generator's configuration, log and raw samples. Raises TareError when the generator
        itself fails; failed requests are figures, not errors.
        """


__all__ = ["Load", "LoadResult"]
