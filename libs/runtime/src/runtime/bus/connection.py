"""The connection to NATS: it reconnects for ever, abandons a server that stops answering, and logs both.

A service gets its connection from `runtime.lifecycle.service`; commands and tests call `connect` themselves.
"""

from __future__ import annotations

import asyncio
import logging
import random
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from runtime.background import start_task
from runtime.bus.bus_client import BusClient, TakeMessage
from runtime.bus.credentials import sign, user_jwt
from runtime.errors import NotReadyError
from runtime.observability.logging import masked_text
from runtime.settings import NatsSettings
from runtime.tls import remedy

log = structlog.get_logger(__name__)

Hook = Callable[[], Awaitable[None]]
ErrorHook = Callable[[Exception], Awaitable[None]]

CLOSE_TIMEOUT = 2.0
"""Seconds to close a client that never connected."""
SLOW_SECONDS = 5.0
"""Seconds without a connection at start after which the log says what may be wrong."""
PROBE_DEADLINE = 0.8
"""Seconds for a new connection that tests whether the bus is reachable."""
RECONNECT_WAIT = 0.25
"""Seconds between two attempts at one server; each connection multiplies it by a random 0.5 to 1.5, so that not all
reconnect at the same moment."""

_posting: set[asyncio.Task[None]] = set()


@dataclass
class ConnectionHooks:
    """Callbacks for a connection's events. They may be added at any time; each must return quickly."""

    on_disconnect: list[Hook] = field(default_factory=list[Hook])
    on_reconnect: list[Hook] = field(default_factory=list[Hook])
    on_error: list[ErrorHook] = field(default_factory=list[ErrorHook])
    _logged_refusals: set[str] = field(default_factory=set[str])
    """Refusals already logged since the connection was lost: every attempt meets the same one, five times a second."""

    async def disconnected(self) -> None:
        log.warning("nats.disconnected")
        await _call(self.on_disconnect)

    async def reconnected(self) -> None:
        self._logged_refusals.clear()
        log.info("nats.reconnected")
        await _call(self.on_reconnect)

    async def failed(self, error: Exception) -> None:
        # Must not raise: nats-py calls this from its read loop, which would end.
        text = masked_text(str(error))
        level = logging.DEBUG if isinstance(error, OSError) or text in self._logged_refusals else logging.WARNING
        log.log(level, "nats.error", error=text, kind=type(error).__name__)
        if "authorization" in text.lower():
            self._logged_refusals.add(text)
        for hook in self.on_error:
            try:
                await hook(error)
            except Exception:
                log.exception("nats.hook_failed")


async def _call(hooks: list[Hook]) -> None:
    for hook in hooks:
        try:
            await hook()
        except Exception:
            log.exception("nats.hook_failed")


def inbox_prefix(settings: NatsSettings) -> str:
    """The subject prefix of replies: below each user's own name, so that permissions can separate users' inboxes.
    `agent+2` has the prefix of `agent`: it has the same permissions and takes over while a password is replaced."""
    return f"_INBOX.{settings.user.partition('+')[0]}" if settings.user else "_INBOX"


async def connect(settings: NatsSettings, *, name: str, hooks: ConnectionHooks | None = None) -> Client:
    """Returns a connected client.

    Publishes made while it is disconnected are buffered (8 MiB) and sent after the reconnect.

    Raises:
        NotReadyError: no server answered within `settings.connect_deadline`, or a file named in the settings cannot be
            used.
    """
    hooks = hooks or ConnectionHooks()
    # All different errors: after a refused password, the next error is only that the connection was lost.
    errors: dict[str, None] = {}
    limit: asyncio.Timeout | None = None

    async def on_error(error: Exception) -> None:
        if len(errors) < 5:
            errors[masked_text(str(error) or type(error).__name__)] = None
        await hooks.failed(error)
        if limit is not None and limit.expired():
            # The timeout cancels once, and an attempt that fails at the same moment swallows it (wait_for in 3.11).
            raise TimeoutError

    client, options = BusClient(), _options(settings)

    async def disconnected() -> None:
        if not client.is_closed:  # a connection closed on purpose is not worth a report
            await hooks.disconnected()

    async def reconnected() -> None:
        for call in list(client.on_reconnect):
            call()
        await hooks.reconnected()

    def warn() -> None:
        log.warning("nats.not_yet_connected", advice=str(_not_connected(settings, list(errors))))

    slow = asyncio.get_running_loop().call_later(SLOW_SECONDS, warn)
    try:
        async with asyncio.timeout(settings.connect_deadline) as limit:
            await client.connect(
                name=name, error_cb=on_error, disconnected_cb=disconnected, reconnected_cb=reconnected, **options
            )
    except TimeoutError:
        with suppress(Exception):
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await client.close()
        raise _not_connected(settings, list(errors)) from None
    finally:
        slow.cancel()
    limit = None
    return client


