"""The lab's API server: waited for over a connection of our own, spoken to with kubectl."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tare.cluster.network import open_socket
from tare.cluster.pki import Identity
from tare.errors import NotReady

_REQUEST_SECONDS = 5.0
_PORT = 6443

Object = Mapping[str, Any]


class Api:
    """Reads from the API server, and deletes. Starting kubectl costs a tenth of a second of CPU."""

    def __init__(self, *, namespace: str, address: str, authority: Path, identity: Identity) -> None:
        self._namespace = namespace
        self._address = address
        self._context = ssl.create_default_context(cafile=str(authority))
        self._context.load_cert_chain(identity.certificate, identity.key)
        # A handshake costs more than most requests.
        self._idle: deque[_Connection] = deque()

    def get(self, path: str, *, accept: str = "application/json") -> Any:
        """Return the JSON answer, or the text if it is not JSON. Raises OSError, for a refusal too."""
        return self._request("GET", path, {"Accept": accept})

    def delete(self, path: str, options: Object | None = None) -> None:
        """Delete what is at a path, all of it if that is a collection, without waiting until it is gone; nothing being
        there is fine. ``options`` are the fields of Kubernetes' DeleteOptions. Raises OSError, for a refusal too."""
        with contextlib.suppress(FileNotFoundError):
            self._request("DELETE", path, {"Content-Type": "application/json"}, json.dumps(options or {}))

    def _request(self, method: str, path: str, headers: Mapping[str, str], body: str | None = None) -> Any:
        try:
            response, answer = self._exchange(self._idle.pop(), method, path, headers, body)
        except (IndexError, ConnectionError):
            # None was idle, or the server has closed it meanwhile; both methods may be repeated.
            connection = _Connection(self._namespace, self._address, self._context)
            response, answer = self._exchange(connection, method, path, headers, body)
        if response.status == http.client.NOT_FOUND:
            raise FileNotFoundError(f"{method} {path}: {response.status} {answer[:300]}")
        if not http.client.OK <= response.status < http.client.MULTIPLE_CHOICES:
            raise ConnectionError(f"{method} {path}: {response.status} {answer[:300]}")
        is_json = (response.getheader("Content-Type") or "").startswith("application/json")
        return json.loads(answer) if is_json else answer

    def _exchange(
        self, connection: _Connection, method: str, path: str, headers: Mapping[str, str], body: str | None
    ) -> tuple[http.client.HTTPResponse, str]:
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            answer = response.read().decode(errors="replace")
        except BaseException as error:
            connection.close()
            if isinstance(error, http.client.HTTPException):
                raise ConnectionError(f"{method} {path}: {error!r}") from error
            raise
        self._idle.append(connection)
        return response, answer


class _Connection(http.client.HTTPSConnection):
    def __init__(self, namespace: str, address: str, context: ssl.SSLContext) -> None:
        super().__init__(address, _PORT, timeout=_REQUEST_SECONDS, context=context)
        self._namespace = namespace
        self._tls = context

    def connect(self) -> None:
        plain = open_socket(self._namespace)
        plain.settimeout(self.timeout)
        plain.connect((self.host, self.port))
        # A request's body follows its head; held back for an acknowledgement it would take 40 ms.
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = self._tls.wrap_socket(plain, server_hostname=self.host)


def wait_until(
    what: str,
    look: Callable[[], str | None],
    *,
    timeout_seconds: float,
    check: Callable[[], None] = lambda: None,
    interval_seconds: float = 0.05,
) -> None:
    """Call ``look`` until it returns None; a text is what is still missing.

    OSError from it counts as not yet. ``check`` runs about once a second and raises when
    waiting on is useless. Raises NotReady with the last text at the timeout.
    """
    began = time.monotonic()
    checked = began
    while True:
        try:
            missing = look()
        except OSError as error:
            missing = str(error)
        if missing is None:
            return
        now = time.monotonic()
        if now - began > timeout_seconds:
            raise NotReady(what, now - began, missing)
        if now - checked > 1:
            check()
            checked = now
        time.sleep(interval_seconds)


def is_true(thing: Object, condition: str) -> bool:
    """Return whether an object's status has a condition with status "True"."""
    conditions = thing.get("status", {}).get("conditions") or ()
    return any(found["type"] == condition and found["status"] == "True" for found in conditions)


def describe_pods(pods: Sequence[Object]) -> str:
    """Return in one line what keeps each pod from being ready: what the scheduler, the runtime or a probe says."""
    return "; ".join(_describe_pod(pod) for pod in pods) or "no pod"


def _describe_pod(pod: Object) -> str:
    name = pod["metadata"]["name"]
    status = pod.get("status", {})
    reasons = []
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        for state in ("waiting", "terminated"):
            if found := container.get("state", {}).get(state):
                text = " ".join(filter(None, (found.get("reason"), found.get("message"))))
                reasons.append(f"{container['name']} {text or state}")
    for condition in status.get("conditions") or ():
        if condition["status"] != "True" and condition.get("message") and not reasons:
            reasons.append(condition["message"])
    return f"{name}: {status.get('phase', 'unknown')}" + (f" ({', '.join(reasons)})" if reasons else "")
