"""Lists the durable consumers of a stream with one request, instead of one request for each."""

from collections.abc import Awaitable, Callable, Mapping

from memory.errors import BusUnavailableError
from runtime.bus.jetstream_api import ConsumerInfo, ConsumerPage

ConsumerApi = Callable[[str, Mapping[str, object]], Awaitable[ConsumerPage]]
"""Calls a method of JetStream's API with a body; raises BusUnavailableError."""


async def durables(ask: ConsumerApi, stream: str) -> dict[str, ConsumerInfo]:
    """The information of each durable consumer, by name.

    Raises:
        BusUnavailableError: no answer, or an incomplete one because the leaders of some consumers are unavailable:
        these
            consumers must not be mistaken for missing.
    """
    by_name: dict[str, ConsumerInfo] = {}
    offset = 0
    while True:
        page = await ask(f"CONSUMER.LIST.{stream}", {"offset": offset})
        if page.get("error") or page.get("missing"):
            raise BusUnavailableError(f"JetStream does not list all consumers of {stream}")
        consumers = page.get("consumers") or []
        by_name |= {consumer["name"]: consumer for consumer in consumers if consumer["config"].get("durable_name")}
        offset += len(consumers)
        if not consumers or offset >= page["total"]:
            return by_name
