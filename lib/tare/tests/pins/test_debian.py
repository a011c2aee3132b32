from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import TareError
from tare.pins.apt import Candidate
from tare.pins.debian import choose, entry_of, is_locked
from tare.pins.debian_intent import DebianIntent

names = st.sampled_from(["a", "b", "c", "d", "e"])


def candidate(name: str) -> Candidate:
    return Candidate(name=name, version="1", file=f"{name}_1_amd64.deb", size_bytes=3)


@given(asked=st.frozensets(names), dependencies=st.frozensets(names), excluded=st.frozensets(names))
def test_what_is_asked_for_stays_and_what_is_excluded_goes(
    asked: frozenset[str], dependencies: frozenset[str], excluded: frozenset[str]
) -> None:
    intent = DebianIntent(roots={"root": tuple(asked)}, excluded=excluded)
    chosen = choose(intent, {"root": [candidate(name) for name in asked | dependencies]})["root"]
    assert set(chosen) == asked | (dependencies - excluded)
    assert [*chosen] == sorted(chosen)


def test_an_entry_is_of_one_file() -> None:
    entry = entry_of(candidate("a"), b"abc")
    assert entry["sha256"] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert entry["sha1"] == "a9993e364706816aba3e25717850c26c9cd0d89d"
    assert is_locked(candidate("a"), entry)
    assert not is_locked(candidate("a"), {**entry, "size": 4})
    assert not is_locked(candidate("a"), None)


def test_an_entry_tells_its_component_where_it_is_not_main() -> None:
    moved = dataclasses.replace(candidate("a"), component="non-free")
    assert "component" not in entry_of(candidate("a"), b"abc")
    assert entry_of(moved, b"abc") == {**entry_of(candidate("a"), b"abc"), "component": "non-free"}
    assert is_locked(moved, entry_of(moved, b"abc"))
    assert not is_locked(moved, entry_of(candidate("a"), b"abc"))
    assert not is_locked(candidate("a"), entry_of(moved, b"abc"))


def test_a_file_of_another_size_is_refused() -> None:
    with pytest.raises(TareError, match=r"a_1_amd64.deb: expected 3 bytes, as the index says, found 2"):
        entry_of(candidate("a"), b"ab")
