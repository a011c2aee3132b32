"""What is put under test: a service is deployed at the levels of an experiment's factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from tare.manifest import Level


class Deployment(Protocol):
    """A service that is up and has answered; a load is pointed at it."""

    def node_types(self) -> Mapping[str, Sequence[str]]:
        """Return the cgroup paths of the service's pods, by node type."""

    def close(self) -> None:
        """Take it down and remove what it stored. Calling it again does nothing."""


DeploymentT = TypeVar("DeploymentT", bound=Deployment)


class Service(Protocol[DeploymentT]):
    """Something that can be deployed. ``levels`` maps factor names to levels; a service reads those it knows."""

    def deploy(self, levels: Mapping[str, Level]) -> DeploymentT:
        """Bring it up and return when it has done real work once, the way a load will ask it to."""

    def configure(self, deployment: DeploymentT, levels: Mapping[str, Level]) -> None:
        """Set the factors whose scope is a run, on a deployment that stays up."""


__all__ = ["Deployment", "DeploymentT", "Service"]
