"""An agent in a process of its own, which tests kill or freeze; it needs a bus and a model server."""

import http.client
import sys
from collections.abc import Mapping
from pathlib import Path

from runtime.testing.service import ServiceProcess


class AgentProcess(ServiceProcess):
    """Runs `python -m agent` with this interpreter or with `python`, of another clone. Its `model` identifies it."""

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
        super().__init__(directory, "agent", python)
        self.model = model
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

    def settings(self) -> Mapping[str, str]:
        return self._settings

    def metrics(self) -> str:
        """Returns its metrics in the Prometheus text format."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
        try:
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode()
        finally:
            connection.close()
