"""What may import what (docs/explanation/architecture.md), read from the source, types included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"

# From the bottom to the top: a component imports from layers below its own, and from itself.
LAYERS = (
    ("errors", "probes", "stats"),
    ("manifest", "quantity", "units", "process", "progress", "ledger", "cgroup"),
    ("measure",),
    ("state",),
    ("machine",),
    ("cluster",),
    ("hosts",),
    ("services",),
    ("loads",),
    ("trials",),
    ("verdicts",),
    ("availability", "sides", "study", "results"),
    ("report",),
    ("dsl",),
    ("labs", "registry", "pins"),
    ("session",),
    ("run_record",),
    ("measurement",),
    ("laboratory",),
    ("cli", "plugin"),
    ("reference", "__main__"),
)

# A group of commands, though it stands with what it calls.
COMMANDS = ("tare.cli", "tare.pins.cli")

# Same input, same output: no clock, no file, no process, no network.
PURE = (
    "tare.availability",
    "tare.sides",
    "tare.trials.design",
    "tare.trials.duet",
    "tare.trials.levels",
    "tare.trials.factorial",
    "tare.trials.plan",
    "tare.trials.steady",
    "tare.trials.trial",
    "tare.loads.caliper_output",
    "tare.loads.metrics",
    "tare.loads.netperf_output",
    "tare.loads.options",
    "tare.loads.output_error",
    "tare.loads.tcp_rr_output",
    "tare.loads.vegeta_output",
    "tare.loads.wrk_output",
    "tare.measure.counter",
    "tare.measure.disturbance",
    "tare.pins.problem",
    "tare.quantity",
    "tare.services.client",
    "tare.services.http.arms",
    "tare.services.http.packets",
    "tare.report",
    "tare.stats",
    "tare.study",
    "tare.units",
    "tare.verdicts",
)
# The one part of the report that touches the disk.
WRITES = ("tare.report.write",)
IMPURE_LIBRARIES = {
    *("asyncio", "ctypes", "duckdb", "http", "io", "multiprocessing", "os", "pathlib", "pyarrow", "secrets", "shutil"),
    *("signal", "socket", "sqlite3", "subprocess", "sys", "tempfile", "threading", "time", "urllib"),
}
STARTS_PROGRAMS = frozenset(("asyncio", "multiprocessing", "pty", "subprocess"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import; ``types_only`` when it stands under ``if TYPE_CHECKING``."""

    module: str
    types_only: bool


def modules() -> dict[str, ast.Module]:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(), str(path))
    return found


MODULES = modules()


def imports(name: str) -> Iterator[Import]:
    tree = MODULES[name]
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: a relative import; write it in full"
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            targets = [target if target in MODULES else str(node.module) for target in full]
        else:
            continue
        for target in targets:
            yield Import(module=target, types_only=id(node) in guarded)


def inside(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def component(name: str) -> str | None:
    """Return the part of Tare that a module belongs to; None for the package itself and for others' libraries."""
    if inside(name, COMMANDS):
        return "cli"
    parts = name.split(".")
    return parts[1] if parts[0] == "tare" and len(parts) > 1 else None


def calls(name: str) -> Iterator[str]:
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def test_every_component_has_its_layer() -> None:
    known = [part for layer in LAYERS for part in layer]
    assert len(known) == len(set(known))
    assert {part for part in map(component, MODULES) if part} <= set(known)


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_down(name: str) -> None:
    height = {part: number for number, layer in enumerate(LAYERS) for part in layer}
    own = component(name)
    if own is None:
        # What tests are written with, imported when it is asked for.
        assert {found.module for found in imports(name)} <= {"__future__", "typing", "tare", "tare.dsl"}
        return
    for found in imports(name):
        other = component(found.module)
        if other is not None and other != own:
            assert height[other] < height[own], f"{name} imports {found.module}, which is not below it"


def test_one_module_starts_programs() -> None:
    users = {name for name in MODULES for found in imports(name) if found.module.split(".")[0] in STARTS_PROGRAMS}
    assert users == {"tare.process"}


def test_one_command_becomes_another_program() -> None:
    ways = ("os.exec", "os.fork", "os.popen", "os.posix_spawn", "os.spawn", "os.system")
    assert {name for name in MODULES for call in calls(name) if call.startswith(ways)} <= {"tare.cli.kubectl"}


def test_only_commands_print_and_end_the_process() -> None:
    allowed = (*COMMANDS, "tare.probes", "tare.reference", "tare.__main__")
    for name in MODULES:
        if not inside(name, allowed):
            assert {"print", "sys.exit", "exit"}.isdisjoint(calls(name)), name
            assert "click" not in {found.module for found in imports(name)}, name


@pytest.mark.parametrize("name", [name for name in MODULES if inside(name, PURE) and not inside(name, WRITES)])
def test_pure_modules_have_no_effects(name: str) -> None:
    libraries = {found.module.split(".")[0] for found in imports(name) if not found.types_only}
    assert libraries.isdisjoint(IMPURE_LIBRARIES)
    used = set(calls(name))
    assert used.isdisjoint({"open", "print", "input"})
    # A seeded generator only: the order of trials is part of the record.
    assert {call for call in used if call.startswith("random.")} <= {"random.Random"}


@pytest.mark.parametrize(
    "name", [name for name in MODULES if inside(name, ("tare.trials", "tare.verdicts", "tare.report"))]
)
def test_experiments_know_no_service_no_load_and_no_cluster(name: str) -> None:
    allowed = {"tare.services", "tare.loads"}  # the protocols
    for found in imports(name):
        if component(found.module) in ("cluster", "machine", "process", "services", "loads"):
            assert found.module in allowed, f"{name} imports {found.module}"


@pytest.mark.parametrize("name", [name for name in MODULES if inside(name, ("tare.services", "tare.loads"))])
def test_services_and_loads_are_given_their_cluster(name: str) -> None:
    for found in imports(name):
        if component(found.module) == "cluster":
            assert found.types_only, f"{name} imports {found.module}, and not for its types only"


def test_probes_stand_alone() -> None:
    """They run as programs of their own, which may be killed."""
    for name in MODULES:
        if inside(name, ("tare.probes",)):
            assert not [
                found
                for found in imports(name)
                if not inside(found.module, ("tare.probes",)) and component(found.module)
            ]
