"""``tare``: the group of commands, and how an error becomes a message and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from typing import Any

import click

from tare import __version__
from tare.cli.doctor import doctor
from tare.cli.down import down
from tare.cli.interrupt import Interrupted
from tare.cli.kubectl import kubectl
from tare.cli.list import list_labs
from tare.cli.logs import logs
from tare.cli.results import results
from tare.cli.run import run
from tare.cli.status import status
from tare.cli.test import test
from tare.cli.up import up
from tare.errors import TareError, UsageError

HELP = """Weigh what a layer costs: build a lab, bring it up, measure, report, take it down.

LAB is the name of a lab of the flake in the current folder (or in $TARE_FLAKE), or the folder of a
built lab, which has a slash in it.

\b
Examples:
  tare run kata-hlf                  the whole way, with a table at the end
  tare test --lab kata-hlf           its budgets, judged by pytest
  tare doctor                        what this machine can and cannot run
  tare up kata-hlf                   bring it up and leave it
  tare kubectl kata-hlf -- get pods -A
  tare down kata-hlf                 remove everything that was made

\b
Exit codes:
  0  done; every budget held
  1  a budget was missed
  2  a mistake in the call; nothing was changed
  3  a fault of the machine, or of something that was started
  130, 143  interrupted by Ctrl-C or TERM; the lab was taken down
"""


class TareGroup(click.Group):
    """Turns errors into one message and the exit code; ``pins`` is imported when it is first needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), "pins"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "pins":
            from tare.pins.cli import pins

            return pins
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            known = ", ".join(self.list_commands(ctx))
            raise click.UsageError(f"{error.message} The commands are: {known}.", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except TareError as error:
            if ctx.params["debug"]:
                raise
            told = "\n".join((str(error), *getattr(error, "__notes__", ())))
            click.echo(f"{click.style('error:', fg='red', bold=True)} {told}", err=True)
            if isinstance(error, UsageError):
                click.echo("`tare --help` and `tare COMMAND --help` tell what can be called.", err=True)
            ctx.exit(error.exit_code)
        except BrokenPipeError:
            # Who reads the output has enough; Python writes the rest at its end, and has to find a place for it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(128 + signal.SIGPIPE)
        except OSError as error:
            if ctx.params["debug"]:
                raise
            click.echo(f"{click.style('error:', fg='red', bold=True)} {error}", err=True)
            ctx.exit(TareError.exit_code)
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except Interrupted as interrupt:
            click.echo(f"interrupted by {interrupt.name}", err=True)
            ctx.exit(128 + interrupt.number)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(128 + signal.SIGINT)
        except Exception:
            # Python would end with 1, which says that a budget was missed.
            click.echo(f"{traceback.format_exc()}This is a defect of Tare {__version__}; please report it.", err=True)
            ctx.exit(TareError.exit_code)


SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(cls=TareGroup, help=HELP, context_settings=SETTINGS)
@click.version_option(__version__, prog_name="tare", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def tare(debug: bool) -> None:
    """The root of the command line."""


for command in (doctor, down, kubectl, list_labs, logs, results, run, status, test, up):
    tare.add_command(command)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    tare(prog_name="tare")
