"""Writes the report of a run to a file: the one part of the report that touches the disk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from tare.errors import TareError, UsageError
from tare.manifest import Manifest
from tare.report.document import document
from tare.report.summary import summarise
from tare.results import StoredRun
from tare.stats.sequence import Method
from tare.trials.plan import Plan

TEMPLATE = "page.html.jinja"


def write_report(
    manifest: Manifest, plan: Plan, stored: StoredRun, file: Path, *, judged: Sequence[str], method: Method = "t"
) -> None:
    """Write the report of a stored run: a page with plots (``.html``), or all figures for programs (``.json``).

    ``judged`` are the verdicts on budgets, a sentence each; ``method`` makes the intervals, see ``summarise``. The
    page needs no other file and no network. Raises UsageError for another suffix, ResultFileError for a torn run,
    TareError when the file cannot be written.
    """
    if file.suffix not in (".html", ".json"):
        raise UsageError(f"{file}: expected a report's name to end in .html or .json")
    trials = stored.trials(include_set_aside=True)
    summary = summarise(manifest, plan, trials, method=method)
    folder = str(stored.folder)
    if file.suffix == ".json":
        found = document(summary, record=stored.record, folder=folder, judged=judged)
        text = json.dumps(found, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
    else:
        # Plots take a second to load, and only a page has them.
        from tare.report.page import page

        template = resources.files("tare.report").joinpath(TEMPLATE).read_text(encoding="utf-8")
        text = page(summary, trials, record=stored.record, folder=folder, judged=judged, template=template)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TareError(f"{file}: the report cannot be written: {error.strerror}") from error
