from __future__ import annotations

import pytest

from tare.units import axis, ratio, round_to, show


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (276.64, "tx/s", "277 tx/s"),
        (24.96, "tx/s", "25.0 tx/s"),
        (0.0, "tx/s", "0 tx/s"),
        (1234567.0, "tx/s", "1230000 tx/s"),
        (0.0123, "s", "12.3 ms"),
        (1.5, "s", "1.50 s"),
        (2e-5, "s", "20.0 µs"),
        (0.0, "s", "0 s"),
        (126 * 2**20, "B", "126 MiB"),
        (3 * 2**30, "B", "3.00 GiB"),
        (0.031, "1", "3.10 %"),
        (0.0, "1", "0 %"),
        (None, "s", "–"),  # noqa: RUF001
    ],
)
def test_values_are_scaled_and_have_their_unit(value: float | None, unit: str, text: str) -> None:
    assert show(value, unit) == text


def test_ratios() -> None:
    assert (ratio(0.93456), ratio(1.0), ratio(None)) == ("0.935", "1.00", "–")  # noqa: RUF001
    assert round_to(float("inf")) == "inf"


@pytest.mark.parametrize(
    ("values", "unit", "found"),
    [
        ([0.002, 0.4], "s", (1e-3, "ms")),
        ([0.4, 1.2], "s", (1.0, "s")),
        ([3e6, 120e6], "B", (2.0**20, "MiB")),
        ([0.02], "1", (0.01, "%")),
        ([5.0], "tx/s", (1.0, "tx/s")),
        ([], "s", (1.0, "s")),
    ],
)
def test_an_axis_has_the_unit_of_its_largest_value(values: list[float], unit: str, found: tuple[float, str]) -> None:
    assert axis(values, unit) == found
