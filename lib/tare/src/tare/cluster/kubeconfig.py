"""How a client of the API finds it and proves who it is."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tare.cluster.pki import Identity


def text(url: str, authority: Path, identity: Identity) -> str:
    """Return a kubeconfig as JSON, which is YAML too; certificates and keys are named by path."""
    cluster = {"server": url, "certificate-authority": str(authority)}
    user = {"client-certificate": str(identity.certificate), "client-key": str(identity.key)}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "tare", "cluster": cluster}],
        "users": [{"name": "tare", "user": user}],
        "contexts": [{"name": "tare", "context": {"cluster": "tare", "user": "tare"}}],
        "current-context": "tare",
    }
    return json.dumps(document, indent=2) + "\n"


def write(path: Path, url: str, authority: Path, identity: Identity) -> Path:
    """Write a kubeconfig with mode 0600 and return its path."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text(url, authority, identity))
    return path
