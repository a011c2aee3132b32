"""What a run found, for a person (``table``, ``page``) and for a program (``document``).

Pure, so that the same run has the same report, byte for byte; ``write`` alone touches the disk.
"""
