"""Which arm of which mesh a level of the factor ``arm`` means, and the levels of the other factors. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tare.errors import UsageError
from tare.manifest import Arm, Level, Mesh

ARM_FACTOR = "arm"
PAYLOAD_FACTOR = "payload_bytes"
CONNECTION_FACTOR = "connection"
_CONNECTIONS = {"keep-alive": True, "close": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshArm:
    """One arm: ``name`` is the factor's level, ``mesh_name`` its mesh's in the lab."""

    name: str
    mesh_name: str
    mesh: Mesh
    arm: Arm


def find(meshes: Mapping[str, Mesh], name: Level) -> MeshArm:
    """Return the arm of that name. Raises UsageError, which lists the arms there are."""
    for mesh_name, mesh in meshes.items():
        if name in mesh.arms:
            return MeshArm(name=str(name), mesh_name=mesh_name, mesh=mesh, arm=mesh.arms[str(name)])
    known = ", ".join(sorted(arm for mesh in meshes.values() for arm in mesh.arms))
    raise UsageError(f"factor {ARM_FACTOR}: expected an arm of one of the lab's meshes ({known}), found {name!r}")


def path(levels: Mapping[str, Level], sizes: tuple[int, ...]) -> str:
    """Return the path of the file that is asked for; the smallest without a level. Raises UsageError for a size that
    the server does not have."""
    size = levels.get(PAYLOAD_FACTOR, min(sizes))
    if size not in sizes:
        raise UsageError(f"factor {PAYLOAD_FACTOR}: expected one of {', '.join(map(str, sizes))}, found {size!r}")
    return f"/{int(size)}"


def keep_alive(levels: Mapping[str, Level]) -> bool:
    """Say whether a connection serves many requests; it does without a level. Raises UsageError for another level."""
    level = levels.get(CONNECTION_FACTOR, "keep-alive")
    if level not in _CONNECTIONS:
        raise UsageError(f"factor {CONNECTION_FACTOR}: expected {' or '.join(_CONNECTIONS)}, found {level!r}")
    return _CONNECTIONS[str(level)]
