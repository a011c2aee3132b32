"""Whatever a trial is, it comes back as it was."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tare.measure.host import HostSample
from tare.measure.sampler import Sample
from tare.results import RunStore, StoredRun
from tare.stats.histogram import Histogram
from tare.trials.trial import Trial

NUMBERS = st.floats(allow_nan=False)
COUNTS = st.integers(min_value=0, max_value=2**53)
WORDS = st.text(max_size=20)
LATENCIES = st.lists(st.floats(min_value=0, max_value=3600), min_size=1, max_size=8)
LOADS = st.sampled_from(["caliper", "wrk"])


def of(kind: Any, **fixed: Any) -> st.SearchStrategy[Any]:
    return st.builds(kind, **fixed)


HOST = of(HostSample, time=NUMBERS, busy_seconds=NUMBERS, steal_seconds=NUMBERS, sent_bytes=st.none() | COUNTS)
SAMPLE = of(
    Sample,
    time=NUMBERS,
    label=WORDS,
    cpu_seconds=NUMBERS,
    memory_bytes=COUNTS,
    throttled_seconds=NUMBERS,
    pressure_cpu_seconds=st.none() | NUMBERS,
    received_bytes=st.none() | COUNTS,
)


@st.composite
def trial(draw: st.DrawFn, index: int) -> Trial:
    return Trial(
        index=index,
        block=draw(st.integers(0, 9)),
        deployment=draw(st.integers(0, 9)),
        levels={"runtime": draw(WORDS), "send_rate": draw(NUMBERS)},
        aa=draw(st.booleans()),
        attempt=draw(st.integers(0, 3)),
        set_aside=draw(st.booleans()),
        disturbances=tuple(draw(st.lists(WORDS, max_size=2))),
        began_at=draw(NUMBERS),
        seconds=draw(NUMBERS),
        metrics=draw(st.dictionaries(st.sampled_from(["goodput", "p99", "mine"]), NUMBERS)),
        succeeded=draw(COUNTS),
        failed=draw(COUNTS),
        client_bound=draw(st.booleans()),
        failures=draw(st.dictionaries(WORDS, COUNTS, max_size=3)),
        notes=tuple(draw(st.lists(WORDS, max_size=2))),
        steady_state=draw(WORDS),
        histograms={load: Histogram.of(draw(LATENCIES)) for load in draw(st.sets(LOADS))},
        latencies_seconds={load: tuple(draw(LATENCIES)) for load in draw(st.sets(LOADS))},
        samples=tuple(draw(st.lists(SAMPLE, max_size=3))),
        host=tuple(draw(st.lists(HOST, max_size=3))),
    )


TRIALS = st.tuples(*(trial(index) for index in range(3)))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trials=TRIALS, state=st.sampled_from(["complete", "interrupted"]))
def test_a_trial_comes_back_as_it_was(
    trials: tuple[Trial, ...], state: str, plain: Callable[[Trial], dict[str, Any]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        record = {"metrics": ["goodput"], "units": {}}
        factors = {"runtime": False, "send_rate": True}
        store = RunStore.create(Path(folder), "lab", record=record, factors=factors, now=0.0)
        for one in trials:
            store.commit(one)
        store.close(state=state)
        back = StoredRun(store.folder).trials(include_set_aside=True)
    assert [plain(one) for one in back] == [plain(one) for one in trials]
