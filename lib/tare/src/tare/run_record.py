"""The record of a run: what was measured, on what, in which order, and what makes two commands one run."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from pathlib import Path
from typing import Any

from tare import __version__
from tare.errors import TareError
from tare.session import Session
from tare.trials.plan import Plan


def record(session: Session, plan: Plan, *, name: str, function_digest: str | None) -> dict[str, Any]:
    """Return what the run record says of what was measured, on what, and in which order."""
    lab = session.lab
    of_lab = identity(lab.folder)
    return {
        "tare": __version__,
        "experiment": name,
        "identity": {
            "manifest": of_lab["sha256"],
            "flake": lab.source.get("nar_hash"),
            "tare": __version__,
            "experiment": name,
            "function": function_digest,
            "plan": plan.as_record(),
        },
        "manifest": of_lab,
        "source": dict(lab.source),
        "seed": plan.seed,
        "blocks": {"least": plan.design.blocks.least, "most": plan.design.blocks.most},
        "plan": plan.as_record(),
        "duet": plan.duet_told,
        "metrics": list(lab.manifest.experiment.metrics),
        "units": {name: metric.unit for name, metric in lab.manifest.experiment.metrics.items()},
        "not_run": [
            {"factor": lost.factor, "level": lost.level, "reason": lost.reason, "cells": lost.cells}
            for lost in plan.not_run
        ],
        **session.facts(),
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
