"""Which run a word means, tags, and what must be the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tare.errors import UsageError
from tare.results import Difference, ResultFileError, RunStore, differences, find_unfinished, resolve, runs, tag
from tare.results.runs import find
from tare.results.tags import tags_of

Make = Callable[..., RunStore]


@pytest.fixture
def two(make: Make) -> list[Path]:
    """Two complete runs, the older one first."""
    folders = []
    for _ in range(2):
        store = make()
        store.close(state="complete")
        folders.append(store.folder)
    return folders


def test_runs_are_in_order_of_their_beginning(make: Make, tmp_path: Path) -> None:
    for _ in range(11):
        make().close(state="complete")
    (tmp_path / "kata-hlf" / "lab").mkdir()  # not a run
    (tmp_path / "kata-hlf" / "tags.json").write_text("{}")
    assert [run.name.partition("Z")[2] for run in runs(tmp_path, "kata-hlf")] == ["", *(f"-{n}" for n in range(2, 12))]
    assert runs(tmp_path, "none") == ()


def test_words_for_a_run(two: list[Path], tmp_path: Path) -> None:
    tag(two[0], "v1.2")
    for what, folder in [
        ("last", two[1]),
        (two[0].name, two[0]),
        ("v1.2", two[0]),
        (str(two[0]), two[0]),
        (two[0], two[0]),
    ]:
        assert resolve(tmp_path, "kata-hlf", what).folder == folder
        assert find(tmp_path, str(what)).folder == folder
    assert find(tmp_path, "kata-hlf/v1.2").folder == two[0]
    assert resolve(tmp_path, "kata-hlf", "v1.2").tags == ("v1.2",)


def test_last_is_not_the_run_that_is_being_written(two: list[Path], make: Make, tmp_path: Path) -> None:
    running = make()
    assert resolve(tmp_path, "kata-hlf", "last").folder == two[1]
    running.close(state="failed", error="x")
    assert resolve(tmp_path, "kata-hlf", "last").folder == running.folder


def test_an_unknown_word_lists_what_there_is(two: list[Path], tmp_path: Path) -> None:
    tag(two[0], "v1.2")
    for unknown in ("v1.3", tmp_path / "nowhere", "../nowhere"):
        with pytest.raises(UsageError) as caught:
            resolve(tmp_path, "kata-hlf", unknown)
        assert str(caught.value) == (
            f"no run {str(unknown)!r} of kata-hlf in {tmp_path}; there are:\n"
            f"  kata-hlf/{two[1].name}\n  kata-hlf/{two[0].name}  (v1.2)"
        )
    with pytest.raises(UsageError, match=r"no run 'v1' of mtls in .*; there are none. `tare run LAB` makes one"):
        resolve(tmp_path, "mtls", "v1")


def test_a_word_that_means_runs_of_several_labs(two: list[Path], tmp_path: Path) -> None:
    RunStore.create(tmp_path, "mtls", record={}, factors={}, now=0.0).close(state="complete")
    with pytest.raises(UsageError, match="'last' is a run of several labs; say which: kata-hlf/last, mtls/last"):
        find(tmp_path, "last")
    assert find(tmp_path, "mtls/last").record["lab"] == "mtls"


def test_a_tag_is_moved_only_when_asked(two: list[Path]) -> None:
    tag(two[0], "nightly")
    tag(two[0], "nightly")
    with pytest.raises(UsageError, match=f"tag 'nightly' is that of {two[0].name}; move it with --move"):
        tag(two[1], "nightly")
    tag(two[1], "nightly", move=True)
    assert (tags_of(two[0]), tags_of(two[1])) == ((), ("nightly",))


@pytest.mark.parametrize("name", ["last", "2024-02-01T00-00-00Z-2", "tags.json"])
def test_a_tag_that_means_something_already(two: list[Path], name: str) -> None:
    tag(two[0], "v1")
    with pytest.raises(UsageError, match="that means another run already"):
        tag(two[0], name)


@pytest.mark.parametrize("name", ["", "a b", "../x", "-v", "x" * 65])
def test_a_tag_of_another_form(two: list[Path], name: str) -> None:
    with pytest.raises(UsageError, match=r"expected at most 64 letters, digits and any of \. _ \+ -"):
        tag(two[0], name)


def test_torn_tags_are_named(two: list[Path]) -> None:
    (two[0].parent / "tags.json").write_text('{"v1": ')
    with pytest.raises(ResultFileError, match=r"tags\.json: torn or not JSON: .* Correct or remove it"):
        tag(two[0], "v1")


def test_the_newest_run_that_broke_off_is_found(make: Make, tmp_path: Path) -> None:
    folders = []
    for state, experiment in [("interrupted", "a"), ("failed", "a"), ("interrupted", "b"), ("complete", "a")]:
        store = make(experiment=experiment)
        store.close(state=state)
        folders.append(store.folder)
    assert find_unfinished(tmp_path, "kata-hlf", experiment="a") == folders[1]
    assert find_unfinished(tmp_path, "kata-hlf", experiment="b") == folders[2]
    assert find_unfinished(tmp_path, "kata-hlf", experiment="") is None
    assert find_unfinished(tmp_path, "mtls", experiment="a") is None
    (folders[1] / "ledger.sqlite").write_bytes(b"torn" * 1000)
    assert find_unfinished(tmp_path, "kata-hlf", experiment="a") == folders[0]


def test_hosts_match_in_what_makes_them_as_fast(record: dict[str, Any]) -> None:
    machine = record["machine"]

    def of(**changed: Any) -> dict[str, Any]:
        return {**record, "machine": {**machine, **changed}}

    assert (
        differences(record, of(capabilities={"kvm-guests": False}, memory_bytes=machine["memory_bytes"] - 4096)) == ()
    )
    assert differences(record, of(cpus=(0, 1))) == ()
    found = differences(record, of(kernel="6.2", cpus=[0], memory_bytes=1 << 30, frequency_hertz=2e9))
    assert found == (
        Difference(fact="cpus", a=[0, 1], b=[0]),
        Difference(fact="frequency_hertz", a=None, b=2e9),
        Difference(fact="kernel", a="6.1", b="6.2"),
        Difference(fact="memory_bytes", a=8 << 30, b=1 << 30),
    )
    assert [str(one) for one in found[:2]] == ["cpus: [0, 1] and [0]", "frequency_hertz: not recorded and 2000000000.0"]
    other = {**record, "node_cpus": {"n1": [0, 1], "n2": [1]}}
    assert differences(record, other) == (Difference(fact="node_cpus.n1", a=[0], b=[0, 1]),)
