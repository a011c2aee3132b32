"""Where experiments run in one pytest session: labs brought up once, runs opened, taken up again and closed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType

from tare.dsl.declaration import Declaration
from tare.dsl.experiment_run import ExperimentRun
from tare.errors import TareError
from tare.labs import Lab, name_of, resolve
from tare.machine import probe
from tare.measure.disturbance import LIMIT
from tare.measurement import Measurement, begin, planned
from tare.process import Commands
from tare.progress import Reporter
from tare.report import wording
from tare.report.write import write_report
from tare.results import DifferentRun, ResultFileError, StoredRun, find_unfinished, runs
from tare.results import resolve as find_stored
from tare.results.match import identity_differences
from tare.run_record import record
from tare.session import LabSession, Session
from tare.trials.plan import Plan
from tare.trials.trial import Trial
from tare.verdicts.budget import Verdict

# Opens a lab by its name or folder.
OpenSession = Callable[[str], AbstractContextManager[Session]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict on a budget of an experiment, and the tests that came to it."""

    experiment: str
    budget: str
    verdict: Verdict
    tests: list[str] = field(default_factory=list)


class Laboratory:
    """The labs of one pytest session. A context manager: leaving it takes down what it brought up.

    ``budgets`` is how many tests of each experiment may come to a verdict. ``open_session`` opens a lab, by default
    on this machine, built by Nix; ``disturbed_above`` is the share of the CPUs that others may take before a trial is
    repeated. ``runs`` are those opened and ``judged`` the verdicts, in order.
    """

    def __init__(
        self,
        *,
        results: Path,
        progress: Reporter,
        budgets: Mapping[str, int],
        seed: int | None = None,
        keep: bool = False,
        disturbed_above: float = LIMIT,
        open_session: OpenSession | None = None,
    ) -> None:
        self._results = results
        self._progress = progress
        self._budgets = budgets
        self._seed = seed
        self._keep = keep
        self._disturbed_above = disturbed_above
        self._open_session = open_session or self._on_this_machine
        self._sessions: dict[str, Session] = {}
        self._open = ExitStack()
        self.runs: list[ExperimentRun] = []
        self.judged: list[Judgement] = []

    def __enter__(self) -> Laboratory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def plan(self, declaration: Declaration) -> tuple[Lab, Plan, bool]:
        """Return the lab, built, what would be measured in it, and whether in this order: that is so when the seed is
        given, or recorded in a run that would go on. Raises TareError, UsageError."""
        session = self._session(declaration.lab)
        design = declaration.design(session.lab.manifest.experiment)
        seed = self._chosen_seed(declaration)
        if seed is not None:
            return session.lab, planned(session, design, seed=seed), True
        unfinished = find_unfinished(self._results, session.lab.manifest.name, experiment=declaration.name)
        stored = StoredRun(unfinished).record if unfinished else {"seed": 0}
        plan = planned(session, design, seed=int(stored["seed"]))
        now = record(session, plan, name=declaration.name, function_digest=declaration.source_digest)
        return session.lab, plan, not identity_differences(stored, now)

    @contextmanager
    def run(self, declaration: Declaration) -> Iterator[ExperimentRun]:
        """Open a run of an experiment: the one that was broken off, if it was of the very same, else a new one."""
        session = self._session(declaration.lab)
        design = declaration.design(session.lab.manifest.experiment)
        seed = self._chosen_seed(declaration)
        name = declaration.name
        unfinished = find_unfinished(self._results, session.lab.manifest.name, experiment=name)
        if unfinished is not None and seed is not None and StoredRun(unfinished).record["seed"] != seed:
            self._progress.note(f"{unfinished} was not finished; it has another seed than {seed} and is left as it is")
            unfinished = None
        new_seed = secrets.randbits(32) if seed is None else seed

        def opened(resume: Path | None) -> Measurement:
            return begin(
                session,
                design,
                results=self._results,
                seed=new_seed,
                name=name,
                function=declaration.function,
                function_digest=declaration.source_digest,
                interval=declaration.interval,
                disturbed_above=self._disturbed_above,
                resume=resume,
            )

        try:
            measurement = opened(unfinished)
        except DifferentRun as different:
            self._progress.note(f"{different}\nit is left as it is, and a new run begins")
            measurement = opened(None)
        else:
            if unfinished is not None:
                self._progress.note(f"taking up {unfinished}: {len(measurement.trials())} trials are there already")
        if declaration.deciding_blocks(self._tests(declaration)) > design.blocks.most:
            self._progress.note(f"experiment {name}: {self.deciding(declaration, measurement.plan)}")
        with measurement:
            run = ExperimentRun(
                declaration=declaration,
                measurement=measurement,
                budgets=declaration.sharing(self._tests(declaration)),
                lab=session.hosts,
                stored=lambda what: self._stored(what, session, measurement.plan),
                tell=lambda budget, verdict: self.judged.append(
                    Judgement(experiment=name, budget=budget.text, verdict=verdict)
                ),
            )
            self.runs.append(run)
            yield run
            if not any(each.experiment == name for each in self.judged) and measurement.discard_empty():
                self.runs.remove(run)
            elif run.unproved:
                measurement.fail(run.unproved)

    def past_trial_seconds(self, lab: str) -> float | None:
        """Return how long a trial of the lab's newest run took on average, deployments and all; None without a run."""
        for folder in reversed(runs(self._results, lab)):
            try:
                trials = StoredRun(folder).trials()
            except ResultFileError:
                continue
            if len(trials) > 1:
                spans = trials[-1].began_at + trials[-1].seconds - trials[0].began_at
                return spans / len(trials)
        return None

    def deciding(self, declaration: Declaration, plan: Plan) -> str:
        """Return from which block on an experiment's budgets can be decided, in one line."""
        tests = self._tests(declaration)
        return wording.deciding(
            plan,
            budgets=declaration.sharing(tests),
            error_rate=declaration.error_rate,
            first=declaration.deciding_blocks(tests),
        )

    def write_reports(self, files: Sequence[Path]) -> None:
        """Write a report of each run, FILE.html or FILE.json; of several runs, a file each, named by its experiment."""
        for file in files:
            for run in self.runs:
                target = file if len(self.runs) == 1 else file.with_stem(f"{file.stem}-{run.name}")
                write_report(
                    run.manifest,
                    run.plan,
                    StoredRun(run.folder),
                    target,
                    judged=self._sentences(run),
                    method=run.method,
                )
                self._progress.note(f"report: {target}")

    def _sentences(self, run: ExperimentRun) -> tuple[str, ...]:
        verdicts = {each.budget: each.verdict for each in self.judged if each.experiment == run.name}
        return tuple(line for verdict in verdicts.values() for line in verdict.lines())

    def _tests(self, declaration: Declaration) -> int:
        return self._budgets.get(declaration.name, 0)

    def _chosen_seed(self, declaration: Declaration) -> int | None:
        return declaration.seed if self._seed is None else self._seed

    def _session(self, lab: str) -> Session:
        if lab not in self._sessions:
            self._sessions[lab] = self._open.enter_context(self._open_session(lab))
        return self._sessions[lab]

    def _on_this_machine(self, lab: str) -> LabSession:
        link = self._results / name_of(lab) / "lab"
        built = resolve(lab, link=link, environment=os.environ, progress=self._progress)
        with self._progress.phase("probe the machine"):
            machine = probe()
        return LabSession(built, machine=machine, commands=Commands(), progress=self._progress, keep=self._keep)

    def _stored(self, what: str | Path, session: Session, plan: Plan) -> StoredMeasurement:
        return StoredMeasurement(find_stored(self._results, session.lab.manifest.name, what), session, plan)


class StoredMeasurement:
    """An earlier run in the place of one that is measured: it has the blocks it has.

    Raises TareError when it was measured on another machine, which says in what they differ.
    """

    def __init__(self, stored: StoredRun, session: Session, plan: Plan) -> None:
        from tare.results import differences

        found = differences(stored.record, session.facts())
        if found:
            listed = "\n".join(f"  {each.fact}: {each.a!r} then, {each.b!r} now" for each in found)
            raise TareError(f"{stored.folder} cannot be compared with a run on this machine:\n{listed}")
        # What that run compared stood side by side, or in turn, as it was then.
        was_duet = bool(stored.record["plan"].get("duet"))
        self.plan = replace(plan, design=replace(plan.design, duet=was_duet), against_duet=None)
        self.manifest = session.lab.manifest
        self.folder = stored.folder
        self._trials = tuple(trial for trial in stored.trials() if not trial.set_aside)

    def extend(self) -> bool:
        return False

    def trials(self) -> tuple[Trial, ...]:
        return self._trials
