"""The page as a reader and a browser see it: read with a parser, not by eye."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from tare.errors import TareError, UsageError
from tare.manifest import Manifest
from tare.report.page import page
from tare.report.summary import Summary, summarise
from tare.report.write import TEMPLATE, write_report
from tare.results import StoredRun
from tare.trials.plan import Plan
from tare.trials.trial import Trial

JUDGED = (
    "held: goodput(runtime=gvisor) / goodput(runtime=runc) = 0.900, interval 0.88 … 0.92, budget >= 0.8",
    "missed: latency_p99(runtime=<b>gvisor</b>) <= 1 ms",
    "undecided: 2 claims together",
)
VOID = {"meta", "path", "line", "rect", "circle", "link", "br", "img"}


class Page(HTMLParser):
    """What is on the page: its elements, its text, and whether every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))


@pytest.fixture(scope="module")
def write(
    tmp_path_factory: pytest.TempPathFactory, kata_hlf: Manifest, open_plan: Plan, stored: StoredRun
) -> Callable[[str], str]:
    folder = tmp_path_factory.mktemp("reports")

    def write(name: str) -> str:
        write_report(kata_hlf, open_plan, stored, folder / name, judged=JUDGED)
        return (folder / name).read_text()

    return write


@pytest.fixture(scope="module")
def html(write: Callable[[str], str]) -> str:
    return write("report.html")


@pytest.fixture(scope="module")
def read(html: str) -> Page:
    return Page(html)


def made(summary: Summary, trials: tuple[Trial, ...], record: dict[str, Any]) -> str:
    template = resources.files("tare.report").joinpath(TEMPLATE).read_text()
    return page(summary, trials, record=record, folder="results/r", judged=JUDGED, template=template)


def test_the_page_needs_nothing_from_elsewhere(html: str, read: Page) -> None:
    assert read.open == []
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", html)
    assert {"script", "link", "img", "iframe", "object"}.isdisjoint(tag for tag, _ in read.elements)
    for attributes in (attributes for _, attributes in read.elements):
        assert {"src", "href", "xlink:href"}.isdisjoint(attributes)


def test_the_same_run_has_the_same_bytes(write: Callable[[str], str], html: str) -> None:
    assert write("again.html") == html
    assert write("a.json") == write("b.json")


def test_every_plot_is_named_described_and_legible_on_any_ground(read: Page) -> None:
    plots = read.all("svg")
    # A forest and a course for each of the four headline metrics that were measured; latency, CPU, memory.
    assert len(plots) == 2 * 4 + 3
    idents = [attributes["id"] for _, attributes in read.elements if attributes.get("id")]
    assert len(idents) == len(set(idents))
    for plot in plots:
        assert plot["role"] == "img"
        assert set((plot["aria-labelledby"] or "").split()) <= set(idents)
    text_colours = {attributes.get("fill") for attributes in read.all("text")}
    assert text_colours == {"currentColor"}
    assert "runc again (A/A)" in read.text and "gvisor" in read.text


def test_the_heading_says_what_was_measured_on_what(read: Page) -> None:
    text = read.text
    for fact in ("kata-hlf", "A <fast> CPU", "8.00 GiB", "6.1", "version 2", "sha256-flake", "2, by digest", "fabric"):
        assert fact in text
    assert "7 blocks (of 5 to 40)" in text and "valid at every look" in text


def test_verdicts_are_coloured_signed_and_escaped(html: str, read: Page) -> None:
    assert [one["class"] for one in read.all("li") if one.get("class")] == ["held", "missed", "undecided"]
    assert "✓ held" in read.text and "✗ missed" in read.text and "? undecided" in read.text
    assert "latency_p99(runtime=<b>gvisor</b>) <= 1 ms" in read.text
    assert "<b>gvisor" not in html


def test_what_was_not_run_and_what_was_disturbed_is_told(read: Page) -> None:
    text = read.text
    assert "runtime=kata (4 cells a block): kvm-guests: KVM runs no guest here" in text
    assert "attempt 1, set aside, and repeated: other programs used 13 % of the CPUs" in text
    assert "Hollow: 1 set aside" in text
    assert "MVCC_READ_CONFLICT 84" in text and "stock signing in JavaScript" in text


def test_a_run_that_broke_off_says_so(summary: Summary, attempts: tuple[Trial, ...], record: dict[str, Any]) -> None:
    text = Page(made(summary, attempts, {**record, "state": "failed", "error": "TareError: no space"})).text
    assert "This run is failed." in text and "TareError: no space" in text
    assert "This run is" not in Page(made(summary, attempts, {**record, "state": "complete"})).text


def test_no_trial_at_all_has_a_page_too(kata_hlf: Manifest, open_plan: Plan) -> None:
    text = Page(made(summarise(kata_hlf, open_plan, []), (), {})).text
    assert "not recorded" in text and "0 blocks (of 5 to 40)" in text


def test_one_condition_has_all_the_width(kata_hlf: Manifest, open_plan: Plan, attempts: tuple[Trial, ...]) -> None:
    levels = {"send_rate": 50.0, "total_cpus": 1.0}
    alone = tuple(trial for trial in attempts if all(trial.levels[name] == level for name, level in levels.items()))
    text = Page(made(summarise(kata_hlf, open_plan, alone), alone, {})).text
    assert "50 tx/s, 1 cpu" not in text.replace("50 tx/s, 1 cpu, shared", "")
    assert "Everywhere: send_rate=50 total_cpus=1 vcpus=shared" in text


def test_a_study_beside_a_row_has_a_mark_and_a_figure(
    kata_hlf: Manifest, open_plan: Plan, attempts: tuple[Trial, ...]
) -> None:
    assert kata_hlf.study is not None
    beside = dataclasses.replace(
        kata_hlf.study.figures[0], metric="goodput", levels={"runtime": "gvisor", "send_rate": 50}, ratio=0.777
    )
    lab = dataclasses.replace(kata_hlf, study=dataclasses.replace(kata_hlf.study, figures=(beside,)))
    text = Page(made(summarise(lab, open_plan, attempts), attempts, {})).text
    assert text.count("(study: 0.777)") >= 2 and "Hollow diamond: the study's figure." in text


def test_another_suffix_is_refused(write: Callable[[str], str]) -> None:
    with pytest.raises(UsageError, match=r"report\.pdf: expected a report's name to end in .html or .json"):
        write("report.pdf")


def test_a_file_that_cannot_be_written_is_named(
    tmp_path: Path, kata_hlf: Manifest, open_plan: Plan, stored: StoredRun
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TareError, match=r"file/report\.json: the report cannot be written"):
        write_report(kata_hlf, open_plan, stored, tmp_path / "file" / "report.json", judged=())
