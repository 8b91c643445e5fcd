"""Reads the log of a conversation directly from the stream."""

import json
from dataclasses import dataclass
from typing import Any

from nats.aio.client import Client

from runtime.conversation import ConversationLog

FINAL = ("assistant", "system")


@dataclass(frozen=True, slots=True)
class LoggedFact:
    """One durable fact: its sequence, the short name of its kind, its data."""

    seq: int
    kind: str
    data: dict[str, Any]


async def read_log(nats_url: str, company: str, conversation: str) -> list[LoggedFact]:
    """Reads every durable fact of a conversation, in order."""
    bus = Client()
    await bus.connect(nats_url.split(","))
    try:
        log = ConversationLog(bus)
        end = (await log.snapshot(company, conversation)).seq
        facts = await log.read(company, conversation, after=0, up_to=end)
        return [LoggedFact(fact.seq, _kind(fact.subject), json.loads(fact.event)["data"]) for fact in facts]
    finally:
        await bus.close()


def _kind(subject: str) -> str:
    kind = subject.split(".", 3)[3]
    return kind.split(".")[1] if kind.startswith("message.") else kind.split(".")[0]
