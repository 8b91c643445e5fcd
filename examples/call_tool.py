"""Calls a tool from another service, in plain nats-py: `python examples/call_tool.py get_price '{"symbol": "IBM"}'`

NEXUS_TOKEN is a token of the role service (`nexus token --role service --user shop`), NEXUS_NATS_URL the bus
(`urls.nats` in stack.json). The tool is called on behalf of the customer `NEXUS_USER`, with the plan of the token."""

import asyncio
import json
import os
import sys
import urllib.request
import uuid

import nats

USER = os.environ.get("NEXUS_USER", "customer-1")
GATEWAY = os.environ.get("NEXUS_URL", "http://127.0.0.1:8080")


def principal() -> str:
    """Returns a signed statement of the user for whom the tool is called."""
    headers = {"Authorization": f"Bearer {os.environ['NEXUS_TOKEN']}", "Content-Type": "application/json"}
    body = json.dumps({"userId": USER}).encode()
    request = urllib.request.Request(f"{GATEWAY}/v2/principals", body, headers)  # noqa: S310 - the gateway's own address
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - as above
        return json.load(answer)["principal"]


async def main(tool: str, arguments: str) -> None:
    bus = await nats.connect(os.environ.get("NEXUS_NATS_URL", "nats://127.0.0.1:4222"))
    inbox = bus.new_inbox()
    answers = await bus.subscribe(inbox)
    call_id = uuid.uuid4().hex  # the same id again would give the recorded result
    data = {"callId": call_id, "tool": tool, "arguments": json.loads(arguments), "replyTo": inbox}
    data["principal"] = principal()
    kind = "tools.call.requested.v1"
    event = {"specversion": "1.0", "id": call_id, "source": "/shop", "type": kind, "data": data}
    # The last token is the tool's category. A repeat of the request needs another Nats-Msg-Id.
    await bus.jetstream().publish(
        f"{kind}.market", json.dumps(event).encode(), stream="TOOLS", headers={"Nats-Msg-Id": f"{call_id}.1"}
    )
    answer = await answers.next_msg(timeout=60)
    print(json.dumps(json.loads(answer.data)["data"]["result"], indent=2))
    await bus.close()


if __name__ == "__main__":
    asyncio.run(main(*(sys.argv[1:3] or ["get_price", '{"symbol": "IBM"}'])))
