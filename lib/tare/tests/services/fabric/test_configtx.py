from __future__ import annotations

from pathlib import Path

from tare.manifest import Fabric
from tare.services.fabric.configtx import PROFILE, configtx
from tare.services.fabric.topology import plan


def test_the_channel_of_the_studys_network(spec: Fabric) -> None:
    document = configtx(
        plan(spec, "198.19.64.0/18"),
        msp_folders={name: Path("/m") / name for name in ("OrdererMSP", "Org1MSP", "Org2MSP")},
        orderer_certificates={"orderer-1": Path("/m/orderer-1.crt")},
        batch_timeout_seconds=0.5,
        batch_max_messages=100,
    )
    profile = document["Profiles"][PROFILE]
    assert profile["Orderer"]["BatchTimeout"] == "500ms"
    assert profile["Orderer"]["BatchSize"]["MaxMessageCount"] == 100
    assert profile["Orderer"]["EtcdRaft"]["Consenters"] == [
        {
            "Host": "198.19.64.100",
            "Port": 7050,
            "ClientTLSCert": "/m/orderer-1.crt",
            "ServerTLSCert": "/m/orderer-1.crt",
        }
    ]
    anchors = {
        organization["ID"]: organization["AnchorPeers"] for organization in profile["Application"]["Organizations"]
    }
    assert anchors == {
        "Org1MSP": [{"Host": "198.19.64.101", "Port": 7051}],
        "Org2MSP": [{"Host": "198.19.64.104", "Port": 7051}],
    }
    assert profile["Application"]["Policies"]["Endorsement"] == {"Type": "ImplicitMeta", "Rule": "ALL Endorsement"}
