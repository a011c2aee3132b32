"""Hyperledger Fabric as a service under test: each member of the network is a Pod of its own."""

from tare.services.fabric.network import FabricDeployment, FabricService, Gateway, MemberEnded

__all__ = ["FabricDeployment", "FabricService", "Gateway", "MemberEnded"]
