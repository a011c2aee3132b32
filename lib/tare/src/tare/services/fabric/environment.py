"""The environment of each kind of container. Pure."""

from __future__ import annotations

from tare.services.fabric.topology import (
    ADMIN_PORT,
    CHAINCODE_PORT,
    ORDERER_MSP,
    ORDERER_PORT,
    PEER_PORT,
    Member,
    msp,
)

# Where a container sees its node folder.
ROOT = "/hlf"

# Where the peer's image keeps the external builder for chaincode that runs as a service.
_BUILDER = "/builders/ccaas"

# Fabric's default format colours its lines, terminal or not.
_LOGGING = {"FABRIC_LOGGING_SPEC": "warn", "FABRIC_LOGGING_FORMAT": "%{level} [%{module}] %{message}"}
_TLS_FILES = {"KEY": f"{ROOT}/tls/server.key", "CERTIFICATE": f"{ROOT}/tls/server.crt", "ROOTS": f"[{ROOT}/tls/ca.crt]"}


def environment(member: Member, *, package_id: str | None) -> dict[str, str]:
    """Return a member's environment. It holds no secret: Kubernetes keeps and shows it.

    ``package_id`` is what the peers call the member's chaincode by; only chaincode needs it.
    """
    if member.node_type == "orderer":
        return _orderer()
    if member.node_type == "peer":
        assert member.organization is not None
        return _peer(member, msp(member.organization))
    if member.node_type == "chaincode":
        return {"CHAINCODE_SERVER_ADDRESS": f"0.0.0.0:{CHAINCODE_PORT}", "CHAINCODE_ID": package_id or ""}
    # TMPDIR: the image has no /tmp, and the root file system is read-only.
    return {"FABRIC_CA_SERVER_HOME": ROOT, "FABRIC_CA_HOME": ROOT, "TMPDIR": ROOT}


def _orderer() -> dict[str, str]:
    return {
        "FABRIC_CFG_PATH": ROOT,
        **_LOGGING,
        "TMPDIR": f"{ROOT}/data",
        "ORDERER_GENERAL_LISTENADDRESS": "0.0.0.0",
        "ORDERER_GENERAL_LISTENPORT": str(ORDERER_PORT),
        "ORDERER_GENERAL_LOCALMSPID": ORDERER_MSP,
        "ORDERER_GENERAL_LOCALMSPDIR": f"{ROOT}/msp",
        "ORDERER_GENERAL_TLS_ENABLED": "true",
        "ORDERER_GENERAL_TLS_PRIVATEKEY": _TLS_FILES["KEY"],
        "ORDERER_GENERAL_TLS_CERTIFICATE": _TLS_FILES["CERTIFICATE"],
        "ORDERER_GENERAL_TLS_ROOTCAS": _TLS_FILES["ROOTS"],
        "ORDERER_GENERAL_CLUSTER_CLIENTPRIVATEKEY": _TLS_FILES["KEY"],
        "ORDERER_GENERAL_CLUSTER_CLIENTCERTIFICATE": _TLS_FILES["CERTIFICATE"],
        "ORDERER_GENERAL_CLUSTER_ROOTCAS": _TLS_FILES["ROOTS"],
        "ORDERER_GENERAL_BOOTSTRAPMETHOD": "none",
        "ORDERER_CHANNELPARTICIPATION_ENABLED": "true",
        "ORDERER_ADMIN_LISTENADDRESS": f"0.0.0.0:{ADMIN_PORT}",
        "ORDERER_ADMIN_TLS_ENABLED": "true",
        "ORDERER_ADMIN_TLS_PRIVATEKEY": _TLS_FILES["KEY"],
        "ORDERER_ADMIN_TLS_CERTIFICATE": _TLS_FILES["CERTIFICATE"],
        "ORDERER_ADMIN_TLS_ROOTCAS": _TLS_FILES["ROOTS"],
        "ORDERER_ADMIN_TLS_CLIENTROOTCAS": _TLS_FILES["ROOTS"],
        "ORDERER_FILELEDGER_LOCATION": f"{ROOT}/data",
        "ORDERER_CONSENSUS_WALDIR": f"{ROOT}/data/etcdraft/wal",
        "ORDERER_CONSENSUS_SNAPDIR": f"{ROOT}/data/etcdraft/snapshot",
        "ORDERER_OPERATIONS_LISTENADDRESS": "127.0.0.1:9443",
    }


def _peer(member: Member, identifier: str) -> dict[str, str]:
    return {
        "FABRIC_CFG_PATH": ROOT,
        **_LOGGING,
        "TMPDIR": f"{ROOT}/data",
        "CORE_PEER_ID": member.name,
        "CORE_PEER_ADDRESS": member.endpoint,
        "CORE_PEER_LISTENADDRESS": f"0.0.0.0:{PEER_PORT}",
        "CORE_PEER_CHAINCODEADDRESS": "127.0.0.1:7052",
        "CORE_PEER_CHAINCODELISTENADDRESS": "127.0.0.1:7052",
        "CORE_PEER_GOSSIP_BOOTSTRAP": member.endpoint,
        "CORE_PEER_GOSSIP_EXTERNALENDPOINT": member.endpoint,
        "CORE_PEER_GOSSIP_USELEADERELECTION": "false",
        "CORE_PEER_GOSSIP_ORGLEADER": "true",
        # The organisations find each other when the channel is joined; a lost first try would
        # otherwise cost 25 s, in which no transaction can be endorsed.
        "CORE_PEER_GOSSIP_RECONNECTINTERVAL": "2s",
        "CORE_PEER_LOCALMSPID": identifier,
        "CORE_PEER_MSPCONFIGPATH": f"{ROOT}/msp",
        "CORE_PEER_TLS_ENABLED": "true",
        "CORE_PEER_TLS_CERT_FILE": _TLS_FILES["CERTIFICATE"],
        "CORE_PEER_TLS_KEY_FILE": _TLS_FILES["KEY"],
        "CORE_PEER_TLS_ROOTCERT_FILE": f"{ROOT}/tls/ca.crt",
        "CORE_PEER_FILESYSTEMPATH": f"{ROOT}/data",
        "CORE_LEDGER_SNAPSHOTS_ROOTDIR": f"{ROOT}/data/snapshots",
        # No Docker engine: chaincode is a service of its own.
        "CORE_VM_ENDPOINT": "",
        "CORE_CHAINCODE_EXTERNALBUILDERS": f"[{{name: ccaas, path: {_BUILDER}}}]",
        "CORE_OPERATIONS_LISTENADDRESS": "127.0.0.1:9443",
    }
