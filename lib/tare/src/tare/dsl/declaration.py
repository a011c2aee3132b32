"""What a person declares: a lab, the factors, how often and how long, and a function that measures one cell."""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tare import manifest, quantity
from tare.errors import UsageError
from tare.manifest import Level
from tare.stats.multiplicity import directional_level
from tare.stats.sequence import Method, fewest_that_bound
from tare.trials.design import Blocks, Design, settle
from tare.trials.running import TrialFunction

# The attribute of a fixture that holds its declaration, for whoever collects tests.
DECLARATION = "_tare_declaration"

# No verdict at 5 % rests on fewer than six blocks: see tare.stats.sequence.least_values.
DEFAULT_BLOCKS = (6, 40)
DEFAULT_ERROR_RATE = 0.05


@dataclass(frozen=True, slots=True)
class Factor:
    """Something that is varied. ``levels`` default to the lab's, of the factor of that name.

    ``baseline`` is the level that the others are held against, for the factor that is compared. ``scope`` says whether
    another level means deploying anew ("deployment") or is set on what runs ("run"), and ``unit`` is that of numeric
    levels; both are needed only for a factor that the lab does not declare, such as an option of a load.

    Example: ``Factor("runtime", baseline="runc", levels=["runc", "gvisor"])``.
    """

    name: str
    levels: Sequence[Level] = ()
    baseline: Level | None = None
    scope: Literal["deployment", "run"] | None = None
    unit: str | None = None
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """An experiment as it was declared; see ``experiment``. Times are in seconds, None for the lab's own."""

    name: str
    function: TrialFunction
    lab: str
    factor: Factor | None
    across: tuple[Factor, ...]
    blocks: Blocks
    warmup_seconds: float | None
    duration_seconds: float | None
    profile: str | None
    seed: int | None
    aa: bool
    resolution: int | None
    interval: Method
    error_rate: float
    budgets: int | None
    duet: bool

    def design(self, experiment: manifest.Experiment) -> Design:
        """Return the design on a lab's experiment. Raises UsageError for what the lab does not have."""
        factors = {factor.name: self._merged(factor, experiment) for factor in self._factors()}
        return settle(
            experiment,
            profile=self.profile,
            blocks=self.blocks,
            warmup_seconds=self.warmup_seconds,
            duration_seconds=self.duration_seconds,
            compare=self.factor.name if self.factor else None,
            baseline=self.factor.baseline if self.factor else None,
            factors=factors,
            aa=self.aa,
            resolution=self.resolution,
            duet=self.duet,
        )

    @property
    def source_digest(self) -> str:
        """The SHA-256 of the trial function: another function is another experiment.

        Comments and the declaration above it are not in it: what of that matters is in the plan.
        """
        tree = ast.parse(textwrap.dedent(inspect.getsource(self.function)))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                node.decorator_list = []
        return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()

    def sharing(self, tests: int) -> int:
        """Return how many budgets share the error rate: as many as declared, else one for each test that uses it."""
        return self.budgets or max(1, tests)

    def deciding_blocks(self, tests: int) -> int:
        """Return the fewest blocks on which the first of so many tests' budgets can be decided."""
        level = directional_level(self.error_rate, budgets=self.sharing(tests), decided=0)
        return fewest_that_bound(level, method=self.interval)

    def _factors(self) -> Iterator[Factor]:
        if self.factor:
            yield self.factor
        yield from self.across

    def _merged(self, factor: Factor, experiment: manifest.Experiment) -> manifest.Factor:
        """What the declaration leaves open is the lab's."""
        of_lab = experiment.factors.get(factor.name)
        what = f"experiment {self.name}: factor {factor.name!r}"
        if of_lab is None and (not factor.levels or factor.scope is None):
            raise UsageError(
                f"{what}: the lab {self.lab} declares no such factor (it has {', '.join(sorted(experiment.factors))}), "
                f'so it needs its levels and scope, such as Factor("{factor.name}", levels=[8, 64], scope="run")'
            )
        if of_lab is not None and factor.scope not in (None, of_lab.scope):
            raise UsageError(f"{what}: its scope is {of_lab.scope!r} in the lab, found {factor.scope!r}; leave it out")
        # A profile of the lab may set the levels that are left open.
        chosen = experiment.profiles.get(self.profile) if self.profile else None
        of_profile = chosen.levels.get(factor.name) if chosen else None
        levels = tuple(factor.levels) or of_profile or (of_lab.levels if of_lab else ())
        return manifest.Factor(
            levels=levels,
            scope=factor.scope or (of_lab.scope if of_lab else "run"),
            unit=factor.unit or (of_lab.unit if of_lab else None),
            description=factor.description or (of_lab.description if of_lab else ""),
            deployments=of_lab.deployments if of_lab else {},
        )


