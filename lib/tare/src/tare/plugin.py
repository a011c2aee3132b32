"""The pytest plugin: it only translates between pytest and the library.

Load it with ``-p tare.plugin``, as this repository's pytest.ini and ``tare test`` do.
"""

from __future__ import annotations

import io
import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import pytest

from tare.dsl.declaration import DECLARATION, Declaration
from tare.dsl.experiment_run import NotRunHere
from tare.errors import TareError, UsageError
from tare.verdicts.budget import Undecided
from tare.verdicts.estimate import Estimate

if TYPE_CHECKING:
    from tare.laboratory import Laboratory

OURS = Path(__file__).parent

# The marker of a test that is no budget.
PROOF = "proof"

_BUDGETS = pytest.StashKey[Mapping[str, int]]()
_LABORATORY = pytest.StashKey["Laboratory"]()


class Hooks:
    """What a conftest.py may put in the place of Tare's own."""

    @pytest.hookspec(firstresult=True)
    def pytest_tare_laboratory(self, config: pytest.Config, budgets: Mapping[str, int]) -> Laboratory | None:
        """Return the laboratory of this session. ``budgets`` is how many tests of each experiment may come
        to a verdict: proofs and skipped tests cannot.

        Example, which keeps results in another place::

            def pytest_tare_laboratory(config, budgets):
                return Laboratory(results=Path("/srv/results"), progress=Reporter(), budgets=budgets)
        """


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tare", "performance experiments (Tare)")
    group.addoption(
        "--undecided",
        choices=("fail", "pass", "xfail"),
        default="fail",
        help="what a budget that stays undecided does to its test (default: fail)",
    )
    group.addoption("--keep-lab", action="store_true", help="leave labs up at the end; `tare down LAB` takes one down")
    group.addoption(
        "--tare-dry-run",
        action="store_true",
        help="print the cells, blocks and time of each experiment; measure nothing",
    )
    group.addoption(
        "--tare-report",
        action="append",
        default=[],
        metavar="FILE",
        type=Path,
        help="write the report at the end: FILE.html with plots, or FILE.json; repeatable",
    )
    group.addoption(
        "--tare-results",
        default=Path("results"),
        metavar="FOLDER",
        type=Path,
        help="where runs are kept (default: results)",
    )
    group.addoption(
        "--tare-seed",
        default=None,
        metavar="N",
        type=int,
        help="seed of the random order (default: the declaration's, else drawn and recorded)",
    )
    group.addoption(
        "--tare-disturbed-above",
        default=None,
        metavar="SHARE",
        help='repeat a trial in which others took more of the CPUs than this (default: "5 %%")',
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{PROOF}: the lab is what the experiment takes it for; runs before all else, and if it fails, nothing of the "
        "experiment is measured. Takes no share of the error rate",
    )
    for report in config.getoption("--tare-report"):
        if report.suffix not in (".html", ".json"):
            raise pytest.UsageError(f"--tare-report {report}: expected FILE.html or FILE.json")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the proofs first, in their order."""
    items.sort(key=lambda item: not _is_proof(item))


def pytest_collection_finish(session: pytest.Session) -> None:
    counted: dict[str, int] = {}
    for item in session.items:
        for declaration in _declarations(item) if _may_judge(item) else ():
            counted[declaration.name] = counted.get(declaration.name, 0) + 1
    session.config.stash[_BUDGETS] = counted


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Print the plans in the place of the tests, for a dry run."""
    if not session.config.getoption("--tare-dry-run") or session.testsfailed:
        return None
    from tare.report.dry_run import describe_plan

    found = {declaration.name: declaration for item in session.items for declaration in _declarations(item)}
    terminal: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    try:
        with _new_laboratory(session.config) as laboratory:
            for declaration in found.values():
                lab, plan, seeded = laboratory.plan(declaration)
                past = laboratory.past_trial_seconds(lab.manifest.name)
                terminal.ensure_newline()
                deciding = laboratory.deciding(declaration, plan)
                lines = describe_plan(declaration.name, lab.manifest, plan, past, seeded=seeded, deciding=deciding)
                terminal.write_line("\n".join(lines))
    except TareError as error:
        raise pytest.UsageError(str(error)) from None
    if not found:
        terminal.write_line("no test that was collected uses an experiment")
    return True


