"""A generator's processes are real; the node and its cgroup are those of no cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tare.cgroup import CgroupUsage
from tare.errors import CommandFailed, CommandTimeout
from tare.loads.generator import Generator, GeneratorFailed, last_line
from tare.process import Commands


@dataclass
class Cgroups:
    """Cgroups that count what is asked of them; their CPU time stands still."""

    journal: list[str] = field(default_factory=list)

    def make(self, path: str, *, cpus: tuple[int, ...]) -> None:
        self.journal.append(f"make {path} {cpus}")

    def entering(self, path: str, shell: Sequence[str], argv: Sequence[str]) -> list[str]:
        return [*argv]

    def kill(self, path: str) -> None:
        self.journal.append(f"kill {path}")

    def processes(self, path: str) -> set[int]:
        return set()

    def usage(self, path: str) -> CgroupUsage:
        return CgroupUsage(cpu_seconds=1.0, memory_bytes=0, throttled_seconds=0.0, periods=0, throttled_periods=0)


@pytest.fixture
def cgroups() -> Cgroups:
    return Cgroups()


@pytest.fixture
def generator(cgroups: Cgroups) -> Generator:
    node = SimpleNamespace(cgroup="nodes/client", cpus=(1, 2), argv=list)
    cluster = SimpleNamespace(
        nodes={"client": node}, cgroups=cgroups, manifest=SimpleNamespace(tools={"busybox": "/bin/busybox"})
    )
    return Generator("test", node="client", cluster=cast(Any, cluster), commands=Commands())


def run(generator: Generator, folder: Path, script: str, deadline_seconds: float = 10) -> Any:
    log = folder / "log"
    argv = ["/bin/sh", "-c", script]
    return generator.run(argv, log=log, deadline_seconds=deadline_seconds, env={"SAID": "hello"}, cwd=folder)


def test_it_runs_in_its_cgroup_of_which_nothing_is_left(generator: Generator, cgroups: Cgroups, tmp_path: Path) -> None:
    used = run(generator, tmp_path, "echo $SAID; pwd")
    assert (tmp_path / "log").read_text() == f"hello\n{tmp_path}\n"
    assert used.cpu_cores(0.0, 1.0) == 0.0
    assert cgroups.journal == ["make nodes/client/load (1, 2)", "kill nodes/client/load"]


def test_one_that_fails_is_told_with_its_last_words(generator: Generator, cgroups: Cgroups, tmp_path: Path) -> None:
    with pytest.raises(GeneratorFailed) as caught:
        run(generator, tmp_path, "echo first; echo 'no such host' >&2; echo; exit 3")
    assert str(caught.value) == f"test: ended with exit code 3 (no such host); its output is in {tmp_path / 'log'}"
    assert cgroups.journal[-1] == "kill nodes/client/load"


def test_one_that_does_not_end_is_ended(generator: Generator, cgroups: Cgroups, tmp_path: Path) -> None:
    with pytest.raises(CommandTimeout, match=r"^not finished after 0.2 s"):
        run(generator, tmp_path, "exec /bin/sleep 30", deadline_seconds=0.2)
    assert cgroups.journal[-1] == "kill nodes/client/load"


def test_a_check_that_fails_is_told(generator: Generator) -> None:
    with pytest.raises(CommandFailed, match="not yet"):
        generator.check(["/bin/sh", "-c", "echo not yet; exit 1"], deadline_seconds=10, env={})


@pytest.mark.parametrize(
    ("cpu_cores", "threads", "bound"),
    [
        (0.94, 1, ()),
        (0.96, 1, ("the client used 0.96 of the 1 CPUs it can use",)),
        (1.5, 8, ()),
        (1.95, 8, ("the client used 1.95 of the 2 CPUs it can use",)),
    ],
)
def test_threads_and_the_nodes_cpus_limit_it(
    generator: Generator, cpu_cores: float, threads: int, bound: tuple[str, ...]
) -> None:
    assert generator.bottlenecks(cpu_cores, threads=threads) == bound


def test_the_last_words_of_wrk_where_nobody_listens() -> None:
    log = Path(__file__).parents[1] / "data" / "wrk" / "refused" / "measured.log"
    assert last_line(log) == "unable to connect to 127.0.0.1:8080 Connection refused"


def test_a_silent_log_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("\n \n")
    assert last_line(log) == "it printed nothing"
