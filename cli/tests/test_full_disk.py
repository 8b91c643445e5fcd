"""The embedded bus on a disk that runs full: the supervisor brings it back."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from contracts.streams import CHAT
from nexus_cli.stack.bus_users import USERS
from nexus_cli.stack.servers import embedded
from nexus_cli.stack.supervisor import Supervisor
from runtime.bus.connection import connect
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams
from runtime.errors import PublishFailedError
from runtime.settings import NatsSettings
from runtime.testing.disk import SmallDisk
from runtime.testing.servers import eventually


async def test_a_full_disk_breaks_the_bus_and_room_alone_mends_it(small_disk: SmallDisk) -> None:
    lines: list[str] = []
    addresses: dict[str, str] = {}
    supervisor = Supervisor(
        [embedded("nats", small_disk.path, dict.fromkeys(USERS, "secret"))],
        logs=small_disk.path,
        urls={},
        say=lines.append,
        changed=lambda _, urls: addresses.update(urls),
    )

    def said(words: str) -> Callable[[], bool]:
        return lambda: any(words in line for line in lines)

    try:
        await supervisor.start()
        client = await connect(NatsSettings(url=addresses["nats"]), name="test")
        await ensure_streams(client, [CHAT])
        publisher, taken = Publisher(client), 0

        async def append(number: int, deadline: float) -> bool:
            try:
                subject, name = "chat.a.b.message.visitor.v1", str(number)
                await publisher.append(subject, b"x" * 60_000, stream=CHAT.name, msg_id=name, deadline=deadline)
            except PublishFailedError:
                return False
            return True

        while await append(taken, 2.0):
            taken += 1
        await eventually(said("nats: its disk is full"))
        small_disk.enlarge()
        await eventually(said("nats is ready again"))
        await eventually(lambda: append(taken, 5.0))
        held = orjson.loads((await client.request("$JS.API.STREAM.INFO.CHAT", b"", timeout=10)).data)["state"]
        assert held["messages"] >= taken + 1
        await client.close()
    finally:
        await supervisor.stop()
