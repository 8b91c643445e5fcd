"""Lists the durable consumers of a stream with one request, instead of one request for each."""

from collections.abc import Awaitable, Callable, Mapping

from memory.errors import BusUnavailableError
from runtime.bus.jetstream_api import ConsumerInfo, ConsumerPage

Ask = Callable[[str, Mapping[str, object]], Awaitable[ConsumerPage]]
"""A method of JetStream's API with its body; raises BusUnavailableError."""


async def durables(ask: Ask, stream: str) -> dict[str, ConsumerInfo]:
    """Each consumer's information, by name.

    Raises:
        BusUnavailableError: no answer, or an incomplete one because some consumers' leaders are away: those consumers
            must not be taken for missing.
    """
    found: dict[str, ConsumerInfo] = {}
    offset = 0
    while True:
        page = await ask(f"CONSUMER.LIST.{stream}", {"offset": offset})
        if page.get("error") or page.get("missing"):
            raise BusUnavailableError(f"JetStream does not list all consumers of {stream}")
        consumers = page.get("consumers") or []
        found |= {one["name"]: one for one in consumers if one["config"].get("durable_name")}
        offset += len(consumers)
        if not consumers or offset >= page["total"]:
            return found
