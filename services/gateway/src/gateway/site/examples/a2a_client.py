"""A task over A2A, with the official SDK: set NEXUS_TOKEN to `nexus token --role user`, and run it with a question."""

import asyncio
import os
import sys
import uuid

import httpx
from a2a.client import ClientConfig, create_client
from a2a.types import a2a_pb2 as a2a


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['NEXUS_TOKEN']}", "Accept-Language": "en"}
    url = os.environ.get("NEXUS_URL", "http://127.0.0.1:8080")
    text = " ".join(sys.argv[1:]) or "what is AAPL trading at?"
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        agent = await create_client(url, ClientConfig(httpx_client=http))
        asked = a2a.Message(message_id=str(uuid.uuid4()), role=a2a.ROLE_USER, parts=[a2a.Part(text=text)])
        async for told in agent.send_message(a2a.SendMessageRequest(message=asked)):
            if told.HasField("artifact_update"):
                print(told.artifact_update.artifact.parts[0].text, end="", flush=True)
            elif told.HasField("status_update") and told.status_update.status.HasField("message"):
                print(f"[{told.status_update.status.message.parts[0].text}] ", end="")
    print()


asyncio.run(main())
