"""``tare down``: remove everything that a lab made."""

from __future__ import annotations

import os

import click

from tare.cli.common import lab_argument, need_root, reporter
from tare.cli.interrupt import interruptible


@click.command()
@lab_argument
def down(lab: str) -> None:
    """Remove everything that a lab made.

    Goes by LAB's ledger. It does not matter how the lab was left: up on purpose, or by a command that was killed.

    \b
    Examples:
      tare down kata-hlf
    """
    from tare.cluster import tear_down
    from tare.labs import name_of
    from tare.state import StateDirectory

    need_root(f"tare down {lab}")
    progress = reporter()
    try:
        with interruptible(lab, progress):
            state = StateDirectory.of(name_of(lab), os.environ)
            if not state.exists():
                progress.note(f"nothing to remove: there is no {state.path}")
                return
            with progress.phase(f"take {state.lab} down"):
                removed = tear_down(state, progress)
            progress.note(f"{len(removed)} things removed")
    finally:
        progress.close()
