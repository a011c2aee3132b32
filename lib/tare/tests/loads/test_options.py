from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import UsageError
from tare.loads.options import Option, settle

KNOWN = {
    "threads": Option(kind="count", description="threads", example=8, default=2),
    "send_rate": Option(kind="amount", unit="tx/s", description="transactions offered each second", example=50),
    "timeout": Option(kind="amount", unit="s", description="time-out", example="2 s", default=1.0),
    "keep_alive": Option(kind="switch", description="whether a connection serves on", example=False, default=True),
    "path": Option(kind="text", description="path", example="/1k", default="/"),
}


def test_what_is_not_given_has_its_default() -> None:
    settled = settle("test", KNOWN, {"send_rate": 50})
    assert settled == {"threads": 2, "send_rate": 50.0, "timeout": 1.0, "keep_alive": True, "path": "/"}


@pytest.mark.parametrize(
    ("name", "found", "expected"),
    [
        ("threads", 8, 8),
        ("threads", 8.0, 8),
        ("send_rate", 25, 25.0),
        ("send_rate", "300 tx/s", 300.0),
        ("timeout", "500 ms", 0.5),
        ("keep_alive", False, False),
        ("keep_alive", "off", False),
        ("keep_alive", "on", True),
        ("path", "/64", "/64"),
    ],
)
def test_a_value_is_read_as_a_person_or_a_level_gives_it(name: str, found: object, expected: object) -> None:
    settled = settle("test", KNOWN, {"send_rate": 1, name: found})[name]
    assert (settled, type(settled)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("name", "found", "expected"),
    [
        ("threads", 1.5, "a whole number above 0, found 1.5. Write threads=8."),
        ("threads", True, "a whole number above 0, found True. Write threads=8."),
        ("threads", "8", "a whole number above 0, found '8'. Write threads=8."),
        ("threads", float("nan"), "a whole number above 0, found nan. Write threads=8."),
        ("threads", float("inf"), "a whole number above 0, found inf. Write threads=8."),
        ("send_rate", -1, "a number above 0 (in tx/s), or text with its unit, found -1. Write send_rate=50."),
        (
            "send_rate",
            float("inf"),
            "a number above 0 (in tx/s), or text with its unit, found inf. Write send_rate=50.",
        ),
        ("send_rate", None, "a number above 0 (in tx/s), or text with its unit, found None. Write send_rate=50."),
        ("timeout", "0 s", "a number above 0 (in s), or text with its unit, found '0 s'. Write timeout='2 s'."),
        ("keep_alive", 1, "True or False, found 1. Write keep_alive=False."),
        ("keep_alive", "no", "True or False, found 'no'. Write keep_alive=False."),
        ("path", "", "a text, found ''. Write path='/1k'."),
        ("path", 5, "a text, found 5. Write path='/1k'."),
    ],
)
def test_a_value_of_another_kind_is_refused_with_the_right_form(name: str, found: object, expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        settle("test", KNOWN, {"send_rate": 1, name: found})
    assert str(caught.value) == f"load test: option {name!r}: expected {expected}"


def test_a_quantity_of_another_dimension_is_refused_with_its_place() -> None:
    with pytest.raises(UsageError, match=r"^load test: option 'timeout': '5 B' is not in s\."):
        settle("test", KNOWN, {"send_rate": 1, "timeout": "5 B"})


def test_a_missing_option_is_told_with_what_it_is() -> None:
    with pytest.raises(UsageError) as caught:
        settle("test", KNOWN, {})
    assert str(caught.value) == (
        "load test: option 'send_rate' is missing: transactions offered each second. Write send_rate=50."
    )


def test_an_unknown_option_is_told_with_all_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        settle("test", KNOWN, {"send_rate": 1, "treads": 8})
    assert str(caught.value) == (
        "load test: option 'treads' (found with 8) is not known; there are: threads=8 (threads); "
        "send_rate=50 (transactions offered each second); timeout='2 s' (time-out); "
        "keep_alive=False (whether a connection serves on); path='/1k' (path)"
    )


@given(st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=5), st.lists(st.integers())))
def test_a_count_is_a_positive_integer_or_refused(found: object) -> None:
    try:
        settled = settle("test", KNOWN, {"send_rate": 1, "threads": found})["threads"]
    except UsageError:
        return
    assert type(settled) is int
    assert settled > 0
    assert settled == found
