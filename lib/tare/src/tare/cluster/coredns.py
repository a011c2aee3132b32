"""The cluster's DNS server. It answers for the cluster only: a lab has no other names to resolve."""

from __future__ import annotations

from typing import Any

NAMESPACE = "kube-system"
LABELS = {"k8s-app": "kube-dns"}
COREFILE = """\
.:53 {
    errors
    health
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        ttl 1
    }
    cache 30
    loadbalance
}
"""


def objects(image: str, address: str) -> list[dict[str, Any]]:
    """Return what CoreDNS consists of, answering at the service address ``address``."""
    name = {"name": "coredns", "namespace": NAMESPACE}
    role = {"name": "system:coredns"}
    rbac = "rbac.authorization.k8s.io"
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": name},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRole",
            "metadata": role,
            "rules": [
                {
                    "apiGroups": [""],
                    "resources": ["endpoints", "services", "pods", "namespaces"],
                    "verbs": ["list", "watch"],
                },
                {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
            ],
        },
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": role,
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": role["name"]},
            "subjects": [{"kind": "ServiceAccount", **name}],
        },
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": name, "data": {"Corefile": COREFILE}},
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {**name, "labels": LABELS},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": LABELS},
                "template": {"metadata": {"labels": LABELS}, "spec": _pod(image)},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "kube-dns", "namespace": NAMESPACE},
            "spec": {
                "selector": LABELS,
                "clusterIP": address,
                "ports": [
                    {"name": "dns", "port": 53, "protocol": "UDP"},
                    {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
                ],
            },
        },
    ]


def _pod(image: str) -> dict[str, Any]:
    return {
        "serviceAccountName": "coredns",
        "dnsPolicy": "Default",
        "tolerations": [{"operator": "Exists"}],
        "priorityClassName": "system-cluster-critical",
        "terminationGracePeriodSeconds": 0,
        "containers": [
            {
                "name": "coredns",
                "image": image,
                "imagePullPolicy": "Never",
                "args": ["-conf", "/etc/coredns/Corefile"],
                "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 1},
                "volumeMounts": [{"name": "configuration", "mountPath": "/etc/coredns", "readOnly": True}],
            }
        ],
        "volumes": [{"name": "configuration", "configMap": {"name": "coredns"}}],
    }
