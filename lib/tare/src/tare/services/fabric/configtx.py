"""The channel's configuration, as ``configtxgen`` reads it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tare.services.fabric.topology import ORDERER_MSP, ORDERER_PORT, PEER_PORT, Topology, msp

PROFILE = "Channel"

_CAPABILITIES = {"V2_0": True}


def configtx(
    topology: Topology,
    *,
    msp_folders: Mapping[str, Path],
    orderer_certificates: Mapping[str, Path],
    batch_timeout_seconds: float,
    batch_max_messages: int,
) -> dict[str, Any]:
    """Return configtx.yaml as a document; JSON is YAML.

    ``msp_folders`` maps MSP identifiers to folders, ``orderer_certificates`` orderer names to
    TLS certificates. Every organisation must endorse a transaction.
    """
    orderer_addresses = [orderer.endpoint for orderer in topology.of("orderer")]
    ordering = {
        "Name": "Ordering",
        "ID": ORDERER_MSP,
        "MSPDir": str(msp_folders[ORDERER_MSP]),
        "Policies": _signed_by(ORDERER_MSP),
        "OrdererEndpoints": orderer_addresses,
    }
    organizations: list[dict[str, Any]] = [
        {
            "Name": msp(organization),
            "ID": msp(organization),
            "MSPDir": str(msp_folders[msp(organization)]),
            "Policies": {**_signed_by(msp(organization)), "Endorsement": _signature(f"OR('{msp(organization)}.peer')")},
            "AnchorPeers": [{"Host": topology.one("peer", organization).address, "Port": PEER_PORT}],
        }
        for organization in topology.organizations
    ]
    consenters = [
        {
            "Host": orderer.address,
            "Port": ORDERER_PORT,
            "ClientTLSCert": str(orderer_certificates[orderer.name]),
            "ServerTLSCert": str(orderer_certificates[orderer.name]),
        }
        for orderer in topology.of("orderer")
    ]
    policies: dict[str, Any] = {
        "Readers": _meta("ANY Readers"),
        "Writers": _meta("ANY Writers"),
        "Admins": _meta("MAJORITY Admins"),
    }
    profile = {
        "Policies": policies,
        "Capabilities": _CAPABILITIES,
        "Orderer": {
            "OrdererType": "etcdraft",
            "Addresses": orderer_addresses,
            "EtcdRaft": {"Consenters": consenters},
            "BatchTimeout": f"{round(batch_timeout_seconds * 1000)}ms",
            "BatchSize": {
                "MaxMessageCount": batch_max_messages,
                "AbsoluteMaxBytes": "99 MB",
                "PreferredMaxBytes": "2 MB",
            },
            "Organizations": [ordering],
            "Policies": {**policies, "BlockValidation": _meta("ANY Writers")},
            "Capabilities": _CAPABILITIES,
        },
        "Application": {
            "Organizations": organizations,
            "Policies": {
                **policies,
                "LifecycleEndorsement": _meta("MAJORITY Endorsement"),
                "Endorsement": _meta("ALL Endorsement"),
            },
            "Capabilities": _CAPABILITIES,
        },
    }
    return {"Profiles": {PROFILE: profile}}


def _signed_by(identifier: str) -> dict[str, Any]:
    return {
        "Readers": _signature(f"OR('{identifier}.member')"),
        "Writers": _signature(f"OR('{identifier}.member')"),
        "Admins": _signature(f"OR('{identifier}.admin')"),
    }


def _signature(rule: str) -> dict[str, str]:
    return {"Type": "Signature", "Rule": rule}


def _meta(rule: str) -> dict[str, str]:
    return {"Type": "ImplicitMeta", "Rule": rule}
