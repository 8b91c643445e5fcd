"""Tells a model that promised to remember something, but did not call the tool, that it has not done so, and asks it
once more, in one paid call."""

from collections.abc import Sequence
from dataclasses import replace

from agent.domain.offered_tool import OfferedTool
from agent.domain.promise import KEEPING, is_broken
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
    all that the requester has, more than the model is shown: what keeps the promise is shown when it is told."""
    prompt = call.prompt
    reply = await ask_paid(ports.spending, ports.models, call.account, config, prompt, sink, call.choice, call.advance)
    offered = frozenset(tool.name for tool in tools)
    if prompt.tool_choice == "none" or not is_broken(reply, journal, offered):
        return reply
    told = {"role": "system", "content": TEXTS["prompt.broken_promise"].said_in(prompt.language)}
    messages = [*prompt.messages, {"role": "assistant", "content": reply.text}, told]
    shown = {tool.name for tool in prompt.tools}
    keeping = (tool for tool in tools if tool.name in KEEPING and tool.name not in shown)
    second = replace(prompt, messages=messages, tools=(*prompt.tools, *keeping))
    sink.restart()
    try:
        again = await ask_paid(ports.spending, ports.models, call.account, config, second, sink, call.choice)
    except (ModelError, BudgetSpentError):
        PROMISES.labels("asked_in_vain").inc()
        sink.restart()
        sink.text(reply.text)
        return reply
    PROMISES.labels("broken" if is_broken(again, journal, offered) else "mended").inc()
    return replace(again, usage=reply.usage + again.usage)
