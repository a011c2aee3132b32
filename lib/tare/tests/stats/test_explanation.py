"""The page on statistics has the recorded figures, and the commands it names are there."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[4]
BENCH = ROOT / "bench" / "verdict"


@pytest.fixture(scope="module")
def page() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verdict_page", BENCH / "page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_recorded_figures(page: ModuleType) -> None:
    text = page.PAGE.read_text()
    assert page.filled(text, *page.recorded()) == text, "run: python bench/verdict/page.py"


def test_another_figure_would_be_another_page(page: ModuleType) -> None:
    simulations, results = page.recorded()
    changed = json.loads(json.dumps(simulations))
    changed["false_alarms"][0]["t"] = 0.777
    assert "77.7 %" in page.filled(page.PAGE.read_text(), changed, results)


def test_a_page_without_markers_is_refused(page: ModuleType) -> None:
    with pytest.raises(ValueError, match="expected one <!-- false alarms: written by"):
        page.filled("# Statistics\n", *page.recorded())


def test_the_commands_and_files_it_names_are_there(page: ModuleType) -> None:
    text = page.PAGE.read_text()
    named = set(re.findall(r"`?(bench/verdict/[\w./]+\.(?:py|json)|lib/tare/[\w./]+\.py)`?", text))
    assert len(named) >= 5
    assert not [name for name in sorted(named) if not (ROOT / name).is_file()]


def test_the_default_method_holds_in_every_recorded_simulation(page: ModuleType) -> None:
    simulations, results = page.recorded()
    assert max(max(row["t"], row["median"]) for row in simulations["false_alarms"]) <= 0.05
    alarms = [row["wrong"] for row in results["figures"] if row["effect"] == 0 and row["rule"].startswith("Tare")]
    assert max(alarms) <= 0.05
