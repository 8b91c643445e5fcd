"""Asks for a market analysis, in plain nats-py: `python examples/start_analysis.py "How has IBM done this year?"`

NEXUS_TOKEN is a token of the role service (`nexus token --role service --user shop`). The report comes as a fact, so a
requester need not wait and can read it later; this one waits."""

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


def principal() -> str:
    """Returns a signed statement of the user for whom the analysis is requested."""
    headers = {"Authorization": f"Bearer {os.environ['NEXUS_TOKEN']}", "Content-Type": "application/json"}
    body = json.dumps({"userId": USER}).encode()
    request = urllib.request.Request(f"{GATEWAY}/v2/principals", body, headers)  # noqa: S310 - the gateway's own address
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - as above
        return json.load(answer)["principal"]


async def main(query: str) -> None:
    bus = await nats.connect(os.environ.get("NEXUS_NATS_URL", "nats://127.0.0.1:4222"))
    identity = uuid.uuid4().hex  # the same id would mean the same analysis
    finished: asyncio.Future[dict[str, object]] = asyncio.get_running_loop().create_future()

    async def hear(message: Msg) -> None:
        data = json.loads(message.data)["data"]
        if data["analysisId"] == identity and not finished.done():
            finished.set_result(data)

    await bus.subscribe(f"analysis.completed.v1.{COMPANY}.{USER}", cb=hear)
    await bus.flush()
    data = {"analysisId": identity, "companyId": COMPANY, "userId": USER, "query": query, "principal": principal()}
    kind = "analysis.requested.v1"
    event = {"specversion": "1.0", "id": identity, "source": "/shop", "type": kind, "data": data}
    await bus.jetstream().publish(
        f"{kind}.{COMPANY}.{USER}",
        json.dumps(event).encode(),
        stream="FACTS",
        headers={"Nats-Msg-Id": f"analysis.{identity}"},
    )
    print(json.dumps(await asyncio.wait_for(finished, 120), indent=2))
    await bus.close()


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "How has IBM done this year?"))
