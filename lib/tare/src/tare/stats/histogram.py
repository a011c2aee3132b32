"""Latencies as HDR histograms, which can be merged: percentiles are read after merging, never averaged."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence

from hdrh.histogram import HdrHistogram

RESOLUTION_SECONDS = 1e-6
LONGEST_SECONDS = 3600.0
DIGITS = 3


class Histogram:
    """Counts of latencies from 1 us to 1 h, each within 0.1 % or 1 us, whichever is more.

    G. Tene, HdrHistogram. Histograms of several workers or blocks add up without any further loss.
    """

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts = _empty()

    @classmethod
    def of(cls, latencies_seconds: Iterable[float]) -> Histogram:
        """Return the histogram of single latencies (seconds). Raises ValueError for one outside [0, 1 h]."""
        histogram = cls()
        histogram.add_counts((latency, 1) for latency in latencies_seconds)
        return histogram

    @classmethod
    def merge(cls, histograms: Iterable[Histogram]) -> Histogram:
        """Return a new histogram of all that the given ones counted."""
        merged = cls()
        for histogram in histograms:
            merged._counts.add(histogram._counts)
        return merged

    @classmethod
    def decode(cls, encoded: bytes) -> Histogram:
        """Return what `encode` wrote, or any histogram of the same range and digits in that format.

        Raises ValueError for other bytes, and for a histogram of other units, range or digits.
        """
        from hdrh.codec import HdrCookieException, HdrLengthException

        try:
            counts = HdrHistogram.decode(encoded)
        except (HdrCookieException, HdrLengthException, TypeError, ValueError, zlib.error) as error:
            raise ValueError(f"not an encoded HDR histogram ({len(encoded)} bytes): {error}") from error
        histogram = cls()
        mine, found = _shape(histogram._counts), _shape(counts)
        if mine != found:
            raise ValueError(f"HDR histogram of lowest, highest value and digits {found}; expected {mine}")
        histogram._counts = counts
        return histogram

    def add_counts(self, counts: Iterable[tuple[float, int]]) -> None:
        """Count each latency (seconds) as often as said. Raises ValueError for one outside [0, 1 h]."""
        for latency, count in counts:
            if not 0 <= latency <= LONGEST_SECONDS or count < 0:
                raise ValueError(
                    f"latency {latency!r} s, counted {count} times: expected 0 to {LONGEST_SECONDS:g} s, and no less "
                    "than 0 times; is the unit right?"
                )
            if count:
                self._counts.record_value(round(latency / RESOLUTION_SECONDS), count)

    def quantile(self, q: float) -> float:
        """Return the least latency (seconds) that a share q, 0 to 1, of all does not exceed.

        Raises ValueError for q outside [0, 1] and for an empty histogram.
        """
        return self.quantiles((q,))[0]

    def quantiles(self, shares: Sequence[float]) -> tuple[float, ...]:
        """Return `quantile` of each share, in one pass through the counts, so that many cost no more than one."""
        for q in shares:
            if not 0 <= q <= 1:
                raise ValueError(f"quantile: expected a share from 0 to 1, such as 0.99, found {q!r}")
        self._refuse_empty()
        # The library rounds to the nearest rank; the next one up is meant, but for an error of rounding.
        percents = [100 * max(math.ceil(q * self.count - 1e-9), 1) / self.count for q in shares]
        found = self._counts.get_percentile_to_value_dict(percents)
        return tuple(float(found[percent]) * RESOLUTION_SECONDS for percent in percents)

    @property
    def count(self) -> int:
        return int(self._counts.total_count)

    @property
    def mean_seconds(self) -> float:
        """Raises ValueError for an empty histogram."""
        self._refuse_empty()
        return float(self._counts.get_mean_value()) * RESOLUTION_SECONDS

    @property
    def max_seconds(self) -> float:
        """Raises ValueError for an empty histogram."""
        self._refuse_empty()
        return float(self._counts.get_max_value()) * RESOLUTION_SECONDS

    def encode(self) -> bytes:
        """Return the histogram in HdrHistogram's compressed V2 form, in base64, as other HDR tools read it."""
        return bytes(self._counts.encode())

    def __eq__(self, other: object) -> bool:
        """Equal counts are equal; a histogram can change, so it has no hash."""
        return isinstance(other, Histogram) and bool(self._counts.equals(other._counts))

    def __repr__(self) -> str:
        return f"Histogram({self.count} latencies)"

    def _refuse_empty(self) -> None:
        if not self.count:
            raise ValueError("the histogram is empty: no latency was recorded, so there is none to tell")


def _empty() -> HdrHistogram:
    return HdrHistogram(1, round(LONGEST_SECONDS / RESOLUTION_SECONDS), DIGITS)


def _shape(counts: HdrHistogram) -> tuple[int, int, int]:
    return counts.lowest_trackable_value, counts.highest_trackable_value, counts.significant_figures
