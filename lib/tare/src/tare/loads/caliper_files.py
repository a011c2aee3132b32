"""The configuration files Caliper reads, as documents; JSON is YAML. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tare.services.fabric import Gateway

WARM_UP = "warm-up"
MEASURED = "measured"


def network(*, channel: str, chaincode: str, gateways: Sequence[Gateway]) -> dict[str, Any]:
    """Return the network configuration: each organisation submits as its own client through its own peer."""
    return {
        "name": "tare",
        "version": "2.0.0",
        "caliper": {"blockchain": "fabric"},
        "channels": [{"channelName": channel, "contracts": [{"id": chaincode}]}],
        "organizations": [
            {
                "mspid": gateway.msp,
                "identities": {
                    "certificates": [
                        {
                            "name": f"client-{gateway.msp}",
                            "clientPrivateKey": {"path": str(gateway.private_key)},
                            "clientSignedCert": {"path": str(gateway.certificate)},
                        }
                    ]
                },
                "peers": [{"endpoint": gateway.endpoint, "tlsCACerts": {"path": str(gateway.tls_root)}}],
            }
            for gateway in gateways
        ],
    }


def rounds(warmup_seconds: float) -> tuple[str, ...]:
    """Return the labels of the rounds in order; their index names the transaction files."""
    return (WARM_UP, MEASURED) if warmup_seconds > 0 else (MEASURED,)


def benchmark(
    *,
    workload: Path,
    chaincode: str,
    organizations: Sequence[str],
    workers: int,
    rate: float,
    warmup_seconds: float,
    duration_seconds: float,
    timeout_seconds: float,
    directory: Path,
) -> dict[str, Any]:
    """Return the benchmark configuration: a warm-up round (unless 0 s) and the measured one, both at a fixed ``rate``
    (transactions per second over all workers), whatever comes back."""
    seconds = {WARM_UP: warmup_seconds, MEASURED: duration_seconds}
    return {
        "test": {
            "name": "create-asset",
            "workers": {"number": workers},
            "rounds": [
                {
                    "label": label,
                    "txDuration": seconds[label],
                    "rateControl": {"type": "fixed-rate", "opts": {"tps": rate}},
                    "workload": {
                        "module": str(workload),
                        "arguments": {
                            "contract": chaincode,
                            "organizations": list(organizations),
                            "timeoutSeconds": timeout_seconds,
                            "directory": str(directory),
                        },
                    },
                }
                for label in rounds(warmup_seconds)
            ],
        }
    }
