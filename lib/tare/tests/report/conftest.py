"""A run that is stored, with an A/A arm, a trial set aside, and blocks enough for intervals at every look."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from tare.manifest import Manifest
from tare.report.summary import Summary, summarise
from tare.results import RunStore, StoredRun
from tare.trials.design import Blocks
from tare.trials.plan import Plan, PlannedTrial
from tare.trials.trial import Trial

DISTURBED = "other programs used 13 % of the CPUs; at most 5 % are borne"


@pytest.fixture(scope="session")
def open_plan(plan: Plan) -> Plan:
    """The plan with the number of blocks left open."""
    return dataclasses.replace(plan, design=dataclasses.replace(plan.design, blocks=Blocks(least=5, most=40)))


@pytest.fixture(scope="session")
def attempts(open_plan: Plan, measure: Callable[[PlannedTrial], Trial]) -> tuple[Trial, ...]:
    """Seven blocks; the third trial was disturbed, and a trial of gVisor found no steady state."""
    found = [measure(planned) for number in range(7) for planned in open_plan.block(number)]
    third = found[2]
    aside = dataclasses.replace(
        third, disturbances=(DISTURBED,), set_aside=True, metrics={**third.metrics, "goodput": 1.0}
    )
    again = dataclasses.replace(third, attempt=1)
    unsteady = next(place for place, trial in enumerate(found) if place > 2 and trial.levels["runtime"] == "gvisor")
    found[unsteady] = dataclasses.replace(found[unsteady], steady_state="caliper: no steady state")
    return (*found[:2], aside, again, *found[3:])


@pytest.fixture(scope="session")
def summary(kata_hlf: Manifest, open_plan: Plan, attempts: tuple[Trial, ...]) -> Summary:
    return summarise(kata_hlf, open_plan, attempts)


@pytest.fixture(scope="session")
def record(open_plan: Plan, kata_hlf: Manifest) -> dict[str, Any]:
    metrics = kata_hlf.experiment.metrics
    return {
        "tare": "0.1",
        "experiment": "fabric",
        "seed": 7,
        "metrics": list(metrics),
        "units": {name: metric.unit for name, metric in metrics.items()},
        "plan": open_plan.as_record(),
        "machine": {
            "cpus": [0, 1],
            "cpu_model": "A <fast> CPU",
            "memory_bytes": 8 << 30,
            "kernel": "6.1",
            "cgroup_version": 2,
        },
        "source": {"nar_hash": "sha256-flake"},
        "image_digests": {"peer": "sha256:1", "orderer": "sha256:2"},
    }


@pytest.fixture(scope="session")
def stored(
    tmp_path_factory: pytest.TempPathFactory, open_plan: Plan, record: dict[str, Any], attempts: tuple[Trial, ...]
) -> StoredRun:
    factors = {
        name: not any(isinstance(level, str) for level in about.levels)
        for name, about in open_plan.design.factors.items()
    }
    store = RunStore.create(
        tmp_path_factory.mktemp("results"), "kata-hlf", record=record, factors=factors, now=1706745600.0
    )
    for number in range(7):
        store.plan(open_plan.block(number))
    for trial in attempts:
        store.begin(trial.index, trial.attempt)
        store.commit(trial)
    store.close(state="complete", timings=[])
    return StoredRun(store.folder)
