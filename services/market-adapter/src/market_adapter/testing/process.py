"""The service as processes, for tests: started on real servers, observed by their logs, killed when a test wants."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from runtime.testing.logged_process import LoggedProcess, logged_process
from runtime.testing.servers import MongoDatabase, NatsServer


class Stack:
    """Starts service processes against one NATS and one MongoDB."""

    def __init__(self, nats: NatsServer, mongo: MongoDatabase, directory: Path) -> None:
        self._nats, self._mongo, self._directory = nats, mongo, directory
        self._count = 0

    def service(self, seconds_per_bar: float = 0, **env: str) -> AbstractAsyncContextManager[LoggedProcess]:
        self._count += 1
        settings = {
            "NEXUS_NATS_URL": self._nats.url,
            "NEXUS_MONGODB_URL": self._mongo.url,
            "NEXUS_MONGODB_DATABASE": self._mongo.database,
            "NEXUS_SAMPLE_SECONDS_PER_BAR": str(seconds_per_bar),
            **env,
        }
        return logged_process("market_adapter", self._directory / f"{self._count}.log", self._directory, **settings)
