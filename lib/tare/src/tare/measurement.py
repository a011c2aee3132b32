"""One run of an experiment, from a design to kept results: what the command and the pytest plugin share."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from tare.errors import TareError
from tare.manifest import Manifest
from tare.measure.disturbance import LIMIT
from tare.results import RunStore, StoredRun
from tare.run_record import record
from tare.session import Session
from tare.stats.sequence import Method
from tare.trials import plan as planning
from tare.trials.design import Design
from tare.trials.run import Bench, measure_block
from tare.trials.running import TrialFunction

if TYPE_CHECKING:
    from tare.trials.running import Trial as RunningTrial
    from tare.trials.trial import Trial


def of_lab(trial: RunningTrial) -> None:
    """The trial function of ``tare run``: the lab's own loads, their options from the factors."""
    trial.loads()


class Measurement:
    """A run that is being measured, block by block; a context manager that records how it ended.

    Raises, when it is made, what ``RunStore.create`` and ``RunStore.resume`` raise.
    """

    def __init__(
        self,
        session: Session,
        plan: planning.Plan,
        *,
        store: RunStore,
        function: TrialFunction,
        disturbed_above: float,
    ) -> None:
        self.plan = plan
        self.manifest: Manifest = session.lab.manifest
        self._session = session
        self._store = store
        self._function = function
        self._disturbed_above = disturbed_above
        self._trials: tuple[Trial, ...] | None = None
        self._failed: BaseException | None = None
        self._discarded = False

    @property
    def folder(self) -> Path:
        return self._store.folder

    def __enter__(self) -> Measurement:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._discarded:
            return
        error = error or self._failed
        state = "complete" if error is None else "failed" if isinstance(error, Exception) else "interrupted"
        progress = self._session.progress
        told = None if error is None else f"{type(error).__name__}: {error}"
        self._store.close(state=state, timings=[timing.as_record() for timing in progress.timings], error=told)
        if error is not None:
            progress.note(f"what was measured until then is in {self.folder}")

    @property
    def stored(self) -> StoredRun:
        """The run as it is on disk."""
        return StoredRun(self.folder)

    def extend(self) -> bool:
        """Measure the first block that is not whole; False when the design allows no more."""
        finished = self._store.finished()
        for number in range(self.plan.design.blocks.most):
            if any(trial.index not in finished for trial in self.plan.block(number)):
                break
        else:
            return False
        try:
            with self._session.progress.phase("measure"):
                measure_block(self.plan, number, self._bench)
        except BaseException as error:
            self._failed = error
            raise
        finally:
            self._trials = None
        return True

    def fail(self, error: TareError) -> None:
        """Record at the end that the run broke off for this reason, so that it may go on later."""
        self._failed = self._failed or error

    def discard_empty(self) -> bool:
        """Remove the run if nothing of it was ever begun, so that leaving it records nothing; say whether it was."""
        self._discarded = self._failed is None and self._store.discard()
        return self._discarded

    def trials(self) -> tuple[Trial, ...]:
        """Return the trials that count, in order of index."""
        if self._trials is None:
            self._trials = tuple(trial for trial in self._store.trials() if not trial.set_aside)
        return self._trials

    @functools.cached_property
    def _bench(self) -> Bench:
        return self._session.bench(self._function, self._store, disturbed_above=self._disturbed_above)


def planned(session: Session, design: Design, *, seed: int) -> planning.Plan:
    """Return what would be measured of a design on this machine. Raises TareError, see ``trials.plan.make``."""
    return planning.make(
        design,
        seed=seed,
        unavailable=session.unavailable(design),
        against_duet=session.against_duet() if design.duet else None,
    )


def begin(
    session: Session,
    design: Design,
    *,
    results: Path,
    seed: int,
    name: str = "",
    function: TrialFunction = of_lab,
    function_digest: str | None = None,
    disturbed_above: float = LIMIT,
    interval: Method = "median",
    resume: Path | None = None,
) -> Measurement:
    """Return a new run of a design, or, with ``resume``, the run in that folder taken up again with its own seed.

    ``disturbed_above`` is the share of the CPUs that others may take before a trial is repeated, ``interval`` how
    reports make the run's intervals where the number of blocks is left open.

    Raises DifferentRun, which says what differs, when that run was of something else.
    """
    if resume is not None:
        seed = int(StoredRun(resume).record["seed"])
    plan = planned(session, design, seed=seed)
    if plan.duet_told:
        session.progress.note(plan.duet_told)
    written = record(session, plan, name=name, function_digest=function_digest) | {
        "disturbed_above": disturbed_above,
        "interval": interval,
    }
    if resume is not None:
        store = RunStore.resume(resume, record=written)
        for torn in store.lost:
            session.progress.note(f"{torn}; that trial is measured again")
    else:
        store = RunStore.create(
            results,
            session.lab.manifest.name,
            record=written,
            factors={
                factor: not any(isinstance(level, str) for level in about.levels)
                for factor, about in design.factors.items()
            },
            now=time.time(),
        )
    return Measurement(session, plan, store=store, function=function, disturbed_above=disturbed_above)
