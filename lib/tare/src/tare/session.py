"""One run of a lab's experiment from a built lab to kept results. The command and, later, the pytest plugin call it."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare import __version__, availability, registry
from tare.errors import TareError
from tare.labs import Lab
from tare.manifest import Manifest
from tare.measure.sampler import Sampler
from tare.process import Commands
from tare.progress import Reporter
from tare.results import RunStore, StoredRun
from tare.trials import plan as planning
from tare.trials.design import Design
from tare.trials.run import run as run_plan

if TYPE_CHECKING:
    from tare.cluster import Cluster
    from tare.machine import Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A run that is on disk, and the plan it followed."""

    plan: planning.Plan
    stored: StoredRun


def measure(
    lab: Lab,
    design: Design,
    *,
    cluster: Cluster,
    machine: Machine,
    commands: Commands,
    results: Path,
    directory: Path,
    seed: int,
    progress: Reporter,
) -> Finished:
    """Measure the design on a cluster that is up, and keep it under ``results``.

    Whatever ends it early, an interrupt too, is recorded with the trials committed until then, and raised
    again. ``directory`` is the service's own place. Raises TareError.
    """
    manifest = lab.manifest
    plan = planning.make(design, seed=seed, unavailable=unavailable(manifest, design, cluster))
    service = registry.service(manifest, cluster=cluster, directory=directory, commands=commands, progress=progress)
    load = registry.load(manifest, cluster=cluster, commands=commands)
    store = RunStore.create(
        results,
        manifest.name,
        record=record(lab, plan, cluster=cluster, machine=machine),
        factors={
            name: not any(isinstance(level, str) for level in factor.levels) for name, factor in design.factors.items()
        },
        now=time.time(),
    )
    try:
        with progress.phase("measure"):
            run_plan(
                plan,
                service=service,
                load=load,
                sampler=functools.partial(Sampler, cluster.cgroups),
                keeper=store,
                progress=progress,
            )
    except BaseException as error:
        state = "failed" if isinstance(error, Exception) else "interrupted"
        store.close(state=state, timings=_timings(progress), error=f"{type(error).__name__}: {error}")
        progress.note(f"what was measured until then is in {store.folder}")
        raise
    store.close(state="complete", timings=_timings(progress))
    return Finished(plan=plan, stored=StoredRun(store.folder))


def unavailable(manifest: Manifest, design: Design, cluster: Cluster) -> planning.Unavailable:
    """Return the levels of the design that cannot run on this machine, with their reasons."""
    found = availability.reasons(
        manifest,
        design.factors,
        runtimes=cluster.runtime_levels(),
        cpus={name: node.cpus for name, node in cluster.nodes.items()},
    )
    return {
        factor: {level: reason for level, reason in levels.items() if reason is not None}
        for factor, levels in found.items()
    }


def record(lab: Lab, plan: planning.Plan, *, cluster: Cluster, machine: Machine) -> dict[str, Any]:
    """Return what the run record says of what was measured, on what, and in which order."""
    return {
        "tare": __version__,
        "manifest": identity(lab.folder),
        "source": dict(lab.source),
        "seed": plan.seed,
        "plan": plan.as_record(),
        "metrics": list(lab.manifest.experiment.metrics),
        "units": {name: metric.unit for name, metric in lab.manifest.experiment.metrics.items()},
        "not_run": [
            {"factor": lost.factor, "level": lost.level, "reason": lost.reason, "cells": lost.cells}
            for lost in plan.not_run
        ],
        "machine": machine.as_facts(),
        "image_digests": dict(cluster.image_digests),
        "python": platform.python_version(),
        "pid": os.getpid(),
    }


def identity(folder: Path) -> dict[str, str | None]:
    """Return which lab this is: its path, its store path's hash (None outside a store), its manifest's hash."""
    found = re.search(r"/nix/store/([a-z0-9]{32})-", f"{folder}/")
    try:
        content = (folder / "lab.json").read_bytes()
    except OSError as error:
        raise TareError(f"{folder}/lab.json: cannot be read: {error.strerror}") from None
    return {
        "path": str(folder / "lab.json"),
        "store_hash": found[1] if found else None,
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _timings(progress: Reporter) -> list[Mapping[str, Any]]:
    return [
        {
            "phase": list(timing.path),
            "began_seconds": round(timing.began_seconds, 3),
            "seconds": round(timing.seconds, 3),
            "ok": timing.ok,
        }
        for timing in progress.timings
    ]
