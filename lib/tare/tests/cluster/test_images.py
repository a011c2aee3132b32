from __future__ import annotations

import json
from pathlib import Path

import pytest

from tare import manifest
from tare.cluster import images
from tare.cluster.images import Image, ImageError

from .conftest import DIGEST

DATA = Path(__file__).parent.parent / "data" / "cluster"


def test_images_are_read_with_their_digests(lab: manifest.Manifest) -> None:
    found = images.read(lab.images)
    assert found["tare.local/pause:3.9"].digest == DIGEST
    assert images.named(found, "coredns").name == "tare.local/coredns:1.11.1"
    with pytest.raises(ImageError, match="expected one image called nginx, found 0"):
        images.named(found, "nginx")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", 'expected {"name": ..., "digest": ...}'),
        ("nonsense", 'expected {"name": ..., "digest": ...}'),
        (json.dumps({"name": "other:1", "digest": DIGEST}), "expected the image one:1, found other:1"),
        (json.dumps({"name": "one:1", "digest": DIGEST}), r"image\.tar: not there; build the lab again"),
        (None, r"image\.json: cannot be read: No such file"),
    ],
)
def test_wrong_files_are_told(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "image.json").write_text(text)
    with pytest.raises(ImageError, match=message):
        images.read({"one:1": str(tmp_path)})


def test_the_table_that_ctr_prints() -> None:
    found = images.parse_list((DATA / "ctr-images-list.txt").read_text())
    assert found["tare.local/pause:3.9"].startswith("sha256:2882fed9")
    assert len([name for name in found if name.startswith("tare.local/")]) == 3


def test_garbage_in_place_of_the_table_is_told() -> None:
    with pytest.raises(ImageError, match="expected a table with REF TYPE DIGEST, found 'segmentation"):
        images.parse_list("segmentation fault\n")
    with pytest.raises(ImageError, match="found ''"):
        images.parse_list("")


def test_other_bytes_than_were_built_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    importer = images.Importer(ctr=Path("/ctr"), socket="/s", within=list, commands=None)  # type: ignore[arg-type]
    recorded = (DATA / "ctr-images-list.txt").read_text()
    monkeypatch.setattr(importer, "_run", lambda *arguments, deadline_seconds: recorded)
    image = Image(name="tare.local/pause:3.9", archive=Path("/x"), digest=DIGEST)
    with pytest.raises(ImageError, match=r"expected sha256:abab.*, but the node has sha256:2882"):
        importer.verify([image])
    with pytest.raises(ImageError, match="but the node has no such image"):
        importer.verify([Image(name="none:1", archive=Path("/x"), digest=DIGEST)])
