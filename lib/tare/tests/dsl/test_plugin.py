"""The whole plugin through pytester; the lab is ``synthetic.py``, all else is what users run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tare.results import StoredRun

HERE = Path(__file__).parent
LAB = HERE.parent / "data" / "labs" / "kata-hlf"

EXPERIMENT = f"""
from tare import Factor, equivalent, experiment, non_inferior, ranking

@experiment(
    lab={str(LAB)!r},
    factor=Factor("runtime", baseline="runc", levels=["runc", "gvisor", "kata"]),
    across=[Factor("total_cpus", levels=[1.0]), Factor("send_rate", levels=[50])],
    blocks=(3, 20),
    seed=7,
)
def fabric(trial):
    trial.load()
"""

UNSEEDED = EXPERIMENT.replace("    seed=7,\n", "")

HELD = """
def test_throughput(fabric):
    assert fabric.goodput(runtime="gvisor") / fabric.goodput(runtime="runc") >= 0.5
"""


def run(lab: pytest.Pytester, tests: str, *arguments: str) -> pytest.RunResult:
    lab.makepyfile(test_fabric=EXPERIMENT + tests)
    return lab.runpytest_inprocess("-p", "tare.plugin", "-p", "no:cacheprovider", *arguments)


def loads(lab: pytest.Pytester) -> int:
    return len((lab.path / "loads").read_text().splitlines())


def only_run(lab: pytest.Pytester) -> StoredRun:
    (folder,) = [path.parent for path in lab.path.glob("results/kata-hlf/*/run.json")]
    return StoredRun(folder)


def test_a_budget_that_is_held_passes_and_is_told_with_interval_and_n(lab: pytest.Pytester) -> None:
    result = run(lab, HELD)
    result.assert_outcomes(passed=1)
    result.stdout.re_match_lines(
        [r" +held: goodput\(runtime=gvisor\) / goodput\(runtime=runc\) = 0\.\d+, interval 0\.\d+ … 0\.\d+ .* n = \d"]
    )
    assert result.ret == 0
    assert only_run(lab).state == "complete"


def test_a_budget_that_is_missed_fails_with_the_verdict_in_pytests_own_words(lab: pytest.Pytester) -> None:
    result = run(
        lab,
        """
def test_throughput(fabric):
    assert fabric.goodput(runtime="gvisor") / fabric.goodput(runtime="runc") >= 0.95
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines(
        [
            r">       assert fabric\.goodput",
            r"E       assert missed: goodput\(runtime=gvisor\) / goodput\(runtime=runc\) = 0\.[78].*budget >= 0\.950",
        ]
    )
    assert result.ret == 1


