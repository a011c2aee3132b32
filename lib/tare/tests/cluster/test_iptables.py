from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tare.cluster import iptables
from tare.process import Commands

BACK_END = '#!/bin/sh\ncat > "{log}"\necho "{answer}" >&2\nexit {code}\n'


def back_end(folder: Path, name: str, code: int) -> Path:
    program = folder / name
    program.write_text(BACK_END.format(log=folder / f"{name}.rules", answer=f"{name} says {code}", code=code))
    program.chmod(0o755)
    return program


def test_the_first_that_loads_the_rules_is_chosen(tmp_path: Path) -> None:
    back_end(tmp_path, "xtables-nft-multi", 1)
    legacy = back_end(tmp_path, "xtables-legacy-multi", 0)
    assert iptables.choose([str(tmp_path)], lambda argv: [*map(str, argv)], _commands()) == legacy
    # What was loaded to try is taken out again.
    assert "-X TARE-PROBE" in (tmp_path / "xtables-legacy-multi.rules").read_text()


def test_none_is_told_with_what_each_said(tmp_path: Path) -> None:
    back_end(tmp_path, "xtables-nft-multi", 1)
    with pytest.raises(iptables.NoNetfilter) as caught:
        iptables.choose([str(tmp_path)], lambda argv: [*map(str, argv)], _commands())
    assert "xtables-nft-multi: xtables-nft-multi says 1" in str(caught.value)
    assert f"xtables-legacy-multi: not in {tmp_path}" in str(caught.value)


def test_every_name_of_iptables_points_to_the_back_end(tmp_path: Path) -> None:
    program = tmp_path / "xtables-nft-multi"
    program.write_text('#!/bin/sh\nbasename "$0"\n')
    program.chmod(0o755)
    folder = iptables.link(program, tmp_path / "bin")
    done = subprocess.run([folder / "iptables-restore"], check=True, capture_output=True, text=True)
    assert done.stdout == "iptables-restore\n"
    assert {path.name for path in folder.iterdir()} == set(iptables.PROGRAMS)


def test_extensions_stand_beside_the_programs(tmp_path: Path) -> None:
    (tmp_path / "usr/lib/x86_64-linux-gnu/xtables").mkdir(parents=True)
    found = iptables.environment([str(tmp_path / "elsewhere/bin"), str(tmp_path / "usr/sbin")])
    assert found == {"XTABLES_LIBDIR": str(tmp_path / "usr/lib/x86_64-linux-gnu/xtables")}
    assert iptables.environment([str(tmp_path)]) == {}


def _commands() -> Commands:
    return Commands({"PATH": "/usr/bin:/bin"})
