"""``tare list``: the labs there are."""

from __future__ import annotations

import os

import click

from tare.cli.common import json_option, print_json


@click.command("list")
@json_option
def list_labs(as_json: bool) -> None:
    """List the labs there are.

    They are those of the flake in the current folder, or in $TARE_FLAKE.

    \b
    Examples:
      tare list
      TARE_FLAKE=~/my-labs tare list --json
    """
    from tare.labs import Nix

    titles = Nix.find(os.environ).labs()
    if as_json:
        print_json(dict(titles))
        return
    width = max(map(len, titles), default=0)
    for name, title in sorted(titles.items()):
        click.echo(f"{name:<{width}}  {title}")
