"""``tare status``: which labs are up on this machine, and what they made."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from tare.cli.common import json_option, print_json

if TYPE_CHECKING:
    from tare.state import StateDirectory


@click.command()
@click.argument("lab", metavar="[LAB]", required=False)
@json_option
def status(lab: str | None, as_json: bool) -> None:
    """Say which labs are up on this machine.

    And what each, or LAB, has made, as its ledger says.

    \b
    Examples:
      tare status
      tare status kata-hlf --json
    """
    from tare.labs import name_of
    from tare.state import StateDirectory

    states = StateDirectory.all(os.environ) if lab is None else (StateDirectory.of(name_of(lab), os.environ),)
    found = [describe(state) for state in states]
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("no lab is up")
    for entry in found:
        click.echo(f"{entry['lab']}: {entry['state']}")
        if entry["owner_pid"]:
            click.echo(f"  owned by process {entry['owner_pid']}")
        if entry["resources"]:
            made = ", ".join(f"{count} {kind}" for kind, count in sorted(entry["resources"].items()))
            click.echo(f"  made: {made}")
        if entry["state"] == "left over":
            click.echo(f"  `tare down {entry['lab']}` removes it")


def describe(state: StateDirectory) -> dict[str, Any]:
    """Return one lab's state: down, in use by a command, up (kept), or left over from one that died."""
    from tare.ledger import Ledger

    owner = state.owner()
    if not state.exists():
        word = "down"
    elif owner is not None:
        word = "in use"
    else:
        word = "up" if state.kept_up() else "left over"
    resources: Counter[str] = Counter()
    if state.ledger_path.exists():
        with Ledger(state.ledger_path) as ledger:
            resources.update(resource.kind for resource in ledger.resources())
    return {
        "lab": state.lab,
        "state": word,
        "owner_pid": owner if owner and owner > 0 else None,
        "folder": str(state.path),
        "resources": dict(resources),
    }
