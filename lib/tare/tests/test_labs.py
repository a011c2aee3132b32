"""Labs by folder, and by name through the real Nix where there is one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tare.errors import ManifestError, TareError, UsageError
from tare.labs import BuildFailed, Nix, begun, is_folder, last_lines, name_of, resolve, unknown
from tare.progress import Reporter

with_nix = pytest.mark.skipif(shutil.which("nix") is None, reason="nix is not on the PATH")


@pytest.fixture
def environment(tmp_path: Path, lab_folder: Path) -> dict[str, str]:
    flake = tmp_path / "flake"
    shutil.copytree(lab_folder.parents[1] / "flake", flake)
    shutil.copytree(lab_folder, flake / "lab")
    return {**os.environ, "TARE_FLAKE": f"path:{flake}", "NIX_CONFIG": "substituters ="}


def test_a_slash_or_a_dot_makes_a_folder() -> None:
    assert [is_folder(word) for word in ("kata-hlf", "./kata-hlf", ".", "/nix/store/x", "..")] == [
        False,
        True,
        True,
        True,
        True,
    ]


def test_a_folder_is_a_lab_as_it_is(lab_folder: Path, tmp_path: Path) -> None:
    lab = resolve(str(lab_folder), link=tmp_path / "lab", environment={}, progress=Reporter())
    assert (lab.manifest.name, lab.folder) == ("kata-hlf", lab_folder)
    assert lab.source["last_modified"] == 1706745600
    assert name_of(str(lab_folder)) == name_of("kata-hlf") == "kata-hlf"


def test_a_folder_without_a_lab_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no lab\.json\. Name a lab, or the folder that `nix build"):
        resolve(f"{tmp_path}/", link=tmp_path / "lab", environment={}, progress=Reporter())


def test_a_manifest_of_another_schema_is_told(tmp_path: Path) -> None:
    (tmp_path / "lab.json").write_text('{"schema": 99}')
    with pytest.raises(ManifestError, match="schema: expected 1, found 99"):
        resolve(f"{tmp_path}/", link=tmp_path / "lab", environment={}, progress=Reporter())


def test_an_unknown_name_lists_the_labs_and_the_nearest() -> None:
    assert str(unknown("kata-hfl", {"mtls": "Mutual TLS", "kata-hlf": "Fabric"})) == (
        "lab 'kata-hfl' is not known. Did you mean kata-hlf? The labs are:\n  kata-hlf  Fabric\n  mtls  Mutual TLS"
    )


def test_what_nix_begins_is_told_without_hashes() -> None:
    drv = "/nix/store/jl7j3wdgdqjq395idqcyca824h9lcb8c-runc-1.1.12.drv"
    assert begun(f"building '{drv}'...") == "building runc-1.1.12"
    assert begun("copying path '/nix/store/jl7j3wdgdqjq395idqcyca824h9lcb8c-kit' from 'x'") == "copying path kit"
    assert begun("warning: Git tree is dirty") is None


def test_the_end_of_a_log_has_no_empty_lines() -> None:
    assert last_lines("\n".join(["a", "", "b", "c"]), 2) == "b\nc"


def test_without_nix_a_name_cannot_be_built(tmp_path: Path) -> None:
    with pytest.raises(TareError, match="nix is not on the PATH"):
        resolve("kata-hlf", link=tmp_path / "lab", environment={"PATH": ""}, progress=Reporter())


@with_nix
def test_a_name_is_built_and_kept_from_garbage_collection(environment: dict[str, str], tmp_path: Path) -> None:
    progress = Reporter()
    lab = resolve("tiny", link=tmp_path / "results" / "lab", environment=environment, progress=progress)
    assert lab.folder.name.endswith("-lab-tiny")
    assert (tmp_path / "results" / "lab").resolve() == lab.folder
    assert [timing.path for timing in progress.timings] == [("build lab tiny",)]


@with_nix
def test_an_unknown_name_is_told_by_the_flake_s_own_list(environment: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"lab 'tinny' is not known\. Did you mean tiny\?"):
        resolve("tinny", link=tmp_path / "lab", environment=environment, progress=Reporter())


@with_nix
def test_a_failed_build_shows_the_end_of_nix_s_log(environment: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(BuildFailed) as caught:
        Nix.find(environment).build("lab-broken", link=tmp_path / "lab", progress=Reporter())
    assert "/no/such/program" in caught.value.tail
    assert caught.value.exit_code == 3


@with_nix
def test_a_folder_without_a_flake_is_told(tmp_path: Path) -> None:
    with pytest.raises(TareError, match="has no list of labs"):
        Nix.find({**os.environ, "TARE_FLAKE": f"path:{tmp_path}"}).labs()
