"""Asks the assistant from another service, in plain nats-py: `python examples/send_message.py "What does Pro cost?"`

NEXUS_TOKEN is a token of the role service (`nexus token --role service --user shop`), NEXUS_NATS_URL the bus
(`urls.nats` in stack.json). The message is sent on behalf of the customer `NEXUS_USER`, whose principal the gateway
signs."""

import asyncio
import json
import os
import sys
import urllib.request
import uuid

import nats
from nats.aio.msg import Msg

COMPANY, USER = os.environ.get("NEXUS_COMPANY", "demo"), os.environ.get("NEXUS_USER", "customer-1")
GATEWAY = os.environ.get("NEXUS_URL", "http://127.0.0.1:8080")
CONVERSATION = uuid.uuid4().hex


def principal() -> str:
    """Returns a signed statement of who writes, valid for this conversation only, for an hour."""
    body = json.dumps({"userId": USER, "conversationId": CONVERSATION}).encode()
    headers = {"Authorization": f"Bearer {os.environ['NEXUS_TOKEN']}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{GATEWAY}/v2/principals", body, headers)  # noqa: S310 - the gateway's own address
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - as above
        return json.load(answer)["principal"]


async def main(question: str) -> None:
    bus = await nats.connect(os.environ.get("NEXUS_NATS_URL", "nats://127.0.0.1:4222"))
    answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def hear(message: Msg) -> None:
        event = json.loads(message.data)
        if not event["type"].startswith("chat.message.visitor") and not answered.done():
            answered.set_result(event["data"]["text"])

    # Subscribe first: the answer may come before the next line runs.
    await bus.subscribe(f"live.chat.{COMPANY}.{CONVERSATION}.message.>", cb=hear)
    await bus.flush()
    identity = str(uuid.uuid4())
    data = {"messageId": identity, "clientMessageId": identity, "text": question, "role": "user", "locale": "en"}
    data["principal"] = principal()
    kind = "chat.message.visitor.v1"
    event = {"specversion": "1.0", "id": identity, "source": "/shop", "type": kind, "data": data}
    # With this id the same message may be published repeatedly: it is stored once.
    headers = {"Nats-Msg-Id": f"{COMPANY}.{CONVERSATION}.visitor.{identity}"}
    subject = f"chat.{COMPANY}.{CONVERSATION}.message.visitor.v1"
    await bus.jetstream().publish(subject, json.dumps(event).encode(), stream="CHAT", headers=headers)
    print(await asyncio.wait_for(answered, 120))
    await bus.close()


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "What does the Pro plan cost?"))
