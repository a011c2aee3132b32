"""``tare doctor``: what this machine can and cannot run, and why."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tare.cli.common import json_option, print_json, print_rich, reporter, results_option
from tare.manifest import Level
from tare.trials.levels import show

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from tare.machine import Machine
    from tare.progress import Reporter

Levels = Mapping[str, Mapping[Level, str | None]]


@click.command()
@click.argument("lab", metavar="[LAB]", required=False)
@results_option
@json_option
def doctor(lab: str | None, results: Path, as_json: bool) -> None:
    """Say what this machine can and cannot run.

    With LAB, also which of its levels can run here. A capability that is missing is no error:
    what needs it is listed as not run.

    \b
    Examples:
      tare doctor
      tare doctor kata-hlf
      tare doctor kata-hlf --json
    """
    from tare.machine import probe

    machine = probe()
    levels: Levels | None = None
    if lab is not None:
        progress = reporter(as_json=as_json)
        try:
            levels = _levels(lab, results, machine, progress)
        finally:
            progress.close()
    if as_json:
        capabilities = {
            name: {"present": capability.present, "detail": capability.detail}
            for name, capability in machine.capabilities.items()
        }
        found: dict[str, Any] = {"machine": machine.as_facts(), "capabilities": capabilities}
        if levels is not None:
            found["levels"] = [
                {"factor": factor, "level": level, "reason": reason}
                for factor, of_factor in levels.items()
                for level, reason in of_factor.items()
            ]
        print_json(found)
        return
    print_rich(_capability_table(machine))
    if levels is not None:
        print_rich(_level_table(lab or "", levels))


def _levels(lab: str, results: Path, machine: Machine, progress: Reporter) -> Levels:
    """Return why each level of the lab's factors cannot run here, or None where it can."""
    from tare.availability import reasons
    from tare.cluster import cpu_sets, runtime_classes
    from tare.labs import name_of, resolve

    manifest = resolve(lab, link=results / name_of(lab) / "lab", environment=os.environ, progress=progress).manifest
    return reasons(
        manifest,
        manifest.experiment.factors,
        runtimes=runtime_classes.levels(manifest.runtimes, machine),
        cpus=cpu_sets.divide(manifest.nodes, machine.cpus),
    )


def _capability_table(machine: Machine) -> RenderableType:
    table = _table(f"{machine.cpu_model}, {len(machine.cpus)} CPUs, kernel {machine.kernel}")
    for name, capability in machine.capabilities.items():
        table.add_row(name, _word(capability.present), capability.detail)
    return table


def _level_table(lab: str, levels: Levels) -> RenderableType:
    table = _table(f"levels of {lab}")
    for factor, reasons in levels.items():
        for level, reason in reasons.items():
            table.add_row(f"{factor}={show(level)}", _word(reason is None), reason or "can run here")
    return table


def _table(title: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _word(present: bool) -> str:
    return "[green]yes[/green]" if present else "[yellow]no[/yellow]"
