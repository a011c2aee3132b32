from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.ledger import Ledger, LedgerError, Resource


def test_resources_keep_their_order_and_stand_once(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger") as ledger:
        for kind, name in (("cgroup", "a"), ("mounts", "/x"), ("cgroup", "a"), ("cgroup", "b")):
            ledger.record(kind, name)
    with Ledger(tmp_path / "ledger", exclusive=True) as ledger:
        assert ledger.resources() == (
            Resource(kind="cgroup", name="a"),
            Resource(kind="mounts", name="/x"),
            Resource(kind="cgroup", name="b"),
        )


def test_facts_are_replaced(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger") as ledger:
        assert ledger.fact("kept") is None
        ledger.set_fact("kept", "no")
        ledger.set_fact("kept", "yes")
        assert ledger.fact("kept") == "yes"


def test_the_file_is_the_owners_alone(tmp_path: Path) -> None:
    Ledger(tmp_path / "ledger").close()
    assert (tmp_path / "ledger").stat().st_mode & 0o777 == 0o600


def test_it_is_written_through_before_the_owner_goes_on(tmp_path: Path) -> None:
    """A second reader, as after kill -9 of the first, sees what was recorded."""
    with Ledger(tmp_path / "ledger") as ledger:
        ledger.record("cgroup", "a")
        with Ledger(tmp_path / "ledger") as reader:
            assert len(reader.resources()) == 1


def test_threads_may_share_it(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger") as ledger:
        threads = [threading.Thread(target=ledger.record, args=("kind", str(number))) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(ledger.resources()) == 20


def test_an_owner_that_died_before_its_first_word(tmp_path: Path) -> None:
    (tmp_path / "ledger").touch()
    with Ledger(tmp_path / "ledger", exclusive=True) as ledger:
        assert ledger.resources() == ()
        assert ledger.fact("kept") is None


def test_garbage_is_told(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_bytes(b"not a database, not at all" * 100)
    with pytest.raises(LedgerError, match="file is not a database"), Ledger(tmp_path / "ledger") as ledger:
        ledger.resources()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["/usr/bin/env", "mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["/usr/bin/env", "umount", folder], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small disk, which only root may")
def test_a_full_disk_refuses_a_record_and_still_gives_back_what_was_recorded(small_disk: Path) -> None:
    with Ledger(small_disk / "ledger") as ledger:
        ledger.record("cgroup", "a")
    with pytest.raises(OSError), (small_disk / "filler").open("wb") as filler:
        while True:
            filler.write(bytes(4096))
            filler.flush()
    with pytest.raises(LedgerError, match="is the disk full"), Ledger(small_disk / "ledger") as ledger:
        for number in range(10_000):
            ledger.record("cgroup", f"{number:01000d}")
    with Ledger(small_disk / "ledger", exclusive=True) as ledger:
        assert ledger.resources()[0] == Resource(kind="cgroup", name="a")