def experiment(
    *,
    lab: str,
    factor: Factor | None = None,
    across: Sequence[Factor] = (),
    blocks: tuple[int, int] = DEFAULT_BLOCKS,
    duration: str | None = None,
    warmup: str | None = None,
    profile: str | None = None,
    seed: int | None = None,
    aa: bool = True,
    duet: bool = False,
    resolution: int | None = None,
    interval: Method = "median",
    error_rate: float = DEFAULT_ERROR_RATE,
    budgets: int | None = None,
) -> Callable[[TrialFunction], Any]:
    """Make a pytest fixture of a trial function, which measures one cell when it is called.

    - ``lab``: a lab's name, which Nix builds, or the folder of a built one.
    - ``factor``: what is compared, with its baseline. ``across``: the other factors. What is left out is the lab's.
    - ``blocks``: the least and the most; each measures every cell once, and a budget that is undecided asks for more.
    - ``duration``, ``warmup``: of each load, with a unit, such as "10 s". ``profile``: one of the lab's, for the rest.
    - ``aa``: measure the baseline twice in every block, which shows the noise of this machine.
    - ``duet``: run each level at the same moment as a baseline of its own, on two sides of the lab. Where the lab or
      the machine cannot, the trials run in turn, and the report says why.
    - ``resolution``: measure a fraction of the combinations of ``across``; see ``tare.trials.factorial``.
    - ``interval``: "median", which holds for any noise, or "t", for the mean where noise is normal.
      ``error_rate``: of all budgets together.
    - ``seed``: of the random order; drawn and recorded when left out.
    - ``budgets``: how many budgets share the error rate; by default one for each test that uses the fixture, but
      for proofs (``pytest.mark.proof``) and skipped ones. The more there are, the more blocks the first verdict takes.

    Raises UsageError for a value out of range.

    Example::

        @experiment(lab="kata-hlf", factor=Factor("runtime", baseline="runc"), duration="10 s")
        def fabric(trial):
            trial.load("caliper")

        def test_gvisor_keeps_nine_tenths_of_the_throughput(fabric):
            assert fabric.goodput(runtime="gvisor") / fabric.goodput(runtime="runc") >= 0.9
    """
    where = f"@experiment(lab={lab!r})"
    if not 0 < error_rate < 1:
        raise UsageError(f"{where}: error_rate: expected a share between 0 and 1, such as 0.05, found {error_rate!r}")
    if interval not in ("t", "median"):
        raise UsageError(f"{where}: interval: expected 't' or 'median', found {interval!r}")
    if budgets is not None and budgets < 1:
        raise UsageError(f"{where}: budgets: expected at least 1, found {budgets}")
    checked = Blocks(least=blocks[0], most=blocks[1])

    def declare(function: TrialFunction) -> Any:
        declaration = Declaration(
            name=getattr(function, "__name__", "experiment"),
            function=function,
            lab=lab,
            factor=factor,
            across=tuple(across),
            blocks=checked,
            warmup_seconds=_seconds(warmup, f"{where}: warmup"),
            duration_seconds=_seconds(duration, f"{where}: duration"),
            profile=profile,
            seed=seed,
            aa=aa,
            resolution=resolution,
            interval=interval,
            error_rate=error_rate,
            budgets=budgets,
            duet=duet,
        )
        return _fixture(declaration)

    return declare


def _seconds(value: str | None, what: str) -> float | None:
    return None if value is None else quantity.in_base(value, unit="s", what=what)


def _fixture(declaration: Declaration) -> Any:
    import pytest

    def run(request: pytest.FixtureRequest) -> Iterator[Any]:
        if not request.config.pluginmanager.hasplugin("tare.plugin"):
            raise UsageError("the experiment's fixture needs Tare's plugin: run pytest with -p tare.plugin")
        with request.getfixturevalue("tare_laboratory").run(declaration) as opened:
            yield opened

    run.__name__ = declaration.name
    run.__doc__ = declaration.function.__doc__
    setattr(run, DECLARATION, declaration)
    return pytest.fixture(scope="session", name=declaration.name)(run)
