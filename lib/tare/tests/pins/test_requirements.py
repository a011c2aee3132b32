from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.pins import requirements

pins = st.builds(
    requirements.Pin,
    name=st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True),
    version=st.from_regex(r"[0-9]+(\.[0-9]+)*([a-z]+[0-9]+)?(\+[a-z0-9.]+)?", fullmatch=True),
    hashes=st.lists(st.from_regex(r"[0-9a-f]{64}", fullmatch=True), min_size=1, max_size=3).map(tuple),
)


@given(pins)
def test_a_pin_reads_back(pin: requirements.Pin) -> None:
    assert requirements.parse(str(pin)) == pin


@given(st.lists(pins, unique_by=lambda pin: pin.name))
def test_a_file_is_sorted_and_reads_back(some: list[requirements.Pin]) -> None:
    lines = requirements.render(some).splitlines()
    assert [requirements.parse(line) for line in lines] == sorted(some)


@given(st.from_regex(r"[A-Za-z0-9]+([-_.]+[A-Za-z0-9]+)*", fullmatch=True))
def test_a_normalised_name_stays(name: str) -> None:
    once = requirements.normalized(name)
    assert requirements.normalized(once) == once == requirements.normalized(name.upper())


@pytest.mark.parametrize(
    "line",
    [
        "click==8.1",
        "click>=8.1 --hash=sha256:" + "0" * 64,
        "click==8.1 --hash=sha256:abc",
        "click==8.1 --hash=md5:" + "0" * 32,
        "Click==8.1 --hash=sha256:" + "0" * 64,
        "--index-url https://index.example/simple",
        "click @ https://index.example/click.whl",
        "",
    ],
)
def test_what_is_not_a_pin_with_its_hash(line: str) -> None:
    assert requirements.parse(line) is None


def test_an_intent_includes_another(tmp_path: Path) -> None:
    (tmp_path / "base.in").write_text("# why\nPyYAML>=6 # why\nrich[x]\n")
    (tmp_path / "more.in").write_text("-r base.in\nhypothesis==6.1; python_version > '3'\n\n")

    assert requirements.intended(tmp_path / "more.in") == {"pyyaml", "rich", "hypothesis"}
    assert requirements.included(tmp_path / "more.in") == [tmp_path / "base.in"]
