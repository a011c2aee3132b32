from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import TareError
from tare.pins.apt import Apt, Candidate, parse_mirror, parse_uris
from tare.process import Commands

RECORDED = Path(__file__).parent.parent / "data/pins/apt-print-uris.txt"


def test_recorded_output_of_apt() -> None:
    found = {candidate.name: candidate for candidate in parse_uris(RECORDED.read_text())}

    assert sorted(found) == ["busybox-static", "libgcc-s1", "libssl3", "python3.11"]
    # The epoch is part of the version but not of the file's name in the archive.
    assert found["busybox-static"] == Candidate(
        name="busybox-static",
        version="1:1.35.0-4+deb12u1+b1",
        file="busybox-static_1.35.0-4+deb12u1+b1_amd64.deb",
        size_bytes=928188,
    )
    assert found["libssl3"].file == "libssl3_3.0.20-1~deb12u2_amd64.deb"


@pytest.mark.parametrize("line", ["E: Unable to locate package nope", "'http://mirror.example/x.deb' x.deb 12"])
def test_another_form_of_output_is_an_error(line: str) -> None:
    with pytest.raises(TareError, match=r"expected 'URI' NAME_VERSION_ARCHITECTURE.deb SIZE HASH, found"):
        list(parse_uris(line))


def test_the_machines_mirror_is_the_one_with_bookworm_main() -> None:
    lines = ["http://a.example/debian bookworm-updates main", "http://b.example/debian bookworm main"]
    assert parse_mirror("\n".join(lines)) == "http://b.example/debian"
    assert parse_mirror(lines[0]) is None
    assert parse_mirror("") is None


def test_a_machine_without_apt(tmp_path: Path) -> None:
    with pytest.raises(TareError, match=r"apt-get is not on the PATH, and this update needs it. Run it on Debian"):
        Apt(folder=tmp_path, commands=Commands(), environment={"PATH": str(tmp_path)})
