"""The model of simulated agents: it is slow, fails sometimes, calls tools and streams its text."""

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
"""The name of the tool with an effect."""
PLACED = "placed "
"""How its answer after the tool call begins; the random argument of the call follows."""


class SimulatedModel:
    """Answers the newest message; `random` decides how long it takes and whether it fails. A repeated request calls the
    tool with other arguments, as real models do."""

    provider = "simulated"

    def __init__(self, random: Random, fails: float) -> None:
        self._random = random
        self._fails = fails

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        """Returns a tool call or a text."""
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
    """Gives the same model for every choice."""

    def __init__(self, model: Model) -> None:
        self._choice = ModelChoice(((model, "m"),))

    def for_company(self, config: CompanyConfig) -> SimulatedModels:
        """Returns itself: companies have no models of their own."""
        del config
        return self

    def named(self, provider: str, model: str) -> tuple[tuple[str, str], ...]:
        """Returns the name of the model."""
        del provider, model
        return (("simulated", "m"),)

    def only(self, provider: str, model: str) -> ModelChoice:
        """Returns the model."""
        del provider, model
        return self._choice

    chosen = cheaper = only
