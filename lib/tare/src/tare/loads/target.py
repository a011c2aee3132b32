"""What a load over HTTP is pointed at."""

from __future__ import annotations

import ipaddress
from typing import Protocol
from urllib.parse import urlsplit

from tare.errors import TareError
from tare.services import Deployment
from tare.services.client import Client

# RFC 2544: set aside for benchmarks. Every network of a lab lies in it.
LAB_NETWORK = ipaddress.ip_network("198.18.0.0/15")


class HttpTarget(Deployment, Protocol):
    """A deployment that answers HTTP. ``url`` is where, without a path, as its client reaches it; a load's own node
    does where there is no client."""

    @property
    def url(self) -> str: ...

    @property
    def client(self) -> Client | None: ...

    def require_running(self) -> None:
        """Raise TareError when what runs is not what was deployed: it ended, or was started anew."""
        ...


class ClientTarget(HttpTarget, Protocol):
    """One with a client of its own. At ``round_trip``, ``address:port``, it answers each byte with one; None where
    bytes alone are not forwarded. It does so once netperf asked for it at ``netserver``, or always where that is None.
    """

    @property
    def client(self) -> Client: ...

    @property
    def round_trip(self) -> str | None: ...

    @property
    def netserver(self) -> str | None: ...


class ForeignTarget(TareError):
    """Load was to be sent somewhere that is not a lab's; nothing was sent."""

    def __init__(self, url: str, found: str) -> None:
        self.url = url
        super().__init__(
            f"no load is sent to {url!r}: expected http or https, and an address in {LAB_NETWORK} or of the loopback, "
            f"found {found}; let the service give an address of the lab, such as http://198.18.0.2:8080"
        )


def endpoint(url: str, path: str) -> str:
    """Return the URL of ``path`` at a target. Raises ForeignTarget unless it is an address of a lab or the loopback:
    load never leaves the machine by mistake, nor by what a name happens to mean."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ForeignTarget(url, str(error)) from None
    if parts.scheme not in ("http", "https"):
        raise ForeignTarget(url, f"the scheme {parts.scheme!r}")
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username is not None:
        raise ForeignTarget(url, "more than an address and a port")
    host = parts.hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise ForeignTarget(url, f"the host {host!r}, which is no address") from None
    if not (address.is_loopback or address in LAB_NETWORK):
        raise ForeignTarget(url, f"the address {address}")
    written = f"[{address}]" if address.version == 6 else str(address)
    return f"{parts.scheme}://{written}{'' if port is None else f':{port}'}{path}"
