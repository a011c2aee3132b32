"""The report as JSON-able values, for programs. Base units throughout.

Format history: 1: first; 2: the kind of the intervals, blocks as a range, the A/A arm, attempts set aside, disturbed
and unsteady trials, late requests, the smallest effect, ratios of percentiles of latency, verdicts; since then with
"attributions", which readers of 2 may ignore.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from tare.report.summary import Summary, not_run_reason
from tare.verdicts.latencies import LatencyRatio

SCHEMA = 2


def document(
    summary: Summary,
    latencies: Sequence[LatencyRatio],
    *,
    record: Mapping[str, Any],
    folder: str,
    judged: Sequence[str] = (),
) -> dict[str, Any]:
    """Return everything the report knows. ``record`` is the run record, ``folder`` where the run is kept, ``judged``
    the verdicts on budgets, a sentence each."""
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
        "blocks": {**dataclasses.asdict(plan.design.blocks), "measured": summary.blocks},
        "intervals": summary.kind,
        "verdicts": list(judged),
        "metrics": {name: dataclasses.asdict(metric) for name, metric in summary.metrics.items()},
        "cells": [dataclasses.asdict(cell) for cell in summary.cells],
        "comparisons": [
            {
                **dataclasses.asdict(row.comparison),
                "study": row.study and dataclasses.asdict(row.study),
                "smallest_effect": row.smallest_effect,
            }
            for rows in summary.rows.values()
            for row in rows
        ],
        "attributions": [dataclasses.asdict(one) for found in summary.attributions.values() for one in found],
        "latency_ratios": [dataclasses.asdict(one) for one in latencies],
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
