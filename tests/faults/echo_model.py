"""A model that does what it is asked, and says so: every answer names the tokens of the messages that it answers.

"buy 1.007 IBM m…" prepares an order, "alert me m…" makes an alert whose message is the token. What the answer then says
of an effect is what the tool's result said, never what was hoped for.
"""

import hashlib
import json
import re
from typing import Any

from agent.domain.tool_results import is_outcome_unknown
from agent.scripted_model.script import Script, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel
from nexus_cli.drill.ledger import TOKEN

ORDER = re.compile(r"buy (\d+\.\d{3}) IBM (m[0-9a-f]{10})")
ALERT = re.compile(r"alert me (m[0-9a-f]{10})")
MADE, REFUSED, UNKNOWN = "made", "refused", "unknown"


class EchoScript(Script):
    """What the model says, from the whole prompt: the newest request of `server` is the one that is answered."""

    server: ScriptedModel

    def next_reply(self, question: str) -> ScriptedReply:
        """Calls for what is asked and was not called for yet; then an answer."""
        body = self.server.asked[-1]
        wanted = _wanted(question)
        outcomes = _outcomes(body["messages"])
        missing = [call for token, call in wanted.items() if token not in outcomes]
        # The same words take the same time, whoever asks again: from a quarter of a second to one and a half.
        think = 250 + int(hashlib.sha256(question.encode()).hexdigest()[:4], 16) / 65_536 * 1250
        if missing and body.get("tool_choice") != "none":
            return ScriptedReply(tool_calls=missing, first_token_ms=think / 4)
        said = [f"{outcomes.get(token, REFUSED)} {token}" for token in wanted]
        heard = dict.fromkeys(TOKEN.findall(question))
        return ScriptedReply(text=" ".join(["Heard", *heard, *said]), first_token_ms=think, token_ms=30)


def echo_model() -> ScriptedModel:
    """The server with that script; not started yet."""
    script = EchoScript()
    script.server = ScriptedModel(script)
    return script.server


def _wanted(question: str) -> dict[str, ScriptedCall]:
    """Token by token, the call that a text asks for."""
    wanted: dict[str, ScriptedCall] = {}
    for quantity, token in ORDER.findall(question):
        order = {"symbol": "IBM", "side": "buy", "quantity": float(quantity), "order_type": "market"}
        wanted[token] = ScriptedCall(name="create_paper_order", arguments=order)
    for token in ALERT.findall(question):
        alert = {"symbol": "AAPL", "condition": ">=", "price": 9000, "message": token}
        wanted[token] = ScriptedCall(name="create_alert", arguments=alert)
    # An order's token is not among its arguments: it is found again by its quantity, which no other order has.
    return wanted


def _outcomes(messages: list[dict[str, Any]]) -> dict[str, str]:
    """What came of each call that is in the prompt, by its token: a later result of the same call counts."""
    tokens = {
        float(quantity): token for message in messages for quantity, token in ORDER.findall(str(message.get("content")))
    }
    outcomes: dict[str, str] = {}
    calls: dict[str, dict[str, Any]] = {}
    for message in messages:
        if message.get("tool_calls"):
            calls = {call["id"]: json.loads(call["function"]["arguments"]) for call in message["tool_calls"]}
        elif message["role"] == "tool" and (arguments := calls.get(message["tool_call_id"])) is not None:
            token = arguments.get("message") or tokens.get(arguments.get("quantity", 0.0))
            if token is not None:
                outcomes[token] = _outcome(message["content"])
    return outcomes


def _outcome(content: str) -> str:
    told = json.loads(content)
    told = told.get("result", told)
    if not told.get("error"):
        return MADE
    return UNKNOWN if is_outcome_unknown(json.dumps(told)) else REFUSED
