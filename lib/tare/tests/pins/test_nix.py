from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import TareError
from tare.pins.nix import got, program

DATA = Path(__file__).parent.parent / "data/pins"


def test_recorded_mismatch_of_nix() -> None:
    recorded = (DATA / "nix-hash-mismatch.txt").read_text()
    assert got(recorded) == "sha256-VJEeH3bNaGbHz9c4hFGy+zolFzNe6iZlwJwuZpfoXFU="


def test_another_failure_has_no_hash() -> None:
    recorded = (DATA / "nix-fetch-failed.txt").read_text()
    assert "error: builder for" in recorded
    assert got(recorded) is None


def test_a_client_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(TareError, match=r"nix-store is not on the PATH, and this update needs it. Start with ./tare"):
        program("nix-store", {"PATH": str(tmp_path)}, "Start with ./tare, which sees to it.")