@pytest.mark.parametrize(
    ("mode", "code", "word"), [("fail", 1, "undecided"), ("pass", 0, "undecided"), ("xfail", 0, "xfailed")]
)
def test_undecided_is_an_outcome_of_its_own(
    lab: pytest.Pytester, mode: str, code: int, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GVISOR", "1.0")
    result = run(
        lab,
        """
def test_no_slower(fabric):
    assert fabric.goodput(runtime="gvisor") >= fabric.goodput(runtime="runc")
""",
        *("--undecided", mode, "-rx"),
    )
    result.stdout.re_match_lines(
        [
            r".*about [0-9]+ more blocks would decide it, if what was seen so far is the truth"
            r"|.*the figure is on the bound"
        ]
    )
    assert result.ret == code
    assert result.parseoutcomes() == {word: 1}
    assert "undecided: undecided:" not in result.stdout.str()
    result.stdout.re_match_lines([r".*undecided: goodput\(runtime=gvisor\) / goodput\(runtime=runc\) = .* n = 20"])
    assert loads(lab) == 20 * 3


def test_blocks_are_measured_only_until_the_verdict(lab: pytest.Pytester) -> None:
    run(lab, HELD)
    blocks = {trial.block for trial in only_run(lab).trials()}
    assert 3 <= len(blocks) < 10
    assert loads(lab) == len(blocks) * 3


def test_what_cannot_run_is_skipped_with_its_reason(lab: pytest.Pytester) -> None:
    result = run(
        lab,
        """
def test_kata(fabric):
    assert fabric.goodput(runtime="kata") / fabric.goodput(runtime="runc") >= 0.5
""",
        "-rs",
    )
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*runtime=kata was not run here: kvm-guests: KVM runs no guest here"])


def test_a_fault_is_an_error_and_not_a_missed_budget(lab: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAILS_AT", "2")
    result = run(lab, HELD + HELD.replace("throughput", "again").replace("0.5", "0.6"), "--junit-xml", "out.xml")
    suite = ElementTree.parse(lab.path / "out.xml").find("testsuite")
    assert suite is not None and (suite.get("errors"), suite.get("failures")) == ("2", "0")
    assert ["the generator could not start" in (each.text or "") for each in suite.iter("error")] == [True, True]
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        ["*ERROR at measurement of test_throughput*", "E*TareError: the generator could not start"]
    )
    result.stdout.no_fnmatch_line("*/src/tare/*")
    assert (loads(lab), only_run(lab).state, result.ret) == (2, "failed", 1)


def test_the_budgets_share_the_error_rate(lab: pytest.Pytester) -> None:
    result = run(lab, HELD + HELD.replace("throughput", "again").replace("0.5", "0.6"))
    # 2 * 5 % / (2 * 2) for the first, 2 * 5 % / (2 * 2 - 1) for the second.
    result.stdout.re_match_lines([r" +held: .*\(97\.5 %", r" +held: .*\(96\.67 %"])


def test_one_budget_more_than_declared_is_refused(lab: pytest.Pytester) -> None:
    two = """
def test_both(fabric):
    ratio = fabric.goodput(runtime="gvisor") / fabric.goodput(runtime="runc")
    assert ratio >= 0.5
    assert ratio <= 2
"""
    result = run(lab, two)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*is one budget more than the 1 that share its error rate of 0.05*budgets=2*"])


def test_rankings_equivalence_noninferiority_and_noise(lab: pytest.Pytester) -> None:
    result = run(
        lab,
        """
def test_ranking(fabric):
    assert ranking([fabric.goodput(runtime="runc"), fabric.goodput(runtime="gvisor")])

def test_equivalent(fabric):
    assert equivalent(fabric.goodput(runtime="runc"), fabric.goodput(runtime="gvisor"), within="5 %")

def test_non_inferior(fabric):
    assert non_inferior(fabric.latency_mean(runtime="gvisor"), fabric.latency_mean(runtime="runc"), margin="50 %")

def test_the_machine_is_quiet(fabric):
    assert fabric.noise("goodput") <= "105 %"

def test_time(fabric):
    assert fabric.latency_mean(runtime="gvisor") - fabric.latency_mean(runtime="runc") <= "5 ms"
""",
    )
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.re_match_lines(
        [
            r"E .*assert missed: goodput\(runtime=runc\) / goodput\(runtime=gvisor\) = 1\.2.*within",
            r"E .*where missed = equivalent\(",
        ],
        consecutive=True,
    )
    # The summary at the end repeats the whole failure where $CI is set.
    failure, _summary = result.stdout.str().split("short test summary info")
    assert failure.count("where missed") == 1


def test_each_claim_of_a_missed_ranking_is_told_once_on_a_line_of_its_own(lab: pytest.Pytester) -> None:
    result = run(
        lab,
        """
def test_ranking(fabric):
    one, other = fabric.goodput(runtime="gvisor"), fabric.goodput(runtime="runc")
    order = ranking([one, other, one])
    assert order
""",
    )
    result.assert_outcomes(failed=1)
    told = [line for line in result.outlines if line.startswith("E ")]
    assert [line.removeprefix("E").strip().partition(" = ")[0] for line in told] == [
        "assert missed: 2 claims together",
        "missed: goodput(runtime=gvisor) / goodput(runtime=runc)",
        "held: goodput(runtime=runc) / goodput(runtime=gvisor)",
    ]


def test_a_failure_that_is_no_verdict_shows_none(lab: pytest.Pytester) -> None:
    result = run(
        lab,
        """
def test_arithmetic(fabric):
    if not fabric.goodput(runtime="gvisor") / fabric.goodput(runtime="runc") >= 0.95:
        assert 1 + 1 == 3
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.no_re_match_line(r"E .*missed")


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (
            "assert fabric.goodput(runtime='runc') >= 5",
            "*5 has no unit, and this is measured in tx/s. Write '100 tx/s'.",
        ),
        ("fabric.speed(runtime='runc')", "*experiment fabric: no metric 'speed'; the lab measures: *goodput*"),
        ("fabric.goodput(runtme='runc')", "*no factor 'runtme'; the experiment has: runtime, *"),
        ("fabric.goodput(runtime='docker')", "*no such level; the experiment has: runc, gvisor, kata"),
        ("fabric.goodput()", "*runtime is left open, and the experiment has runc, gvisor; name one of them"),
        ("fabric.goodput(runtime='runc', since='v1.2')", "*no run 'v1.2' of kata-hlf in results; *"),
    ],
)
def test_a_mistake_is_told_at_the_users_own_line(lab: pytest.Pytester, test: str, message: str) -> None:
    result = run(lab, f"def test_it(fabric):\n    {test}\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f">*{test.split('(')[0]}*", f"E{message}"])
    result.stdout.no_fnmatch_line("*/src/tare/*")


def test_the_lab_is_brought_up_once_and_taken_down_at_the_end(lab: pytest.Pytester) -> None:
    run(lab, HELD + '\ndef test_lab(fabric):\n    assert fabric.lab == "the lab\'s nodes"\n').assert_outcomes(passed=2)
    assert (lab.path / "journal").read_text() == "up\ndown\n"


def test_a_dry_run_prints_the_plan_and_measures_nothing(lab: pytest.Pytester) -> None:
    result = run(lab, HELD, "--tare-dry-run")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["*fabric*", "*3 to 20 blocks*", "*kvm-guests: KVM runs no guest here*", "*order of block 1 (seed 7):"]
    )
    assert not (lab.path / "loads").exists() and not list(lab.path.glob("results/*/*/run.json"))


def test_a_dry_run_tells_the_order_only_if_it_will_be_that(
    lab: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dry_run(*arguments: str, code: str = UNSEEDED) -> str:
        lab.makepyfile(test_fabric=code + HELD)
        found = lab.runpytest_inprocess("-p", "tare.plugin", "--tare-dry-run", *arguments).outlines
        return " ".join(line for line in found if "order" in line)

    assert "drawn anew when it begins" in dry_run()
    assert "order of block 1 (seed 5)" in dry_run("--tare-seed", "5")
    # A run that broke off goes on with its own seed, if it is of the very same.
    monkeypatch.setenv("FAILS_AT", "3")
    lab.runpytest_inprocess("-p", "tare.plugin")
    assert f"order of block 1 (seed {only_run(lab).record['seed']})" in dry_run()
    assert "drawn anew when it begins" in dry_run(code=UNSEEDED.replace("trial.load()", "trial.load(duration='2 s')"))


def test_a_mistake_before_anything_is_measured_leaves_no_run(lab: pytest.Pytester) -> None:
    mistaken = "def test_it(fabric):\n    fabric.speed(runtime='runc')\n"
    result = run(lab, mistaken, "--tare-report", "report.json")
    result.assert_outcomes(failed=1)
    assert not [path for path in lab.path.glob("results/kata-hlf/*") if path.is_dir()]
    assert not (lab.path / "report.json").exists()
    result.stdout.no_fnmatch_line("*0 blocks*")
    # One that had measured is kept, whatever the session did with it.
    run(lab, HELD)
    assert only_run(lab).state == "complete"


PROOFS = """
import pytest

@pytest.mark.proof
@pytest.mark.parametrize("node", ["one", "two"])
def test_the_lab(fabric, node):
    assert fabric.lab == "the lab's nodes"
"""


def test_proofs_come_first_and_take_no_share_of_the_error_rate(lab: pytest.Pytester) -> None:
    result = run(lab, HELD + PROOFS, "-v")
    result.assert_outcomes(passed=3)
    ran = [line.partition("::")[2].partition(" ")[0] for line in result.outlines if "::" in line]
    assert ran == ["test_the_lab[one]", "test_the_lab[two]", "test_throughput"]
    result.stdout.re_match_lines([r"  proof of the lab: 2 of 2 tests passed", r"  held: .*\(95 %"])


def test_what_need_not_hold_is_judged_and_fails_nothing(lab: pytest.Pytester) -> None:
    claim = "@pytest.mark.xfail(reason='of eight CPUs', strict=False)"
    missed = HELD.replace("throughput", "missed").replace("0.5", "0.99")
    undecided = "def test_undecided(fabric):\n    assert fabric.noise('goodput') >= 1\n"
    result = run(lab, f"import pytest\n{claim}{missed}\n{claim}{HELD}\n{claim}\n{undecided}")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.re_match_lines([r"  missed: goodput", r"  held: goodput", r"  undecided: goodput"])


def test_skipped_tests_take_no_share_of_the_error_rate(lab: pytest.Pytester) -> None:
    marks = {"one": "skip", "two": "skipif(True, reason='two CPUs')", "three": "skipif(False, reason='none')"}
    tests = [f"@pytest.mark.{mark}{HELD.replace('throughput', name)}" for name, mark in marks.items()]
    result = run(lab, "import pytest\n" + "\n".join(tests))
    result.assert_outcomes(passed=1, skipped=2)
    result.stdout.re_match_lines([r"  held: .*\(95 %"])


def test_a_lab_that_fails_its_proof_is_not_measured(lab: pytest.Pytester) -> None:
    result = run(lab, HELD + PROOFS.replace('== "the', '!= "the').replace('"one", "two"', '"one"'))
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["*experiment fabric is not measured, for the lab failed its proof:", "*test_fabric.py::test_the_lab?one?"]
    )
    assert not (lab.path / "loads").exists()


def test_a_broken_off_run_stays_so_when_its_lab_fails_the_proof(lab: pytest.Pytester) -> None:
    lab.makepyfile(test_fabric=EXPERIMENT + HELD)
    command = [sys.executable, "-m", "pytest", "-p", "tare.plugin", "-p", "no:cacheprovider"]
    subprocess.run(command, cwd=lab.path, env={**os.environ, "DIES_AT": "5"}, capture_output=True, timeout=60)
    run(lab, HELD + PROOFS.replace('== "the', '!= "the')).assert_outcomes(failed=2, errors=1)
    assert (only_run(lab).state, len(only_run(lab).trials())) == ("failed", 4)
    run(lab, HELD + PROOFS).assert_outcomes(passed=3)
    assert only_run(lab).state == "complete"


def test_a_design_too_short_for_any_verdict_is_told_at_once(lab: pytest.Pytester) -> None:
    short = EXPERIMENT.replace("(3, 20)", "(2, 6), budgets=2")
    lab.makepyfile(test_fabric=short + HELD)
    told = "2 budgets share the error rate of 5 %: no verdict before block 7, and the design allows 6: allow more"
    dry = lab.runpytest_inprocess("-p", "tare.plugin", "--tare-dry-run")
    dry.stdout.fnmatch_lines([f"  {told}*"])
    result = lab.runpytest_inprocess("-p", "tare.plugin", "-p", "no:cacheprovider")
    assert told in (lab.path / "notes").read_text()
    result.stdout.fnmatch_lines(["*undecided*interval not bounded yet*"])
    lab.makepyfile(test_fabric=short.replace("6", "7") + HELD)
    lab.runpytest_inprocess("-p", "tare.plugin", "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_what_the_machine_does_not_tell_is_recorded_once(lab: pytest.Pytester) -> None:
    run(lab, HELD)
    assert only_run(lab).record["absent"] == ["CPU frequency (the kernel's cpufreq)"]


def test_k_and_junit_and_reports(lab: pytest.Pytester) -> None:
    result = run(
        lab,
        HELD + HELD.replace("throughput", "other"),
        *("-k", "throughput", "--junit-xml", "out.xml"),
        *("--tare-report", "report.html", "--tare-report", "report.json"),
    )
    result.assert_outcomes(passed=1, deselected=1)
    properties = ElementTree.parse(lab.path / "out.xml").findall(".//property[@name='tare']")
    assert [each.get("value", "").split(":")[0] for each in properties] == ["held"]
    # Deselected tests take no share of the error rate.
    assert "(95 %" in properties[0].get("value", "")
    assert "<svg" in (lab.path / "report.html").read_text()
    assert json.loads((lab.path / "report.json").read_text())["lab"] == "kata-hlf"


def test_another_suffix_of_a_report_is_refused_before_anything_is_measured(lab: pytest.Pytester) -> None:
    result = run(lab, HELD, "--tare-report", "report.pdf")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--tare-report report.pdf: expected FILE.html or FILE.json"])


def test_x_stops_at_the_first_missed_budget_and_lf_goes_on_with_it(lab: pytest.Pytester) -> None:
    lab.makepyfile(test_fabric=EXPERIMENT + HELD.replace("0.5", "0.99") + HELD.replace("throughput", "other"))
    first = lab.runpytest_inprocess("-p", "tare.plugin", "-x")
    first.assert_outcomes(failed=1)
    again = lab.runpytest_inprocess("-p", "tare.plugin", "--lf")
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(["*rerun previous 1 failure*"])


def test_xdist_is_refused(lab: pytest.Pytester) -> None:
    lab.makepyfile(test_fabric=EXPERIMENT + HELD)
    result = lab.runpytest_subprocess("-p", "tare.plugin", "-n", "2")
    result.stdout.fnmatch_lines(["*pytest-xdist's workers would measure at the same time on one machine*"])
    assert result.ret == 1 and not (lab.path / "loads").exists()


def test_a_run_that_was_killed_goes_on_at_its_next_trial(lab: pytest.Pytester) -> None:
    lab.makepyfile(test_fabric=EXPERIMENT + HELD)
    command = [sys.executable, "-m", "pytest", "-p", "tare.plugin", "-p", "no:cacheprovider"]
    killed = subprocess.run(command, cwd=lab.path, env={**os.environ, "DIES_AT": "5"}, capture_output=True, timeout=60)
    assert killed.returncode == -9
    before = only_run(lab)
    assert (before.state, len(before.trials())) == ("interrupted", 4)
    result = run(lab, HELD)
    result.assert_outcomes(passed=1)
    stored = only_run(lab)
    assert stored.state == "complete" and stored.record["seed"] == 7
    indices = [trial.index for trial in stored.trials()]
    assert indices == list(range(len(indices)))
    # The killed load is the one that was sent twice.
    assert loads(lab) == len(indices) + 1


def test_a_run_that_was_killed_goes_on_with_more_blocks_and_other_tests(lab: pytest.Pytester) -> None:
    lab.makepyfile(test_fabric=EXPERIMENT + HELD)
    command = [sys.executable, "-m", "pytest", "-p", "tare.plugin", "-p", "no:cacheprovider"]
    subprocess.run(command, cwd=lab.path, env={**os.environ, "DIES_AT": "5"}, capture_output=True, timeout=60)
    lab.makepyfile(test_fabric=EXPERIMENT.replace("(3, 20)", "(4, 30), budgets=2") + HELD.replace("0.5", "0.4"))
    lab.runpytest_inprocess("-p", "tare.plugin", "-p", "no:cacheprovider").assert_outcomes(passed=1)
    assert only_run(lab).state == "complete"


def test_a_run_of_something_else_is_left_alone(lab: pytest.Pytester) -> None:
    lab.makepyfile(test_fabric=EXPERIMENT + HELD)
    command = [sys.executable, "-m", "pytest", "-p", "tare.plugin", "-p", "no:cacheprovider"]
    subprocess.run(command, cwd=lab.path, env={**os.environ, "DIES_AT": "5"}, capture_output=True, timeout=60)
    lab.makepyfile(test_fabric=EXPERIMENT.replace("trial.load()", "trial.load(duration='2 s')") + HELD)
    result = lab.runpytest_inprocess("-p", "tare.plugin", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    states = sorted(StoredRun(path.parent).state for path in lab.path.glob("results/kata-hlf/*/run.json"))
    assert states == ["complete", "interrupted"]


def test_an_earlier_run_is_a_budget_too(lab: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each of two runs has half of the error rate, at which six blocks are too few.
    lab.makepyfile(test_fabric=EXPERIMENT.replace("(3, 20)", "(8, 20)") + HELD)
    lab.runpytest_inprocess("-p", "tare.plugin", "-p", "no:cacheprovider").assert_outcomes(passed=1)
    earlier = only_run(lab).folder
    since = f"""
def test_no_regression(fabric):
    def ratio(**since):
        return fabric.goodput(runtime="gvisor", **since) / fabric.goodput(runtime="runc", **since)

    assert ratio() / ratio(since={str(earlier)!r}) >= 0.9
"""
    run(lab, since).assert_outcomes(passed=1)
    monkeypatch.setenv("GVISOR", "0.4")
    run(lab, since).assert_outcomes(failed=1)
    monkeypatch.setenv("KERNEL", "6.6")
    refused = run(lab, since)
    refused.stdout.fnmatch_lines(
        ["*cannot be compared with a run on this machine:*", "*kernel: '6.1' then, '6.6' now*"]
    )
    refused.assert_outcomes(errors=1)


def test_without_the_plugin_the_fixture_says_what_is_missing(lab: pytest.Pytester) -> None:
    (lab.path / "conftest.py").unlink()
    lab.makepyfile(test_fabric=EXPERIMENT + HELD)
    result = lab.runpytest_inprocess("-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(["*run pytest with -p tare.plugin"])
