"""Whose cost it is, as every report tells it."""

from __future__ import annotations

import dataclasses
import json
from importlib import resources
from pathlib import Path, PurePath

import pytest
from rich.console import Console

from tare import manifest
from tare.errors import ManifestError
from tare.manifest import AttributionStep, Factor, Manifest
from tare.report import waterfall, wording
from tare.report.document import document
from tare.report.figure import key_of
from tare.report.page import page
from tare.report.summary import Summary, summarise
from tare.report.table import render
from tare.report.verdicts import verdict_lines
from tare.report.write import TEMPLATE
from tare.stats.sequence import Method
from tare.trials.design import Blocks, settle
from tare.trials.plan import Plan, make
from tare.trials.trial import Trial

# Goodput at a send rate, as shares of it; each block's are a little off.
SHARES = {"runc": 1.0, "proxied": 0.5, "tls": 0.4, "alone": 0.9}
WAVE = (1.0, 1.02, 0.99, 1.01, 0.98, 1.03, 1.0)


@pytest.fixture(scope="module")
def lab(kata_hlf: Manifest) -> Manifest:
    """The lab with levels on the way to others; it names them in another order, and one that is not measured."""
    runtime = Factor(levels=tuple(SHARES), scope="deployment", unit=None, description="What runs.")
    ways = {
        "alone": (AttributionStep(cause="sandbox", level="alone"),),
        "tls": (
            AttributionStep(cause="hop", level="proxied"),
            AttributionStep(cause="mesh", level="meshed"),
            AttributionStep(cause="encryption", level="tls"),
        ),
        "unknown": (AttributionStep(cause="all", level="unknown"),),
    }
    rate = dataclasses.replace(kata_hlf.experiment.factors["send_rate"], levels=(50,))
    cpus = dataclasses.replace(kata_hlf.experiment.factors["total_cpus"], levels=(0.5, 1))
    factors = {**kata_hlf.experiment.factors, "runtime": runtime, "send_rate": rate, "total_cpus": cpus}
    return dataclasses.replace(
        kata_hlf, experiment=dataclasses.replace(kata_hlf.experiment, factors=factors, attributions=ways)
    )


@pytest.fixture(scope="module")
def plan(lab: Manifest) -> Plan:
    return make(settle(lab.experiment, blocks=Blocks(least=2, most=40)), seed=7, unavailable={})


def trials(plan: Plan, *, blocks: int) -> tuple[Trial, ...]:
    found = []
    for number in range(blocks):
        for planned in plan.block(number):
            arm, cpus = str(planned.levels["runtime"]), float(planned.levels["total_cpus"])
            wave = WAVE[(number + len(arm)) % len(WAVE)]
            found.append(
                Trial(
                    index=planned.index,
                    block=number,
                    deployment=planned.deployment,
                    levels=planned.levels,
                    began_at=0.0,
                    seconds=1.0,
                    metrics={"goodput": 50 * cpus * SHARES[arm] * wave, "client_cpu": 0.5},
                    succeeded=1,
                    failed=0,
                    client_bound=False,
                    failures={},
                    notes=(),
                    aa=planned.aa,
                )
            )
    return tuple(found)


def summary_of(lab: Manifest, plan: Plan, *, blocks: int, method: Method = "t") -> Summary:
    return summarise(lab, plan, trials(plan, blocks=blocks), method=method)


@pytest.fixture(scope="module")
def summary(lab: Manifest, plan: Plan) -> Summary:
    return summary_of(lab, plan, blocks=7)


@dataclasses.dataclass
class Run:
    """A run as the fixture gives it, without its lab."""

    manifest: Manifest
    plan: Plan
    trials: tuple[Trial, ...]
    folder: PurePath
    name: str = "fabric"
    method: Method = "t"
    proof: str = ""


def test_levels_are_taken_apart_in_the_order_of_the_levels_and_headline_metrics_alone(summary: Summary) -> None:
    told = [(found.whole.level, found.whole.condition["total_cpus"]) for found in summary.attributions["goodput"]]
    assert told == [("tls", 0.5), ("tls", 1.0), ("alone", 0.5), ("alone", 1.0)]
    assert set(summary.attributions) == set(summary.headline)
    assert summary.attributions["latency_mean"] == ()


def test_another_comparison_than_the_labs_is_not_taken_apart(lab: Manifest) -> None:
    other_baseline = make(
        settle(lab.experiment, baseline="proxied", blocks=Blocks(least=2, most=40)), seed=7, unavailable={}
    )
    other_factor = make(
        settle(lab.experiment, compare="total_cpus", baseline=0.5, blocks=Blocks(least=2, most=40)),
        seed=7,
        unavailable={},
    )
    for plan in (other_baseline, other_factor):
        assert not any(summary_of(lab, plan, blocks=2).attributions.values())


def test_the_summary_of_pytest_has_a_line_for_each(lab: Manifest, plan: Plan) -> None:
    lines = verdict_lines([], [Run(lab, plan, trials(plan, blocks=7), PurePath("results/x"))])
    taken = [line for line in lines if " = " in line]
    assert taken[0] == (
        "  tls, goodput at 0.5 cpu: 0.400 = hop 0.500 (0.478 … 0.523) x mesh and encryption 0.800 (0.764 … 0.837); "
        "n = 7"
    )
    assert taken[2].startswith("  alone, goodput at 0.5 cpu: 0.900 = sandbox 0.900 (")
    assert len(taken) == 4 and not [line for line in lines if "latency_mean, " in line]


