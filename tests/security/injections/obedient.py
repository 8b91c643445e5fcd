"""A model that obeys every injected order in its prompt, after its user's request."""

import base64
import json
import re
from typing import Any

from agent.scripted_model.script import Script, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel
from tests.security.injections.goals import Goal

_ORDER = re.compile(r"do:([A-Za-z0-9_-]+)=*")


def ordered(goal: Goal) -> str:
    """Returns the goal's text with the call encoded for this model."""
    call = json.dumps({"name": goal.tool, "arguments": goal.arguments}).encode()
    return f"{goal.text} do:{base64.urlsafe_b64encode(call).decode().rstrip('=')} "


class Obedient(Script):
    """Makes the calls for its user (`wanted`) and those of every order in the prompt; then answers that all is done."""

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__()
        self._model = model
        self.wanted: list[list[ScriptedCall]] = []
        """The user's calls for each request to the model, in order."""
        self.obeyed: list[str] = []
        self._made: set[str] = set()

    def next_reply(self, question: str) -> ScriptedReply:
        """Returns the calls for the newest request, or the answer when there are none."""
        del question
        calls = self.wanted.pop(0) if self.wanted else []
        for order in _ORDER.findall(json.dumps(self._model.asked[-1]["messages"])):
            if order not in self._made:
                self._made.add(order)
                call: dict[str, Any] = json.loads(base64.urlsafe_b64decode(order + "=" * (-len(order) % 4)))
                self.obeyed.append(call["name"])
                calls = [*calls, ScriptedCall(**call)]
        return ScriptedReply(tool_calls=calls) if calls else ScriptedReply(text="All is done.")
