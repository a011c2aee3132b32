"""A pytester whose conftest.py is ``synthetic.py``: the plugin as users have it, and a lab that answers at once."""

from __future__ import annotations

from pathlib import Path

# pytester forgets what a session in this process imports, and native modules cannot be imported twice.
import altair  # noqa: F401
import duckdb  # noqa: F401
import pyarrow.parquet  # noqa: F401
import pytest
import scipy.stats  # noqa: F401
import vl_convert  # noqa: F401

HERE = Path(__file__).parent


@pytest.fixture
def lab(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTHONPATH", str(HERE.parent.parent / "src"))
    pytester.makeconftest((HERE / "synthetic.py").read_text())
    return pytester
