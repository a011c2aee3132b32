from __future__ import annotations

import os

import pytest
from click.testing import CliRunner

from tare.cli import tare
from tare.cli.run import parse_levels
from tare.errors import UsageError


def test_levels_are_gathered_by_factor() -> None:
    assert parse_levels(("runtime=gvisor,kata", "send_rate=25", "send_rate= 50 ,75")) == {
        "runtime": ("gvisor", "kata"),
        "send_rate": ("25", "50", "75"),
    }
    assert parse_levels(("vcpus=1:2",)) == {"vcpus": ("1:2",)}


@pytest.mark.parametrize("word", ["runtime", "=runc", "runtime=", "runtime=,"])
def test_another_form_is_told(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_levels((word,))
    assert str(caught.value) == f"--level {word}: expected FACTOR=A,B, such as runtime=gvisor or send_rate=25,50"


@pytest.mark.parametrize("command", ["run", "up", "down", "kubectl"])
def test_without_root_it_says_what_needs_it_and_how_to_go_on(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    result = CliRunner().invoke(tare, [command, "kata-hlf"])
    assert result.exit_code == 2
    assert f"run it as root, for example `sudo ./tare {command} kata-hlf`" in result.stderr
