from __future__ import annotations

from pathlib import Path

import pytest

from tare.cluster import mounts

DATA = Path(__file__).parent.parent / "data" / "cluster"


def test_mount_points_are_read_in_order_and_unescaped() -> None:
    found = mounts.parse((DATA / "mountinfo-v2.txt").read_text())
    assert found[0] == Path("/sys")
    assert found[-1] == Path("/srv/a folder")


def test_the_root_is_mounted_somewhere() -> None:
    assert Path("/") in mounts.below(Path("/"))
    assert mounts.below(Path("/no/such/folder")) == []


def test_unmounting_what_is_no_mount_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=str(tmp_path)):
        mounts.unmount(tmp_path)
