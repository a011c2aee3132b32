"""A run of the lab kata-hlf to write to, and its trials."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tare.manifest import Manifest
from tare.results import RunStore
from tare.trials.plan import Plan
from tare.trials.trial import Trial

NOW = 1706745600.0  # 2024-02-01T00:00:00Z
FACTORS = {"runtime": False, "vcpus": False, "total_cpus": True, "send_rate": True}


@pytest.fixture
def record(plan: Plan, kata_hlf: Manifest) -> dict[str, Any]:
    """What a command says of the run it begins or goes on with."""
    metrics = kata_hlf.experiment.metrics
    return {
        "experiment": "",
        "seed": 7,
        "metrics": list(metrics),
        "units": {name: metric.unit for name, metric in metrics.items()},
        "identity": {"manifest": "abc", "flake": None, "tare": "0.1", "plan": plan.as_record()},
        "machine": {
            "cpus": [0, 1],
            "cpu_model": "A CPU",
            "memory_bytes": 8 << 30,
            "kernel": "6.1",
            "cgroup_version": 2,
        },
        "node_cpus": {"n1": [0], "n2": [1]},
        "source": {"revision": None, "nar_hash": "sha256-x"},
    }


@pytest.fixture
def make(tmp_path: Path, record: dict[str, Any]) -> Callable[..., RunStore]:
    """Begins a run; what is named differs from ``record``."""

    def make(**different: Any) -> RunStore:
        return RunStore.create(tmp_path, "kata-hlf", record={**record, **different}, factors=FACTORS, now=NOW)

    return make


@pytest.fixture
def store(make: Callable[..., RunStore]) -> RunStore:
    return make()


@pytest.fixture
def plain() -> Callable[[Trial], dict[str, Any]]:
    """A trial as values that are equal when the trials are: a histogram by what it counted."""

    def plain(trial: Trial) -> dict[str, Any]:
        found = {field.name: getattr(trial, field.name) for field in dataclasses.fields(trial)}
        return {**found, "histograms": {load: histogram.encode() for load, histogram in trial.histograms.items()}}

    return plain
