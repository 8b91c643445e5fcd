"""An agent as a process of its own, made to be killed or frozen; it needs a bus and a model's server."""

import http.client
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from runtime.testing import ServerProcess

LOOKS = 0.02
"""Seconds between two looks at an agent that is not ready."""


class AgentProcess(ServerProcess):
    """`python -m agent` of this clone, or of the one whose `python` is given. Its `model` tells it from its like."""

    start_deadline = 120.0

    def __init__(
        self,
        directory: Path,
        nats_url: str,
        model_url: str,
        model: str,
        python: str = sys.executable,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(directory)
        self.model = model
        self._python = python
        with socket.socket() as probe:
            probe.bind((self.host, 0))
            self.port = probe.getsockname()[1]
        self._settings = {
            "NEXUS_AGENT_PORT": str(self.port),
            "NEXUS_NATS_URL": nats_url,
            "NEXUS_LLM_BASE_URL": model_url,
            "NEXUS_LLM_API_KEY": "not-a-key",
            "NEXUS_LLM_MODEL": model,
            "NEXUS_PRINCIPAL_KEY": "the-secret-of-these-tests-only-0123456789",
            "NEXUS_DEV": "true",
            **(settings or {}),
        }

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def command(self) -> Sequence[str]:
        return ["env", *(f"{name}={value}" for name, value in self._settings.items()), self._python, "-m", "agent"]

    def metrics(self) -> str:
        """What it counts, as Prometheus reads it."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
        try:
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def ready(self) -> bool:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=1)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            time.sleep(LOOKS)
            return False
        finally:
            connection.close()
