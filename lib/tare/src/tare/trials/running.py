"""The trial that runs: what a trial function is given to drive the service with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tare import quantity
from tare.errors import UsageError
from tare.trials.levels import Levels, describe

if TYPE_CHECKING:
    from tare.loads import Load, LoadResult
    from tare.manifest import Level


class Trial(Protocol):
    """What a trial function is called with, once a cell."""

    @property
    def levels(self) -> Levels: ...

    def __getitem__(self, factor: str) -> Level: ...

    def load(self, name: str | None = None, /, **options: Any) -> LoadResult: ...

    def loads(self) -> tuple[LoadResult, ...]: ...

    def record(self, metric: str, value: float | str) -> None: ...


TrialFunction = Callable[[Trial], None]


class RunningTrial:
    """One cell being measured on a deployment that is configured for it. ``own_loads`` are the experiment's of
    the lab. ``results`` are in the order of the loads; ``start`` is called before each."""

    def __init__(
        self,
        *,
        levels: Levels,
        deployment: Any,
        loads: Mapping[str, Load[Any]],
        own_loads: Sequence[str],
        units: Mapping[str, str],
        warmup_seconds: float,
        duration_seconds: float,
        directory: Path,
        start: Callable[[], None] = lambda: None,
    ) -> None:
        self.levels = levels
        self.results: list[LoadResult] = []
        self.recorded: dict[str, float] = {}
        self._deployment = deployment
        self._loads = loads
        self._own_loads = own_loads
        self._units = units
        self._warmup_seconds = warmup_seconds
        self._duration_seconds = duration_seconds
        self._directory = directory
        self._start = start

    def __getitem__(self, factor: str) -> Level:
        """Return this cell's level of a factor. Raises UsageError, which lists the factors, for another name."""
        if factor not in self.levels:
            raise UsageError(f"trial[{factor!r}]: no such factor; the experiment has: {', '.join(sorted(self.levels))}")
        return self.levels[factor]

    def load(self, name: str | None = None, /, **options: Any) -> LoadResult:
        """Drive the service with a load of the lab (default: its experiment's, if that is one), and return the result.

        ``warmup`` and ``duration`` are times such as "10 s" (default: the experiment's). The other options are
        the load's own; a factor that has an option's name sets it. Raises UsageError for a load that the lab
        does not declare or that cannot drive this deployment, for an option it does not have, and for a second run
        of the same load.
        """
        name = name or self._only_load()
        if name not in self._loads:
            raise UsageError(f"trial.load({name!r}): the lab declares no such load; it has: {', '.join(self._loads)}")
        if any(result.load == name for result in self.results):
            raise UsageError(f"trial.load({name!r}): ran in this trial already; a trial measures a load once")
        load = self._loads[name]
        if obstacle := load.obstacle(self._deployment):
            raise UsageError(f"trial.load({name!r}): {obstacle}")
        warmup = _seconds(options, "warmup", self._warmup_seconds)
        duration = _seconds(options, "duration", self._duration_seconds)
        given = {option: level for option, level in self.levels.items() if option in load.option_names} | options
        directory = self._directory / name
        directory.mkdir(parents=True, exist_ok=True)
        checked = load.options(given)
        self._start()
        result = load.run(
            self._deployment,
            options=checked,
            warmup_seconds=warmup,
            duration_seconds=duration,
            directory=directory,
        )
        self._refuse_known(name, result.metrics)
        self.results.append(result)
        return result

    def loads(self) -> tuple[LoadResult, ...]:
        """Drive the service with every load that the lab's experiment names, one after the other; return the results.

        One that cannot drive this deployment is left out: of it there are no figures here. Raises as ``load`` does.
        """
        return tuple(
            self.load(name) for name in self._own_loads if self._loads[name].obstacle(self._deployment) is None
        )

    def record(self, metric: str, value: float | str) -> None:
        """Keep a figure of one's own, as a number for a ratio or with its unit ("3 s") for a metric the lab declares.

        Raises UsageError for a metric that the lab's experiment does not declare, or that was measured already.
        """
        if metric not in self._units:
            raise UsageError(
                f"trial.record({metric!r}): the lab's experiment declares no such metric; "
                f"declare experiment.metrics.{metric} with its unit"
            )
        self._refuse_known("trial.record", {metric: 0.0})
        self.recorded[metric] = quantity.in_base(value, unit=self._units[metric], what=f"trial.record({metric!r})")

    @property
    def metrics(self) -> dict[str, float]:
        """Every figure of the loads and those recorded, in base units."""
        return {name: value for result in self.results for name, value in result.metrics.items()} | self.recorded

    def require_measured(self) -> None:
        """Raise UsageError when the trial function drove no load and recorded nothing."""
        if not self.results and not self.recorded:
            raise UsageError(
                f"the trial function measured nothing at {describe(self.levels)}: call trial.load() or trial.record()"
            )

    def _only_load(self) -> str:
        if len(self._own_loads) != 1:
            names = ", ".join(self._own_loads)
            raise UsageError(f"trial.load(): the lab has several loads ({names}); name one, or call trial.loads()")
        return self._own_loads[0]

    def _refuse_known(self, who: str, metrics: Mapping[str, float]) -> None:
        twice = sorted(self.metrics.keys() & metrics.keys())
        if twice:
            raise UsageError(
                f"{who}: {', '.join(twice)} was measured already in this trial; give each figure one source"
            )


def _seconds(options: dict[str, Any], name: str, default: float) -> float:
    """Take a duration out of the options; one that is given has its unit."""
    return quantity.in_base(options.pop(name), unit="s", what=f"trial.load({name}=...)") if name in options else default
