"""The programs a cluster is made of, by the names under which the manifest gives their paths."""

from __future__ import annotations

from pathlib import Path

from tare.errors import ManifestError, ProgramMissing
from tare.manifest import Manifest

PROGRAMS = (
    "busybox",
    "containerd",
    "ctr",
    "etcd",
    "ip",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubectl",
    "kubelet",
    "mount",
    "nsenter",
    "python",
    "unshare",
)
CNI = "cni"  # a folder: bridge, host-local, loopback, portmap


class Tools:
    """Absolute paths of the programs; each is known to be there."""

    def __init__(self, manifest: Manifest) -> None:
        """Raises ManifestError for a name the manifest does not have, ProgramMissing for a path that is not there."""
        absent = [name for name in (*PROGRAMS, CNI) if name not in manifest.tools]
        if absent:
            raise ManifestError(f"tools: missing {', '.join(absent)}; the embedded cluster needs a path for each")
        self._paths = {name: Path(manifest.tools[name]) for name in (*PROGRAMS, CNI)}
        for path in (*(self._paths[name] for name in PROGRAMS), self.cni_plugins / "bridge"):
            if not path.is_file():
                raise ProgramMissing(f"{path}, which the manifest names; build the lab again")

    def __getitem__(self, name: str) -> Path:
        return self._paths[name]

    @property
    def cni_plugins(self) -> Path:
        return self._paths[CNI]

    @property
    def interpreter(self) -> str:
        """The first line of a script that busybox's shell runs."""
        return f"#!{self['busybox']} sh\n"
