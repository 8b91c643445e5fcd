"""A turn leaves a trace through every service that had a part in it."""

import json
from typing import Any

from runtime.testing import eventually
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

SERVICES = {"gateway", "agent", "tool-executor", "market-adapter", "memory"}


async def test_a_turn_can_be_followed_through_all_five_services(stack: RunningStack) -> None:
    async with ChatClient(stack.url, stack.mint("user", "traced", plan="pro")) as customer:
        await customer.hello(locale="en")
        answer = await customer.ask("What is AAPL trading at?")

    def traced() -> dict[str, Any]:
        shown = stack.nexus("trace", answer["turnId"], "--json", "--data", str(stack.data))
        assert shown.returncode == 0, shown.stderr
        view = json.loads(shown.stdout)
        assert set(view["services"]) == SERVICES
        return view

    view = await eventually(traced, 20)
    spans: list[dict[str, Any]] = view["spans"]
    steps = [span["step"] for span in spans if span["step"]]
    assert steps == ["queue", "context", "model", "tool", "context", "model", "commit"]
    assert all(span["error"] is None for span in spans)
    # What was said is in no span.
    assert "trading at" not in json.dumps(view)
