from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from tare.cluster import kubeconfig, pki
from tare.cluster.addresses import Addresses
from tare.cluster.pki import Certificates, Identity


@pytest.fixture
def certificates(tmp_path: Path, plan: Addresses) -> Certificates:
    return pki.make(tmp_path / "pki", plan)


def test_keys_are_the_owners_alone(certificates: Certificates, tmp_path: Path) -> None:
    keys = list((tmp_path / "pki").glob("*.key"))
    assert len(keys) == 8
    assert {key.stat().st_mode & 0o777 for key in keys} == {0o600}
    assert (tmp_path / "pki").stat().st_mode & 0o777 == 0o700


def test_an_identity_says_user_and_group(certificates: Certificates, tmp_path: Path) -> None:
    issued = certificates.authority.issue(tmp_path / "kubelet.one", "system:node:one", "system:nodes", names=["one"])
    assert issued.key == tmp_path / "kubelet.one.key"
    subject = x509.load_pem_x509_certificate(issued.certificate.read_bytes()).subject
    assert subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == "system:node:one"
    assert subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)[0].value == "system:nodes"


def handshake(certificates: Certificates, client: Identity, name: str) -> str | None:
    """Return None when client and API server trust each other over TLS, else why not."""
    server_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(certificates.authority.certificate))
    server_side.verify_mode = ssl.CERT_REQUIRED
    server_side.load_cert_chain(certificates.api.certificate, certificates.api.key)
    client_side = ssl.create_default_context(cafile=str(certificates.authority.certificate))
    client_side.load_cert_chain(client.certificate, client.key)
    near, far = socket.socketpair()
    failures: list[str] = []

    def serve() -> None:
        try:
            with server_side.wrap_socket(far, server_side=True) as connection:
                connection.sendall(b"x")
        except OSError as error:
            failures.append(str(error))

    server = threading.Thread(target=serve)
    server.start()
    try:
        with client_side.wrap_socket(near, server_hostname=name) as connection:
            connection.recv(1)
    except OSError as error:
        failures.append(str(error))
    server.join()
    return failures[0] if failures else None


@pytest.mark.parametrize("name", ["198.19.200.1", "198.19.64.1", "kubernetes.default.svc"])
def test_api_server_and_client_trust_each_other(certificates: Certificates, name: str) -> None:
    assert handshake(certificates, certificates.admin, name) is None


def test_another_runs_identity_is_refused(certificates: Certificates, tmp_path: Path, plan: Addresses) -> None:
    other = pki.make(tmp_path / "other", plan)
    assert handshake(certificates, other.admin, "198.19.200.1") is not None


def test_a_kubeconfig_is_the_owners_alone(certificates: Certificates, tmp_path: Path) -> None:
    authority = certificates.authority.certificate
    path = kubeconfig.write(tmp_path / "admin.conf", "https://198.19.200.1:6443", authority, certificates.admin)
    assert path.stat().st_mode & 0o777 == 0o600
    assert '"server": "https://198.19.200.1:6443"' in path.read_text()
    assert str(certificates.admin.key) in path.read_text()
