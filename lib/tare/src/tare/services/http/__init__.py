"""An HTTP server and its client, each in a pod, and what a lab puts between them: nothing, proxies, or a mesh."""

from tare.services.http.deployment import HttpDeployment
from tare.services.http.service import HttpService

__all__ = ["HttpDeployment", "HttpService"]
