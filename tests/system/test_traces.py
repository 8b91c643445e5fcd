"""A turn leaves a trace through every service that had a part in it."""

import json
import time
from typing import Any

from runtime.testing.servers import eventually
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

SERVICES = {"gateway", "agent", "tool-executor", "market-adapter", "memory"}


async def traced(stack: RunningStack, customer: ChatClient) -> list[dict[str, Any]]:
    """The spans of one more answered question, when those of all services are there."""
    answer = await customer.ask("What is AAPL trading at?")

    def view() -> dict[str, Any]:
        shown = stack.nexus("trace", answer["turnId"], "--json", "--data", str(stack.data))
        assert shown.returncode == 0, shown.stderr
        found = json.loads(shown.stdout)
        assert set(found["services"]) == SERVICES
        return found

    return (await eventually(view))["spans"]


async def test_a_turn_can_be_followed_through_all_five_services(stack: RunningStack) -> None:
    async with stack.chat(stack.mint("user", "traced", plan="pro"), locale="en") as customer:
        end = time.monotonic() + 60
        spans = await traced(stack, customer)
        # The market's calendar loads beside the start: until then a prompt goes without it, and its span says so.
        while [span for span in spans if span["error"] is not None] and time.monotonic() < end:
            spans = await traced(stack, customer)
    assert [(span["name"], span["service"], span["error"]) for span in spans if span["error"] is not None] == []
    steps = [span["step"] for span in spans if span["step"]]
    assert steps == ["queue", "context", "model", "tool", "context", "model", "commit"]
    # What was said is in no span.
    assert "trading at" not in json.dumps(spans)
