from __future__ import annotations

import hashlib
import io
import json
import tarfile

from tare.services.fabric.package import chaincode_package, package_identifier


def unpack(archive: bytes) -> dict[str, bytes]:
    found = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as files:
        for member in files.getmembers():
            content = files.extractfile(member)
            assert content is not None
            found[member.name] = content.read()
    return found


def test_a_package_holds_where_the_chaincode_listens() -> None:
    package = unpack(chaincode_package(label="assets_1", address="198.19.64.102:9999"))
    assert json.loads(package["metadata.json"]) == {"type": "ccaas", "label": "assets_1"}
    connection = json.loads(unpack(package["code.tar.gz"])["connection.json"])
    assert connection["address"] == "198.19.64.102:9999"


def test_equal_packages_are_equal_byte_for_byte() -> None:
    assert chaincode_package(label="a_1", address="h:1") == chaincode_package(label="a_1", address="h:1")
    assert chaincode_package(label="a_1", address="h:1") != chaincode_package(label="a_1", address="h:2")


def test_the_identifier_is_label_and_hash() -> None:
    assert package_identifier(label="a_1", package=b"x") == f"a_1:{hashlib.sha256(b'x').hexdigest()}"
