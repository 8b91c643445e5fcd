"""What is missing on the server is made anew, however often the connection breaks while it is looked for."""

from __future__ import annotations

from nats.aio.client import Client
from nats.errors import OutboundBufferLimitError

from contracts.streams import CHAT
from runtime.bus.marks import Marks, demand
from runtime.bus.upkeep import Upkeep
from runtime.testing.servers import eventually


async def test_a_connection_that_breaks_in_the_middle_does_not_end_the_looking_after(nats_client: Client) -> None:
    looks = 0

    async def streams() -> None:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise OutboundBufferLimitError

    upkeep = Upkeep(nats_client, streams)
    upkeep.start()
    await upkeep.reconnected()
    await eventually(lambda: looks >= 2)
    assert upkeep.stuck_because() is None
    await upkeep.stop()


async def test_marks_count_as_soon_as_they_are_demanded(nats_streams: Client) -> None:
    key, marks = b"k" * 32, Marks.of(nats_streams)
    marks.use((key,))
    upkeep = Upkeep(nats_streams, None)
    await upkeep.listen()
    upkeep.start()
    subject = "chat.acme.c1.message.assistant.v1"
    assert marks.genuine(CHAT.name, subject, 1, {}, b"{}")
    since = await demand(nats_streams, (key,))
    await eventually(lambda: not marks.genuine(CHAT.name, subject, since[CHAT.name], {}, b"{}"))
    await upkeep.stop()
