"""What this machine's kernel can do, found out by doing it; each file here is a program of its own.

They import nothing of Tare, run in a process that may hang or die, and print one JSON object:
capability name to ``[present, detail]``.
"""
