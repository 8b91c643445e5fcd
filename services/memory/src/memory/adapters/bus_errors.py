"""Converts the bus's failures to this service's error."""

from collections.abc import Generator
from contextlib import contextmanager

from nats.errors import Error as NatsError

from memory.errors import BusUnavailableError
from runtime.errors import RuntimeLibraryError


@contextmanager
def bus_errors(action: str) -> Generator[None]:
    """Raises BusUnavailableError if the bus fails in the block; its message says which `action` failed."""
    try:
        yield
    except (NatsError, TimeoutError, RuntimeLibraryError) as error:
        raise BusUnavailableError(f"the bus could not {action}: {error!r}"[:300]) from error
