from __future__ import annotations

from tare.availability import reasons
from tare.manifest import Factor, Manifest

CPUS = {"fabric": (0,), "client": (1,)}


def factor(*levels: str | float) -> Factor:
    return Factor(levels=levels, scope="run", unit=None, description="a factor")


def test_runtimes_and_totals_of_cpus_that_cannot_run_have_a_reason(kata_hlf: Manifest) -> None:
    factors = {
        "runtime": factor("runc", "kata", "youki"),
        "total_cpus": factor(0.5, 1, 2),
        "send_rate": factor(50),
    }
    found = reasons(kata_hlf, factors, runtimes={"runc": None, "kata": "kvm-guests: no"}, cpus=CPUS)
    assert found == {
        "runtime": {
            "runc": None,
            "kata": "kvm-guests: no",
            "youki": "the lab declares no runtime 'youki'; it has kata, runc",
        },
        "total_cpus": {0.5: None, 1.0: None, 2.0: "node 'fabric' has 1 CPU on this machine"},
        "send_rate": {50.0: None},
    }
