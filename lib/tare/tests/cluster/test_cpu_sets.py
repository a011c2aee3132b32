from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.cluster.cpu_sets import divide
from tare.errors import UsageError
from tare.manifest import Node


def node(weight: int = 1, cpus: str | None = None) -> Node:
    return Node(cpu_weight=weight, cpus=cpus, labels={})


@pytest.mark.parametrize("wrong", ["", "a", "3-1", "1,,2"])
def test_a_set_that_is_no_list_of_cpus_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError, match=r"nodes\.a\.cpus: expected a CPU list such as"):
        divide({"a": node(cpus=wrong)}, range(4))


def test_by_weight() -> None:
    assert divide({"client": node(), "fabric": node(4)}, range(2)) == {"client": (0,), "fabric": (1,)}
    assert divide({"client": node(), "fabric": node(3)}, range(8)) == {"client": (0, 1), "fabric": (2, 3, 4, 5, 6, 7)}


def test_fixed_sets_are_kept_and_the_rest_is_divided() -> None:
    nodes = {"a": node(), "b": node(cpus="1-2"), "c": node()}
    assert divide(nodes, range(6)) == {"a": (0, 3), "b": (1, 2), "c": (4, 5)}


def test_nodes_share_where_there_are_too_few() -> None:
    assert divide({"a": node(), "b": node()}, [0]) == {"a": (0,), "b": (0,)}
    assert divide({"a": node(), "b": node(cpus="0")}, [0]) == {"a": (0,), "b": (0,)}


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(1, 9), min_size=1, max_size=6), st.integers(6, 64))
def test_every_cpu_belongs_to_one_node(weights: dict[str, int], count: int) -> None:
    shares = divide({name: node(weight) for name, weight in weights.items()}, range(count))
    assert sorted(cpu for cpus in shares.values() for cpu in cpus) == list(range(count))
    assert all(shares.values())
    heaviest, lightest = max(weights, key=weights.__getitem__), min(weights, key=weights.__getitem__)
    assert len(shares[heaviest]) >= len(shares[lightest])


@pytest.mark.parametrize(
    ("cpus", "message"),
    [
        ("x", r'nodes.b.cpus: expected a CPU list such as "0-2,5", found \'x\''),
        ("1-9", "nodes.b.cpus: this machine has no CPU 4; it has 0, 1, 2, 3"),
        ("0-1", "nodes.b.cpus: CPU 0 belongs to the node a already"),
    ],
)
def test_sets_that_cannot_be_are_refused(cpus: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        divide({"a": node(cpus="0"), "b": node(cpus=cpus)}, range(4))
