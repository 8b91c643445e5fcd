"""How memory connects to Redis."""

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

from runtime.settings import RedisSettings


def redis_client(settings: RedisSettings) -> Redis:
    """A client that gives up soon: the cache must never be slower than what it spares. Only what a closed connection
    did not take is tried again, once: after a restart of Redis each connection in the pool is such a one."""
    return Redis.from_url(  # pyright: ignore[reportUnknownMemberType]
        settings.url,
        socket_timeout=settings.deadline,
        socket_connect_timeout=settings.deadline,
        retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
        health_check_interval=0,
        client_name="nexus-memory",
    )
