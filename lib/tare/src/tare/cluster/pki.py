"""The lab's certificate authority and everyone's certificate, made anew for each run."""

from __future__ import annotations

import datetime
import ipaddress
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tare.cluster.addresses import Addresses

_VALID_DAYS = 365
# Clocks of a virtual machine may jump back a little while the lab is up.
_BEFORE = datetime.timedelta(minutes=5)
API_NAMES = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A certificate and its key, as files. ``key`` has mode 0600."""

    certificate: Path
    key: Path


class Authority:
    """The one authority of a lab, which everyone trusts and which signs everyone's certificate."""

    def __init__(self, directory: Path) -> None:
        """Make the authority; its files go to ``directory``, which has to exist."""
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("tare", None)
        usage = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        certificate = (
            _draft(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = directory / "ca.crt"
        self.key = directory / "ca.key"
        self.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        _write_key(self.key, self._key)

    def issue(
        self,
        path: Path,
        common_name: str,
        organization: str | None = None,
        *,
        addresses: Sequence[str] = (),
        names: Sequence[str] = (),
    ) -> Identity:
        """Make a key and a certificate for clients and servers, as ``<path>.key`` and ``<path>.crt``.

        Kubernetes takes the common name for the user and the organization for the group.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        draft = _draft(_name(common_name, organization), self._name, key.public_key()).add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
        )
        alternatives = [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
        if alternatives or names:
            every = [*alternatives, *map(x509.DNSName, names)]
            draft = draft.add_extension(x509.SubjectAlternativeName(every), critical=False)
        certificate = draft.sign(self._key, hashes.SHA256())
        identity = Identity(certificate=path.with_name(path.name + ".crt"), key=path.with_name(path.name + ".key"))
        identity.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        _write_key(identity.key, key)
        return identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """The control plane's certificates. ``service_accounts`` is a bare pair: ``certificate`` holds the public key."""

    authority: Authority
    api: Identity
    api_to_kubelet: Identity
    aggregator: Identity
    admin: Identity
    controller_manager: Identity
    scheduler: Identity
    service_accounts: Identity


def make(directory: Path, addresses: Addresses) -> Certificates:
    """Make the authority and the control plane's certificates in ``directory`` (made with mode 0700)."""
    directory.mkdir(mode=0o700)
    authority = Authority(directory)
    own = (addresses.control_plane, addresses.api_service, "127.0.0.1")
    issue = authority.issue
    return Certificates(
        authority=authority,
        api=issue(directory / "api", "kube-apiserver", addresses=own, names=API_NAMES),
        api_to_kubelet=issue(directory / "api-to-kubelet", "kube-apiserver-kubelet-client", "system:masters"),
        aggregator=issue(directory / "aggregator", "aggregator"),
        admin=issue(directory / "admin", "admin", "system:masters"),
        controller_manager=issue(directory / "controller-manager", "system:kube-controller-manager"),
        scheduler=issue(directory / "scheduler", "system:kube-scheduler"),
        service_accounts=_key_pair(directory / "service-accounts"),
    )


def _name(common_name: str, organization: str | None) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if organization is not None:
        attributes.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(attributes)


def _draft(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BEFORE)
        .not_valid_after(now + datetime.timedelta(days=_VALID_DAYS))
    )


def _key_pair(path: Path) -> Identity:
    key = ec.generate_private_key(ec.SECP256R1())
    identity = Identity(certificate=path.with_suffix(".pub"), key=path.with_suffix(".key"))
    identity.certificate.write_bytes(
        key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    _write_key(identity.key, key)
    return identity


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    # Born with its mode, never open to others for a moment.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)
