"""Redis's failures as this service's errors."""

from collections.abc import Generator
from contextlib import contextmanager

from redis.exceptions import RedisError

from memory.errors import CacheUnavailable


@contextmanager
def redis_does(what: str) -> Generator[None]:
    """Raises CacheUnavailable if Redis fails in the block, saying what it could not do."""
    try:
        yield
    except (RedisError, OSError, TimeoutError) as error:
        raise CacheUnavailable(f"Redis could not {what}: {error}") from error
