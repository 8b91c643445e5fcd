"""Hands a conversation to a person when asked to, even where the AI is switched off and no turn is opened."""

from agent.ports import AskedSnapshot
from agent.turns.deps import Ports, policy_of
from agent.turns.inputs import TurnInputs
from contracts.company import CompanySettings
from contracts.events.chat import OwnerKind


async def ask_without_ai(
    ports: Ports, knowing: TurnInputs, seen: AskedSnapshot | None, settings: CompanySettings | None
) -> None:
    """A person is asked for, once for what is unanswered; raises UnreachableError."""
    if seen is None or settings is None or policy_of(settings).enabled:
        return
    if seen.view.owner is OwnerKind.AI and seen.view.unanswered:
        call = await knowing.without_ai(seen, settings.config)
        if call is not None:
            await ports.own.outcome(knowing.key, call, seen.requester)
