"""Emptying a cluster, on what a real API server told of its groups and kinds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tare.cluster.emptying import collections, empty, withdraw_extensions

DATA = Path(__file__).parent.parent / "data" / "cluster"


class Api:
    """Answers as the server did, and notes what is deleted."""

    def __init__(self, **more: Any) -> None:
        self.answers = {
            "/api": json.loads((DATA / "api-discovered.json").read_text()),
            "/apis": json.loads((DATA / "apis-discovered.json").read_text()),
            **more,
        }
        self.deleted: list[tuple[str, Mapping[str, Any] | None]] = []

    def get(self, path: str, *, accept: str = "application/json") -> Any:
        return self.answers[path]

    def delete(self, path: str, options: Mapping[str, Any] | None = None) -> None:
        self.deleted.append((path, options))


def test_the_collections_are_those_in_namespaces_that_can_be_deleted_whole() -> None:
    found = [*collections(Api().get("/api"), "/api"), *collections(Api().get("/apis"), "/apis")]
    assert {("/api/v1", "pods"), ("/api/v1", "secrets"), ("/apis/apps/v1", "deployments")} <= set(found)
    kinds = {kind for _, kind in found}
    # In no namespace; not deletable whole; made of others.
    assert not kinds & {"nodes", "namespaces", "clusterroles", "bindings", "localsubjectaccessreviews"}
    assert len(found) == len(set(found))


def test_what_makes_pods_goes_before_them_and_pods_before_the_rest() -> None:
    api = Api()
    empty(api, ["http", "istio-system"])  # type: ignore[arg-type]
    paths = [path for path, _ in api.deleted]
    order = ["deployments", "replicasets", "pods", "secrets"]
    places = [[paths.index(path) for path in paths if path.endswith(f"/{kind}")] for kind in order]
    assert all(len(of_kind) == 2 for of_kind in places)
    assert [max(of_kind) for of_kind in places[:-1]] < [min(of_kind) for of_kind in places[1:]]
    assert ("/api/v1/namespaces/http/pods", {"gracePeriodSeconds": 1}) in api.deleted


def test_what_kubernetes_itself_puts_there_stays() -> None:
    api = Api()
    empty(api, ["http"])  # type: ignore[arg-type]
    paths = [path for path, _ in api.deleted]
    assert "/api/v1/namespaces/http/configmaps?fieldSelector=metadata.name!=kube-root-ca.crt" in paths
    assert "/api/v1/namespaces/http/serviceaccounts?fieldSelector=metadata.name!=default" in paths
    assert not any(path.endswith("/namespaces/http") for path in paths)


def test_webhooks_go_before_the_objects_they_are_asked_about() -> None:
    def kind(scope: str, plural: str) -> Mapping[str, Any]:
        versions = [{"name": "v1alpha1", "storage": False}, {"name": "v1", "storage": True}]
        return {"spec": {"group": "mesh.io", "scope": scope, "names": {"plural": plural}, "versions": versions}}

    declared = {"items": [kind("Cluster", "meshes"), kind("Namespaced", "routes")]}
    api = Api(**{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": declared})
    withdraw_extensions(api)  # type: ignore[arg-type]
    assert [path.rpartition("/")[2] for path, _ in api.deleted] == [
        "validatingwebhookconfigurations",
        "mutatingwebhookconfigurations",
        "meshes",
    ]
    assert api.deleted[-1][0] == "/apis/mesh.io/v1/meshes"
