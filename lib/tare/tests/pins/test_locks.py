from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.pins import locks
from tare.pins.context import only_entries, publish, with_entry

documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
entries = st.dictionaries(st.text(min_size=1), st.fixed_dictionaries({"intent": st.text(), "vendor": st.text()}))


@given(st.dictionaries(st.text(), documents))
def test_a_lock_reads_back_and_has_one_form(document: dict[str, object]) -> None:
    text = locks.render(document)
    assert json.loads(text) == document
    assert locks.render(json.loads(text)) == text
    assert locks.render(dict(reversed(document.items()))) == text


@given(st.binary(), st.binary())
def test_a_checksum_is_of_the_parts_in_their_order(first: bytes, second: bytes) -> None:
    assert locks.checksum(first, second) == locks.checksum(first + second)


@given(entries, st.text(min_size=1))
def test_setting_an_entry_leaves_the_others(table: dict[str, dict[str, str]], name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "go.lock.json"
        path.write_text(locks.render({"schema": 1, "packages": table}))
        new = json.loads(with_entry(path, "packages", name, {"intent": "i", "vendor": "v"}))
        assert new == {"schema": 1, "packages": {**table, name: {"intent": "i", "vendor": "v"}}}
        kept = json.loads(only_entries(path, "packages", [name])[path])["packages"]
        assert kept == {key: value for key, value in table.items() if key == name}


def test_another_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "go.lock.json"
    path.write_text('{"schema": 7}')
    with pytest.raises(locks.LockUnreadable, match=r"expected schema 1, found 7. Use the Tare that wrote it"):
        locks.read(path)


def test_only_what_is_new_is_written(tmp_path: Path) -> None:
    same, other, new = (tmp_path / name for name in ("same", "other", "new"))
    same.write_text("a")
    other.write_text("b")
    before = same.stat().st_ino

    assert publish({same: "a", other: "c", new: "d"}) == [other, new]
    assert (other.read_text(), new.read_text()) == ("c", "d")
    assert same.stat().st_ino == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["new", "other", "same"]


def test_a_write_that_fails_leaves_the_old_text_alone(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        locks.write_atomically(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
