"""The dependencies of help for human agents, and one call of the company's model."""

from dataclasses import dataclass

from agent.adapters.log_position import NewestFacts
from agent.domain.cost import SpendingAccount
from agent.domain.turn.journal import ModelAnswer
from agent.errors import HelpRefusedError
from agent.llm.paid_calls import Spending, ask_paid
from agent.ports import Companies, ConversationKey, Histories, ModelRequest, Models, PromptHistory
from contracts.company import CompanyConfig

TIME_LIMIT_SECONDS = 25.0
"""Seconds for all model calls of one request; fewer than its caller waits."""


@dataclass(frozen=True)
class HelpPorts:
    """The outside services that help uses."""

    companies: Companies
    histories: Histories
    newest: NewestFacts
    models: Models
    spending: Spending


async def config_of(ports: HelpPorts, company: str) -> CompanyConfig:
    """Returns the company's settings; raises HelpRefusedError NOT_FOUND if it has none."""
    settings = await ports.companies.get(company)
    if settings is None:
        raise HelpRefusedError("NOT_FOUND", f"no company {company}")
    return settings.config


async def messages_of(ports: HelpPorts, key: ConversationKey) -> PromptHistory:
    """Returns the messages of a conversation; raises HelpRefusedError NOT_FOUND if the company has no such one."""
    seq = await ports.newest.seq(key)
    history = await ports.histories.up_to(key, seq) if seq else PromptHistory(())
    if not history.messages:
        raise HelpRefusedError("NOT_FOUND", f"no conversation {key.conversation} with messages")
    return history


async def ask_company(
    ports: HelpPorts, key: ConversationKey, config: CompanyConfig, prompt: ModelRequest
) -> ModelAnswer:
    """Gets a reply from the model that the company prefers, or from the next in the chain, at the company's expense.

    Raises:
        BudgetSpentError, ModelError.
    """
    purpose = "improve" if prompt.task == "improve" else "suggest"
    account = SpendingAccount(key.company, key.conversation or None, purpose=purpose)
    return await ask_paid(ports.spending, ports.models, account, config, prompt)
