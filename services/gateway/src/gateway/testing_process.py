"""For tests: a gateway as a process of its own, made to be killed."""

import http.client
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from runtime.settings import TokenSettings
from runtime.testing import ServerProcess

LOOKS = 0.02
"""Seconds between two looks at a gateway that is not ready."""


class GatewayProcess(ServerProcess):
    """`python -m gateway`; gateways with the same keys are one door."""

    start_deadline = 60.0

    def __init__(self, directory: Path, nats_url: str, keys: TokenSettings) -> None:
        super().__init__(directory)
        if keys.jwt_secret is None or keys.principal_key is None:
            raise ValueError("a gateway needs keys")
        with socket.socket() as probe:
            probe.bind((self.host, 0))
            self.port = probe.getsockname()[1]
        self._settings = {
            "NEXUS_NATS_URL": nats_url,
            "NEXUS_DEV": "1",
            "NEXUS_GATEWAY_PORT": str(self.port),
            "NEXUS_JWT_SECRET": keys.jwt_secret.get_secret_value(),
            "NEXUS_PRINCIPAL_KEY": keys.principal_key.get_secret_value(),
        }

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def command(self) -> Sequence[str]:
        return ["env", *(f"{name}={value}" for name, value in self._settings.items()), sys.executable, "-m", "gateway"]

    def ready(self) -> bool:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=1)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            time.sleep(LOOKS)
            return False
        finally:
            connection.close()
