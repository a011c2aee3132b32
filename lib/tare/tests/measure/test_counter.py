"""Counters between two times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.measure.counter import rise

steps = st.lists(st.tuples(st.integers(1, 100), st.integers(0, 1000)), min_size=1, max_size=20)
spans = st.tuples(st.floats(-10, 2010), st.floats(-10, 2010)).map(lambda span: (min(span), max(span)))


def readings(given_steps: list[tuple[int, int]]) -> tuple[list[float], list[float]]:
    times, values = [0.0], [0.0]
    for seconds, figure in given_steps:
        times.append(times[-1] + seconds)
        values.append(values[-1] + figure)
    return times, values


@given(steps, spans)
def test_a_rise_is_never_negative_and_never_more_than_the_whole(
    made: list[tuple[int, int]], span: tuple[float, float]
) -> None:
    times, values = readings(made)
    assert -1e-9 <= rise(times, values, span) <= values[-1] + 1e-9


@given(steps, spans, st.floats(0, 1))
def test_adjoining_spans_add_up(made: list[tuple[int, int]], span: tuple[float, float], share: float) -> None:
    times, values = readings(made)
    middle = span[0] + share * (span[1] - span[0])
    parts = rise(times, values, (span[0], middle)) + rise(times, values, (middle, span[1]))
    assert parts == pytest.approx(rise(times, values, span), abs=1e-6)


def test_between_readings_it_rises_evenly_and_outside_it_stands_still() -> None:
    assert rise([0, 10], [5, 25], (2, 3)) == pytest.approx(2)
    assert rise([0, 10], [5, 25], (-100, 5)) == pytest.approx(10)
    assert rise([0], [5], (-1, 1)) == 0


def test_never_read() -> None:
    with pytest.raises(ValueError, match="never read"):
        rise([], [], (0, 1))
