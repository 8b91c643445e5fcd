"""FastStream's broker on this library's connection.

FastStream's own connecting raises from nats-py's error callback for some errors, which ends the client's read loop; a
connection that is made here reconnects for ever instead.
"""

from __future__ import annotations

import logging

from faststream.nats import NatsBroker
from nats.aio.client import Client

from runtime.connection import ConnectionHooks, connect
from runtime.consuming import Consuming
from runtime.settings import NatsSettings


class ServiceBroker(NatsBroker):
    """A NatsBroker that connects by runtime.connection and settles messages by runtime.consuming."""

    def __init__(self, settings: NatsSettings, *, name: str, hooks: ConnectionHooks, consuming: Consuming) -> None:
        super().__init__(
            settings.servers,
            name=name,
            middlewares=[consuming.middleware],
            logger=logging.getLogger("faststream"),
            log_level=logging.DEBUG,
            graceful_timeout=15.0,
        )
        self._settings = settings
        self._service_name = name
        self._hooks = hooks

    async def _connect(self) -> Client:
        connection = await connect(self._settings, name=self._service_name, hooks=self._hooks)
        self.config.connect(connection)
        return connection
