"""A node's containerd: its configuration with every runtime of the lab, and the network of its pods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tare import manifest
from tare.cluster import toml

SOCKET = "/run/containerd/containerd.sock"
CNI_CONFIGURATION = "/run/tare/cni"
_CRI = "io.containerd.grpc.v1.cri"


def configuration(
    *, runtimes: Mapping[str, manifest.Runtime], cni_plugins: Path, pause_image: str, may_lower_oom_score: bool
) -> str:
    """Return containerd's configuration as TOML. All paths are those a node sees; see ``node_view``."""
    handlers = {runtime.handler: _handler(runtime) for runtime in runtimes.values()}
    document = {
        "version": 2,
        "root": "/var/lib/containerd",
        "state": "/run/containerd",
        "oom_score": 0,
        # What no lab uses, and what would look for kernel modules or folders of the machine.
        "disabled_plugins": [
            "io.containerd.internal.v1.tracing",
            "io.containerd.snapshotter.v1.blockfile",
            "io.containerd.snapshotter.v1.btrfs",
            "io.containerd.snapshotter.v1.devmapper",
            "io.containerd.snapshotter.v1.native",
            "io.containerd.snapshotter.v1.zfs",
            "io.containerd.tracing.processor.v1.otlp",
        ],
        "grpc": {"address": SOCKET},
        "plugins": {
            "io.containerd.internal.v1.opt": {"path": "/var/lib/containerd/opt"},
            _CRI: {
                "sandbox_image": pause_image,
                "tolerate_missing_hugetlb_controller": True,
                "disable_hugetlb_controller": True,
                "restrict_oom_score_adj": not may_lower_oom_score,
                "enable_unprivileged_ports": True,
                "stream_server_address": "127.0.0.1",
                "cni": {"bin_dir": str(cni_plugins), "conf_dir": CNI_CONFIGURATION},
                "containerd": {
                    "snapshotter": "overlayfs",
                    "default_runtime_name": "runc" if "runc" in handlers else next(iter(handlers)),
                    "runtimes": handlers,
                },
            },
        },
    }
    return toml.dumps(document)


def runtime_configurations(runtimes: Mapping[str, manifest.Runtime]) -> dict[str, str]:
    """Return the runtimes' own configuration files: the path a node sees, and the text."""
    return {_config_path(runtime): runtime.config for runtime in runtimes.values() if runtime.config is not None}


def network_configuration(pod_cidr: str) -> str:
    """Return the CNI configuration: a bridge on the node with the node's fixed network, known before any pod."""
    document = {
        "cniVersion": "0.4.0",
        "name": "tare",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "cni0",
                "isGateway": True,
                "ipMasq": False,
                "hairpinMode": True,
                "ipam": {
                    "type": "host-local",
                    "dataDir": "/run/tare/pod-addresses",
                    "ranges": [[{"subnet": pod_cidr}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            },
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _handler(runtime: manifest.Runtime) -> dict[str, Any]:
    options: dict[str, Any] = dict(runtime.options)
    if runtime.config is not None:
        options["ConfigPath"] = _config_path(runtime)
    handler: dict[str, Any] = {"runtime_type": runtime.runtime_type, "options": options}
    if runtime.shim is not None:
        handler["runtime_path"] = runtime.shim
    return handler


def _config_path(runtime: manifest.Runtime) -> str:
    return f"/run/tare/{runtime.handler}.toml"
