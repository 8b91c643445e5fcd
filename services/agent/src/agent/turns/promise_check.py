"""Corrects replies that promise a change of the user's memory which no tool call has made. The model is told so and
asked once more, in one paid call; if it promises again, the promise is replaced by a text that nothing was changed."""

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


async def reply_without_empty_promises(
    ports: Ports,
    config: CompanyConfig,
    journal: Journal,
    call: PreparedCall,
    sink: TextSink,
    tools: Sequence[OfferedTool],
) -> ModelAnswer:
    """Returns the model's reply without empty promises; raises what `ask_paid` raises. Text streamed before the promise
    was found is withdrawn. `tools`: all tools of the requester, of which the model may see only some; the second
    request shows those with which the promise can be kept. Replies of the offline provider are not checked: it promises
    only what memory learns after the turn."""
    prompt = call.prompt
    reply = await ask_paid(ports.spending, ports.models, call.account, config, prompt, sink, call.choice, call.advance)
    offered = frozenset(tool.name for tool in tools)
    if reply.calls or reply.provider == "offline" or not has_broken_promise(reply.text, journal, offered):
        return reply
    correction = {"role": "system", "content": TEXTS["prompt.broken_promise"].in_language(prompt.language)}
    messages = [*prompt.messages, {"role": "assistant", "content": reply.text}, correction]
    shown_names = {tool.name for tool in prompt.tools}
    memory_tools = (tool for tool in tools if tool.name in MEMORY_TOOLS - shown_names and prompt.tool_choice != "none")
    second_request = replace(prompt, messages=messages, tools=(*prompt.tools, *memory_tools))
    sink.restart()
    outcome = "mended"
    try:
        second_reply = await ask_paid(
            ports.spending, ports.models, call.account, config, second_request, sink, call.choice
        )
        second_reply = replace(second_reply, usage=reply.usage + second_reply.usage)
    except (ModelError, BudgetSpentError):
        second_reply, outcome = reply, "asked_in_vain"
    if not second_reply.calls and has_broken_promise(second_reply.text, journal, offered):
        outcome = "broken" if second_reply is not reply else outcome
        kept_text = without_promises(second_reply.text, journal, offered)
        second_reply = replace(
            second_reply, text=f"{kept_text}\n\n{TEXTS['step.unchanged'].in_language(prompt.language)}".strip()
        )
        sink.restart()
        sink.text(second_reply.text)
    PROMISES.labels(outcome).inc()
    return second_reply
