"""The control plane's daemons: etcd, API server, controller manager, scheduler."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tare import manifest
from tare.cluster import kubeconfig
from tare.cluster.addresses import Addresses
from tare.cluster.pki import Certificates, Identity
from tare.cluster.supervision import Program
from tare.cluster.tools import Tools

CGROUP = "control-plane"
# Against the 1024 of a node: the control plane runs on the nodes' CPUs, and must not be what a lab measures.
CPU_SHARES = 64
_ETCD_URL = "http://127.0.0.1:2379"  # in a network namespace where only the control plane is


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """Says how each daemon is run. ``directory`` takes etcd's data and the kubeconfigs; it has to exist."""

    directory: Path
    addresses: Addresses
    network: manifest.Network
    settings: manifest.Cluster
    certificates: Certificates
    namespace: str
    tools: Tools

    def etcd(self) -> Program:
        """Return etcd's program. Without fsync it is faster, and a power cut costs a cluster that is gone anyway."""
        return self._program(
            "etcd",
            f"--data-dir={self.directory / 'etcd'}",
            f"--listen-client-urls={_ETCD_URL}",
            f"--advertise-client-urls={_ETCD_URL}",
            "--listen-peer-urls=http://127.0.0.1:2380",
            "--log-level=warn",
            *(() if self.settings.etcd_fsync else ("--unsafe-no-fsync",)),
        )

    def api_server(self) -> Program:
        """Return the API server's program. It calls kubelets by address, for only the cluster knows nodes' names."""
        certificates = self.certificates
        authority = certificates.authority.certificate
        return self._program(
            "kube-apiserver",
            f"--etcd-servers={_ETCD_URL}",
            f"--advertise-address={self.addresses.control_plane}",
            "--bind-address=0.0.0.0",
            "--secure-port=6443",
            f"--client-ca-file={authority}",
            f"--tls-cert-file={certificates.api.certificate}",
            f"--tls-private-key-file={certificates.api.key}",
            f"--kubelet-certificate-authority={authority}",
            f"--kubelet-client-certificate={certificates.api_to_kubelet.certificate}",
            f"--kubelet-client-key={certificates.api_to_kubelet.key}",
            "--kubelet-preferred-address-types=InternalIP",
            f"--requestheader-client-ca-file={authority}",
            "--requestheader-allowed-names=aggregator",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={certificates.aggregator.certificate}",
            f"--proxy-client-key-file={certificates.aggregator.key}",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={certificates.service_accounts.certificate}",
            f"--service-account-signing-key-file={certificates.service_accounts.key}",
            f"--service-cluster-ip-range={self.network.service_cidr}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            # Webhooks are called by their pods' addresses: there are no services where the API server is.
            "--enable-aggregator-routing=true",
            "--allow-privileged=true",
        )

    def controller_manager(self) -> Program:
        """Return the controller manager's program; it is of use once the API server is ready."""
        certificates = self.certificates
        return self._program(
            "kube-controller-manager",
            *self._client("controller-manager", certificates.controller_manager),
            f"--cluster-cidr={self.network.pod_cidr}",
            "--allocate-node-cidrs=false",  # every node has a fixed network, which saves the wait for one
            f"--service-cluster-ip-range={self.network.service_cidr}",
            f"--root-ca-file={certificates.authority.certificate}",
            f"--service-account-private-key-file={certificates.service_accounts.key}",
            f"--cluster-signing-cert-file={certificates.authority.certificate}",
            f"--cluster-signing-key-file={certificates.authority.key}",
            "--use-service-account-credentials=true",
            "--leader-elect=false",
        )

    def scheduler(self) -> Program:
        """Return the scheduler's program; it is of use once the API server is ready."""
        return self._program(
            "kube-scheduler", *self._client("scheduler", self.certificates.scheduler), "--leader-elect=false"
        )

    def _client(self, name: str, identity: Identity) -> list[str]:
        path = kubeconfig.write(
            self.directory / f"{name}.conf",
            self.addresses.api_url,
            self.certificates.authority.certificate,
            identity,
        )
        roles = ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")
        # Held to the default rate of 20 requests a second, the controllers alone take 5 s to start.
        return [*(f"--{role}={path}" for role in roles), "--kube-api-qps=500", "--kube-api-burst=1000"]

    def _program(self, name: str, *arguments: str) -> Program:
        return Program(name=name, argv=[self.tools[name], *arguments], cgroup=CGROUP, network_namespace=self.namespace)
