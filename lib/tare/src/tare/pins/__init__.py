"""Locks: what `tare pins check` compares, and what `tare pins update` writes."""
