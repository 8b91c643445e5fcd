"""The visitors of a drill, with a socket that is played."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

from nexus_cli.chat.client import ChatConnection, Frame
from nexus_cli.drill.ledger import ConversationLedger
from nexus_cli.drill.people import Scene, Visitor


class PlayedChat:
    """Hands out the frames that are put in."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[Frame] = asyncio.Queue()

    async def frames(self) -> AsyncIterator[Frame]:
        while True:
            yield await self.incoming.get()
            self.incoming.task_done()

    async def say(self, text: str) -> str:
        await self.incoming.put({"type": "message.ack", "clientMessageId": text, "seq": 1})
        return text


async def test_who_was_taken_over_has_waited_until_the_person_answered() -> None:
    stack: Any = None
    scene, chat = Scene(stack), PlayedChat()
    visitor = Visitor(scene, cast("ChatConnection", chat), ConversationLedger("c"))
    reading = asyncio.create_task(visitor.read())
    saying = asyncio.create_task(visitor.say("hello?"))
    await chat.incoming.put({"type": "owner.changed", "owner": {"kind": "human"}, "seq": 2})
    await chat.incoming.join()
    assert not saying.done()
    message = {"seq": 3, "id": "m", "role": "operator", "text": "this is Ana"}
    await chat.incoming.put({"type": "message.created", "message": message})
    async with asyncio.timeout(30):
        await saying
    reading.cancel()
    assert len(scene.waits) == 1
