"""One paid reply. A model that promises to remember and calls nothing is told so, and asked once more."""

from dataclasses import replace
from typing import Protocol

from agent.domain.cost import SpendingAccount
from agent.domain.promise import TOLD, is_broken
from agent.domain.turn.journal import Journal, ModelAnswer
from agent.errors import BudgetSpentError, ModelError
from agent.measures import PROMISES
from agent.ports import ModelChoice, Models, Prompt, TextSink
from agent.turns.metering import Advance, Spending, ask_paid
from contracts.company import CompanyConfig


class PreparedCall(Protocol):
    """A model call with all that it needs (turns.preparing.PreparedCall)."""

    @property
    def prompt(self) -> Prompt: ...
    @property
    def choice(self) -> ModelChoice: ...
    @property
    def account(self) -> SpendingAccount: ...
    @property
    def advance(self) -> Advance | None: ...


async def ask_honest(
    spending: Spending, models: Models, config: CompanyConfig, journal: Journal, call: PreparedCall, sink: TextSink
) -> ModelAnswer:
    """The reply; raises as `ask_paid` does. What was said before the promise was found empty does not count."""
    prompt = call.prompt
    reply = await ask_paid(spending, models, call.account, config, prompt, sink, call.choice, call.advance)
    offered = frozenset(tool.name for tool in prompt.tools)
    if prompt.tool_choice == "none" or not is_broken(reply, journal, offered):
        return reply
    told = {"role": "system", "content": TOLD[prompt.language]}
    messages = [*prompt.messages, {"role": "assistant", "content": reply.text}, told]
    sink.restart()
    try:
        again = await ask_paid(
            spending, models, call.account, config, replace(prompt, messages=messages), sink, call.choice
        )
    except (ModelError, BudgetSpentError):
        PROMISES.labels("asked_in_vain").inc()
        sink.restart()
        sink.text(reply.text)
        return reply
    PROMISES.labels("broken" if is_broken(again, journal, offered) else "mended").inc()
    return replace(again, usage=reply.usage + again.usage)
