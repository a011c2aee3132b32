"""What a run found, for a person (``table``) and for a program (``document``). Pure: same run, same report."""
