"""All that must exist before the first container runs: identities, the channel's first block, folders, packages."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tare.errors import TareError
from tare.manifest import Fabric
from tare.process import Commands
from tare.services.fabric.configtx import PROFILE, configtx
from tare.services.fabric.package import chaincode_package, package_identifier
from tare.services.fabric.signatures import is_low_s
from tare.services.fabric.topology import ORDERER_DOMAIN, ORDERER_MSP, Member, Topology, domain, msp

REGISTRAR = "registrar"
CHAINCODE = "assets"
LABEL = f"{CHAINCODE}_1"

# Half of all draws fail; so many in a row do not.
_DRAWS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Where everything lies, for root's eyes only.

    ``directory`` is the operator's, with every key there is; ``nodes_directory`` holds a folder for
    each member, with its own. ``package_ids`` and ``registrar_secrets`` are by organisation; the
    secrets are also in the CAs' configuration and nowhere else.
    """

    directory: Path
    nodes_directory: Path
    package_ids: Mapping[int, str]
    registrar_secrets: Mapping[int, str] = field(repr=False)

    @property
    def channel_block(self) -> Path:
        return self.directory / "channel.block"

    def node(self, member: Member) -> Path:
        """The folder that a member's container sees."""
        return self.nodes_directory / member.name

    def tls(self, member: Member) -> Path:
        """The folder with ca.crt, server.crt and server.key of an orderer or peer."""
        return identity_folder(self.directory, member) / "tls"

    def admin_msp(self, organization: int) -> Path:
        """The administrator's identity."""
        return organization_folder(self.directory, organization) / "users" / f"Admin@{domain(organization)}" / "msp"

    def ca_certificate(self, organization: int) -> Path:
        """The root of an organisation's CA, which signs the CA's own TLS certificate too."""
        return organization_folder(self.directory, organization) / "ca" / f"ca.{domain(organization)}-cert.pem"

    def package(self, organization: int) -> Path:
        return self.directory / f"{CHAINCODE}-org{organization}.tar.gz"

    def client(self, organization: int) -> Path:
        """The folder of the client that the CA enrols: its ``msp``, ``cert.pem`` and ``key.pem``."""
        return self.directory / "clients" / f"org{organization}"


def organization_folder(directory: Path, organization: int | None) -> Path:
    if organization is None:
        return directory / "crypto" / "ordererOrganizations" / ORDERER_DOMAIN
    return directory / "crypto" / "peerOrganizations" / domain(organization)


def identity_folder(directory: Path, member: Member) -> Path:
    own_domain = ORDERER_DOMAIN if member.organization is None else domain(member.organization)
    folder = organization_folder(directory, member.organization) / f"{member.node_type}s"
    return folder / f"{member.name}.{own_domain}"


def crypto_config(topology: Topology, organization: int | None) -> dict[str, Any]:
    """Return what ``cryptogen`` reads to make the identities of one organisation (None: the ordering service)."""
    members = topology.of("orderer" if organization is None else "peer", organization)
    own = {
        "Name": "Ordering" if organization is None else msp(organization),
        "Domain": ORDERER_DOMAIN if organization is None else domain(organization),
        "EnableNodeOUs": True,
        "Specs": [{"Hostname": member.name, "SANS": [member.address, "127.0.0.1"]} for member in members],
    }
    return {"OrdererOrgs" if organization is None else "PeerOrgs": [own]}


def ca_config(topology: Topology, organization: int, secret: str) -> dict[str, Any]:
    """Return the configuration of an organisation's CA; the registrar's secret stands in it and not in an argument."""
    member = topology.one("ca", organization)
    return {
        "port": int(member.endpoint.rpartition(":")[2]),
        "address": "0.0.0.0",
        "tls": {"enabled": True},
        "ca": {"name": member.name, "certfile": "ca-cert.pem", "keyfile": "ca-key.pem"},
        "csr": {"cn": member.name, "hosts": [member.address, "127.0.0.1"]},
        "registry": {
            "maxenrollments": -1,
            "identities": [{"name": REGISTRAR, "pass": secret, "type": "client", "attrs": {"hf.Registrar.Roles": "*"}}],
        },
        "db": {"type": "sqlite3", "datasource": "fabric-ca-server.db"},
    }


