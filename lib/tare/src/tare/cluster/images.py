"""The lab's images: put on a node from files, no registry, and held to the digests they were built with."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.errors import TareError
from tare.process import Argument, Commands

IMPORT_SECONDS = 120.0
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class ImageError(TareError):
    """An image's files are not what they should be, or a node has other bytes than were built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image as it was built: an OCI archive, and the digest of its manifest."""

    name: str
    archive: Path
    digest: str


def read(folders: Mapping[str, str]) -> dict[str, Image]:
    """Return the images by name; each folder has ``image.tar`` and ``image.json``. Raises ImageError."""
    images = {}
    for name, folder in folders.items():
        about, archive = Path(folder, "image.json"), Path(folder, "image.tar")
        try:
            document = json.loads(about.read_text())
            own_name, digest = document["name"], document["digest"]
        except OSError as error:
            raise ImageError(f"{about}: cannot be read: {error.strerror}; build the lab again") from error
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ImageError(f'{about}: expected {{"name": ..., "digest": ...}}: {error!r}') from error
        if own_name != name:
            raise ImageError(f"{about}: expected the image {name}, found {own_name}; correct its name in the lab")
        if not archive.is_file():
            raise ImageError(f"{archive}: not there; build the lab again")
        images[name] = Image(name=name, archive=archive, digest=digest)
    return images


def named(images: Mapping[str, Image], short: str) -> Image:
    """Return the one image whose name without host and tag is ``short``. Raises ImageError."""
    found = [image for name, image in images.items() if name.rpartition("/")[2].partition(":")[0] == short]
    if len(found) != 1:
        raise ImageError(
            f"images: expected one image called {short}, found {len(found)} in {', '.join(images) or 'none'}"
        )
    return found[0]


class Importer:
    """Puts images on one node. ``within`` gives the arguments that run a program there."""

    def __init__(
        self, *, ctr: Path, socket: str, within: Callable[[Sequence[Argument]], list[str]], commands: Commands
    ) -> None:
        self._prefix: list[Argument] = [ctr, "--address", socket, "--namespace", "k8s.io"]
        self._within = within
        self._commands = commands

    def put(self, image: Image) -> None:
        """Import and unpack one image. Raises CommandFailed, as when the disk is full."""
        self._run("images", "import", image.archive, deadline_seconds=IMPORT_SECONDS)

    def verify(self, images: Sequence[Image]) -> None:
        """Raise ImageError unless the node has every image with the digest it was built with."""
        found = parse_list(self._run("images", "list", deadline_seconds=30))
        for image in images:
            if found.get(image.name) != image.digest:
                raise ImageError(
                    f"{image.name}: expected {image.digest}, but the node has {found.get(image.name, 'no such image')}"
                )

    def _run(self, *arguments: Argument, deadline_seconds: float) -> str:
        argv = self._within([*self._prefix, *arguments])
        return self._commands.run(argv, deadline_seconds=deadline_seconds).stdout


def parse_list(text: str) -> dict[str, str]:
    """Return name to digest from the table that ``ctr images list`` prints. Raises ImageError for anything else."""
    lines = text.splitlines()
    if not lines or lines[0].split()[:3] != ["REF", "TYPE", "DIGEST"]:
        raise ImageError(f"ctr images list: expected a table with REF TYPE DIGEST, found {text[:120]!r}")
    found = {}
    for line in lines[1:]:
        digest = _DIGEST.search(line)
        if digest:
            found[line.split()[0]] = digest.group()
    return found
