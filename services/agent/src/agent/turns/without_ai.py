"""Hands a conversation to a person on request while the AI is switched off and no turn is opened."""

from agent.ports import TurnSnapshot
from agent.turns.deps import Ports, policy_of
from agent.turns.inputs import TurnInputs
from contracts.company import CompanySettings
from contracts.events.chat import OwnerKind


async def request_person_without_ai(
    ports: Ports, inputs: TurnInputs, snapshot: TurnSnapshot | None, settings: CompanySettings | None
) -> None:
    """Requests a person, once for the unanswered messages, if the AI is disabled and these messages (or the company's
    rules) ask for one. Raises UnreachableError."""
    if snapshot is None or settings is None or policy_of(settings).enabled:
        return
    if snapshot.view.owner is OwnerKind.AI and snapshot.view.unanswered:
        call = await inputs.without_ai(snapshot, settings.config)
        if call is not None:
            await ports.own.outcome(inputs.key, call, snapshot.requester)
