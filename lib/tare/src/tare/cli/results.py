"""``tare results``: what the kept runs say: each alone, two against each other, and to other tools."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tare.cli.common import json_option, print_json, print_rich, results_option
from tare.errors import TareError, UsageError

if TYPE_CHECKING:
    from tare.results import Difference, StoredRun
    from tare.trials.trial import Trial

run_argument = click.argument("run", metavar="RUN")
metric_option = click.option("--metric", "metrics", metavar="NAME", multiple=True, help="Only this metric. Repeatable.")

# What a table shows of a run unless --metric asks for others, where the run has it.
_HEADLINE = ("goodput", "throughput", "latency_p50", "latency_p99", "cpu_per_request")
_DASH = "–"  # noqa: RUF001


@click.group()
def results() -> None:
    """Read the runs that are kept in the results.

    RUN is a folder, or a run's name, a tag or "last", which is the newest run that has ended. If several labs have
    such a run, put the lab before it: kata-hlf/last.

    \b
    Examples:
      tare results list kata-hlf
      tare results show last
      tare results tag last v1.2
      tare results compare v1.2 last
      tare results export last --format csv --output last.csv
    """


@results.command("list")
@click.argument("lab", metavar="[LAB]", required=False)
@results_option
@json_option
def list_runs(lab: str | None, results: Path, as_json: bool) -> None:
    """List the runs of LAB, or of all labs, oldest first.

    A run that was killed is interrupted; `tare run LAB --resume` goes on with it.

    \b
    Examples:
      tare results list
      tare results list kata-hlf --json
    """
    from tare.cli.result_tables import plain_table
    from tare.results.runs import labs, runs

    names = labs(results) if lab is None else (lab,)
    found = [_listed(name, folder) for name in names for folder in runs(results, name)]
    if as_json:
        print_json(found)
        return
    if not found:
        where = f"of {lab} in {results}" if lab else f"in {results}"
        click.echo(f"there are no runs {where}; `tare run LAB` makes one")
        return
    table = plain_table("lab", "run", "experiment", "state", "trials", "set aside", "tags")
    for entry in found:
        if "problem" in entry:
            table.add_row(entry["lab"], entry["run"], "", "[red]torn[/red]", "", "", entry["problem"])
            continue
        table.add_row(
            *(entry["lab"], entry["run"], entry["experiment"] or _DASH, entry["state"]),
            f"{entry['committed']} of {entry['planned']}",
            str(entry["set_aside"]),
            ", ".join(entry["tags"]),
        )
    print_rich(table)


def _listed(lab: str, folder: Path) -> dict[str, Any]:
    from tare.results import ResultFileError, StoredRun

    try:
        run = StoredRun(folder)
        run.check(contents=False)
    except ResultFileError as error:
        return {"lab": lab, "run": folder.name, "folder": str(folder), "problem": str(error)}
    return _about(run)


def _about(run: StoredRun) -> dict[str, Any]:
    return {
        "lab": run.record["lab"],
        "run": run.name,
        "folder": str(run.folder),
        "experiment": run.record["experiment"],
        "state": run.state,
        "error": run.record.get("error"),
        "began_at": run.record["began_at"],
        "tags": list(run.tags),
        "planned": len({attempt.trial for attempt in run.attempts}),
        "committed": run.counts["committed"],
        "set_aside": run.counts["set-aside"],
    }


@results.command()
@run_argument
@metric_option
@results_option
@json_option
def show(run: str, metrics: tuple[str, ...], results: Path, as_json: bool) -> None:
    """Show what RUN measured: each cell's mean, and its cost against the baseline.

    Every file of the run is checked first; one that is torn or missing is named with the trial in it.
    A cost is the median of the ratios within the blocks, or their geometric mean where the number of blocks was
    fixed or the experiment asks for it, with its 95 % interval.

    \b
    Examples:
      tare results show last
      tare results show kata-hlf/v1.2 --metric latency_p99
      tare results show results/kata-hlf/2025-01-31T10-00-00Z --json
    """
    from tare.cli.result_tables import asides, cell_table, shorten
    from tare.results.change import in_order, interval_kind
    from tare.results.export import plain
    from tare.results.runs import find
    from tare.verdicts.compare import compare

    stored = find(results, run)
    trials = stored.trials(include_set_aside=True)
    plan = _plan(stored)
    counted = in_order([trial for trial in trials if not trial.set_aside], plan)
    kind = interval_kind(stored.record)
    compared = {
        name: compare(counted, metric=name, factor=plan["compare"], baseline=plan["baseline"], kind=kind)
        for name in _metrics(metrics, [stored], everything=as_json)
    }
    if as_json:
        found = {
            **_about(stored),
            "record": stored.record,
            "trials": [_trial(trial) for trial in trials],
            "comparisons": [dataclasses.asdict(one) for of_metric in compared.values() for one in of_metric],
        }
        print_json(plain(found))
        return
    click.echo(_heading(stored))
    short, everywhere = shorten([trial.levels for trial in counted], keep=plan["compare"])
    if everywhere:
        click.echo(f"everywhere: {everywhere}")
    for name, of_metric in compared.items():
        if of_metric or name in metrics:
            print_rich(cell_table(stored, name, counted, of_metric, plan["compare"], short))
    for line in asides(trials):
        click.echo(line)


def _heading(run: StoredRun) -> str:
    about = _about(run)
    began = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(about["began_at"]))
    machine = run.record.get("machine", {})
    tags = f" ({', '.join(run.tags)})" if run.tags else ""
    lines = [
        f"{run.title}{tags}: {run.state}, {about['committed']} of {about['planned']} trials, began {began}",
        f"{machine.get('cpu_model', 'an unrecorded CPU')}, {len(machine.get('cpus', ()))} CPUs, "
        f"kernel {machine.get('kernel', 'unrecorded')}; seed {run.record.get('seed', 'unrecorded')}",
    ]
    return "\n".join([*lines, f"it ended with {about['error']}"] if about["error"] else lines)


@results.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@metric_option
@click.option("--anyway", is_flag=True, help="Compare although the runs were not measured on the same host.")
@results_option
@json_option
def compare(a: str, b: str, metrics: tuple[str, ...], anyway: bool, results: Path, as_json: bool) -> None:
    """Compare run B with run A, the earlier one.

    For each cell the ratio of its mean in B to that in A; and what the level costs against the baseline, then and
    now, each paired within the blocks of its own run. What changed besides between the runs falls out of the
    costs, and is in the means. The interval of the change holds at 95 %; where verdicts decided how many blocks
    there are, it takes more of them.

    Two runs of different hosts are not compared: what differs is told, with exit code 2.

    \b
    Examples:
      tare results compare v1.2 last
      tare results compare v1.2 last --metric latency_p99 --metric goodput
      tare results compare kata-hlf/v1.2 other-results/kata-hlf/2025-01-31T10-00-00Z --anyway --json
    """
    from tare.cli.result_tables import change_table, shorten
    from tare.results import changes, differences
    from tare.results.change import interval_kind
    from tare.results.export import plain
    from tare.results.runs import find

    run_a, run_b = find(results, a), find(results, b)
    differ = differences(run_a.record, run_b.record)
    if differ and not anyway:
        raise UsageError(
            f"{run_a.title} and {run_b.title} were not measured on the same host:{_differing(differ)}\n"
            "So a ratio of their figures says little of the lab. --anyway compares them, with this above the table."
        )
    plan = _plan(run_a)
    if [plan.get(fact) for fact in ("compare", "baseline")] != [_plan(run_b).get(f) for f in ("compare", "baseline")]:
        raise UsageError(f"{run_a.title} and {run_b.title} have different baselines, so their costs are not comparable")
    found = changes(
        run_a.trials(),
        run_b.trials(),
        metrics=_metrics(metrics, [run_a, run_b], everything=as_json),
        plan=plan,
        kinds=(interval_kind(run_a.record), interval_kind(run_b.record)),
    )
    if as_json:
        told = [dataclasses.asdict(one) for one in differ]
        of_cells = [{**dataclasses.asdict(change), "word": change.word} for change in found]
        print_json(plain({"a": _about(run_a), "b": _about(run_b), "hosts_differ": told, "changes": of_cells}))
        return
    if differ:
        click.echo(click.style("not measured on the same host:", fg="yellow", bold=True) + _differing(differ))
    click.echo(f"A is {run_a.title}, B is {run_b.title}")
    if not found:
        click.echo("neither run has a figure to compare")
        return
    units = {**run_b.record["units"], **run_a.record["units"]}
    short, everywhere = shorten([change.levels for change in found], keep=plan["compare"])
    if everywhere:
        click.echo(f"everywhere: {everywhere}")
    for metric in dict.fromkeys(change.metric for change in found):
        of_metric = [change for change in found if change.metric == metric]
        print_rich(change_table(metric, units.get(metric, ""), of_metric, short))


def _differing(differ: Sequence[Difference]) -> str:
    return "".join(f"\n  {one}" for one in differ)


@results.command()
@run_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "json", "parquet", "pytest-benchmark"]),
    required=True,
    help="What to write.",
)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="The file.  [default: stdout]")
@click.option(
    "--table",
    type=click.Choice(["trials", "samples", "host", "transactions", "histograms"]),
    default="trials",
    show_default=True,
    help="Whose rows csv, json and parquet hold.",
)
@click.option("--set-aside", is_flag=True, help="Also attempts that were set aside, which stand in no figure.")
@results_option
def export(run: str, form: str, output: Path | None, table: str, set_aside: bool, results: Path) -> None:
    """Write RUN in a form that other tools read. Base units throughout.

    pytest-benchmark takes every value for seconds, and less for better: read those of a rate the other way round.
    Its groups are the metrics, its benchmarks the cells, its rounds the trials.

    \b
    Examples:
      tare results export last --format csv --output trials.csv
      tare results export v1.2 --format parquet --table samples --output samples.parquet
      tare results export v1.2 --format pytest-benchmark --output 0001_v1.2.json
      pytest-benchmark compare 0001_v1.2.json 0002_now.json --group-by=group
    """
    from tare.results.export import export as exported
    from tare.results.export import save
    from tare.results.runs import find

    content = exported(find(results, run), form, table=table, include_set_aside=set_aside)
    if output is not None:
        save(output, content)
        return
    if form == "parquet" and sys.stdout.isatty():
        raise UsageError("Parquet is no text for a terminal; name a file with --output")
    click.echo(content, nl=False)


@results.command()
@run_argument
@click.argument("name", metavar="NAME")
@click.option("--move", is_flag=True, help="Take the name from the run that has it.")
@results_option
def tag(run: str, name: str, move: bool, results: Path) -> None:
    """Give RUN a name, by which commands and since="NAME" of a budget find it.

    \b
    Examples:
      tare results tag last v1.2
      tare results tag kata-hlf/2025-01-31T10-00-00Z before-upgrade
      tare results tag last nightly --move
    """
    from tare.results import tag as give
    from tare.results.runs import find

    stored = find(results, run)
    give(stored.folder, name, move=move)
    click.echo(f"{stored.title} is {name}")


def _plan(run: StoredRun) -> dict[str, Any]:
    plan = run.record.get("identity", {}).get("plan")
    if not isinstance(plan, dict) or not {"compare", "baseline"} <= plan.keys():
        raise TareError(f"{run.folder}: its record names no plan, so there is no baseline to compare with")
    return plan


def _metrics(asked: Sequence[str], runs: Sequence[StoredRun], *, everything: bool) -> tuple[str, ...]:
    """The metrics to show: those asked for, which have to be there, or the lab's headline ones, or all."""
    known = dict.fromkeys(metric for run in runs for metric in run.record["units"])
    for metric in asked:
        if metric not in known:
            raise UsageError(f"metric {metric!r} is not known; there are: {', '.join(known)}")
    if asked or everything:
        return tuple(asked or known)
    return tuple(metric for metric in _HEADLINE if metric in known) or tuple(known)


def _trial(trial: Trial) -> dict[str, Any]:
    """A trial without what fills screens: its samples, latencies and histograms; `export` gives those."""
    left_out = ("samples", "host", "latencies_seconds", "histograms")
    return {field.name: getattr(trial, field.name) for field in dataclasses.fields(trial) if field.name not in left_out}