@pytest.fixture(scope="session")
def tare_laboratory(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The labs of this session; experiments' fixtures open their runs in it."""
    config = request.config
    if hasattr(config, "workerinput") and int(config.workerinput["workercount"]) > 1:
        raise UsageError(
            "pytest-xdist's workers would measure at the same time on one machine, and each would disturb the others: "
            "run these tests without -n, or with -n 1"
        )
    with _ended_in_order(), _new_laboratory(config) as laboratory:
        config.stash[_LABORATORY] = laboratory
        yield laboratory
    laboratory.write_reports(config.getoption("--tare-report"))


def pytest_assertrepr_compare(config: pytest.Config, left: object, right: object) -> list[str] | None:
    """Show the verdict in the place of the two sides of a comparison."""
    laboratory = config.stash.get(_LABORATORY, None)
    if laboratory is None or not laboratory.judged or not isinstance(left, Estimate) | isinstance(right, Estimate):
        return None
    return laboratory.judged[-1].verdict.lines()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Keep the verdicts that a test came to among its properties: junit's file has them."""
    laboratory = item.config.stash.get(_LABORATORY, None)
    before = len(laboratory.judged) if laboratory else 0
    try:
        yield
    finally:
        if laboratory:
            for judgement in laboratory.judged[before:]:
                judgement.tests.append(item.nodeid)
                item.user_properties.extend(("tare", line) for line in judgement.verdict.lines())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    error = call.excinfo.value if call.excinfo is not None else None
    if isinstance(error, TareError) and not item.config.getoption("fulltrace", False):
        call.excinfo = pytest.ExceptionInfo.from_exception(error.with_traceback(_theirs(error.__traceback__)))
    if isinstance(error, AssertionError):
        _show_missed(item, error)
    report: pytest.TestReport = yield  # type: ignore[assignment]
    if _is_proof(item) and (report.failed or (report.passed and call.when == "call")):
        _tell_proof(item, passed=report.passed)
    if isinstance(error, Undecided):
        _mark_undecided(report, error, item.config.getoption("--undecided"))
    elif isinstance(error, NotRunHere):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), (item.location[1] or 0) + 1, f"Skipped: {error}")
    elif isinstance(error, TareError) and not isinstance(error, UsageError):
        report.tare_category = "error"  # type: ignore[attr-defined]
        if report.when == "call":
            # To pytest, and to junit's file, whatever goes wrong in a call is a failure, in any other phase an error.
            report.when = "measurement"  # type: ignore[assignment]
    return report  # type: ignore[return-value]


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    category = getattr(report, "tare_category", None)
    return {"undecided": ("undecided", "U", "UNDECIDED"), "error": ("error", "E", "ERROR")}.get(category or "")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    undecided = terminalreporter.getreports("undecided")
    if undecided:
        terminalreporter.write_sep("=", "UNDECIDED")
        for report in undecided:
            terminalreporter.write_sep("_", report.head_line or report.nodeid)
            if report.longrepr is not None:
                report.toterminal(terminalreporter._tw)
    laboratory = config.stash.get(_LABORATORY, None)
    if laboratory is None or not laboratory.runs:
        return
    from tare.report.verdicts import verdict_lines

    terminalreporter.write_sep("=", "budgets")
    for line in verdict_lines(laboratory.judged, laboratory.runs):
        terminalreporter.write_line(line)


