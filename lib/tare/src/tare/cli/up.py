"""``tare up``: build a lab, bring it up, and leave it."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tare.cli.common import lab_argument, need_root, reporter, results_option
from tare.cli.interrupt import interruptible


@click.command()
@lab_argument
@results_option
def up(lab: str, results: Path) -> None:
    """Bring a lab up and leave it.

    Builds LAB and brings its cluster up. The experiment's service is deployed by `tare run`, not here.

    \b
    Examples:
      tare up kata-hlf
      tare kubectl kata-hlf -- get nodes
      tare down kata-hlf
    """
    need_root(f"tare up {lab}")
    progress = reporter()
    try:
        with interruptible(lab, progress):
            from tare.cluster import Cluster
            from tare.labs import name_of, resolve
            from tare.machine import probe
            from tare.process import Commands
            from tare.state import StateDirectory

            built = resolve(lab, link=results / name_of(lab) / "lab", environment=os.environ, progress=progress)
            state = StateDirectory.of(built.manifest.name, os.environ)
            with Cluster(
                manifest=built.manifest,
                state=state,
                commands=Commands(),
                machine=probe(),
                progress=progress,
                keep=True,
            ):
                pass
            progress.note(f"{built.manifest.name} is up: `tare status {lab}`, `tare kubectl {lab} -- get pods -A`")
    finally:
        progress.close()
