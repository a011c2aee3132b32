from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tare.errors import TareError
from tare.pins.python import environments_in_order, parse_report
from tare.pins.tree import Tree

RECORDED = Path(__file__).parent.parent / "data/pins/pip-report.json"


@pytest.fixture
def report() -> dict[str, Any]:
    return dict(json.loads(RECORDED.read_text()))


def test_recorded_report_of_pip(report: dict[str, Any]) -> None:
    assert [(pin.name, pin.version) for pin in parse_report(report)] == [
        ("hdrhistogram", "0.10.8"),
        ("pbr", "7.1.3"),
        ("setuptools", "84.2.1"),
    ]
    assert parse_report(report)[1].hashes == ("6583e878a1d97cb135fdc509811f31b9235905cde8d4dacd3dbadf9efc45d745",)


def test_a_report_of_another_version(report: dict[str, Any]) -> None:
    with pytest.raises(TareError, match="version: expected '1', found '2'"):
        parse_report({**report, "version": "2"})


def test_an_index_without_hashes(report: dict[str, Any]) -> None:
    report["install"][0]["download_info"]["archive_info"] = {}
    with pytest.raises(TareError, match=r"hdrhistogram 0.10.8: expected a sha256 from the index, found none"):
        parse_report(report)


def test_an_environment_comes_after_those_it_includes(repository: Tree) -> None:
    order = environments_in_order(repository)
    assert order.index("runtime") < order.index("dev")
