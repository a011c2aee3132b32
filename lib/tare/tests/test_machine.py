from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tare import machine
from tare.machine import PROBES, Capability, Machine, cpu_model, memory_bytes, sys_resource
from tare.process import Commands

STATUS = "Name:\tcat\nCapInh:\t0000000000000000\nCapEff:\t{0}\nCapBnd:\t{1}\nSeccomp:\t0\n"
EVERYTHING, WITHOUT_SYS_RESOURCE = "000001ffffffffff", "000001fffeffffff"


def test_memory_from_meminfo() -> None:
    assert memory_bytes("MemTotal:       24684100 kB\nMemFree:        1 kB\n") == 24684100 * 1024
    with pytest.raises(ValueError, match="MemTotal"):
        memory_bytes("")


def test_cpu_model_from_cpuinfo() -> None:
    assert cpu_model("processor\t: 0\nmodel name\t: AMD EPYC\n") == "AMD EPYC"
    assert cpu_model("processor\t: 0\n") == "unknown"


def test_sys_resource_from_status() -> None:
    assert sys_resource(STATUS.format(EVERYTHING, EVERYTHING)).present
    lacking = sys_resource(STATUS.format(WITHOUT_SYS_RESOURCE, WITHOUT_SYS_RESOURCE))
    assert not lacking.present
    assert "not in CapEff and CapBnd" in lacking.detail
    assert "not in CapEff:" in sys_resource(STATUS.format(WITHOUT_SYS_RESOURCE, EVERYTHING)).detail


def test_what_is_lacking_includes_what_cannot_be_probed_for() -> None:
    found = Capability(name="veth", present=True, detail="made one")
    this = Machine(cpus=(0,), memory_bytes=1, kernel="6", cpu_model="x", cgroup_version=2, capabilities={"veth": found})
    (lacking,) = this.lacks(["veth", "quantum"])
    assert (lacking.name, lacking.present) == ("quantum", False)


def test_this_machine_is_probed() -> None:
    found = machine.probe()
    assert set(found.capabilities) == {
        *("root", "cgroup", "network-namespaces", "mount-namespaces", "overlayfs", "veth", "bridge", "netfilter"),
        *("cap-sys-resource", "kvm-guests", "vhost-vsock", "netem", "disk-space"),
    }
    assert found.cpus
    assert all(capability.detail for capability in found.capabilities.values())
    assert found.capabilities["root"].present == (os.geteuid() == 0)
    assert json.loads(json.dumps(found.as_facts()))["cpus"] == list(found.cpus)


def test_a_probe_that_hangs_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kvm.py").write_text("import time; time.sleep(60)")
    (tmp_path / "kernel.py").write_text("raise SystemExit('broken')")
    monkeypatch.setattr(machine, "PROBES", tmp_path)
    monkeypatch.setattr(machine, "PROBE_SECONDS", 0.5)
    found = machine.probe(Commands()).capabilities
    assert "the probe failed: not finished after 0.5 s" in found["kvm-guests"].detail
    assert not found["veth"].present
    assert "broken" in found["veth"].detail


def test_probing_leaves_no_link() -> None:
    before = {path.name for path in Path("/sys/class/net").iterdir()}
    subprocess.run([sys.executable, "-I", PROBES / "kernel.py"], check=True, capture_output=True)
    assert {path.name for path in Path("/sys/class/net").iterdir()} == before