def make(topology: Topology, spec: Fabric, *, directory: Path, nodes_directory: Path, commands: Commands) -> Material:
    """Make everything below the two directories, which exist and are empty; files 0600, folders 0700."""
    for organization in (None, *topology.organizations):
        _draw_identities(topology, organization, spec.tools["cryptogen"], directory, commands)
    packages = {
        organization: chaincode_package(label=LABEL, address=topology.one("chaincode", organization).endpoint)
        for organization in topology.organizations
    }
    material = Material(
        directory=directory,
        nodes_directory=nodes_directory,
        package_ids={
            organization: package_identifier(label=LABEL, package=package) for organization, package in packages.items()
        },
        registrar_secrets={organization: secrets.token_urlsafe(24) for organization in topology.organizations},
    )
    for organization, package in packages.items():
        material.package(organization).write_bytes(package)
    _make_channel_block(topology, spec, material, commands)
    for member in topology.members:
        _fill_node_folder(topology, spec, material, member)
    _close_to_others(directory)
    _close_to_others(nodes_directory)
    return material


def _draw_identities(
    topology: Topology, organization: int | None, cryptogen: str, directory: Path, commands: Commands
) -> None:
    config = directory / "crypto-config.yaml"
    config.write_text(json.dumps(crypto_config(topology, organization)))
    folder = organization_folder(directory, organization)
    for _ in range(_DRAWS):
        arguments = ["generate", f"--config={config}", f"--output={directory / 'crypto'}"]
        commands.run([cryptogen, *arguments], deadline_seconds=30)
        if all(is_low_s(root.read_bytes()) for root in (folder / "ca").glob("*-cert.pem")):
            return
        shutil.rmtree(folder)
    raise TareError(f"{cryptogen} gave no root with a low-S signature in {_DRAWS} draws; expected one in two")


def _make_channel_block(topology: Topology, spec: Fabric, material: Material, commands: Commands) -> None:
    folders = {ORDERER_MSP: organization_folder(material.directory, None) / "msp"}
    for organization in topology.organizations:
        folders[msp(organization)] = organization_folder(material.directory, organization) / "msp"
    document = configtx(
        topology,
        msp_folders=folders,
        orderer_certificates={orderer.name: material.tls(orderer) / "server.crt" for orderer in topology.of("orderer")},
        batch_timeout_seconds=spec.batch_timeout_seconds,
        batch_max_messages=spec.batch_max_messages,
    )
    (material.directory / "configtx.yaml").write_text(json.dumps(document))
    commands.run(
        [
            spec.tools["configtxgen"],
            *("-configPath", material.directory),
            *("-profile", PROFILE),
            *("-channelID", topology.channel),
            *("-outputBlock", material.channel_block),
        ],
        deadline_seconds=30,
    )


def _fill_node_folder(topology: Topology, spec: Fabric, material: Material, member: Member) -> None:
    folder = material.node(member)
    folder.mkdir()
    if member.node_type in ("orderer", "peer"):
        identity = identity_folder(material.directory, member)
        shutil.copytree(identity / "msp", folder / "msp")
        shutil.copytree(identity / "tls", folder / "tls")
        (folder / "data").mkdir()
        config = "orderer.yaml" if member.node_type == "orderer" else "core.yaml"
        shutil.copyfile(Path(spec.sample_config) / config, folder / config)
    elif member.node_type == "ca":
        assert member.organization is not None
        authority = organization_folder(material.directory, member.organization) / "ca"
        shutil.copyfile(material.ca_certificate(member.organization), folder / "ca-cert.pem")
        shutil.copyfile(next(authority.glob("*_sk")), folder / "ca-key.pem")
        document = ca_config(topology, member.organization, material.registrar_secrets[member.organization])
        (folder / "fabric-ca-server-config.yaml").write_text(json.dumps(document))


def _close_to_others(directory: Path) -> None:
    directory.chmod(0o700)
    for path in directory.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
