"""The report as JSON-able values, for programs. Base units throughout.

Format history: 1: first.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from tare.report.summary import Summary, not_run_reason

SCHEMA = 1


def document(summary: Summary, *, record: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Return everything the report knows. ``record`` is the run record, ``folder`` where the run is kept."""
    plan = summary.plan
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "lab": summary.lab,
        "title": summary.title,
        "folder": folder,
        "run": {name: value for name, value in record.items() if name != "plan"},
        "compare": plan.design.compare,
        "baseline": plan.design.baseline,
        "seed": plan.seed,
        "blocks": plan.design.blocks,
        "metrics": {name: dataclasses.asdict(metric) for name, metric in summary.metrics.items()},
        "cells": [dataclasses.asdict(cell) for cell in summary.cells],
        "comparisons": [
            {**dataclasses.asdict(row.comparison), "study": row.study and dataclasses.asdict(row.study)}
            for rows in summary.rows.values()
            for row in rows
        ],
        "not_run": [dataclasses.asdict(lost) for lost in plan.not_run],
        "study": summary.study
        and {
            "title": summary.study.title,
            "authors": list(summary.study.authors),
            "unmatched": [
                {**dataclasses.asdict(figure), "not_run": not_run_reason(plan, figure)} for figure in summary.unmatched
            ],
        },
    }
    return {name: _finite(value) for name, value in found.items()}


def _finite(value: Any) -> Any:
    """JSON has no infinity; a bound that is not finite is null."""
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
