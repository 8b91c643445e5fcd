"""Redis's failures as this service's error."""

from collections.abc import Generator
from contextlib import contextmanager

from redis.exceptions import RedisError

from memory.errors import RedisUnavailableError


@contextmanager
def redis_errors(what: str) -> Generator[None]:
    """Raises RedisUnavailableError if Redis fails in the block, saying what it could not do."""
    try:
        yield
    except (RedisError, OSError, TimeoutError) as error:
        raise RedisUnavailableError(f"Redis could not {what}: {str(error)[:200]}") from error
