"""Settings that a newer release has written into the store: served, changed and obeyed by this one, over HTTP."""

import json
import uuid
from typing import Any

import aiohttp
from nats.aio.client import Client
from pymongo import AsyncMongoClient

from gateway.testing.http import Http
from nexus_cli.drill.log_reader import read_log
from runtime.settings import MongoSettings
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack


async def test_settings_with_unknown_fields_and_words_are_served_changed_and_the_kill_switch_is_obeyed(
    stack: RunningStack,
) -> None:
    company = f"co-{uuid.uuid4().hex[:12]}"
    path, admin = f"/v2/llm/config/{company}", stack.mint("admin", "root", company)
    stored: dict[str, Any] = {
        "companyId": company,
        "aiAutoResponseEnabled": True,
        "responseDelayMs": 0,
        "preferredProvider": "provider-of-tomorrow",
        "fieldOfTomorrow": {"a": [1]},
        "budget": {"dailyTokens": 1_000_000, "fieldOfTomorrow": 2},
    }
    url = stack.facts()["urls"]["mongodb"]
    async with (
        AsyncMongoClient[dict[str, Any]](url) as store,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=40)) as session,
    ):
        http = Http(stack.url, session)
        rows = store[MongoSettings().database]["companies"]
        await rows.insert_one({"_id": company, "version": 3, "config": json.dumps(stored)})
        status, body, headers = await http("GET", path, token=admin)
        assert status == 200, body
        assert (body["preferredProvider"], body["budget"]["dailyTokens"]) == ("provider-of-tomorrow", 1_000_000)

        # An agent that cannot read the provider's name answers all the same, with what it has.
        async with stack.visit(company, locale="en") as visitor:
            assert (await visitor.ask("what can you do?"))["role"] == "assistant"

            off = {"aiAutoResponseEnabled": False}
            status, body, _ = await http("PATCH", path, token=admin, headers={"If-Match": headers["etag"]}, json=off)
            assert status == 200, body
            row = await rows.find_one({"_id": company})
            assert row is not None
            assert json.loads(row["config"]) == stored | off

            await visitor.say("are you there?")
            bus = stack.facts()["urls"]["nats"]
            await _all_messages_settled(bus)
            log = await read_log(bus, company, visitor.conversation or "")
            assert [fact.kind for fact in log] == ["visitor", "assistant", "visitor"]


async def _all_messages_settled(url: str) -> None:
    """Waits until the agents have nothing of any conversation left to do."""
    bus = Client()
    await bus.connect(url)

    async def settled() -> bool:
        info = json.loads((await bus.request("$JS.API.CONSUMER.INFO.CHAT.agent", b"")).data)
        return info["num_pending"] == 0 and info["num_ack_pending"] == 0

    try:
        await eventually(settled)
    finally:
        await bus.close()
