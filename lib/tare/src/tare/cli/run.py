"""``tare run``: build, bring up, measure, report, take down."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tare.cli.common import (
    json_option,
    lab_argument,
    need_root,
    print_json,
    print_rich,
    reporter,
    results_option,
)
from tare.cli.interrupt import interruptible
from tare.errors import UsageError
from tare.progress import Reporter

if TYPE_CHECKING:
    from tare.labs import Lab
    from tare.session import Finished


@click.command()
@lab_argument
@click.option("--profile", metavar="NAME", help="A size of the experiment that the lab names, such as quick.")
@click.option("--blocks", type=click.IntRange(min=1), help="How often each cell is measured; intervals need two.")
@click.option(
    "--level",
    "levels",
    metavar="FACTOR=A,B",
    multiple=True,
    help="Measure these levels of a factor only; the baseline is always among them. Repeatable.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the random order.  [default: drawn, and recorded]")
@click.option("--duration", type=float, metavar="SECONDS", help="Length of the measured part of each trial.")
@click.option("--keep", is_flag=True, help="Leave the lab up at the end; `tare down LAB` takes it down.")
@results_option
@json_option
def run(
    lab: str,
    profile: str | None,
    blocks: int | None,
    levels: tuple[str, ...],
    seed: int | None,
    duration: float | None,
    keep: bool,
    results: Path,
    as_json: bool,
) -> None:
    """Measure a lab, from its build to its teardown.

    Builds LAB, brings it up, runs its experiment, prints the table, takes it down.
    Results are kept in results/LAB/RUN as Parquet with a run record.

    \b
    Examples:
      tare run kata-hlf
      tare run kata-hlf --profile quick --blocks 3
      tare run kata-hlf --level runtime=gvisor --level send_rate=25,50 --duration 20
      tare run kata-hlf --json > report.json
    """
    wanted = parse_levels(levels)
    need_root(f"tare run {lab}")
    progress = reporter(as_json=as_json)
    try:
        with interruptible(lab, progress):
            _run(lab, profile, blocks, wanted, seed, duration, keep, results, as_json, progress)
    finally:
        progress.close()


def parse_levels(words: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the levels by factor from ``FACTOR=A,B`` words. Raises UsageError for any other form."""
    levels: dict[str, tuple[str, ...]] = {}
    for word in words:
        factor, separator, listed = word.partition("=")
        chosen = tuple(level.strip() for level in listed.split(",") if level.strip())
        if not separator or not factor or not chosen:
            raise UsageError(f"--level {word}: expected FACTOR=A,B, such as runtime=gvisor or send_rate=25,50")
        levels[factor] = (*levels.get(factor, ()), *chosen)
    return levels


def _run(
    lab: str,
    profile: str | None,
    blocks: int | None,
    levels: dict[str, tuple[str, ...]],
    seed: int | None,
    duration: float | None,
    keep: bool,
    results: Path,
    as_json: bool,
    progress: Reporter,
) -> None:
    from tare.cluster import Cluster
    from tare.labs import name_of, resolve
    from tare.machine import probe
    from tare.process import Commands
    from tare.session import measure
    from tare.state import StateDirectory
    from tare.trials.design import settle

    built = resolve(lab, link=results / name_of(lab) / "lab", environment=os.environ, progress=progress)
    design = settle(built.manifest.experiment, profile=profile, blocks=blocks, duration_seconds=duration, levels=levels)
    with progress.phase("probe the machine"):
        machine = probe()
    commands = Commands()
    state = StateDirectory.of(built.manifest.name, os.environ)
    with Cluster(
        manifest=built.manifest, state=state, commands=commands, machine=machine, progress=progress, keep=keep
    ) as cluster:
        finished = measure(
            built,
            design,
            cluster=cluster,
            machine=machine,
            commands=commands,
            results=results,
            directory=state.path / "service",
            seed=secrets.randbits(32) if seed is None else seed,
            progress=progress,
        )
    _report(built, finished, as_json, progress)
    if keep:
        progress.note(f"{built.manifest.name} is left up: `tare down {lab}` takes it down")


def _report(built: Lab, finished: Finished, as_json: bool, progress: Reporter) -> None:
    from tare.report.document import document
    from tare.report.summary import summarise

    summary = summarise(built.manifest, finished.plan, finished.stored.trials())
    folder = finished.stored.folder
    if as_json:
        print_json(document(summary, record=finished.stored.record, folder=str(folder)))
    else:
        from tare.report.table import render

        progress.close()
        print_rich(render(summary))
    progress.note(f"results are in {folder}")
