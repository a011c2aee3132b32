from __future__ import annotations

import dataclasses

from tare.manifest import Manifest
from tare.report.dry_run import describe_plan
from tare.trials.plan import Plan

DECIDING = "3 budgets share the error rate of 5 %: no verdict before block 7"


def test_the_plan_is_told_with_cells_trials_and_what_is_not_run(kata_hlf: Manifest, open_plan: Plan) -> None:
    lines = describe_plan("fabric", kata_hlf, open_plan, 60.0, seeded=True, deciding=DECIDING)
    assert lines[0] == "fabric: Hyperledger Fabric in secure containers (lab kata-hlf)"
    assert "  runtime: runc, gvisor (deployed anew)" in lines
    assert "  send_rate: 50 tx/s, 100 tx/s (set on what runs)" in lines
    assert "  8 cells; 12 trials a block, 4 of them the baseline again (A/A); 3 deployments" in lines
    assert "  5 to 40 blocks, so 60 to 480 trials" in lines
    assert f"  {DECIDING}" in lines
    assert "  about 60 min to 8 h 0 min (a trial of an earlier run took 60 s)" in lines
    assert "  not run: runtime=kata (4 cells a block): kvm-guests: KVM runs no guest here" in lines


def test_without_an_earlier_run_the_time_is_that_of_the_loads_alone(kata_hlf: Manifest, plan: Plan) -> None:
    lines = describe_plan("fabric", kata_hlf, plan, None, seeded=True, deciding=DECIDING)
    assert "  2 blocks, so 24 trials" in lines
    assert "  about 8 min (without deployments: no earlier run here tells how long they take)" in lines


def test_the_order_is_that_of_the_first_block(kata_hlf: Manifest, plan: Plan) -> None:
    lines = describe_plan("fabric", kata_hlf, plan, None, seeded=True, deciding=DECIDING)
    listed = lines[lines.index("  order of block 1 (seed 7):") + 1 :]
    first = plan.block(0)
    assert len(listed) == len(first) == 12
    assert [line.endswith("(A/A)") for line in listed] == [trial.aa for trial in first]
    assert all(f"runtime={trial.levels['runtime']}" in line for line, trial in zip(listed, first, strict=True))


def test_without_an_a_a_arm_that_is_said(kata_hlf: Manifest, plan: Plan) -> None:
    alone = tuple(one for one in plan.deployments if not any(run.aa for run in one.runs))
    lines = describe_plan(
        "fabric", kata_hlf, dataclasses.replace(plan, deployments=alone), None, seeded=True, deciding=DECIDING
    )
    assert "  8 cells; 8 trials a block, no A/A arm; 2 deployments" in lines


def test_an_order_that_will_be_drawn_anew_is_not_told(kata_hlf: Manifest, plan: Plan) -> None:
    lines = describe_plan("fabric", kata_hlf, plan, None, seeded=False, deciding=DECIDING)
    assert lines[-1] == "  order of the trials: drawn anew when it begins, and recorded; --tare-seed fixes it"
    assert not any("order of block 1" in line for line in lines)
