"""Tells a model that says of the user's memory what no call has done that it is not done, and asks it once more, in one
paid call. Says it again, and the user reads that it is not done instead."""

from collections.abc import Sequence
from dataclasses import replace

from agent.domain.offered_tool import OfferedTool
from agent.domain.promise import MEMORY_TOOLS, has_broken_promise, without_promises
from agent.domain.turn.journal import Journal, ModelAnswer
from agent.errors import BudgetSpentError, ModelError
from agent.llm.paid_calls import ask_paid
from agent.metrics import PROMISES
from agent.ports import TextSink
from agent.texts import TEXTS
from agent.turns.deps import Ports
from agent.turns.prefetch import PreparedCall
from contracts.company import CompanyConfig


async def ask_honest(
    ports: Ports,
    config: CompanyConfig,
    journal: Journal,
    call: PreparedCall,
    sink: TextSink,
    tools: Sequence[OfferedTool],
) -> ModelAnswer:
    """The reply; raises as `ask_paid` does. What was said before the promise was found empty does not count. `tools`:
    all that the requester has, more than the model is shown: what keeps the promise is shown when it is told. Rules
    promise only what is learned after the turn."""
    prompt = call.prompt
    reply = await ask_paid(ports.spending, ports.models, call.account, config, prompt, sink, call.choice, call.advance)
    offered = frozenset(tool.name for tool in tools)
    if reply.calls or reply.provider == "offline" or not has_broken_promise(reply.text, journal, offered):
        return reply
    told = {"role": "system", "content": TEXTS["prompt.broken_promise"].in_language(prompt.language)}
    messages = [*prompt.messages, {"role": "assistant", "content": reply.text}, told]
    shown = {tool.name for tool in prompt.tools}
    keeping = (tool for tool in tools if tool.name in MEMORY_TOOLS - shown and prompt.tool_choice != "none")
    second = replace(prompt, messages=messages, tools=(*prompt.tools, *keeping))
    sink.restart()
    outcome = "mended"
    try:
        again = await ask_paid(ports.spending, ports.models, call.account, config, second, sink, call.choice)
        again = replace(again, usage=reply.usage + again.usage)
    except (ModelError, BudgetSpentError):
        again, outcome = reply, "asked_in_vain"
    if not again.calls and has_broken_promise(again.text, journal, offered):
        outcome = "broken" if again is not reply else outcome
        left = without_promises(again.text, journal, offered)
        again = replace(again, text=f"{left}\n\n{TEXTS['step.unchanged'].in_language(prompt.language)}".strip())
        sink.restart()
        sink.text(again.text)
    PROMISES.labels(outcome).inc()
    return again
