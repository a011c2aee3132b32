from __future__ import annotations

import dataclasses

from tare.manifest import Manifest, SecondSide
from tare.sides import cpus, of_lab
from tare.trials.duet import obstacle


def with_second(lab: Manifest) -> Manifest:
    side = SecondSide(service_node="fabric-2", load_node="client-2")
    return dataclasses.replace(lab, experiment=dataclasses.replace(lab.experiment, second_side=side))


def test_a_lab_has_one_side_unless_it_names_a_second(kata_hlf: Manifest) -> None:
    assert of_lab(kata_hlf) == (kata_hlf,)


def test_the_second_side_is_the_same_lab_on_other_nodes(kata_hlf: Manifest) -> None:
    lab = with_second(kata_hlf)
    first, second = of_lab(lab)
    assert first == lab
    assert second.services.fabric is not None and second.loads.caliper is not None
    assert (second.services.fabric.node, second.loads.caliper.node) == ("fabric-2", "client-2")
    assert second.loads.wrk is None
    back = dataclasses.replace(
        second,
        services=dataclasses.replace(
            second.services, fabric=dataclasses.replace(second.services.fabric, node="fabric")
        ),
        loads=dataclasses.replace(second.loads, caliper=dataclasses.replace(second.loads.caliper, node="client")),
    )
    assert back == lab


def test_the_cpus_of_a_side_are_those_of_its_nodes(kata_hlf: Manifest) -> None:
    of_nodes = {"fabric": [0, 1], "client": [2], "fabric-2": [3, 4], "client-2": [5]}
    first, second = (cpus(side, of_nodes) for side in of_lab(with_second(kata_hlf)))
    assert (first, second) == ({"service": [0, 1], "load": [2]}, {"service": [3, 4], "load": [5]})
    assert obstacle([first, second], service="fabric", twice=True) is None
