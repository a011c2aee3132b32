from __future__ import annotations

from tare.trials.levels import describe, matches, normal, show, without


def test_numbers_are_one_level_however_they_are_written() -> None:
    assert normal(25) == normal(25.0) == 25.0
    assert describe({"send_rate": 25, "runtime": "runc"}) == describe({"runtime": "runc", "send_rate": 25.0})
    assert matches({"total_cpus": 2.0, "runtime": "kata"}, {"total_cpus": 2})


def test_a_level_is_shown_with_its_unit() -> None:
    assert show(0.5, "cpu") == "0.5 cpu"
    assert show("shared", "cpu") == "shared"


def test_a_missing_factor_does_not_match() -> None:
    assert not matches({"runtime": "kata"}, {"runtime": "kata", "total_cpus": 2})
    assert without({"runtime": "kata", "vcpus": "1:2"}, "runtime") == {"vcpus": "1:2"}
