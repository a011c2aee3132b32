"""Chaincode packages for chaincode that runs as a service. Pure."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping


def chaincode_package(*, label: str, address: str) -> bytes:
    """Return a package that tells a peer only where its chaincode listens (``host:port``).

    Equal arguments give equal bytes, and so an equal identifier.
    """
    connection = {"address": address, "dial_timeout": "10s", "tls_required": False}
    code = _archive({"connection.json": json.dumps(connection).encode()})
    return _archive({"metadata.json": json.dumps({"type": "ccaas", "label": label}).encode(), "code.tar.gz": code})


def package_identifier(*, label: str, package: bytes) -> str:
    """Return the identifier by which peers know a package, as ``peer lifecycle chaincode calculatepackageid`` does."""
    return f"{label}:{hashlib.sha256(package).hexdigest()}"


def _archive(files: Mapping[str, bytes]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mode = 0o644
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(plain.getvalue(), mtime=0)
