"""Writes the little TOML that containerd reads; the standard library only reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def dumps(document: Mapping[str, Any]) -> str:
    """Return nested mappings of strings, booleans, integers and lists of strings as TOML, tables in full names."""
    return "\n".join(_table(document, ())).lstrip("\n") + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    plain = {name: value for name, value in table.items() if not isinstance(value, Mapping)}
    nested = {name: value for name, value in table.items() if isinstance(value, Mapping)}
    lines = []
    if path and (plain or not nested):
        lines += ["", f"[{'.'.join(map(_string, path))}]"]
    lines += [f"{_string(name)} = {_value(value)}" for name, value in plain.items()]
    for name, value in nested.items():
        lines += _table(value, (*path, name))
    return lines


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return _string(value)


def _string(value: str) -> str:
    # JSON escapes what TOML's basic strings must, in the same way; DEL is the one exception.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
