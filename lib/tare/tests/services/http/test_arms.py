from __future__ import annotations

import pytest

from tare.errors import UsageError
from tare.manifest import Arm, Call, Mesh, Sidecar
from tare.services.http.arms import find, keep_alive, path
from tare.services.http.service import without_kinds

ARM = Arm(layer="l7", mtls=True, manifests="/m", call=Call(address="service", port=8080), round_trip=None)
MESH = Mesh(
    title="A mesh",
    version="1",
    control_plane=None,
    inject=None,
    sidecar=Sidecar(container="proxy", uid=None),
    arms={"mesh-l7-mtls": ARM},
    upstream=None,
)


def test_an_arm_is_found_in_its_mesh() -> None:
    found = find({"mesh": MESH}, "mesh-l7-mtls")
    assert (found.name, found.mesh_name, found.mesh, found.arm) == ("mesh-l7-mtls", "mesh", MESH, ARM)
    with pytest.raises(UsageError, match=r"expected an arm of one of the lab's meshes \(mesh-l7-mtls\), found 'mesh'"):
        find({"mesh": MESH}, "mesh")


def test_what_is_asked_for() -> None:
    assert path({}, (1024, 64)) == "/64"
    assert path({"payload_bytes": 1024.0}, (64, 1024)) == "/1024"
    with pytest.raises(UsageError, match="payload_bytes: expected one of 64, 1024, found 65"):
        path({"payload_bytes": 65}, (64, 1024))


def test_what_becomes_of_connections() -> None:
    assert keep_alive({})
    assert not keep_alive({"connection": "close"})
    with pytest.raises(UsageError, match="connection: expected keep-alive or close, found 'open'"):
        keep_alive({"connection": "open"})


def test_kinds_are_left_out_and_their_objects_are_not() -> None:
    text = (
        "---\nkind: CustomResourceDefinition\nmetadata: {name: meshes.example}\n"
        "--- # source\nkind: Service\n---\nspec:\n  kind: CustomResourceDefinition\nkind: Other\n"
    )
    kept = without_kinds(text)
    assert "meshes.example" not in kept
    assert "kind: Service" in kept
    assert "kind: Other" in kept
    json = '{"kind": "List"}'
    assert without_kinds(json) == json
