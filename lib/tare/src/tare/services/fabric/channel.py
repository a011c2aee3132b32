"""What an operator does to a network of running members, with Fabric's own command-line tools.

The tools run on this machine in the network namespace of a lab node, from where the members'
addresses are reached as a load reaches them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tare.process import Argument, Commands, Completed
from tare.services.fabric.material import CHAINCODE, REGISTRAR, Material
from tare.services.fabric.retry import Patience
from tare.services.fabric.topology import ADMIN_PORT, Member, Topology, msp

CLIENT = "client"

# One attempt of one tool; what is not there yet answers or refuses long before.
_ATTEMPT_SECONDS = 30.0
_VERSION = ("--version", "1", "--sequence", "1")


class Operator:
    """Makes a channel of a running network. ``inside`` turns an argument list into one that runs where the members
    are reachable."""

    def __init__(
        self,
        *,
        topology: Topology,
        material: Material,
        tools: Mapping[str, str],
        sample_config: str,
        commands: Commands,
        inside: Callable[[Sequence[Argument]], list[str]],
        patience: Patience,
    ) -> None:
        self._topology = topology
        self._material = material
        self._tools = tools
        self._sample_config = sample_config
        self._commands = commands
        self._inside = inside
        self._patience = patience

    def make_channel(self) -> None:
        """Join orderers and peers; install, approve and commit the chaincode; have each CA enrol a client meanwhile."""
        organizations = self._topology.organizations
        self._patience.together(
            [
                *(partial(self._join_orderer, orderer) for orderer in self._topology.of("orderer")),
                *(partial(self._prepare_peer, peer) for peer in self._topology.of("peer")),
                *(partial(self.enrol_client, organization) for organization in organizations),
            ]
        )
        self._patience.together([partial(self._approve, organization) for organization in organizations])
        self._commit()

    def transact(self) -> None:
        """Write one asset as the enrolled client of each organisation, endorsed by all, and see it committed."""
        self._patience.together([partial(self._write_asset, number) for number in self._topology.organizations])

    def enrol_client(self, organization: int) -> None:
        """Have a CA enrol its registrar, and the registrar register a client, and enrol that.

        The client's identity is then in the folder ``material.client(organization)``.
        """
        ca = self._topology.one("ca", organization)
        home = self._material.client(organization)
        registrar_home = home / REGISTRAR
        registrar_home.mkdir(parents=True, mode=0o700)
        registrar_url = f"https://{REGISTRAR}:{self._material.registrar_secrets[organization]}@{ca.endpoint}"
        self._patience.insist(
            f"{ca.name} (enrolment)",
            lambda: self._ca_client(ca, "enroll", {"HOME": str(registrar_home), "URL": registrar_url}),
        )
        registered = self._ca_client(
            ca,
            "register",
            {"HOME": str(registrar_home), "URL": f"https://{ca.endpoint}"},
            *("--id.name", CLIENT, "--id.type", "client"),
        )
        secret = registered.stdout.rpartition("Password: ")[2].strip()
        self._ca_client(ca, "enroll", {"HOME": str(home), "URL": f"https://{CLIENT}:{secret}@{ca.endpoint}"})
        identity = home / "msp"
        # The tool trusts whom it asked; Fabric also wants to know which of its certificates are whose.
        shutil.copyfile(self._material.admin_msp(organization) / "config.yaml", identity / "config.yaml")
        own_root = self._material.ca_certificate(organization)
        shutil.copyfile(own_root, identity / "cacerts" / own_root.name)
        shutil.copyfile(identity / "signcerts" / "cert.pem", home / "cert.pem")
        shutil.copyfile(next((identity / "keystore").glob("*_sk")), home / "key.pem")
        for file in (*identity.rglob("*_sk"), home / "key.pem"):
            file.chmod(0o600)

    def _ca_client(self, ca: Member, command: str, settings: Mapping[str, str], *arguments: str) -> Completed:
        # Settings that may hold a secret go by environment: an argument list is for all to see.
        assert ca.organization is not None
        return self._run(
            "fabric-ca-client",
            command,
            *("--caname", ca.name, "--tls.certfiles", self._material.ca_certificate(ca.organization)),
            *arguments,
            env={f"FABRIC_CA_CLIENT_{name}": value for name, value in settings.items()},
        )

    def _join_orderer(self, orderer: Member) -> None:
        tls = self._material.tls(orderer)
        self._patience.insist(
            f"{orderer.name} (joining {self._topology.channel})",
            lambda: self._run(
                "osnadmin",
                *("channel", "join", "--channelID", self._topology.channel),
                *("--config-block", self._material.channel_block),
                *("-o", f"{orderer.address}:{ADMIN_PORT}"),
                *("--ca-file", tls / "ca.crt"),
                *("--client-cert", tls / "server.crt", "--client-key", tls / "server.key"),
            ),
        )

    def _prepare_peer(self, peer: Member) -> None:
        assert peer.organization is not None
        package = self._material.package(peer.organization)
        self._as_admin(peer, "channel", "join", "-b", self._material.channel_block)
        self._as_admin(peer, "lifecycle", "chaincode", "install", package)

    def _approve(self, organization: int) -> None:
        # "No Raft leader" is an answer here: the orderers elect one after they have joined.
        self._as_admin(
            self._topology.one("peer", organization),
            *("lifecycle", "chaincode", "approveformyorg"),
            *self._orderer_arguments(),
            *("--name", CHAINCODE, *_VERSION, "--package-id", self._material.package_ids[organization]),
        )

    def _commit(self) -> None:
        self._as_admin(
            self._topology.one("peer", self._topology.organizations[0]),
            *("lifecycle", "chaincode", "commit"),
            *self._orderer_arguments(),
            *("--name", CHAINCODE, *_VERSION),
            *self._endorser_arguments(),
        )

    def _write_asset(self, organization: int) -> None:
        request = {"function": "CreateAsset", "Args": [f"ready-org{organization}", "blue", "1", "tare", "1"]}
        self._peer_tool(
            self._topology.one("peer", organization),
            self._material.client(organization) / "msp",
            *("chaincode", "invoke", "--waitForEvent"),
            *self._orderer_arguments(),
            *("--name", CHAINCODE, "--ctor", json.dumps(request)),
            *self._endorser_arguments(),
        )

    def _as_admin(self, peer: Member, *arguments: Argument) -> Completed:
        assert peer.organization is not None
        return self._peer_tool(peer, self._material.admin_msp(peer.organization), *arguments)

    def _peer_tool(self, peer: Member, identity: Argument, *arguments: Argument) -> Completed:
        assert peer.organization is not None
        environment = {
            "FABRIC_CFG_PATH": self._sample_config,
            "FABRIC_LOGGING_SPEC": "warn",
            "CORE_PEER_TLS_ENABLED": "true",
            "CORE_PEER_LOCALMSPID": msp(peer.organization),
            "CORE_PEER_ADDRESS": peer.endpoint,
            "CORE_PEER_TLS_ROOTCERT_FILE": str(self._material.tls(peer) / "ca.crt"),
            "CORE_PEER_MSPCONFIGPATH": str(identity),
        }
        words = " ".join(str(argument) for argument in arguments[:3] if not str(argument).startswith("-"))
        return self._patience.insist(f"{peer.name} ({words})", lambda: self._run("peer", *arguments, env=environment))

    def _orderer_arguments(self) -> tuple[Argument, ...]:
        orderer = self._topology.one("orderer")
        authority = self._material.tls(orderer) / "ca.crt"
        return ("-o", orderer.endpoint, "--tls", "--cafile", authority, "--channelID", self._topology.channel)

    def _endorser_arguments(self) -> tuple[Argument, ...]:
        peers = [self._topology.one("peer", organization) for organization in self._topology.organizations]
        pairs = [
            ("--peerAddresses", peer.endpoint, "--tlsRootCertFiles", self._material.tls(peer) / "ca.crt")
            for peer in peers
        ]
        return tuple(argument for pair in pairs for argument in pair)

    def _run(self, tool: str, *arguments: Argument, env: Mapping[str, str] | None = None) -> Completed:
        return self._commands.run(
            self._inside([self._tools[tool], *arguments]),
            deadline_seconds=min(_ATTEMPT_SECONDS, max(1.0, self._patience.left_seconds)),
            env=env,
        )
