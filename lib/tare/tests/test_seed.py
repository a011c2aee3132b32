"""lib/build/seed.sh: what it says when the store cannot be seeded."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "build" / "seed.sh"
PRELUDE = 'say() { echo "$*" >&2; }; die() { code=$1; shift; say "$*"; exit "$code"; }; . "$1"; '


def seed(
    function: str, tmp_path: Path, lines: str, path: str = "/usr/bin:/bin", mirror: str = ""
) -> subprocess.CompletedProcess[str]:
    script = PRELUDE + f'missing="$2"; seeds=$missing; seed_dir="$3"; {function}'
    argv = ["/bin/sh", "-euc", script, "sh", str(SCRIPT), lines, str(tmp_path)]
    environment = {"PATH": path, "TARE_DEBIAN_MIRROR": mirror}
    return subprocess.run(argv, capture_output=True, text=True, env=environment, timeout=60, check=False)


def test_another_file_than_was_pinned_is_named_with_both_hashes(tmp_path: Path) -> None:
    (tmp_path / "bash.deb").write_text("something else")
    found = hashlib.sha256(b"something else").hexdigest()
    done = seed("add_to_store", tmp_path, f"deb /nix/store/x-bash.deb bash.deb {'0' * 64} bash 5.2")
    assert done.returncode == 3
    assert f"bash.deb: wanted sha256 {'0' * 64}, found {found}" in done.stderr
    assert "./tare pins update" in done.stderr


def test_a_machine_without_apt_is_told_how_to_go_on(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "awk").symlink_to("/usr/bin/awk")
    done = seed("seed_debs", tmp_path, "deb /nix/store/x-bash.deb bash.deb 00 bash 5.2 main", path=str(programs))
    assert done.returncode == 3
    assert "neither the archives nor apt-get is at hand" in done.stderr
    assert "run-without-internet.md" in done.stderr


LINES = (
    "deb /nix/store/x-wrk.deb wrk.deb 00 wrk 1 main\n"
    "deb /nix/store/x-netperf.deb netperf.deb 00 netperf 1 non-free\n"
    "go /nix/store/x-go.zip go.zip 00 1.22.7"
)
needs_apt = pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt")
Archive = Callable[[dict[str, list[str]]], Path]


@needs_apt
def test_each_package_comes_from_its_component(tmp_path: Path, debian_archive: Archive) -> None:
    archive = debian_archive({"main": ["wrk"], "non-free": ["netperf"]})
    (tmp_path / "seeds").mkdir()
    done = seed('seed_debs; printf "%s" "$missing"', tmp_path / "seeds", LINES, mirror=f"file://{archive}")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", LINES)
    assert (tmp_path / "seeds" / "wrk.deb").read_text() == "wrk"
    assert (tmp_path / "seeds" / "netperf.deb").read_text() == "netperf"


@needs_apt
def test_a_mirror_without_non_free_costs_what_is_in_it_alone(tmp_path: Path, debian_archive: Archive) -> None:
    archive = debian_archive({"main": ["wrk"]})
    (tmp_path / "seeds").mkdir()
    left = 'seed_debs; printf "%s" "$missing"; [ "$missing" = "$seeds" ]'
    done = seed(left, tmp_path / "seeds", LINES, mirror=f"file://{archive}")
    assert done.returncode == 0
    assert "they are in Debian's non-free: netperf=1." in done.stderr
    assert 'services.http.server.roundTripProgram = "tcp-rr";' in done.stderr
    assert done.stdout.splitlines() == [LINES.splitlines()[0], LINES.splitlines()[2]]
    assert (tmp_path / "seeds" / "wrk.deb").read_text() == "wrk"


@needs_apt
def test_a_mirror_without_a_package_of_main_is_an_error(tmp_path: Path, debian_archive: Archive) -> None:
    archive = debian_archive({"main": ["other"], "non-free": ["netperf"]})
    (tmp_path / "seeds").mkdir()
    done = seed("seed_debs", tmp_path / "seeds", LINES, mirror=f"file://{archive}")
    assert done.returncode == 3
    assert "could not download the pinned Debian packages" in done.stderr
