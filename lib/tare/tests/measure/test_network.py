"""Network namespaces of processes, in a folder laid out as /proc."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.measure.network import Interfaces

HEADING = "Inter-|   Receive  |  Transmit\n face |bytes packets\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    namespace(tmp_path, "self", "machine")
    return tmp_path


def namespace(proc: Path, pid: str, name: str, *interfaces: tuple[str, int, int]) -> Path:
    """Put a process into a namespace, which stands in the folder ``name``; return the file of its interfaces."""
    shared = proc / "namespaces" / name
    (shared / "net").mkdir(parents=True, exist_ok=True)
    (shared / "inode").touch()
    lines = [
        f"{interface}: {received} 0 0 0 0 0 0 0 {sent} 0 0 0 0 0 0 0\n" for interface, received, sent in interfaces
    ]
    if interfaces:
        (shared / "net" / "dev").write_text(HEADING + "".join(lines))
    (proc / pid / "ns").mkdir(parents=True)
    (proc / pid / "ns" / "net").symlink_to(shared / "inode")
    (proc / pid / "net").symlink_to(shared / "net")
    return shared / "net" / "dev"


def test_each_namespace_counts_once_and_by_its_own_interface(proc: Path) -> None:
    namespace(proc, "11", "pod", ("lo", 9, 9), ("eth0", 100, 20), ("tap0_kata", 100, 20))
    namespace(proc, "12", "pod")
    namespace(proc, "13", "other", ("eth0", 1000, 200))
    namespace(proc, "14", "gofer", ("lo", 7, 7))  # a sandbox's helper without a network
    interfaces = Interfaces({11, 12, 13, 14}, proc=proc)
    assert interfaces.read() == (1100, 220)
    interfaces.close()


def test_the_counters_outlive_the_process(proc: Path) -> None:
    file = namespace(proc, "11", "pod", ("eth0", 100, 20))
    interfaces = Interfaces({11}, proc=proc)
    with file.open("r+") as rewritten:  # in place, as a counter of the kernel
        rewritten.write(HEADING + "eth0: 150 0 0 0 0 0 0 0 21 0 0 0 0 0 0 0\n")
    file.unlink()
    assert interfaces.read() == (150, 21)
    interfaces.close()


def test_the_machines_own_network_is_nobodys(proc: Path) -> None:
    namespace(proc, "11", "machine", ("eth0", 100, 20))
    assert Interfaces({11}, proc=proc).read() is None


def test_a_process_that_has_ended_is_left_out(proc: Path) -> None:
    assert Interfaces({11}, proc=proc).read() is None


def test_no_processes() -> None:
    assert Interfaces([]).read() is None
