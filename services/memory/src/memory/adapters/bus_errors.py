"""The bus's failures as this service's error."""

from collections.abc import Generator
from contextlib import contextmanager

from nats.errors import Error as NatsError

from memory.errors import BusUnavailableError
from runtime.errors import RuntimeLibraryError


@contextmanager
def bus_errors(what: str) -> Generator[None]:
    """Raises BusUnavailableError if the bus fails in the block, saying what it could not do."""
    try:
        yield
    except (NatsError, TimeoutError, RuntimeLibraryError) as error:
        raise BusUnavailableError(f"the bus could not {what}: {error!r}"[:300]) from error
