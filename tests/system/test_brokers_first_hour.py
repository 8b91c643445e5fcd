"""A broker's first hour, in English: a company for a trading platform, its site, its customers and their orders."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

from tests.support.own_site import BROKER, own_site
from tests.support.running_stack import RunningStack

GUIDE = Path(__file__).parents[2] / "docs/guide/en"
COMPANY = "harbour-brokers"
KEY = "a-key-of-at-least-32-characters-here"


async def nexus(stack: RunningStack, *arguments: str) -> str:
    done = await asyncio.to_thread(stack.nexus, *arguments, "--data", str(stack.data), "--locale", "en")
    assert done.returncode == 0, done.stderr
    return done.stdout


def signed() -> str:
    """The token that the guide's program for a customer's server prints."""
    (program,) = re.findall(r"```python\n(.*?)```", (GUIDE / "your-users.md").read_text(), re.DOTALL)
    source = program.replace("acme-rockets", COMPANY).replace('"exp":', '"plan": "pro", "exp":')
    done = subprocess.run(
        [sys.executable, "-c", source], env={"NEXUS_KEY": KEY}, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


async def test_a_brokers_customer_asks_orders_and_sees_it_and_a_visitor_is_told_what_the_site_says(
    stack: RunningStack,
) -> None:
    async with own_site(BROKER) as site:
        told = await nexus(
            stack, "company", "new", "Harbour Brokers", "--site", site, "--language", "en", "--profile", "trading"
        )
        assert f"company   {COMPANY} (trading), pages read of {site}: 1" in told
        assert "/console#token=" in told
        key = json.dumps([{"id": "k1", "algorithm": "HS256", "key": KEY}])
        await nexus(
            stack, "company", "set", COMPANY, f"identity.keys={key}", "identity.highestPlan=pro", "responseDelayMs=0"
        )

        async with stack.visit(COMPANY, locale="en") as chat:
            assert "4 USD" in (await chat.ask("What is your commission?"))["text"]

        customer, user = await stack.visitor(COMPANY, identity=signed())
        assert user == "ana-7"
        async with stack.chat(customer, locale="en") as chat:
            price = (await chat.ask("What is AAPL trading at?"))["text"]
            assert "AAPL" in price
            assert re.search(r"\d+\.\d\d", price)
            asked = await chat.ask("Buy 3 AAPL")
            assert len(asked["actions"]) == 1, asked["text"]
            action = asked["actions"][0]
            await chat.send_frame("action.confirm", actionId=action["id"])
            done = await chat.wait_for("action.updated", lambda one: one["action"]["state"] == "confirmed")
            assert done["action"]["id"] == action["id"]
            assert "AAPL" in (await chat.ask("my portfolio"))["text"]
        await nexus(stack, "company", "delete", COMPANY, "--yes")
