"""Tare: a declarative laboratory that weighs what a layer costs."""

__version__ = "0.1.0"
