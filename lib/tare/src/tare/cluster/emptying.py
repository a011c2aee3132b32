"""Takes out of a cluster what was put into it, at once.

A namespace is emptied and kept: Kubernetes looks at one that is to go only after five seconds. So are the kinds that
were declared: to declare them anew takes longer than all the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from tare.cluster.api import Api, Object

# Asked so, the server tells all groups and kinds at once.
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
# What makes pods goes before the pods, or it would replace them.
_FIRST = ("deployments", "statefulsets", "daemonsets", "cronjobs", "jobs", "replicasets", "pods")
# In every namespace, put back as soon as they are gone, and nobody's trace.
_OF_KUBERNETES = {"configmaps": "kube-root-ca.crt", "serviceaccounts": "default"}


def empty(api: Api, namespaces: Sequence[str]) -> None:
    """Delete everything in namespaces, without waiting. Raises OSError."""
    found = [path for root in ("/api", "/apis") for path in collections(api.get(root, accept=_DISCOVERY), root)]
    for group, kind in sorted(found, key=lambda path: _FIRST.index(path[1]) if path[1] in _FIRST else len(_FIRST)):
        kept = _OF_KUBERNETES.get(kind)
        selector = f"?fieldSelector=metadata.name!={kept}" if kept else ""
        options = {"gracePeriodSeconds": 1} if kind == "pods" else None
        for namespace in namespaces:
            api.delete(f"{group}/namespaces/{quote(namespace)}/{kind}{selector}", options)


def withdraw_extensions(api: Api) -> None:
    """Delete all webhooks and all objects of declared kinds that are in no namespace, without waiting.

    Raises OSError.
    """
    # The webhooks first: the API server would go on asking them, and wait for those that are gone.
    for kind in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations"):
        api.delete(f"/apis/admissionregistration.k8s.io/v1/{kind}")
    for kind in api.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")["items"]:
        spec = kind["spec"]
        if spec["scope"] == "Cluster":
            stored = next(version["name"] for version in spec["versions"] if version["storage"])
            api.delete(f"/apis/{spec['group']}/{stored}/{spec['names']['plural']}")


def collections(discovered: Object, root: str) -> Iterator[tuple[str, str]]:
    """Yield the path of the group, ``/apis/apps/v1``, and the kind, ``deployments``, of each collection in a namespace
    that can be deleted as a whole; in the version that the server prefers. ``discovered`` is an APIGroupDiscoveryList.
    Pure."""
    for group in discovered["items"]:
        name = group["metadata"].get("name", "")
        versions: Sequence[Object] = group["versions"]
        for resource in versions[0]["resources"]:
            if resource["scope"] == "Namespaced" and "deletecollection" in resource["verbs"]:
                yield "/".join(filter(None, (root, name, versions[0]["version"]))), resource["resource"]
