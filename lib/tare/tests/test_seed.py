"""lib/build/seed.sh: what it says when the store cannot be seeded."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "build" / "seed.sh"
PRELUDE = 'say() { echo "$*" >&2; }; die() { code=$1; shift; say "$*"; exit "$code"; }; . "$1"; '


def seed(function: str, tmp_path: Path, line: str, path: str = "/usr/bin:/bin") -> subprocess.CompletedProcess[str]:
    script = PRELUDE + f'missing="$2"; seed_dir="$3"; {function}'
    argv = ["/bin/sh", "-euc", script, "sh", str(SCRIPT), line, str(tmp_path)]
    return subprocess.run(argv, capture_output=True, text=True, env={"PATH": path}, timeout=30, check=False)


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
    done = seed("seed_debs", tmp_path, "deb /nix/store/x-bash.deb bash.deb 00 bash 5.2", path=str(programs))
    assert done.returncode == 3
    assert "neither the archives nor apt-get is at hand" in done.stderr
    assert "run-without-internet.md" in done.stderr
