from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tare.errors import UsageError
from tare.loads.caliper import Caliper, rate_not_met, uneven
from tare.manifest import Manifest
from tare.process import Commands


@pytest.fixture
def load(kata_hlf: Manifest) -> Caliper:
    """Caliper on a node that nothing is run on."""
    spec = kata_hlf.loads.caliper
    assert spec is not None
    cluster = SimpleNamespace(nodes={spec.node: SimpleNamespace(cgroup="nodes/client")})
    return Caliper(cluster=cast(Any, cluster), spec=spec, commands=Commands())


def test_it_takes_a_rate_and_nothing_else(load: Caliper) -> None:
    assert (load.name, load.loop, load.option_names) == ("caliper", "open", {"send_rate"})
    assert load.options({"send_rate": 50}) == {"send_rate": 50.0}
    with pytest.raises(UsageError, match=r"^load caliper: option 'send_rate' is missing: .*\. Write send_rate=50\.$"):
        load.options({})
    with pytest.raises(UsageError, match=r"^load caliper: option 'threads' .*there are: send_rate=50 \(transactions"):
        load.options({"send_rate": 50, "threads": 8})


def test_a_rate_below_what_was_offered_is_told() -> None:
    assert rate_not_met(100, 95.0) == ()
    assert rate_not_met(100, 94.9) == ("the client sent 94.9 of 100 transactions per second",)


def test_uneven_sending_is_told() -> None:
    assert uneven(10, 200) == ()
    assert uneven(11, 200) == ("the client sent 11 of 200 transactions late, or never",)
