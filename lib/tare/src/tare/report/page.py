"""The report as one page that needs nothing else: plots first, tables beneath. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tare.report import course, forest, percentiles, resources, waterfall, wording
from tare.report.figure import Figure, Key, key_of
from tare.report.summary import Summary
from tare.report.tables import (
    Table,
    attribution_table,
    cell_table,
    latency_table,
    metric_table,
    other_table,
    usage_tables,
)
from tare.trials.levels import describe
from tare.trials.trial import Trial
from tare.units import show
from tare.verdicts.latencies import LatencyRatio

STATES = {"held": "✓", "missed": "✗", "undecided": "?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the page under a heading of its own."""

    title: str
    about: str
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A verdict in words; ``state`` is empty where it is a claim of the verdict before."""

    state: str
    sign: str
    text: str


def page(
    summary: Summary,
    trials: Sequence[Trial],
    latencies: Sequence[LatencyRatio],
    *,
    record: Mapping[str, Any],
    folder: str,
    judged: Sequence[str],
    template: str,
) -> str:
    """Return the page as HTML. ``trials`` are all attempts, ``judged`` the verdicts on budgets, a sentence each."""
    import jinja2

    key = key_of(summary.plan)
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(template).render(
        summary=summary,
        design=wording.design(summary),
        intervals=wording.interval_kind(summary),
        fixed=describe(summary.fixed()),
        facts=dict(_facts(summary, record, folder)),
        state=str(record.get("state", "")),
        error=record.get("error"),
        verdicts=[_sentence(line) for line in judged],
        warnings=wording.warnings(summary),
        not_run=[wording.not_run(lost) for lost in summary.plan.not_run],
        sections=list(_sections(summary, trials, latencies, key)),
        others=other_table(summary),
        cells=cell_table(summary),
        client_bound=any(cell.client_bound for cell in summary.cells) and wording.CLIENT_BOUND_MEANS,
        disturbed=wording.disturbed(summary),
        disturbances=list(wording.disturbances(iter(trials))),
        failures=wording.failures(summary),
        notes=wording.notes(summary, record),
    )


def _sections(
    summary: Summary, trials: Sequence[Trial], latencies: Sequence[LatencyRatio], key: Key
) -> Iterator[Section]:
    for metric in summary.headline:
        about = summary.metrics[metric]
        figures = (forest.forest(summary, metric, key), course.course(summary, trials, metric, key))
        if any(figures):
            yield Section(
                title=metric,
                about=f"{about.description} In {_unit(about.unit)}; {about.better} is better.",
                figures=tuple(figure for figure in figures if figure),
                tables=(metric_table(summary, metric),),
            )
    taken_apart = [metric for metric, found in summary.attributions.items() if found]
    if taken_apart:
        of_each = (waterfall.waterfall(summary, metric, key) for metric in taken_apart)
        yield Section(
            title="Attribution",
            about="Whose cost it is: each level on the way from the baseline against the one before.",
            figures=tuple(figure for figure in of_each if figure),
            tables=tuple(attribution_table(summary, metric) for metric in taken_apart),
        )
    of_latency = tuple(percentiles.percentiles(summary, trials, key))
    if of_latency:
        loads = dict.fromkeys(one.load for one in latencies)
        yield Section(
            title="latency",
            about="Every percentile in the plot, a chosen few in the table.",
            figures=of_latency,
            tables=tuple(latency_table(summary, [one for one in latencies if one.load == load]) for load in loads),
        )
    of_usage = tuple(figure for figure in (resources.cpu(summary, key), resources.memory(summary, key)) if figure)
    if of_usage:
        yield Section(
            title="CPU and memory",
            about="What the containers of each node type used while the load was measured.",
            figures=of_usage,
            tables=usage_tables(summary),
        )


def _facts(summary: Summary, record: Mapping[str, Any], folder: str) -> Iterator[tuple[str, str]]:
    """Yield what was measured on what; a fact that the record does not have is said to be missing."""
    machine: Mapping[str, Any] = record.get("machine", {})
    memory = machine.get("memory_bytes")
    source: Mapping[str, Any] = record.get("source", {})
    yield "lab", summary.lab
    if record.get("experiment"):
        yield "experiment", str(record["experiment"])
    yield "run", folder
    yield "CPU", str(machine.get("cpu_model", "not recorded"))
    yield "CPUs", f"{len(machine['cpus'])}" if "cpus" in machine else "not recorded"
    yield "memory", show(memory, "B") if memory is not None else "not recorded"
    yield "kernel", str(machine.get("kernel", "not recorded"))
    yield "cgroup", f"version {machine['cgroup_version']}" if "cgroup_version" in machine else "not recorded"
    yield "seed", str(summary.plan.seed)
    yield "flake", str(source.get("nar_hash") or source.get("revision") or "not recorded")
    yield "images", f"{len(record['image_digests'])}, by digest" if "image_digests" in record else "not recorded"
    yield "Tare", str(record.get("tare", "not recorded"))


def _sentence(line: str) -> Sentence:
    state, separator, text = line.partition(":")
    if separator and state in STATES:
        return Sentence(state=state, sign=STATES[state], text=text.strip())
    return Sentence(state="", sign="", text=line)


def _unit(unit: str) -> str:
    return {"1": "shares of 1", "s": "seconds", "B": "bytes"}.get(unit, unit)
