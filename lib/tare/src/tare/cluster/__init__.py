"""The lab's Kubernetes cluster: etcd, control plane and nodes as supervised processes on this machine."""

from tare.cluster.embedded import Cluster, kubectl_argv
from tare.cluster.node import ClusterNode
from tare.cluster.teardown import LeftBehind, tear_down
from tare.state import StateDirectory

__all__ = ["Cluster", "ClusterNode", "LeftBehind", "StateDirectory", "kubectl_argv", "tear_down"]