def test_few_blocks_have_no_intervals_and_say_so(lab: Manifest, plan: Plan) -> None:
    found = summary_of(lab, plan, blocks=1).attributions["goodput"][0]
    told = wording.attribution(summary_of(lab, plan, blocks=1), found)
    assert told.startswith("tls, goodput at 0.5 cpu: 0.") and "(" not in told
    assert told.endswith("; n = 1, no intervals")


def test_medians_are_said_to_multiply_roughly(lab: Manifest, plan: Plan, summary: Summary) -> None:
    median = summary_of(lab, plan, blocks=7, method="median")
    assert "medians over the blocks, so the steps multiply to the whole only roughly" in wording.attribution_means(
        median
    )
    assert wording.attribution_means(summary).startswith("The steps multiply to the whole.")


def test_the_terminal_lists_them(summary: Summary) -> None:
    console = Console(width=400, force_terminal=False)
    with console.capture() as captured:
        console.print(render(summary, record={}))
    shown = captured.get()
    assert "attribution:" in shown and "tls, goodput at 1 cpu: 0.400 = hop 0.500 (" in shown
    assert "The steps multiply to the whole." in shown


def test_the_document_has_every_step(summary: Summary) -> None:
    found = document(summary, (), record={}, folder="results/r")
    assert found["schema"] == 2
    first = json.loads(json.dumps(found, allow_nan=False))["attributions"][0]
    assert (first["whole"]["metric"], first["whole"]["level"], first["whole"]["n"]) == ("goodput", "tls", 7)
    assert [(step["cause"], step["before"], step["comparison"]["level"]) for step in first["steps"]] == [
        ("hop", "runc", "proxied"),
        ("mesh and encryption", "proxied", "tls"),
    ]
    assert all(step["comparison"]["low"] < step["comparison"]["ratio"] for step in first["steps"])


def page_of(summary: Summary, measured: tuple[Trial, ...]) -> str:
    template = resources.files("tare.report").joinpath(TEMPLATE).read_text()
    return page(summary, measured, (), record={}, folder="results/r", judged=(), template=template)


def test_the_page_has_a_section_with_a_plot_and_a_table(lab: Manifest, plan: Plan, summary: Summary) -> None:
    html = page_of(summary, trials(plan, blocks=7))
    section = html[html.index("<h2>Attribution</h2>") :]
    section = section[: section.index("</section>")]
    assert section.count("<svg") == section.count("<table>") == 1
    assert "goodput: whose cost it is" in section and "mesh and encryption" in section
    assert section.count("<td>whole</td>") == 4 and section.count('<tr class="quiet">') == 2 * 2 + 2 * 1


def test_a_lab_that_takes_nothing_apart_has_no_section(kata_hlf: Manifest, plan: Plan) -> None:
    measured = trials(plan, blocks=2)
    assert "Attribution" not in page_of(summarise(kata_hlf, plan, measured), measured)


def test_a_bar_begins_where_the_one_before_ends(summary: Summary) -> None:
    found = summary.attributions["goodput"][0]
    whole, hop, encryption = waterfall._rows(summary, found, 0, key_of(summary.plan))
    assert (whole["before"], hop["before"], encryption["before"]) == (1.0, 1.0, hop["ratio"])
    assert encryption["ratio"] == pytest.approx(whole["ratio"])
    assert found.steps[1].comparison.low is not None
    assert encryption["low"] == hop["ratio"] * found.steps[1].comparison.low


def test_equal_causes_of_several_levels_have_bars_of_their_own(summary: Summary) -> None:
    figure = waterfall.waterfall(summary, "goodput", key_of(summary.plan))
    assert figure is not None
    # What tells them apart is not shown.
    assert figure.svg.count(">hop<") == 2 and figure.svg.count(">tls, 0.5 cpu<") == 1
    assert waterfall.waterfall(summary, "latency_mean", key_of(summary.plan)) is None


def test_an_interval_that_is_far_wider_than_the_bars_is_cut(lab: Manifest) -> None:
    two = make(settle(lab.experiment, blocks=Blocks(least=2, most=2)), seed=7, unavailable={})
    wild = tuple(
        dataclasses.replace(trial, metrics={"goodput": trial.metrics["goodput"] * (1 + 2 * trial.block)})
        if trial.levels["runtime"] == "tls"
        else trial
        for trial in trials(two, blocks=2)
    )
    figure = waterfall.waterfall(summarise(lab, two, wild), "goodput", key_of(two))
    assert figure is not None and "the interval goes on" in figure.caption


def test_the_manifest_brings_them_or_leaves_them_out(kata_hlf: Manifest, lab_folder: Path, tmp_path: Path) -> None:
    written = json.loads((lab_folder / "lab.json").read_text())
    written["experiment"].pop("attributions", None)
    file = tmp_path / "lab.json"
    file.write_text(json.dumps(written))
    assert manifest.read(file).experiment.attributions == {}
    written["experiment"]["attributions"] = {"kata": [{"cause": "sandbox", "level": "kata"}]}
    file.write_text(json.dumps(written))
    assert manifest.read(file).experiment.attributions == {"kata": (AttributionStep(cause="sandbox", level="kata"),)}
    written["experiment"]["attributions"]["kata"][0]["why"] = "?"
    file.write_text(json.dumps(written))
    with pytest.raises(ManifestError, match=r"experiment\.attributions\.kata\[0\]\.why: unknown key"):
        manifest.read(file)
