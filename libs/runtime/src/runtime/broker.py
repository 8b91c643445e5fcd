"""FastStream's broker on this library's connection.

FastStream's own connecting raises from nats-py's error callback for some errors, which ends the client's read loop; a
connection that is made here reconnects for ever instead.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from faststream.nats import NatsBroker
from nats.aio.client import Client

from runtime.subscribers import Subscribers


class ServiceBroker(NatsBroker):
    """A NatsBroker on a connection that it neither makes nor closes; messages are settled by `consuming`."""

    def __init__(self, client: Callable[[], Client], *, consuming: Subscribers) -> None:
        super().__init__(
            middlewares=[consuming.middleware],
            logger=_logger(),
            log_level=logging.DEBUG,
            graceful_timeout=15.0,
        )
        self._client = client
        self._consuming = consuming

    async def _connect(self) -> Client:
        connection = self._client()
        self._consuming.connected(connection)
        self.config.connect(connection)
        return connection


def broker_for(
    service: str, client: Callable[[], Client], inbox_prefix: str = "_INBOX"
) -> tuple[NatsBroker, Subscribers]:
    """A broker and its consumers for a service; `client` is asked for the connection when the broker starts."""
    consuming = Subscribers(service, inbox_prefix)
    return ServiceBroker(client, consuming=consuming), consuming


def _logger() -> logging.Logger:
    logger = logging.getLogger("faststream")
    logger.addFilter(is_news)
    return logger


def is_news(record: logging.LogRecord) -> bool:
    """False for a pull that ended in silence: FastStream asks again at once, and calls that an error."""
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, TimeoutError) and "retrying" in record.getMessage())
