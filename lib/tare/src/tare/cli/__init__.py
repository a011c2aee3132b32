"""The command line: one file a command. Results go to stdout; progress and errors to stderr."""

from tare.cli.root import main, tare

__all__ = ["main", "tare"]
