"""Hands a conversation to a person when asked to, even where the AI is switched off and no turn is opened."""

from agent.ports import AskedSnapshot
from agent.turns.deps import Ports, policy_of
from agent.turns.inputs import TurnInputs
from contracts.company import CompanySettings
from contracts.events.chat import OwnerKind


async def ask_without_ai(
    ports: Ports, inputs: TurnInputs, seen: AskedSnapshot | None, settings: CompanySettings | None
) -> None:
    """Asks for a person, once for the unanswered messages; raises UnreachableError."""
    if seen is None or settings is None or policy_of(settings).enabled:
        return
    if seen.view.owner is OwnerKind.AI and seen.view.unanswered:
        call = await inputs.without_ai(seen, settings.config)
        if call is not None:
            await ports.own.outcome(inputs.key, call, seen.requester)
