"""``tare run``: build, bring up, measure, report, take down."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tare import quantity
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
    from tare.measurement import Measurement


@click.command()
@lab_argument
@click.option("--profile", metavar="NAME", help="A size of the experiment that the lab names, such as quick.")
@click.option("--quick", "profile", flag_value="quick", help="The same as --profile quick.")
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
@click.option("--aa/--no-aa", default=True, show_default=True, help="Measure the baseline twice in every block.")
@click.option(
    "--disturbed-above",
    default="5 %",
    show_default=True,
    metavar="SHARE",
    help="Repeat a trial in which others took more of the CPUs than this.",
)
@click.option("--resume", is_flag=True, help="Go on with the newest run of LAB that broke off, at its next trial.")
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
    aa: bool,
    disturbed_above: str,
    resume: bool,
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
      tare run kata-hlf --quick --blocks 3
      tare run kata-hlf --level runtime=gvisor --level send_rate=25,50 --duration 20
      tare run kata-hlf --json > report.json
      tare run kata-hlf --resume
    """
    wanted = parse_levels(levels)
    need_root(f"tare run {lab}")
    if resume and seed is not None:
        raise UsageError("--resume goes on with the seed of the run that broke off: leave --seed out")
    wishes = Wishes(
        profile=profile,
        blocks=blocks,
        levels=wanted,
        seed=seed,
        duration_seconds=duration,
        aa=aa,
        disturbed_above=quantity.in_base(disturbed_above, unit="1", what="--disturbed-above"),
        resume=resume,
    )
    progress = reporter(as_json=as_json)
    try:
        with interruptible(lab, progress):
            _run(lab, wishes, keep=keep, results=results, as_json=as_json, progress=progress)
    finally:
        progress.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the call asks for besides what the lab says."""

    profile: str | None
    blocks: int | None
    levels: dict[str, tuple[str, ...]]
    seed: int | None
    duration_seconds: float | None
    aa: bool
    disturbed_above: float
    resume: bool


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


def _run(lab: str, wishes: Wishes, *, keep: bool, results: Path, as_json: bool, progress: Reporter) -> None:
    from tare.labs import name_of, resolve
    from tare.machine import probe
    from tare.measurement import begin
    from tare.process import Commands
    from tare.results import find_unfinished
    from tare.session import LabSession
    from tare.trials.design import Blocks, settle

    built = resolve(lab, link=results / name_of(lab) / "lab", environment=os.environ, progress=progress)
    design = settle(
        built.manifest.experiment,
        profile=wishes.profile,
        blocks=None if wishes.blocks is None else Blocks(least=wishes.blocks, most=wishes.blocks),
        duration_seconds=wishes.duration_seconds,
        levels=wishes.levels,
        aa=wishes.aa,
    )
    unfinished = find_unfinished(results, built.manifest.name, experiment="") if wishes.resume else None
    if wishes.resume and unfinished is None:
        raise UsageError(f"--resume: no run of {built.manifest.name} in {results} broke off; leave --resume out")
    with progress.phase("probe the machine"):
        machine = probe()
    with LabSession(built, machine=machine, commands=Commands(), progress=progress, keep=keep) as session:
        seed = secrets.randbits(32) if wishes.seed is None else wishes.seed
        with begin(
            session,
            design,
            results=results,
            seed=seed,
            disturbed_above=wishes.disturbed_above,
            resume=unfinished,
        ) as measurement:
            if unfinished is not None:
                progress.note(f"going on with {unfinished}: {len(measurement.trials())} trials are there already")
            while measurement.extend():
                pass
    _report(built, measurement, as_json, progress)
    if keep:
        progress.note(f"{built.manifest.name} is left up: `tare down {lab}` takes it down")


def _report(built: Lab, measurement: Measurement, as_json: bool, progress: Reporter) -> None:
    from tare.report.document import document
    from tare.report.summary import latencies, summarise

    stored = measurement.stored
    trials = stored.trials(include_set_aside=True)
    summary = summarise(built.manifest, measurement.plan, trials)
    folder = stored.folder
    if as_json:
        of_latency = latencies(measurement.plan, trials)
        print_json(document(summary, of_latency, record=stored.record, folder=str(folder)))
    else:
        from tare.report.table import render

        progress.close()
        print_rich(render(summary, record=stored.record))
    progress.note(f"results are in {folder}")
