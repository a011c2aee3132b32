from __future__ import annotations

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tare.cluster import toml

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.one_of(TEXTS, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.lists(TEXTS))
DOCUMENTS = st.recursive(
    st.dictionaries(TEXTS, VALUES), lambda inner: st.dictionaries(TEXTS, st.one_of(VALUES, inner)), max_leaves=10
)


@given(DOCUMENTS)
def test_the_standard_library_reads_what_is_written(document: dict[str, Any]) -> None:
    assert tomllib.loads(toml.dumps(document)) == document


def test_it_can_be_read_by_people_too() -> None:
    assert toml.dumps({"version": 2, "grpc": {"address": "/run/x.sock"}, "plugins": {"a.b": {"on": True}}}) == (
        '"version" = 2\n\n["grpc"]\n"address" = "/run/x.sock"\n\n["plugins"."a.b"]\n"on" = true\n'
    )
