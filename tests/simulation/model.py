"""The model that simulated agents ask: it takes its time, fails now and then, calls tools, streams its text."""

from __future__ import annotations

import asyncio
import json
from random import Random

from agent.domain.turn.journal import ModelAnswer, RequestedCall, TokenCount
from agent.errors import ModelDownError
from agent.ports import Model, ModelChoice, ModelRequest, TextSink
from contracts.company import CompanyConfig

ORDER = "order"
"""A visitor's text with this word makes the model call the tool with an effect."""
PLACE = "place"
"""The tool with an effect."""
PLACED = "placed "
"""What it says after that, before how it has placed the order: its own choice of this time."""


class SimulatedModel:
    """Answers by the newest message; `random` decides how long it takes and whether it fails. Asked twice, it calls a
    tool with other arguments, as models do."""

    provider = "simulated"

    def __init__(self, random: Random, fails: float) -> None:
        self._random = random
        self._fails = fails

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        """A tool call, or words."""
        await asyncio.sleep(self._random.expovariate(3.0))
        if self._random.random() < self._fails:
            raise ModelDownError("simulated")
        newest = next(message for message in reversed(prompt.messages) if message["role"] in ("user", "tool"))
        text = str(newest["content"]).rsplit("\n", 1)[-1]
        if newest["role"] == "user" and ORDER in text and any(tool.name == PLACE for tool in prompt.tools):
            calls = (RequestedCall(PLACE, json.dumps({"what": text, "how": str(self._random.random())})),)
            return ModelAnswer(calls=calls, usage=TokenCount(10, 5), model="m", provider=self.provider)
        if newest["role"] == "tool":
            asked = next(message for message in reversed(prompt.messages) if message.get("tool_calls"))
            text = PLACED + json.loads(asked["tool_calls"][0]["function"]["arguments"])["how"]
        sink.text("answer to ")
        await asyncio.sleep(self._random.expovariate(5.0))
        sink.text(text)
        return ModelAnswer(text=f"answer to {text}", usage=TokenCount(10, 5), model="m", provider=self.provider)


class SimulatedModels:
    """The one model, for everything."""

    def __init__(self, model: Model) -> None:
        self._choice = ModelChoice(((model, "m"),))

    def for_company(self, config: CompanyConfig) -> SimulatedModels:
        """These: no company has one of its own."""
        del config
        return self

    def named(self, provider: str, model: str) -> tuple[tuple[str, str], ...]:
        """One name."""
        del provider, model
        return (("simulated", "m"),)

    def only(self, provider: str, model: str) -> ModelChoice:
        """The one."""
        del provider, model
        return self._choice

    chosen = cheaper = only
