"""Runs the command line: ``python -m tare``."""

from tare.cli import main

main()
