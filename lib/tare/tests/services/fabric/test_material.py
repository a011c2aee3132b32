from __future__ import annotations

from pathlib import Path

from tare.manifest import Fabric
from tare.services.fabric.material import Material, ca_config, crypto_config
from tare.services.fabric.topology import plan

SERVICES = "198.19.64.0/18"


def test_certificates_name_the_addresses_that_are_called(spec: Fabric) -> None:
    topology = plan(spec, SERVICES)
    (ordering,) = crypto_config(topology, None)["OrdererOrgs"]
    assert ordering["Specs"] == [{"Hostname": "orderer-1", "SANS": ["198.19.64.100", "127.0.0.1"]}]
    (organization,) = crypto_config(topology, 2)["PeerOrgs"]
    assert organization["Specs"] == [{"Hostname": "peer-org2-1", "SANS": ["198.19.64.104", "127.0.0.1"]}]


def test_the_registrars_secret_is_in_the_cas_configuration_only(spec: Fabric) -> None:
    topology = plan(spec, SERVICES)
    config = ca_config(topology, 1, "s3cret")
    assert config["registry"]["identities"][0]["pass"] == "s3cret"
    assert config["csr"]["hosts"] == ["198.19.64.103", "127.0.0.1"]
    material = Material(
        directory=Path("/d"), nodes_directory=Path("/n"), package_ids={}, registrar_secrets={1: "s3cret"}
    )
    assert "s3cret" not in repr(material)