def _theirs(trace: TracebackType | None) -> TracebackType | None:
    """Return the traceback without Tare's own frames: an error shows the test's lines."""
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    kept = [frame for frame in frames if not Path(frame.tb_frame.f_code.co_filename).is_relative_to(OURS)]
    following = None
    for frame in reversed(kept):
        following = TracebackType(following, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return following


def _show_missed(item: pytest.Item, error: AssertionError) -> None:
    """Put the verdict into an assertion of pytest that only says ``missed``: of a call, or of a name."""
    laboratory = item.config.stash.get(_LABORATORY, None)
    missed = [
        judgement.verdict
        for judgement in (laboratory.judged if laboratory else ())
        if item.nodeid in judgement.tests and judgement.verdict.state == "missed"
    ]
    told = str(error)
    if missed and missed[-1].lines()[0] not in told:
        verdict = "\n".join(missed[-1].lines())
        error.args = (re.sub(r"\bmissed\b", lambda _: verdict, told, count=1),)


def _is_proof(item: pytest.Item) -> bool:
    return item.get_closest_marker(PROOF) is not None


def _may_judge(item: pytest.Item) -> bool:
    """Whether a test may come to a verdict: it is no proof, and no mark skips it whatever happens."""
    skipped = item.get_closest_marker("skip") is not None
    conditions = (mark.args[0] for mark in item.iter_markers("skipif") if mark.args)
    return not (_is_proof(item) or skipped or any(condition is True for condition in conditions))


def _tell_proof(item: pytest.Item, *, passed: bool) -> None:
    """Tell the experiments that a proof is of."""
    runs = getattr(item, "funcargs", {})
    for declaration in _declarations(item):
        # Without its run the experiment's fixture itself has failed.
        if declaration.name in runs:
            runs[declaration.name].prove(item.nodeid, passed=passed)


def _mark_undecided(report: pytest.TestReport, error: Undecided, mode: str) -> None:
    if mode == "xfail":
        report.outcome = "skipped"
        report.wasxfail = str(error)
        return
    report.tare_category = "undecided"  # type: ignore[attr-defined]
    if mode == "pass":
        report.outcome = "passed"
        report.longrepr = str(error)


def _declarations(item: pytest.Item) -> Iterator[Declaration]:
    """The experiments whose fixtures a test uses."""
    info = getattr(item, "_fixtureinfo", None)
    for definitions in (info.name2fixturedefs if info else {}).values():
        declaration = getattr(definitions[-1].func, DECLARATION, None)
        if declaration is not None:
            yield declaration


def _new_laboratory(config: pytest.Config) -> Laboratory:
    budgets = config.stash[_BUDGETS]
    given: Laboratory | None = config.hook.pytest_tare_laboratory(config=config, budgets=budgets)
    if given is not None:
        return given
    from tare.laboratory import Laboratory
    from tare.progress import PlainProgress, Reporter

    quiet = config.getoption("verbose") < 0
    return Laboratory(
        results=config.getoption("--tare-results"),
        progress=Reporter() if quiet else PlainProgress(_Uncaptured(config)),
        budgets=budgets,
        seed=config.getoption("--tare-seed"),
        keep=config.getoption("--keep-lab"),
        disturbed_above=_disturbed_above(config),
    )


class _Uncaptured(io.StringIO):
    """Writes whole lines to pytest's own terminal while a test runs, whose output pytest captures."""

    def __init__(self, config: pytest.Config) -> None:
        self._terminal: Any = config.pluginmanager.get_plugin("terminalreporter")
        self._capture: Any = config.pluginmanager.get_plugin("capturemanager")

    def write(self, text: str) -> int:
        with self._capture.global_and_fixture_disabled() if self._capture else nullcontext():
            self._terminal.ensure_newline()
            self._terminal.write(text, flush=True)
        return len(text)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the session the way Ctrl-C does, so that labs are taken down."""

    def handle(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt(signal.Signals(number).name)

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _disturbed_above(config: pytest.Config) -> float:
    from tare import quantity
    from tare.measure.disturbance import LIMIT

    given = config.getoption("--tare-disturbed-above")
    return LIMIT if given is None else quantity.in_base(given, unit="1", what="--tare-disturbed-above")
