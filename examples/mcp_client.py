"""The tools through the official MCP client: set NEXUS_TOKEN to `nexus token --role user --plan pro`, and run it.

It prepares a paper order; the server asks for the user's yes through this client, and places nothing without it."""

import asyncio
import os
import sys
import uuid
from typing import Any

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

URL = os.environ.get("NEXUS_URL", "http://127.0.0.1:8080") + "/mcp"
ORDER = {"symbol": "IBM", "side": "buy", "quantity": 1, "order_type": "market"}


async def ask_the_user(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    """What the server asks is shown as it is; y is a yes."""
    sys.stdout.write(f"{params.message} [y/n] ")
    sys.stdout.flush()
    said = await asyncio.to_thread(sys.stdin.readline)
    return types.ElicitResult(action="accept", content={"confirm": said.strip().lower() == "y"})


async def main() -> None:
    """Lists, calls, orders."""
    headers = {"Authorization": f"Bearer {os.environ['NEXUS_TOKEN']}", "Accept-Language": "en"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(URL, http_client=http)
        async with Client(transport, elicitation_callback=ask_the_user) as client:
            tools = (await client.list_tools()).tools
            sys.stdout.write(f"{len(tools)} tools: {', '.join(tool.name for tool in tools)}\n")
            # The same key again is the same call: an order is made once, however often it is asked for.
            meta: Any = {"nexus/idempotencyKey": str(uuid.uuid4())}
            result = await client.call_tool("create_paper_order", ORDER, meta=meta)
            sys.stdout.write(f"{result.structured_content}\n")


asyncio.run(main())
