"""The tools through the official MCP client: set NEXUS_TOKEN to `nexus token --role user --plan pro`, and run it. It
prepares a paper order; the server asks for the user's yes through this client, and places nothing without it."""

import asyncio
import os
from typing import Any

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

URL = os.environ.get("NEXUS_URL", "http://127.0.0.1:8080") + "/mcp"
HEADERS = {"Authorization": f"Bearer {os.environ['NEXUS_TOKEN']}", "Accept-Language": "en"}


async def ask_the_user(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    said = await asyncio.to_thread(input, f"{params.message} [y/n] ")
    return types.ElicitResult(action="accept", content={"confirm": said.strip().lower() == "y"})


async def main() -> None:
    http = httpx2.AsyncClient(headers=HEADERS, timeout=60)
    async with http, Client(streamable_http_client(URL, http_client=http), elicitation_callback=ask_the_user) as client:
        print(", ".join(tool.name for tool in (await client.list_tools()).tools))
        order = {"symbol": "IBM", "side": "buy", "quantity": 1, "order_type": "market"}
        print((await client.call_tool("create_paper_order", order)).structured_content)


asyncio.run(main())
