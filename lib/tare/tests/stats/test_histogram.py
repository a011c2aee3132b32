"""Histograms: merging is exact, quantiles within their resolution, the encoding keeps all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tare.stats.histogram import Histogram

latencies = st.lists(st.floats(0, 3600), min_size=1, max_size=50)


@settings(max_examples=25, deadline=None)
@given(latencies, st.floats(0.01, 1))
@example([0.0, 1.0, 1.0], 0.375)  # the second of three, which rounding takes for the first
def test_quantiles_are_within_a_thousandth_or_a_microsecond(sample: list[float], q: float) -> None:
    exact = float(np.quantile(sample, q, method="inverted_cdf"))
    assert Histogram.of(sample).quantile(q) == pytest.approx(exact, rel=1e-3, abs=1.1e-6)


@settings(max_examples=25, deadline=None)
@given(latencies, st.lists(st.floats(0, 1), max_size=8))
def test_several_quantiles_at_once_are_those_one_by_one(sample: list[float], shares: list[float]) -> None:
    histogram = Histogram.of(sample)
    assert histogram.quantiles(shares) == tuple(histogram.quantile(q) for q in shares)


@settings(max_examples=25, deadline=None)
@given(latencies, latencies)
def test_merging_is_counting_together_and_leaves_the_parts(one: list[float], other: list[float]) -> None:
    a, b = Histogram.of(one), Histogram.of(other)
    merged = Histogram.merge([a, b])
    assert merged == Histogram.of(one + other)
    assert (a.count, b.count, merged.count) == (len(one), len(other), len(one) + len(other))
    assert merged.max_seconds == max(a.max_seconds, b.max_seconds)


@settings(max_examples=25, deadline=None)
@given(latencies)
def test_decoding_gives_back_what_was_encoded(sample: list[float]) -> None:
    histogram = Histogram.of(sample)
    decoded = Histogram.decode(histogram.encode())
    assert decoded == histogram
    assert decoded.encode() == histogram.encode()
    assert (decoded.count, decoded.max_seconds) == (histogram.count, histogram.max_seconds)
    assert Histogram.merge([decoded, histogram]).count == 2 * len(sample)


def test_a_percentile_of_merged_workers_is_not_the_mean_of_their_percentiles() -> None:
    quiet, busy = Histogram.of([0.001] * 99 + [0.002]), Histogram.of([0.001] * 50 + [0.1] * 50)
    assert Histogram.merge([quiet, busy]).quantile(0.99) == pytest.approx(0.1, rel=1e-3)
    assert (quiet.quantile(0.99) + busy.quantile(0.99)) / 2 == pytest.approx(0.0505, rel=1e-3)


def test_counts_and_mean() -> None:
    histogram = Histogram()
    histogram.add_counts([(0.010, 3), (0.030, 1), (5.0, 0)])
    assert histogram.count == 4
    assert histogram.mean_seconds == pytest.approx(0.015, rel=1e-3)
    assert histogram.max_seconds == pytest.approx(0.030, rel=1e-3)
    assert repr(histogram) == "Histogram(4 latencies)"
    assert histogram != 4


@pytest.mark.parametrize("latency", [-0.001, 3601.0, float("nan")])
def test_a_latency_out_of_range_is_refused(latency: float) -> None:
    with pytest.raises(ValueError, match="expected 0 to 3600 s, and no less than 0 times; is the unit right"):
        Histogram.of([latency])


def test_an_empty_histogram_has_no_figures() -> None:
    empty = Histogram.merge([])
    assert empty.count == 0
    assert Histogram.decode(empty.encode()) == empty
    for figure in (lambda: empty.quantile(0.5), lambda: empty.mean_seconds, lambda: empty.max_seconds):
        with pytest.raises(ValueError, match="the histogram is empty"):
            figure()


def test_a_quantile_is_a_share() -> None:
    with pytest.raises(ValueError, match=r"quantile: expected a share from 0 to 1, such as 0\.99, found 99"):
        Histogram.of([1.0]).quantile(99)


@pytest.mark.parametrize("encoded", [b"", b"no histogram", Histogram.of([1.0]).encode()[:-8], b"SElTVEZBQUFB" * 4])
def test_other_bytes_are_refused(encoded: bytes) -> None:
    with pytest.raises(ValueError, match=rf"not an encoded HDR histogram \({len(encoded)} bytes\)"):
        Histogram.decode(encoded)


def test_a_histogram_of_other_units_is_refused() -> None:
    from hdrh.histogram import HdrHistogram

    milliseconds = HdrHistogram(1, 3_600_000, 3)
    milliseconds.record_value(5)
    with pytest.raises(ValueError, match=r"\(1, 3600000, 3\); expected \(1, 3600000000, 3\)"):
        Histogram.decode(milliseconds.encode())
