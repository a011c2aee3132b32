from __future__ import annotations

from typing import Any

from tare.services.fabric.diagnosis import Ended, describe, ended


def pod(name: str, phase: str, *states: dict[str, Any]) -> dict[str, Any]:
    status = {"phase": phase, "containerStatuses": [{"state": state} for state in states]}
    return {"metadata": {"name": name}, "status": status}


RUNNING = pod("orderer-1", "Running", {"running": {"startedAt": "2026-11-21T04:00:00Z"}})
WAITING = pod("ca-org1", "Pending", {"waiting": {"reason": "ContainerCreating"}})
UNSEEN = {"metadata": {"name": "peer-org2-1"}, "status": {"phase": "Pending"}}
ENDED = pod("peer-org1-1", "Failed", {"terminated": {"exitCode": 137, "reason": "OOMKilled"}})


def test_only_what_does_not_run_is_described() -> None:
    assert describe([RUNNING, WAITING, UNSEEN, ENDED], []).splitlines() == [
        "ca-org1: Pending (ContainerCreating)",
        "peer-org2-1: Pending",
        "peer-org1-1: Failed (OOMKilled)",
    ]


def test_a_warning_is_told_once() -> None:
    event = {
        "involvedObject": {"name": "ca-org1"},
        "reason": "FailedCreatePodSandBox",
        "message": "cannot create sandbox: EOF",
    }
    assert describe([WAITING], [event, event]).splitlines()[1:] == [
        "ca-org1: FailedCreatePodSandBox: cannot create sandbox: EOF"
    ]


def test_when_all_is_well() -> None:
    assert describe([RUNNING], []) == "every Pod runs, and there are no warnings about any"


def test_a_container_that_ended_is_found() -> None:
    found = list(ended([RUNNING, WAITING, UNSEEN, ENDED]))
    assert found == [Ended(pod="peer-org1-1", exit_code=137, reason="OOMKilled")]