def _options(settings: NatsSettings) -> dict[str, Any]:
    """Returns the options of a connection. Raises NotReadyError if a file named in the settings cannot be used."""
    tls, credentials = _tls_of(settings), _credentials_of(settings)
    return {
        "servers": settings.servers,
        "reconnect_time_wait": RECONNECT_WAIT * random.uniform(0.5, 1.5),
        "max_reconnect_attempts": -1,
        "connect_timeout": 2,
        # The server is abandoned after two unanswered pings, so within three intervals.
        "ping_interval": settings.ping_interval,
        "max_outstanding_pings": 2,
        "drain_timeout": 10,
        "pending_size": 8 * 1024 * 1024,
        "user": settings.user,
        "password": settings.password.get_secret_value() if settings.password else None,
        "user_jwt_cb": partial(user_jwt, credentials) if credentials else None,
        "signature_cb": partial(sign, credentials) if credentials else None,
        "tls": tls,
        "inbox_prefix": inbox_prefix(settings),
    }


def _tls_of(settings: NatsSettings) -> ssl.SSLContext | None:
    """Returns the TLS context. Raises NotReadyError if a file named in the settings cannot be used."""
    try:
        return settings.tls
    except (OSError, ValueError) as error:
        files = ", ".join(filter(None, (settings.tls_ca, settings.tls_certificate, settings.tls_key)))
        raise NotReadyError(f"NEXUS_NATS_TLS_CA, …_CERTIFICATE or …_KEY cannot be used ({files}): {error}") from error


def _credentials_of(settings: NatsSettings) -> str | None:
    """Returns the path of the credentials, which are read at every connection. Raises NotReadyError if they cannot be
    used."""
    if settings.credentials:
        try:
            sign(settings.credentials, "")
        except (OSError, ValueError) as error:
            raise NotReadyError(f"NEXUS_NATS_CREDENTIALS cannot be used ({settings.credentials}): {error}") from error
    return settings.credentials


def _not_connected(settings: NatsSettings, errors: Sequence[str]) -> NotReadyError:
    """Returns an error that says why there is no connection, and what to do; `errors`: those met so far."""
    reason = f" ({'; '.join(errors)})" if errors else ""
    servers = masked_text(", ".join(settings.servers))
    if any("authorization" in error.lower() for error in errors):
        return NotReadyError(
            f"NATS at {servers} refuses the user {settings.user or 'of this address'}{reason}: set "
            "NEXUS_NATS_USER and NEXUS_NATS_PASSWORD (or NEXUS_NATS_CREDENTIALS) to what the server has for this "
            "service"
        )
    if advice := remedy("NATS", reason):
        return NotReadyError(f"no connection to NATS at {servers}: {advice}{reason}", retryable=True)
    return NotReadyError(
        f"no NATS server answered at {servers} within {settings.connect_deadline:g} s{reason}: "
        "start one, or point NEXUS_NATS_URL at one",
        retryable=True,
    )


async def probe_connection(settings: NatsSettings, *, name: str) -> None:
    """Checks that the bus accepts a new connection soon; raises NotReadyError if it does not."""
    await (await connect(settings.model_copy(update={"connect_deadline": PROBE_DEADLINE}), name=name)).close()


async def subscribe(
    client: Client,
    subject: str,
    handle: Callable[[Msg], Awaitable[None]],
    *,
    queue: str = "",
    pending_messages: int = 64 * 1024,
    pending_bytes: int = 64 * 1024 * 1024,
) -> Subscription:
    """Subscribes on core NATS; `handle` is awaited for one message after another, so it must return quickly.

    Messages beyond the pending limits are dropped, and a SlowConsumerError goes to the connection's error hooks.
    """
    return await client.subscribe(  # pyright: ignore[reportUnknownMemberType] - a bare Future in its signature
        subject, queue=queue, cb=handle, pending_msgs_limit=pending_messages, pending_bytes_limit=pending_bytes
    )


async def listen(client: Client, subject: str, take: TakeMessage, *, queue: str = "") -> Subscription:
    """Subscribes on core NATS; messages are handled as they are read, with no queue or task in between: for functions
    that do next to nothing."""

    async def handle(message: Msg) -> None:
        take(message)

    subscription = await subscribe(
        client, subject, handle, queue=queue, pending_messages=1024 * 1024, pending_bytes=1 << 28
    )
    if isinstance(client, BusClient):
        client.listen(subscription._id, take)  # pyright: ignore[reportPrivateUsage]
    return subscription


def post(client: Client, subject: str, payload: bytes = b"", reply: str = "") -> None:
    """Publishes without waiting. A message that cannot be sent is lost: for messages that are repeated or not
    needed."""
    if not (isinstance(client, BusClient) and client.publish_now(subject, payload, reply)):
        start_task(_publish(client, subject, payload, reply), _posting)


async def _publish(client: Client, subject: str, payload: bytes, reply: str) -> None:
    with suppress(NatsError):
        await client.publish(subject, payload, reply=reply)


def jetstream(client: Client) -> JetStreamContext:
    """The client's JetStream context, with a deadline of 5 s for its API calls."""
    return JetStreamContext(client, timeout=5.0)
