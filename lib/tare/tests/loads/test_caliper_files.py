from __future__ import annotations

from pathlib import Path

import pytest

from tare.loads import caliper_files as files
from tare.services.fabric import Gateway


def gateway(number: int) -> Gateway:
    folder = Path(f"/secrets/org{number}")
    return Gateway(
        msp=f"Org{number}MSP",
        endpoint=f"198.19.64.10{number}:7051",
        tls_root=folder / "ca.crt",
        certificate=folder / "cert.pem",
        private_key=folder / "key.pem",
    )


def benchmark(*, warmup_seconds: float) -> list[dict[str, object]]:
    document = files.benchmark(
        workload=Path("/lab/create-asset.js"),
        chaincode="assets",
        organizations=["Org1MSP", "Org2MSP"],
        workers=2,
        rate=150,
        warmup_seconds=warmup_seconds,
        duration_seconds=30,
        timeout_seconds=60,
        directory=Path("/results"),
    )
    rounds: list[dict[str, object]] = document["test"]["rounds"]
    assert document["test"]["workers"] == {"number": 2}
    return rounds


def test_each_organisation_submits_through_its_own_peer() -> None:
    document = files.network(channel="mychannel", chaincode="assets", gateways=[gateway(1), gateway(2)])
    assert document["channels"] == [{"channelName": "mychannel", "contracts": [{"id": "assets"}]}]
    first, second = document["organizations"]
    assert (first["mspid"], first["peers"][0]["endpoint"]) == ("Org1MSP", "198.19.64.101:7051")
    assert second["identities"]["certificates"][0]["clientPrivateKey"] == {"path": "/secrets/org2/key.pem"}


def test_warm_up_and_measured_round_differ_in_length_only() -> None:
    warm_up, measured = benchmark(warmup_seconds=5)
    assert (warm_up.pop("label"), warm_up.pop("txDuration")) == ("warm-up", 5)
    assert (measured.pop("label"), measured.pop("txDuration")) == ("measured", 30)
    assert warm_up == measured
    assert measured["rateControl"] == {"type": "fixed-rate", "opts": {"tps": 150}}


@pytest.mark.parametrize(("warmup_seconds", "labels"), [(0, ("measured",)), (0.5, ("warm-up", "measured"))])
def test_no_warm_up_means_no_such_round(warmup_seconds: float, labels: tuple[str, ...]) -> None:
    assert files.rounds(warmup_seconds) == labels
    assert tuple(entry["label"] for entry in benchmark(warmup_seconds=warmup_seconds)) == labels
