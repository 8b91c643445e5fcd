"""Reads the log of a conversation directly from the stream."""

import json
from dataclasses import dataclass
from typing import Any

from nats.aio.client import Client

from runtime.conversation import ConversationLog

FINAL = ("assistant", "system")


@dataclass(frozen=True, slots=True)
class LoggedFact:
    """One durable fact: its sequence, its kind's short word, its data."""

    seq: int
    kind: str
    data: dict[str, Any]


async def read_log(nats_url: str, company: str, conversation: str) -> list[LoggedFact]:
    """Reads every durable fact of a conversation, in order."""
    bus = Client()
    await bus.connect(nats_url.split(","))
    try:
        log = ConversationLog(bus)
        top = (await log.snapshot(company, conversation)).seq
        facts = await log.read(company, conversation, after=0, up_to=top)
        return [LoggedFact(f.seq, _kind(f.subject), json.loads(f.event)["data"]) for f in facts]
    finally:
        await bus.close()


def _kind(subject: str) -> str:
    kind = subject.split(".", 3)[3]
    return kind.split(".")[1] if kind.startswith("message.") else kind.split(".")[0]
