"""Converts Redis's failures to this service's error."""

from collections.abc import Generator
from contextlib import contextmanager

from redis.exceptions import RedisError

from memory.errors import RedisUnavailableError


@contextmanager
def redis_errors(action: str) -> Generator[None]:
    """Raises RedisUnavailableError if Redis fails in the block; its message says which `action` failed."""
    try:
        yield
    except (RedisError, OSError, TimeoutError) as error:
        raise RedisUnavailableError(f"Redis could not {action}: {str(error)[:200]}") from error
