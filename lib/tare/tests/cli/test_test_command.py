from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from tare.cli import tare
from tare.cli.test import files_of


def test_a_lab_without_tests_is_told_with_the_files_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_mtls.py").touch()
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(tare, ["test", "--lab", "kata-hlf"])
    assert result.exit_code == 2
    assert "neither tests/test_kata_hlf.py nor tests/test_kata_hlf_*.py in the current folder" in result.stderr
    assert "files with tests: tests/test_mtls.py" in result.stderr


def test_measuring_needs_root_and_a_dry_run_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_mtls.py").write_text("def test_it(): ...\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    asked: list[list[str]] = []
    monkeypatch.setattr(pytest, "main", lambda arguments: asked.append(arguments) or 0)
    assert CliRunner().invoke(tare, ["test", "--lab", "mtls"]).exit_code == 2
    assert asked == []
    assert CliRunner().invoke(tare, ["test", "--lab", "mtls", "--tare-dry-run", "-k", "it"]).exit_code == 0
    assert asked == [["-p", "tare.plugin", "tests/test_mtls.py", "--tare-dry-run", "-k", "it"]]


def test_the_exit_code_is_pytests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_mtls.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pytest, "main", lambda arguments: pytest.ExitCode.TESTS_FAILED)
    assert CliRunner().invoke(tare, ["test", "--lab", "mtls"]).exit_code == 1


def test_all_files_of_a_lab_are_run_and_no_others(tmp_path: Path) -> None:
    for name in ("test_mtls.py", "test_mtls_overhead.py", "test_mtls2.py", "test_kata_hlf.py"):
        (tmp_path / name).touch()
    assert [file.name for file in files_of(tmp_path, "mtls")] == ["test_mtls.py", "test_mtls_overhead.py"]
    assert [file.name for file in files_of(tmp_path, "kata-hlf")] == ["test_kata_hlf.py"]
