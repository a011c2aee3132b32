"""The client that a deployment has of its own. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A deployment's own client, whose place a load takes. ``network`` is the file of its network namespace; ``path``
    is what is asked for and ``keep_alive`` whether a connection serves many requests, as the deployment's factors say.
    """

    node: str
    network: str
    path: str
    keep_alive: bool
