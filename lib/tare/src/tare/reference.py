"""Writes the reference pages from the definitions themselves: the command line and the lab's options.

``python -m tare.reference DOCS`` writes ``command-line.md`` and ``options.md`` into DOCS; a test
fails when what is committed is stale. Same definitions, same bytes.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

MADE_BY = "<!-- Made by `python -m tare.reference`; do not edit. -->"

_CELL = str.maketrans({"|": "\\|", "\n": " "})


def command_line(group: click.Group) -> str:
    """Return the page on the command line as Markdown."""
    lines = ["# Command line", "", MADE_BY, ""]
    for path, command in _walk(group, (group.name or "tare",)):
        lines += _command(path, command)
    return "\n".join(lines).rstrip() + "\n"


def options(definitions: Sequence[Mapping[str, Any]]) -> str:
    """Return the page on the options of a lab as Markdown.

    Each definition has ``path``, ``type``, ``description``, ``declared_in``, ``example`` and ``default`` (null when
    it must be set), the last two as Nix writes them: what the flake's attribute ``options`` gives.
    """
    lines = ["# Options of a lab", "", MADE_BY, ""]
    for about in sorted(definitions, key=lambda about: str(about["path"])):
        default = "must be set" if about.get("default") is None else f"default: `{about['default']}`"
        lines += [f"## `{about['path']}`", "", about["description"].strip(), ""]
        lines += [f"- type: {about['type']}", f"- {default}", f"- example: `{about['example']}`"]
        lines += [f"- declared in: {about['declared_in']}", ""]
    return "\n".join(lines).rstrip() + "\n"


def _walk(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1])
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _walk(inner, (*path, name))


def _command(path: tuple[str, ...], command: click.Command) -> list[str]:
    context = click.Context(command, info_name=" ".join(path))
    lines = [f"## `{' '.join(path)}`", "", "```", " ".join([" ".join(path), *command.collect_usage_pieces(context)])]
    lines += ["```", "", *_help(command.help or "")]
    rows = []
    for parameter in command.get_params(context):
        written = parameter.get_help_record(context)
        if written is not None and "--help" not in parameter.opts:
            rows.append(f"| `{written[0].translate(_CELL)}` | {written[1].translate(_CELL)} |")
    if rows:
        lines += ["| option | meaning |", "| --- | --- |", *rows, ""]
    return lines


def _help(text: str) -> Iterator[str]:
    """Yield the help as Markdown; what click sets as it stands becomes a code block."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            title, *rest = paragraph.removeprefix("\b\n").split("\n")
            yield from (title, "", "```", *(line.removeprefix("  ") for line in rest), "```", "")
        else:
            yield from (paragraph, "")


def write(docs: Path, definitions: Sequence[Mapping[str, Any]]) -> None:
    """Write both pages into the folder ``docs``."""
    from tare.cli import tare

    docs.mkdir(parents=True, exist_ok=True)
    (docs / "command-line.md").write_text(command_line(tare))
    (docs / "options.md").write_text(options(definitions))


@click.command()
@click.argument("docs", type=click.Path(file_okay=False, path_type=Path))
def main(docs: Path) -> None:
    """Write the reference pages into the folder DOCS."""
    from tare.labs import Nix

    write(docs, Nix.find(os.environ).evaluate("options"))


if __name__ == "__main__":
    main()
