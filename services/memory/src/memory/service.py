"""One memory process: it reads its settings from the environment, reports its health and drains when stopped."""

from memory.adapters.signed_principals import PrincipalCheck
from memory.app import MemoryReplica
from memory.settings import MemorySettings
from runtime.auth.principals import PrincipalVerifier
from runtime.lifecycle.service import Service
from runtime.settings import DevSettings, MarkSettings, MongoSettings, NatsSettings, RedisSettings, TokenSettings


async def main() -> None:
    """Runs memory with the environment's settings until it is told to stop."""
    dev, settings = DevSettings(), MemorySettings()
    service = Service("memory", nats=NatsSettings(), port=settings.port, host=dev.bind_host, marks=MarkSettings())
    verifier = PrincipalVerifier(TokenSettings())
    service.add_check("principals", verifier.check)
    MemoryReplica(
        service,
        principals=PrincipalCheck(verifier),
        mongo_settings=MongoSettings(),
        redis_settings=RedisSettings(),
        settings=settings,
        dev=dev,
    )
    await service.run()
