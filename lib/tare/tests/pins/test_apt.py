from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tare.errors import CommandFailed, TareError
from tare.pins.apt import Apt, Candidate, parse_mirror, parse_uris, preferences
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
    assert {candidate.component for candidate in found.values()} == {"main"}


def test_where_a_package_comes_from_is_in_its_address() -> None:
    (found,) = parse_uris(
        "'http://mirror.example/debian/pool/non-free/n/netperf/netperf_2.7.0-0.1_amd64.deb' "
        "netperf_2.7.0-0.1_amd64.deb 540848 MD5Sum:ee437417f2ce6fd87ee49f526a715281"
    )
    assert found == Candidate(
        name="netperf",
        version="2.7.0-0.1",
        file="netperf_2.7.0-0.1_amd64.deb",
        size_bytes=540848,
        component="non-free",
    )


@pytest.mark.parametrize(
    "line",
    [
        "E: Unable to locate package nope",
        "'http://mirror.example/pool/main/x.deb' x.deb 12",
        "'http://mirror.example/a_1_all.deb' a_1_all.deb 12",
    ],
)
def test_another_form_of_output_is_an_error(line: str) -> None:
    with pytest.raises(
        TareError, match=r"expected '\.\.\./pool/COMPONENT/\.\.\.' NAME_VERSION_ARCHITECTURE.deb SIZE HASH, found"
    ):
        list(parse_uris(line))


def test_the_machines_mirror_is_the_one_with_bookworm_main() -> None:
    lines = ["http://a.example/debian bookworm-updates main", "http://b.example/debian bookworm main"]
    assert parse_mirror("\n".join(lines)) == "http://b.example/debian"
    assert parse_mirror(lines[0]) is None
    assert parse_mirror("") is None


def test_of_non_free_only_what_is_named_may_come() -> None:
    refused = "Package: *\nPin: release c=non-free\nPin-Priority: -1\n"
    assert preferences([]) == refused
    assert preferences(["netperf"]) == f"Package: netperf\nPin: release c=non-free\nPin-Priority: 500\n\n{refused}"


@pytest.mark.skipif(shutil.which("apt-cache") is None, reason="needs apt")
def test_apt_understands_which_packages_may_come(
    tmp_path: Path, debian_archive: Callable[[dict[str, list[str]]], Path]
) -> None:
    """apt's own reading of the preferences, on an archive of two packages in each component."""
    archive = debian_archive({"main": ["wrk", "free"], "non-free": ["netperf", "rar"]})
    apt = Apt(
        folder=tmp_path / "apt",
        commands=Commands({"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}),
        environment={"PATH": os.environ["PATH"], "TARE_DEBIAN_MIRROR": f"file://{archive}"},
        non_free=["netperf"],
    )
    sources = tmp_path / "apt" / "sources.list"
    sources.write_text(re.sub(r"\[signed-by=[^]]*\]", "[trusted=yes]", sources.read_text()))
    apt.update()
    found = {candidate.name: candidate.component for candidate in apt.candidates(["netperf", "wrk"])}
    assert found == {"netperf": "non-free", "wrk": "main"}
    with pytest.raises(CommandFailed, match="'rar' has no installation candidate"):
        apt.candidates(["rar"])


def test_a_machine_without_apt(tmp_path: Path) -> None:
    with pytest.raises(TareError, match=r"apt-get is not on the PATH, and this update needs it. Run it on Debian"):
        Apt(folder=tmp_path, commands=Commands(), environment={"PATH": str(tmp_path)})
