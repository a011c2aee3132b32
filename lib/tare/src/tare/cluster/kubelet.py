"""A node's kubelet and kube-proxy: their configurations and how they are run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tare.cluster.containerd import SOCKET

# What the kubelet and the daemons beside it may take of a node. More than nothing, because the static
# CPU manager needs a CPU to keep for them; not a whole one, because a node may have no other.
RESERVED_CPU = "100m"


def configuration(*, address: str, cgroup: str, dns: str, authority: str, certificate: str, key: str) -> str:
    """Return a KubeletConfiguration as JSON; ``cgroup`` is the node's, as the kernel writes it."""
    document = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": address,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": authority},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": certificate,
        "tlsPrivateKeyFile": key,
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": cgroup,
        "clusterDomain": "cluster.local",
        "clusterDNS": [dns],
        "resolvConf": "/run/tare/resolv.conf",
        "cpuManagerPolicy": "static",
        "kubeReserved": {"cpu": RESERVED_CPU},
        "evictionHard": {"nodefs.available": "1%", "imagefs.available": "1%", "memory.available": "64Mi"},
        "imageGCHighThresholdPercent": 100,  # images are put there once and cannot be pulled again
        "failSwapOn": False,
        "oomScoreAdj": 0,
        "volumePluginDir": "/var/lib/kubelet/volume-plugins",
        "nodeStatusUpdateFrequency": "5s",
        "syncFrequency": "10s",
        "registryPullQPS": 0,
        "eventRecordQPS": 0,
    }
    return json.dumps(document, indent=2) + "\n"


def arguments(*, configuration: str, kubeconfig: str, node: str, address: str, labels: Mapping[str, str]) -> list[str]:
    """Return the kubelet's arguments."""
    pairs = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
    return [
        f"--config={configuration}",
        f"--kubeconfig={kubeconfig}",
        f"--hostname-override={node}",
        f"--node-ip={address}",
        *([f"--node-labels={pairs}"] if pairs else []),
    ]


def proxy_configuration(*, kubeconfig: str, node: str, pod_cidr: str) -> str:
    """Return a KubeProxyConfiguration as JSON. It leaves the connection tracking limits, the machine's own, alone."""
    document = {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": kubeconfig},
        "mode": "iptables",
        "clusterCIDR": pod_cidr,
        "hostnameOverride": node,
        "oomScoreAdj": 0,
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        "iptables": {"minSyncPeriod": "0s"},
    }
    return json.dumps(document, indent=2) + "\n"


def search_path(folders: Sequence[str]) -> dict[str, str]:
    """Return the environment of a node's daemons; temporary files stay in the node's view too."""
    return {"PATH": ":".join(folders), "TMPDIR": "/run/tmp", "HOME": "/run/tmp"}
