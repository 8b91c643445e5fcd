"""The durable consumers of a stream, all in one question: a stream has few, and each asked for by itself is a message
to the server, one back, and one for whoever audits."""

from collections.abc import Awaitable, Callable, Mapping

from memory.errors import BusUnavailable
from runtime.jetstream_api import ConsumerInfo, ConsumerPage

Ask = Callable[[str, Mapping[str, object]], Awaitable[ConsumerPage]]
"""A method of JetStream's API with its body; raises BusUnavailable."""


async def durables(ask: Ask, stream: str) -> dict[str, ConsumerInfo]:
    """Each one's information, by name.

    Raises:
        BusUnavailable: no answer, or one that leaves out some, whose leaders are away: nobody may take those for
            consumers that are not there.
    """
    found: dict[str, ConsumerInfo] = {}
    offset = 0
    while True:
        page = await ask(f"CONSUMER.LIST.{stream}", {"offset": offset})
        if page.get("error") or page.get("missing"):
            raise BusUnavailable(f"JetStream does not tell of all consumers of {stream}")
        consumers = page.get("consumers") or []
        found |= {one["name"]: one for one in consumers if one["config"].get("durable_name")}
        offset += len(consumers)
        if not consumers or offset >= page["total"]:
            return found
