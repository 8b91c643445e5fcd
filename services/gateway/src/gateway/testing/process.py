"""For tests: a gateway in its own process, which can be killed."""

from collections.abc import Mapping
from pathlib import Path

from runtime.settings import TokenSettings
from runtime.testing.service import ServiceProcess


class GatewayProcess(ServiceProcess):
    """Runs `python -m gateway`. Gateways with the same keys accept each other's tokens."""

    start_deadline = 60.0
    ready_path = "/healthz"

    def __init__(self, directory: Path, nats_url: str, keys: TokenSettings) -> None:
        super().__init__(directory, "gateway")
        if keys.jwt_secret is None or keys.principal_key is None:
            raise ValueError("a gateway needs keys")
        self._settings = {
            "NEXUS_NATS_URL": nats_url,
            "NEXUS_DEV": "1",
            "NEXUS_GATEWAY_PORT": str(self.port),
            "NEXUS_JWT_SECRET": keys.jwt_secret.get_secret_value(),
            "NEXUS_PRINCIPAL_KEY": keys.principal_key.get_secret_value(),
        }

    def settings(self) -> Mapping[str, str]:
        return self._settings
