"""A model that does what it is asked: every answer names the tokens of the messages that it answers.

"buy 1.007 IBM m…" prepares an order, "alert me m…" makes an alert whose message is the token. What the answer says of
an effect comes from the tool's result.
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
    """Chooses the model's reply from the whole prompt, which is the newest request of `server`."""

    server: ScriptedModel

    def next_reply(self, question: str) -> ScriptedReply:
        """Returns the calls that are still missing; when there are none, the answer."""
        body = self.server.asked[-1]
        wanted = _wanted(question)
        outcomes = _outcomes(body["messages"])
        missing = [call for token, call in wanted.items() if token not in outcomes]
        # The same words always take the same time, from a quarter of a second to one and a half.
        think = 250 + int(hashlib.sha256(question.encode()).hexdigest()[:4], 16) / 65_536 * 1250
        if missing and body.get("tool_choice") != "none":
            return ScriptedReply(tool_calls=missing, first_token_ms=think / 4)
        outcome_texts = [f"{outcomes.get(token, REFUSED)} {token}" for token in wanted]
        tokens = dict.fromkeys(TOKEN.findall(question))
        return ScriptedReply(text=" ".join(["Heard", *tokens, *outcome_texts]), first_token_ms=think, token_ms=30)


def echo_model() -> ScriptedModel:
    """Returns a model server with this script, not started yet."""
    script = EchoScript()
    script.server = ScriptedModel(script)
    return script.server


def _wanted(question: str) -> dict[str, ScriptedCall]:
    """Returns the calls that a text asks for, by token."""
    wanted: dict[str, ScriptedCall] = {}
    for quantity, token in ORDER.findall(question):
        order = {"symbol": "IBM", "side": "buy", "quantity": float(quantity), "order_type": "market"}
        wanted[token] = ScriptedCall(name="create_paper_order", arguments=order)
    for token in ALERT.findall(question):
        alert = {"symbol": "AAPL", "condition": ">=", "price": 9000, "message": token}
        wanted[token] = ScriptedCall(name="create_alert", arguments=alert)
    # An order's token is not among its arguments: its unique quantity identifies it later.
    return wanted


def _outcomes(messages: list[dict[str, Any]]) -> dict[str, str]:
    """Returns the outcome of each call in the prompt by its token; a later result of the same call replaces an earlier
    one."""
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
    result = json.loads(content)
    result = result.get("result", result)
    if not result.get("error"):
        return MADE
    return UNKNOWN if is_outcome_unknown(json.dumps(result)) else REFUSED
