"""``tare pins``: check, update and pin, on the checkout around the current folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import click

from tare.cli.common import reporter
from tare.errors import UsageError
from tare.pins import debian, go, npm, python, upstream
from tare.pins.check import check as find_problems
from tare.pins.check import listed
from tare.pins.context import Context, Texts, only_entries, publish
from tare.pins.nix import Nix
from tare.pins.tree import Tree, find
from tare.process import Commands

CHANNELS = ("debian", "go", "python", "npm")

Step = tuple[str, Callable[[], Texts]]
Renew = Callable[[Context, str], Texts]


@click.group()
def pins() -> None:
    """Check and renew what is pinned: the locks in lib/pins and beside the packages."""


@pins.command()
def check() -> None:
    """Compare every lock with the intent it was made from; all problems are told at once.

    Needs neither Nix nor a network. Ends with 1 when something is wrong.
    """
    problems = find_problems(_tree())
    if problems:
        click.echo(listed(problems), err=True)
        click.echo(f"{len(problems)} problem{'s' if len(problems) > 1 else ''}", err=True)
        sys.exit(1)
    click.echo("every lock is what its intent asks for")


@pins.command()
@click.argument("channel", type=click.Choice(CHANNELS), required=False)
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Every lock; entries that nothing asks for go.")
def update(channel: str | None, name: str | None, everything: bool) -> None:
    """Renew a lock from its intent, with the registries this machine's environment names.

    CHANNEL is debian (without NAME), go, python or npm; NAME is a folder of packages/ or, for python, an
    environment of lib/pins/python. Nothing is written before all of it is known.

    \b
    Examples:
      tare pins update go etcd
      tare pins update debian
      tare pins update --all
    """
    if everything == (channel is not None):
        raise UsageError("expected a CHANNEL or --all. See: tare pins update --help")
    if channel == "debian" and name is not None:
        raise UsageError(f"debian: expected no NAME (its lock is one), found {name!r}")
    if channel in ("go", "python", "npm") and name is None:
        raise UsageError(f"{channel}: expected a NAME, found none. See: tare pins update --help")
    tree = _tree()
    commands = Commands(os.environ)
    nix = Nix(tree=tree, commands=commands, environment=os.environ)
    context = Context(tree=tree, nix=nix, commands=commands, environment=os.environ, progress=reporter())
    for title, renew in _steps(context, channel, name):
        with context.progress.phase(f"update {title}"):
            changed = publish(renew())
        names = ", ".join(tree.relative(path) for path in changed) or "unchanged"
        click.echo(f"{title}: {names}")


@pins.command()
@click.argument("name")
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The file, already fetched, for a machine that does not reach the publisher.",
)
def pin(name: str, file: Path | None) -> None:
    """Fetch the publisher's file NAME of lib/pins/upstream.toml into the Nix store, and keep it there.

    A file whose hash is not declared is trusted when it is first seen: its hash is written into upstream.toml.
    """
    tree = _tree()
    with reporter().phase(f"fetch {name}"):
        artifact, path, text = upstream.pin(
            tree, name, file=file, commands=Commands(os.environ), environment=os.environ
        )
    if text is not None:
        publish({tree.pins / "upstream.toml": text})
    how = "as declared" if text is None else "now declared in lib/pins/upstream.toml, as first seen"
    click.echo(f"{name} {artifact.version}: sha256 {artifact.sha256} ({how}): {path}")


def _tree() -> Tree:
    return find(Path.cwd(), os.environ)


def _steps(context: Context, channel: str | None, name: str | None) -> list[Step]:
    """Return the updates asked for, in the order in which one may need another's result."""
    tree = context.tree
    first: Step = ("debian", partial(debian.renew, context))
    if channel == "debian":
        return [first]
    renewers = {"python": python.renew, "go": go.renew, "npm": npm.renew}
    if channel is not None and name is not None:
        return [(f"{channel} {name}", partial(renewers[channel], context, name))]
    return [
        first,
        *_every(context, "python", "environments", python.environments_in_order(tree), python.renew),
        *_every(context, "go", "packages", list(tree.go_packages()), go.renew),
        *_every(context, "npm", "packages", list(tree.npm_packages()), npm.renew),
    ]


def _every(context: Context, channel: str, table: str, names: list[str], renew: Renew) -> Iterator[Step]:
    lock = context.tree.pins / f"{channel}.lock.json"
    yield f"{channel} entries", partial(only_entries, lock, table, names)
    for name in names:
        yield f"{channel} {name}", partial(renew, context, name)
