"""The run of an experiment, as a test sees it: figures by metric and levels, and verdicts on budgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tare.errors import TareError, UsageError
from tare.manifest import Level, Manifest, Metric
from tare.stats.multiplicity import directional_level
from tare.stats.sequence import Method
from tare.trials.levels import describe, matches, normal, show
from tare.verdicts.budget import Budget, Verdict
from tare.verdicts.estimate import Estimate, Figure, Key

if TYPE_CHECKING:
    from tare.dsl.declaration import Declaration
    from tare.trials.plan import Plan
    from tare.trials.trial import Trial


class Measurement(Protocol):
    """Where the blocks come from: ``tare.measurement.Measurement``, or a stored run."""

    @property
    def plan(self) -> Plan: ...

    @property
    def manifest(self) -> Manifest: ...

    @property
    def folder(self) -> Path: ...

    def extend(self) -> bool:
        """Measure another block; False when the design allows no more."""
        ...

    def trials(self) -> tuple[Trial, ...]:
        """Return the trials that count, in order."""
        ...


class NotRunHere(TareError):
    """A level that was asked for cannot run on this machine; ``reason`` is what the machine lacks."""

    def __init__(self, factor: str, level: Level, reason: str) -> None:
        self.factor = factor
        self.level = level
        self.reason = reason
        super().__init__(f"{factor}={show(level)} was not run here: {reason}")


class Unproved(TareError):
    """A proof of the lab failed, so that its figures would be of something else than they say."""

    def __init__(self, experiment: str, failed: Sequence[str]) -> None:
        tests = "".join(f"\n  {test}" for test in failed)
        super().__init__(f"experiment {experiment} is not measured, for the lab failed its proof:{tests}")


class ExperimentRun:
    """What an experiment's fixture gives. ``run.goodput(runtime="gvisor")`` is a figure, of any metric of the lab.

    ``budgets`` is how many share the experiment's error rate; ``verdicts`` are those decided so far, by the budget's
    text. ``lab`` gives the lab's nodes and pods, ``stored`` finds an earlier run for ``since``, and ``tell`` hears of
    each verdict. A run that ``is_stored`` has the blocks it has.
    """

    def __init__(
        self,
        *,
        declaration: Declaration,
        measurement: Measurement,
        budgets: int,
        lab: Callable[[], Any],
        stored: Callable[[str | Path], Measurement],
        tell: Callable[[Budget, Verdict], None],
        is_stored: bool = False,
    ) -> None:
        self._declaration = declaration
        self._measurement = measurement
        self._lab = lab
        self._stored = stored
        self._tell = tell
        self._is_stored = is_stored
        self._budgets = budgets
        self._decided = 0
        self._broken: TareError | None = None
        self._proofs: dict[str, bool] = {}
        self._since: dict[str, ExperimentRun] = {}
        self.verdicts: dict[str, Verdict] = {}

    @property
    def name(self) -> str:
        return self._declaration.name

    @property
    def method(self) -> Method:
        return self._declaration.interval

    @property
    def plan(self) -> Plan:
        return self._measurement.plan

    @property
    def manifest(self) -> Manifest:
        return self._measurement.manifest

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        return self._measurement.folder

    @property
    def lab(self) -> Any:
        """The lab, brought up if it is not yet: ``run.lab.node("client").host`` is a testinfra host."""
        return self._lab()

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The trials measured so far, those set aside left out."""
        return self._measurement.trials()

    def __repr__(self) -> str:
        return f"<experiment {self.name} on {self.manifest.name}: {len(self.trials)} trials>"

    def __getattr__(self, metric: str) -> Callable[..., Figure]:
        if metric.startswith("_"):
            raise AttributeError(metric)

        def at(*, since: str | Path | None = None, **levels: Level) -> Figure:
            return self._at(metric, since, levels)

        self._metric(metric)
        return at

    def figure(self, metric: str, /, *, since: str | Path | None = None, **levels: Level) -> Figure:
        """Return a metric at a cell. A factor with a single level need not be named.

        ``since`` takes it from an earlier run instead: its tag, name or folder. Raises UsageError for an unknown
        metric, factor or level and for a factor left open, NotRunHere for a level that cannot run on this machine.
        """
        return self._at(metric, since, levels)

    def _at(self, metric: str, since: str | Path | None, levels: Mapping[str, Level]) -> Figure:
        return (self if since is None else self._earlier(since))._figure(metric, levels, aa=False)

    def noise(self, metric: str, /, **levels: Level) -> Estimate:
        """Return the baseline's second trial over its first, in one metric: what the machine's noise alone does."""
        design = self.plan.design
        if not design.aa:
            raise UsageError(f"experiment {self.name}: noise() needs the A/A arm, and it was declared with aa=False")
        levels = {**levels, design.compare: design.baseline}
        return self._figure(metric, levels, aa=True) / self._figure(metric, levels, aa=False)

    def decide(self, budget: Budget) -> Verdict:
        """Return the verdict on a budget, measuring until it is decided or the blocks are used up.

        Raises UsageError when more budgets are judged than share the error rate, Unproved when the lab failed a proof.
        """
        if self.unproved:
            raise self.unproved
        if budget.text in self.verdicts:
            self._tell(budget, self.verdicts[budget.text])
            return self.verdicts[budget.text]
        if len(self.verdicts) >= self._budgets:
            raise UsageError(
                f"experiment {self.name}: {budget.text!r} is one budget more than the {self._budgets} that share its "
                f"error rate of {self._declaration.error_rate:g}: write one budget a test, or declare their number, "
                f"@experiment(..., budgets={self._budgets + 1})"
            )
        level = directional_level(self._declaration.error_rate, budgets=self._budgets, decided=self._decided)
        runs = [source for source in budget.sources if isinstance(source, ExperimentRun)]
        for run in runs:
            run.measure_least()
        verdict = budget.judge(alpha=level)
        while verdict.state == "undecided" and any([run.extend() for run in runs]):
            verdict = budget.judge(alpha=level)
        self.verdicts[budget.text] = verdict
        self._decided += verdict.state != "undecided"
        self._tell(budget, verdict)
        return verdict

    def prove(self, test: str, *, passed: bool) -> None:
        """Take note of a proof of the lab. After one that failed nothing is measured or judged any more."""
        self._proofs[test] = passed

    @property
    def unproved(self) -> Unproved | None:
        """Why nothing is measured, which is a proof that failed; None otherwise."""
        failed = [test for test, passed in self._proofs.items() if not passed]
        return Unproved(self.name, failed) if failed else None

    @property
    def proof(self) -> str:
        """How many proofs of the lab passed, in words; empty without any."""
        if not self._proofs:
            return ""
        return f"proof of the lab: {sum(self._proofs.values())} of {len(self._proofs)} tests passed"

    def measure_least(self) -> None:
        """Measure the least number of blocks, unless they are there."""
        while self._blocks() < self.plan.design.blocks.least:
            if not self.extend():
                break

    def extend(self) -> bool:
        """Measure another block; False when the design allows no more. After a fault it is raised again at once."""
        if self._broken is not None:
            raise self._broken
        try:
            return self._measurement.extend()
        except TareError as error:
            self._broken = error
            raise

    def _earlier(self, since: str | Path) -> ExperimentRun:
        key = str(since)
        if key not in self._since:
            self._since[key] = ExperimentRun(
                declaration=self._declaration,
                measurement=self._stored(since),
                budgets=self._budgets,
                lab=self._lab,
                stored=self._stored,
                tell=self._tell,
                is_stored=True,
            )
        return self._since[key]

    def _blocks(self) -> int:
        """How many blocks are whole."""
        counted: dict[int, int] = {}
        for trial in self.trials:
            counted[trial.block] = counted.get(trial.block, 0) + 1
        return sum(count == self.plan.trials_per_block for count in counted.values())

    def _metric(self, name: str) -> Metric:
        metrics = self._measurement.manifest.experiment.metrics
        if name not in metrics:
            raise UsageError(f"experiment {self.name}: no metric {name!r}; the lab measures: {', '.join(metrics)}")
        return metrics[name]

    def _figure(self, metric: str, levels: Mapping[str, Level], *, aa: bool) -> Figure:
        about = self._metric(metric)
        cell = self._cell(metric, levels)

        def of_cell() -> dict[Key, Trial]:
            return {
                (trial.block, trial.pair): trial
                for trial in self.trials
                if trial.aa == aa and matches(trial.levels, cell)
            }

        def values() -> dict[Key, float]:
            return {key: trial.metrics[metric] for key, trial in of_cell().items() if metric in trial.metrics}

        named = ", ".join(f"{name}={show(normal(level))}" for name, level in levels.items())
        earlier = f"; {self.folder.name}" if self._is_stored else ""
        return Figure(
            text=f"{metric}({named}{', A/A' if aa else ''}{earlier})",
            unit=about.unit,
            better=about.better,
            source=self,
            values=values,
            measured=of_cell,
            pairs=self.plan.pairs(cell, aa=aa),
        )

    def _cell(self, metric: str, levels: Mapping[str, Level]) -> dict[str, Level]:
        design = self.plan.design
        cell: dict[str, Level] = {}
        for name, level in levels.items():
            if name not in design.factors:
                known = ", ".join(design.factors)
                raise UsageError(f"{metric}({name}={level!r}): no factor {name!r}; the experiment has: {known}")
            for lost in self.plan.not_run:
                if lost.factor == name and normal(lost.level) == normal(level):
                    raise NotRunHere(name, level, lost.reason)
            if normal(level) not in design.factors[name].levels:
                known = ", ".join(map(show, design.factors[name].levels))
                raise UsageError(f"{metric}({name}={level!r}): no such level; the experiment has: {known}")
            cell[name] = normal(level)
        cells = [found for found in self.plan.cells if matches(found, cell)]
        open_factors = [name for name in design.factors if len({found[name] for found in cells}) > 1]
        if open_factors:
            name = open_factors[0]
            levels_left = ", ".join(show(level) for level in dict.fromkeys(found[name] for found in cells))
            raise UsageError(
                f"{metric}({describe(cell)}): {name} is left open, and the experiment has {levels_left}; "
                "name one of them"
            )
        if not cells:
            raise UsageError(f"{metric}({describe(cell)}): the plan has no such cell; it is a fraction of all")
        return dict(cells[0])
