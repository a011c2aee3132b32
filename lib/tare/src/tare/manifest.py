"""The one reader of ``lab.json``, the seam between Nix and Python.

Nix has already checked types and rules; this module checks the schema version, refuses
unknown and missing keys, and returns frozen values. Sizes and times are in base units,
which end the names.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tare.errors import ManifestError

SCHEMA = 1

Level = str | float | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Address ranges, all inside 198.18.0.0/15 (RFC 2544)."""

    pod_cidr: str
    service_cidr: str
    node_cidr: str
    dns_address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    provider: Literal["embedded"]
    kubernetes_version: str
    ready_timeout_seconds: float
    etcd_fsync: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node. ``cpus`` fixes its CPU set (kernel list format); without it the machine's
    CPUs are divided among the nodes in proportion to ``cpu_weight``."""

    cpu_weight: int
    cpus: str | None
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """An artifact that no registry carries. ``path`` is its place on this machine, when it is there."""

    name: str
    version: str
    url: str
    sha256: str | None
    path: str | None

    @property
    def absence(self) -> str:
        """What to tell when it is not there."""
        return (
            f"{self.name} {self.version} is not on this machine; its publisher has it at {self.url}, and "
            f"`tare pins pin {self.name}` fetches it, `nix build .#{self.name}` unpacks it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """A container runtime behind a RuntimeClass.

    ``options`` is what goes under the handler's ``options`` in containerd's configuration,
    ``config`` the text of the runtime's own configuration file. ``requires`` names machine
    capabilities as ``tare doctor`` lists them; a level whose needs are not met is not run.
    """

    handler: str
    runtime_type: str
    binary: str | None
    shim: str | None
    options: Mapping[str, str | bool | int]
    config: str | None
    overhead_cpu: str | None
    overhead_memory: str | None
    requires: tuple[str, ...]
    upstream: Upstream | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricNodeType:
    """One kind of Fabric container. ``replicas``: raft members for the orderer, else per organisation.
    ``runtime_class`` overrides the experiment's runtime for this type; ``vcpus`` is a CPU limit."""

    image: str
    replicas: int
    runtime_class: str | None
    vcpus: float | None
    memory_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """A Hyperledger Fabric network; ``tools`` maps program names to absolute paths."""

    node: str
    channel: str
    organizations: int
    batch_timeout_seconds: float
    batch_max_messages: int
    ready_timeout_seconds: float
    node_types: Mapping[str, FabricNodeType]
    tools: Mapping[str, str]
    sample_config: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServer:
    """The server's pod. Meshes take ``http_port`` for HTTP and ``tcp_port``, of the same server, for plain TCP;
    ``round_trip_port`` answers single bytes, tcp-rr's or, if it is asked to at ``netserver_port``, netperf's. Files of
    ``payload_bytes`` bytes are at the path ``/SIZE``."""

    node: str
    image: str
    workers: int
    http_port: int
    tcp_port: int
    round_trip_port: int
    netserver_port: int | None
    payload_bytes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpClient:
    node: str
    image: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """An HTTP server and its client, each in a pod; what is between them, the lab's ``meshes`` say."""

    namespace: str
    server: HttpServer
    client: HttpClient
    proxy_workers: int
    ready_timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    fabric: Fabric | None = None
    http: Http | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """What runs before any pod of a mesh: the objects in the file ``manifests`` or printed by ``program``, then, once
    its ``deployments`` are available, those in the file ``configuration``."""

    namespace: str
    manifests: str | None
    program: str | None
    deployments: tuple[str, ...]
    configuration: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sidecar:
    """The proxy in each pod: its container's name, and the user whose packets are not redirected to it."""

    container: str
    uid: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Whom the client calls: the service, or a port of its own proxy."""

    address: Literal["service", "local"]
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way to measure a mesh. ``manifests`` is None while the mesh cannot run, ``round_trip`` where single bytes
    are not forwarded."""

    layer: Literal["l4", "l7"] | None
    mtls: bool
    manifests: str | None
    call: Call
    round_trip: Call | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mesh:
    """A service mesh, or what meshes are compared with. ``inject`` prints an arm's manifests with sidecars added."""

    title: str
    version: str | None
    control_plane: ControlPlane | None
    inject: str | None
    sidecar: Sidecar | None
    arms: Mapping[str, Arm]
    upstream: Upstream | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caliper:
    """Caliper as the load generator; runs on lab node ``node``. ``workload`` is a folder of JavaScript."""

    node: str
    workers: int
    native_signing: bool
    nodejs: str
    modules: str
    workload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrk:
    """wrk as the load generator; runs on lab node ``node``. ``script`` writes its histogram of latencies."""

    node: str
    threads: int
    connections: int
    path: str
    keep_alive: bool
    timeout_seconds: float
    program: str
    script: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Vegeta:
    """Vegeta as the load generator; runs where the service says its client is."""

    program: str
    connections: int
    timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TcpRoundTrip:
    """Round trips of single bytes; ``netperf`` measures them, or where there is none tcp-rr, which is ``program``. Runs
    where the service says its client is."""

    program: str
    netperf: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Loads:
    caliper: Caliper | None = None
    tcp_rr: TcpRoundTrip | None = None
    vegeta: Vegeta | None = None
    wrk: Wrk | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """``scope`` is ``deployment`` when changing the level means deploying anew, else ``run``. ``deployments`` names
    what is deployed for levels: those of one name are measured on one deployment."""

    levels: tuple[Level, ...]
    scope: Literal["deployment", "run"]
    unit: str | None
    description: str
    deployments: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    unit: str
    better: Literal["higher", "lower"]
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A named size of the experiment: what it sets replaces the experiment's own."""

    description: str
    blocks: int | None = None
    warmup_seconds: float | None = None
    duration_seconds: float | None = None
    levels: Mapping[str, tuple[Level, ...]] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionStep:
    """A level on the way from the baseline to the one whose cost is taken apart, and what it adds to the one before."""

    cause: str
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondSide:
    """The nodes on which the service and its loads stand a second time, for a duet."""

    service_node: str
    load_node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """``compare`` names the factor whose ``baseline`` level every other level is held against. ``attributions`` take
    the cost of levels apart, by the level's name; the last step is the level itself."""

    service: str
    loads: tuple[str, ...]
    compare: str
    baseline: Level
    factors: Mapping[str, Factor]
    metrics: Mapping[str, Metric]
    blocks: int
    warmup_seconds: float
    duration_seconds: float
    profiles: Mapping[str, Profile]
    second_side: SecondSide | None = None
    attributions: Mapping[str, tuple[AttributionStep, ...]] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFigure:
    """One printed figure of the study, as a ratio to its own baseline at the given levels."""

    metric: str
    levels: Mapping[str, Level]
    ratio: float
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    title: str
    authors: tuple[str, ...]
    figures: tuple[StudyFigure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A lab as Nix resolved it. ``tools`` maps program names to absolute paths, ``node_path`` is
    the PATH of a node's daemons, ``images`` maps image names to folders with ``image.tar`` and
    ``image.json`` ({"name", "digest"})."""

    schema: int
    name: str
    title: str
    tools: Mapping[str, str]
    node_path: tuple[str, ...]
    network: Network
    cluster: Cluster
    nodes: Mapping[str, Node]
    runtimes: Mapping[str, Runtime]
    images: Mapping[str, str]
    services: Services
    loads: Loads
    experiment: Experiment
    study: Study | None
    meshes: Mapping[str, Mesh] = dataclasses.field(default_factory=dict)


def read(path: Path) -> Manifest:
    """Read a manifest. Raises ManifestError, which names the file, the key, what was expected and found."""
    try:
        document = json.loads(path.read_text())
    except OSError as error:
        raise ManifestError(f"{path}: cannot be read: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise ManifestError(f"{path}: not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        found = document.get("schema") if isinstance(document, dict) else type(document).__name__
        mend = "Build the lab again with this version of Tare."
        raise ManifestError(f"{path}: schema: expected {SCHEMA}, found {found!r}. {mend}")
    try:
        manifest = _convert(Manifest, document, "")
    except ManifestError as error:
        raise ManifestError(f"{path}: {error}") from None
    return typing.cast(Manifest, manifest)


def _convert(kind: Any, value: Any, where: str) -> Any:
    """Return ``value`` as ``kind``, a type used in this module's dataclasses."""
    if dataclasses.is_dataclass(kind):
        return _convert_record(typing.cast(type, kind), value, where)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType or origin is typing.Union:
        if value is None and type(None) in arguments:
            return None
        candidates = [argument for argument in arguments if argument is not type(None)]
        if len(candidates) == 1:
            return _convert(candidates[0], value, where)
        for candidate in candidates:
            if isinstance(value, candidate) and not (isinstance(value, bool) and candidate is not bool):
                return value
        raise ManifestError(_mismatch(where, " or ".join(c.__name__ for c in candidates), value))
    if origin is Literal:
        if value not in arguments:
            raise ManifestError(_mismatch(where, " or ".join(map(repr, arguments)), value))
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise ManifestError(_mismatch(where, "a list", value))
        return tuple(_convert(arguments[0], item, f"{where}[{index}]") for index, item in enumerate(value))
    if origin is Mapping:
        if not isinstance(value, dict):
            raise ManifestError(_mismatch(where, "an object", value))
        return {name: _convert(arguments[1], item, f"{where}.{name}") for name, item in value.items()}
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        raise ManifestError(_mismatch(where, kind.__name__, value))
    return value


def _convert_record(kind: type, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise ManifestError(_mismatch(where, "an object", value))
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    prefix = f"{where}." if where else ""
    for name in value:
        if name not in fields:
            raise ManifestError(f"{prefix}{name}: unknown key; expected one of {', '.join(sorted(fields))}")
    arguments = {}
    for name, field in fields.items():
        if name in value:
            arguments[name] = _convert(hints[name], value[name], prefix + name)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ManifestError(f"{prefix}{name}: missing")
    return kind(**arguments)


def _mismatch(where: str, expected: str, found: Any) -> str:
    return f"{where}: expected {expected}, found {json.dumps(found)[:80]}"
